"""What is printed is plain, on one line per row, and JSON is JSON."""

import json
import math

import pytest

from abstain.cli.output import printing
from abstain.cli.progress import progress
from cli.running import EVEN, FIT, run, write_table


def test_json_has_no_nan_and_keys_without_spaces(capsys):
    printing.print_json({"a b": math.nan, "e-c": [1, math.inf], "d": {"x y": "ü"}, "e": (1, None)})
    text = capsys.readouterr().out
    assert json.loads(text) == {"a_b": None, "e_c": [1, None], "d": {"x_y": "ü"}, "e": [1, None]}
    assert "ü" in text


@pytest.mark.parametrize("text", ["\u202eabc", "\x7f", "\x9b31m", "\x1b[31m", "\u2066", "\U000e0041", "\u2028"])
def test_json_cannot_steer_the_terminal(capsys, text):
    printing.print_json({text: [text, {"a": f"ü{text}"}]})
    printed = capsys.readouterr().out
    assert all(char == "\n" or char.isprintable() for char in printed)
    assert json.loads(printed) == {text: [text, {"a": f"ü{text}"}]}
    assert "ü" in printed


def test_hostile_names_and_labels_are_escaped_everywhere(tmp_path):
    data, model = write_table(tmp_path / "data.csv", labels=("no\u202e", "yes\x9b")), tmp_path / "model"
    data.write_text(data.read_text(encoding="utf-8").replace("city", "ci\u202ety"), encoding="utf-8")
    new = tmp_path / "new.csv"
    new.write_text("age,ci\u202ety,answer\n1,\u202eRome,no\u202e\n", encoding="utf-8")
    results = [
        run("fit", data, *EVEN, "-o", model, "--json"),
        run("evaluate", model, data, "--json"),
        run("evaluate", model, data),
        run("predict", model, new, "-o", tmp_path / "out.csv"),
        run("predict", model, new, "-o", tmp_path / "out.csv", "--json", "--force"),
        run("fit", data, *EVEN, "-o", model, "--ignore", "x\u202e", "--force"),
    ]
    assert [result.exit_code for result in results] == [0, 0, 0, 0, 0, 3]
    assert all(char == "\n" or char.isprintable() for result in results for char in result.stdout + result.stderr)
    assert json.loads(results[0].stdout)["positive_class"] == "yes\x9b"


def test_cells_are_cut_and_cannot_steer(capsys):
    printing.print_table(("", "x" * 100), [("\x1b[31mred\nsecond", 1.23456)])
    head, row, _ = capsys.readouterr().out.split("\n", 2)
    assert head.strip() == "x" * 39 + "…"
    assert row.split() == ["\\x1b[31mred", "second", "1.235"]


def test_markup_of_rich_is_text(capsys):
    printing.print_table(("a",), [("[bold]x[/bold]",)])
    assert "[bold]x[/bold]" in capsys.readouterr().out


def test_long_and_reversed_labels_keep_the_table_readable(tmp_path):
    labels = ("n" * 5000, "\u202eyes")
    data = write_table(tmp_path / "data.csv", labels=labels)
    assert run("fit", data, *FIT, "--pos-label", labels[1], "-o", tmp_path / "model").exit_code == 0
    printed = run("evaluate", tmp_path / "model", data).stdout
    assert max(len(line) for line in printed.splitlines()) < 200
    assert "\u202e" not in printed


def test_no_bar_before_two_seconds_or_without_a_terminal(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("abstain.cli.progress.QUIET_SECONDS", 0.0)
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    with progress("read", path) as report:
        report(3)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for name, whole, done in (("read", path, "3/5 bytes"), ("encode rows", 5, "3/5")):
        with progress(name, whole) as report:
            report(3)
        shown = capsys.readouterr().err
        assert name in shown
        assert done in shown
        assert "-:--:--" in shown  # the time left, which one report cannot tell
    monkeypatch.setattr("abstain.cli.progress.QUIET_SECONDS", 60.0)
    with progress("read", path) as report:
        report(3)
    assert capsys.readouterr().err == ""
