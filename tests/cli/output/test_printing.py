"""What is printed is plain, on one line per row, and JSON is JSON."""

import json
import math

from abstain.cli.output import printing
from cli.running import FIT, run, write_table


def test_json_has_no_nan_and_keys_without_spaces(capsys):
    printing.print_json({"a b": math.nan, "e-c": [1, math.inf], "d": {"x y": "ü"}, "e": (1, None)})
    text = capsys.readouterr().out
    assert json.loads(text) == {"a_b": None, "e_c": [1, None], "d": {"x_y": "ü"}, "e": [1, None]}
    assert "ü" in text


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
    monkeypatch.setattr(printing, "QUIET_SECONDS", 0.0)
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    with printing.progress("read", path) as report:
        report(3)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with printing.progress("read", path) as report:
        report(3)
    assert "read" in capsys.readouterr().err
    monkeypatch.setattr(printing, "QUIET_SECONDS", 60.0)
    with printing.progress("read", path) as report:
        report(3)
    assert capsys.readouterr().err == ""
