"""What we write is whole, asked for, and runs nothing in a spreadsheet."""

import csv
import io
import signal
import subprocess
import sys

import polars as pl
import pytest

from abstain.cli.exit_codes import UsageError
from abstain.cli.output import tables as files
from cli.running import EVEN, FIT, run, said, write_table

HOSTILE = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\tx", "=", "-", "<script>", "../../x"]
NUMBERS = ["-1.5", "+2", "-1e-3", "3"]


def cells_of(frame):
    file = io.BytesIO()
    files.write_csv(frame, file, header=True)
    return list(csv.reader(io.StringIO(file.getvalue().decode(), newline="")))


def test_formulas_get_an_apostrophe_and_numbers_do_not():
    header, *rows = cells_of(pl.DataFrame({"=name": HOSTILE + NUMBERS}))
    assert header == ["'=name"]
    expected = [f"'{cell}" if cell[0] in "=+-@\t\r\0" else cell for cell in HOSTILE] + NUMBERS
    assert [row[0] for row in rows] == expected
    assert expected[0].startswith("'=")


SIGNED = ["-5%", "-5 %", "-$5", "- 5", "-.5"]
SIGNED += ["+ 1.000,50 \u20ac", "-\u20ac 5", "-EUR 5", "-,5", "-1\u2019000", "-1\u2009000"]


def test_numbers_are_not_changed_whatever_their_notation():
    formulas = ["-5%+A1", "-$A$1", "-5)", "- 5*2", "+EUR", "-%", "-5 5 SUM", "-USD(5)", "-5EURO"]
    found = [row[0] for row in cells_of(pl.DataFrame({"x": SIGNED + formulas}))[1:]]
    assert found == SIGNED + [f"'{one}" for one in formulas]


def test_a_carriage_return_first_gets_an_apostrophe():
    assert cells_of(pl.DataFrame({"x": ["\rx"]}))[1] == ["'\rx"]


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        ("\uff1d1+1", "'\uff1d1+1"),
        ("\uff20SUM(A1)", "'\uff20SUM(A1)"),
        (" =1+1", "' =1+1"),
        ("\n=1+1", "'\n'=1+1"),
        ("Ulm\n=1+1", "Ulm\n'=1+1"),
        ("Ulm\r@x", "Ulm\r'@x"),
        ("Ulm\n\uff1dx", "Ulm\n'\uff1dx"),
        ("-3,14", "-3,14"),
        ("-1.234,5", "-1.234,5"),
        ("+1 234", "+1 234"),
        ("-1+2", "'-1+2"),
        ("Ulm - Bonn", "Ulm - Bonn"),
        ("a=b", "a=b"),
        ("first\nsecond", "first\nsecond"),
    ],
)
def test_formulas_in_other_guises(cell, safe):
    assert cells_of(pl.DataFrame({"x": [cell]}))[1] == [safe]


def test_exact_cells_are_a_choice(tmp_path):
    data, path, out = tmp_path / "data.csv", tmp_path / "model", tmp_path / "out.csv"
    write_table(data, labels=("=no", "yes"))
    assert run("fit", data, *EVEN, "-o", path).exit_code == 0
    for options, written in (((), "'=no"), (("--spreadsheet-safe",), "'=no"), (("--no-spreadsheet-safe",), "=no")):
        assert run("predict", path, data, "-o", out, "--force", *options).exit_code == 0
        with out.open(encoding="utf-8") as file:
            assert {row["answer"] for row in csv.DictReader(file)} == {written, "yes"}


def test_numbers_and_truths_are_written_as_they_are():
    assert cells_of(pl.DataFrame({"n": [-1.5], "t": [True]})) == [["n", "t"], ["-1.5", "true"]]


def test_an_existing_file_needs_force(tmp_path, table, model):
    out = tmp_path / "out.csv"
    out.write_text("precious", encoding="utf-8")
    for arguments in (("predict", model, table, "-o", out), ("fit", table, *FIT, "-o", out)):
        result = run(*arguments)
        assert result.exit_code == 2
        assert f"{out} exists; pass --force" in said(result)
        assert out.read_text(encoding="utf-8") == "precious"
    assert run("predict", model, table, "-o", out, "--force").exit_code == 0
    assert out.read_text(encoding="utf-8").startswith("age,city,answer,label,")


@pytest.mark.parametrize(("name", "text"), [("no/such/out.csv", "does not exist; create it"), (".", "is a folder")])
def test_a_path_that_cannot_be_is_refused_before_any_work(tmp_path, table, model, name, text):
    result = run("predict", model, table, "-o", tmp_path / name)
    assert result.exit_code == 2
    assert text in said(result)


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path, model):
    data, out = tmp_path / "data.csv", tmp_path / "out.csv"
    data.write_text("age,city\n" + "30,Ulm\n" * 200_000 + "x,Ulm\n", encoding="utf-8")
    out.write_text("old", encoding="utf-8")
    assert data.stat().st_size > 1_000_000
    result = run("predict", model, data, "-o", out, "--force")
    assert result.exit_code == 3
    assert out.read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "out.csv"]


def test_a_full_disk_is_the_users_to_mend(tmp_path):
    with (
        pytest.raises(UsageError, match=r"out cannot be written \(No space left"),
        files.writing(tmp_path / "out", force=False),
    ):
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_no_command_replaces_what_it_reads(tmp_path, table, model):
    copy, link = tmp_path / "copy.csv", tmp_path / "link.csv"
    copy.write_bytes(table.read_bytes())
    link.symlink_to(copy)
    for output in (copy, link):
        for arguments in (("predict", model, copy, "-o", output), ("fit", copy, *FIT, "-o", output)):
            result = run(*arguments, "--force")
            assert result.exit_code == 2
            assert f"{output} would replace {copy}, which the command reads; use another name" in said(result)
    kept = model.read_bytes()
    assert "would replace" in said(run("predict", model, copy, "-o", model, "--force"))
    assert "would replace" in said(run("export", model, "--onnx", model, "--force"))
    assert copy.read_bytes() == table.read_bytes()
    assert model.read_bytes() == kept


def test_a_file_that_appears_while_the_command_runs_is_kept(tmp_path):
    out = tmp_path / "out"

    def overtaken():
        with files.writing(out, force=False) as file:
            file.write(b"new")
            out.write_bytes(b"precious")

    with pytest.raises(UsageError, match="out appeared while the command ran; pass --force"):
        overtaken()
    assert out.read_bytes() == b"precious"
    with files.writing(out, force=True) as file:
        file.write(b"new")
    assert out.read_bytes() == b"new"


ENDLESS = """
import signal, sys, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, and a new process inherits that
from abstain.cli.exit_codes import exit_on_error
from abstain.cli.output.tables import writing
from pathlib import Path
with exit_on_error(), writing(Path(sys.argv[1]), force=False) as file:
    file.write(b"half")
    file.flush()
    print("now", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
def test_signals_leave_no_unfinished_file(number, tmp_path):
    command = [sys.executable, "-c", ENDLESS, str(tmp_path / "out")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: S603
    assert process.stdout.readline() == b"now\n"
    assert len([*tmp_path.iterdir()]) == 1  # the control: there is something to remove
    process.send_signal(number)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert told == b"abstain: ended by a signal; no file was written\n"
    assert [*tmp_path.iterdir()] == []
