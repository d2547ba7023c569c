"""Tables damaged at random: answered, or refused in one sentence with exit code 3; never a bug of ours."""

import numpy as np

from cli.running import run, said
from looping import looped

BYTES = [
    b"\0",
    b"\xff",
    b'"',
    b",",
    b";",
    b"\n",
    b"\r",
    b"\t",
    b"=",
    b"-",
    b"e",
    b"9",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
]


def damaged(text, rng):
    for _ in range(rng.integers(1, 4)):
        at, span = int(rng.integers(len(text))), int(rng.integers(0, 12))
        text = text[:at] + BYTES[rng.integers(len(BYTES))] * int(rng.integers(0, 3)) + text[at + span :]
    return text


def first_rows(table):
    return b"".join(table.read_bytes().splitlines(keepends=True)[:25])


def test_the_rows_are_good_before_the_damage(tmp_path, table, model):
    path = tmp_path / "table.csv"
    path.write_bytes(first_rows(table))
    assert run("evaluate", model, path).exit_code == 0


@looped(seed=range(60))
def test_no_damage_is_a_bug_of_ours(tmp_path, table, model, seed):
    path = tmp_path / "table.csv"
    path.write_bytes(damaged(first_rows(table), np.random.default_rng(seed)))
    for arguments in (("predict", model, path), ("evaluate", model, path)):
        result = run(*arguments)
        assert result.exit_code in {0, 3}, result.output
        if result.exit_code == 3:
            assert said(result).startswith(f"abstain: {path}")
            assert result.stdout == ""
