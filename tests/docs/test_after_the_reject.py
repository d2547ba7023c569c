"""The page on what comes after the reject: its scripts and commands run in order, and print what it shows."""

import contextlib
import doctest
import re
import shlex

import pytest

from cli.running import run
from docs.pages import DOCS

PAGE = (DOCS / "after_the_reject.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(python|console|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)
# Which rows are audited depends on every byte of the model file, so on the last digits of this processor: what verdicts
# say is compared without its numbers.
OF_THE_DRAW = ("abstain audit", "tumour-2.model")


def told(page, folder):
    """Run the blocks of a page as a reader does: what commands printed, what the page shows, and how alike they are."""
    names, printed, pairs, same = {}, None, [], alike
    with contextlib.chdir(folder):
        for kind, block in BLOCK.findall(page):
            if kind == "python":
                exec(compile(block, "page", "exec"), names)  # noqa: S102 - our own text, and the point of the test
            elif kind == "console":
                lines = [line.removeprefix("$ ") for line in block.splitlines()]
                assert all(line.startswith("abstain ") for line in lines)
                results = [run(*shlex.split(line)[1:]) for line in lines]
                assert [(result.exit_code, result.stderr) for result in results] == [(0, "")] * len(lines)
                printed = results[-1].stdout
                same = alike_but_for_numbers if any(words in block for words in OF_THE_DRAW) else alike
            else:
                pairs.append((printed, block, same))
    return pairs


def alike(printed, shown):
    """Whether a command has printed what the page shows, in which "..." stands for anything."""
    return doctest.OutputChecker().check_output(shown, printed, doctest.ELLIPSIS)


# which rows are drawn depends on every byte of the model
OVER_CAPACITY = re.compile(r"error over capacity .*\n|\d+ of \d+ audited\s+answers\s+among[^%]*%[^%]*%[^%]*%\.")


def alike_but_for_numbers(printed, shown):
    """The same with any numbers, lines broken anywhere, and rows over capacity among the audited ones or not."""
    plain = (" ".join(re.sub(r"\d[\d.]*", "0", OVER_CAPACITY.sub("", text)).split()) for text in (printed, shown))
    return alike(*plain)


@pytest.mark.long
def test_the_page_shows_what_its_commands_print(tmp_path):
    pairs = told(PAGE, tmp_path)
    assert len(pairs) >= 4
    assert {same for *_, same in pairs} == {alike, alike_but_for_numbers}
    for printed, shown, same in pairs:
        assert same(printed, shown), printed
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_a_page_that_shows_something_else_is_found(tmp_path):
    page = '```python\nimport pathlib\npathlib.Path("t.csv").write_text("a,y\\n1,0\\n")\n```\n'
    page += "```console\n$ abstain --version\n```\n```text\nabstain 0.0\n```\n"
    ((printed, shown, _),) = told(page, tmp_path)
    assert (tmp_path / "t.csv").exists()
    assert not alike(printed, shown)
    assert alike("a 1\nb 2\nc 3\n", "a 1\n...\nc 3\n")
    assert not alike("a 1\nb 2\nc 3\n", "a 1\n...\nc 4\n")
    assert alike_but_for_numbers("1 of 30 is\n wrong 3.1", "2 of 30 is wrong\n 4.25")
    assert not alike_but_for_numbers("1 of 30 is wrong", "2 of 30 are wrong")
