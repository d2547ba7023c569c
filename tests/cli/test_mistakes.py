"""Mistakes of a first hour: each ends in one sentence with the way out, without a traceback or a file."""

import shlex

import polars as pl
import pytest
import xlsxwriter

from cli.running import EVEN, heard, run, write_table

FIT = "-t answer --reject 0.3 --C 10 --gamma 0.5 -o x"
# what is typed, its exit code (2: usage, 3: bad data), and words of the one sentence
MISTAKES = {
    "a misspelt command": ("fti t.csv", 2, "Did you mean 'fit'?"),
    "a misspelt option": (f"fit t.csv {FIT} --false-negativ 5", 2, "--false-negative"),
    "no target": ("fit t.csv --reject 0.3 -o x", 2, "Missing option '--target'"),
    "no output": ("fit t.csv -t answer --reject 0.3", 2, "Missing option '--output'"),
    "no table": ("predict model", 2, "Missing argument 'DATA'; see 'abstain predict --help'"),
    "no cost of a reject": ("fit t.csv -t answer -o x", 2, "as in --reject 0.3"),
    "a file that does not exist": (f"fit tt.csv {FIT}", 2, "does not exist"),
    "a folder": (f"fit folder {FIT}", 2, "is a directory"),
    "a misspelt column": ("fit t.csv -t anwser --reject 0.3 -o x", 3, "did you mean 'answer'?"),
    "a column in other case": ("fit t.csv -t Answer --reject 0.3 -o x", 3, "did you mean 'answer'?"),
    "a misspelt column to ignore": (f"fit t.csv {FIT} --ignore citty", 3, "did you mean 'city'?"),
    "all columns ignored": (f"fit t.csv {FIT} --ignore age,city", 3, "a model needs at least one feature"),
    "a cost as text": ("fit t.csv -t answer --reject cheap -o x", 2, "must be one cost, or two as in 0.2/0.5"),
    "another cost as text": (f"fit t.csv {FIT} --false-negative five", 2, "must be a number with a decimal point"),
    "a cost with a comma": ("fit t.csv -t answer --reject 0,3 -o x", 2, "written with a point, as in 0.3"),
    "another cost with a comma": (f"fit t.csv {FIT} --false-negative 5,5", 2, "with a decimal point, as in 2.5"),
    "a cost in percent": ("fit t.csv -t answer --reject 30% -o x", 2, "must be one cost, or two"),
    "a reject above the limit": ("fit t.csv -t answer --reject 0.9 -o x", 2, "The largest reject cost allowed is 0.5"),
    "a negative cost": (f"fit t.csv {FIT} --false-negative -5 --pos-label yes", 2, "must be positive and finite"),
    "a reject that costs nothing": ("fit t.csv -t answer --reject 0 -o x", 2, "must be positive and finite"),
    "no positive class": (f"fit t.csv {FIT} --false-negative 5", 2, "--pos-label is missing"),
    "a positive class that is none": (f"fit t.csv {FIT} --pos-label Yes", 2, "did you mean 'yes'?"),
    "an unknown option": (f"fit t.csv {FIT} --positive yes", 2, "No such option: --positive"),
    "a misspelt class of costs": (f"fit t.csv {FIT} --cost-matrix misspelt.csv", 3, "it has none for 'yes'"),
    "a text among costs": (f"fit t.csv {FIT} --cost-matrix text.csv", 3, "'one'; it must be a number"),
    "swapped labels of costs": (f"fit t.csv {FIT} --cost-matrix swapped.csv", 3, "must be 0, not 1; subtract it"),
    "a table instead of costs": (f"fit t.csv {FIT} --cost-matrix t.csv", 3, "must name a predicted column"),
    "a comma as decimal sign": (f"fit comma.csv {FIT}", 3, "has a decimal comma; pass --decimal ','"),
    "semicolons and commas": (f"fit semicolons.csv {FIT}", 3, "has a decimal comma; pass --decimal ','"),
    "an empty file": (f"fit empty.csv {FIT}", 3, "the first line must name the columns"),
    "a header alone": (f"fit header.csv {FIT}", 3, "is not followed by any rows; add some"),
    "no header": (f"fit rows.csv {FIT}", 3, "its first line must name the columns"),
    "zeros": (f"fit zeros.csv {FIT}", 3, "contains a NUL byte; remove it"),
    "a PDF": (f"fit pdf.csv {FIT}", 3, "is a PDF, not a table; save the table as CSV"),
    "a picture": (f"fit picture.csv {FIT}", 3, "is a picture, not a table"),
    "a web page": (f"fit page.csv {FIT}", 3, "is a web page, not a table"),
    "one class": (f"fit one.csv {FIT}", 3, "contains only one class, 'no'; two are needed"),
    "a model instead of a table": (f"fit model {FIT}", 3, "perhaps a model, but not an Excel workbook"),
    "a table instead of a model": ("predict t.csv t.csv", 3, "The model is given first, then the table"),
    "model and table swapped": ("evaluate t.csv model", 3, "The model is given first, then the table"),
    "half a model": ("predict half t.csv", 3, "or its end is missing"),
    "a column is missing": ("predict model fewer.csv", 3, "has no column 'age', which the model needs"),
    "a number that is none": ("predict model odd.csv", 3, "is not a number; correct it"),
    "labels in other case": ("evaluate model upper.csv -t answer", 3, "did you mean 'no'?"),
    "a folder that does not exist": ("predict model t.csv -o none/x.csv", 2, "does not exist; create it first"),
    "a folder as output": ("predict model t.csv -o folder", 2, "is a folder; specify a file"),
    "an output that exists": ("predict model t.csv -o one.csv", 2, "pass --force to replace it"),
    "the output is the input": ("predict model t.csv -o t.csv --force", 2, "use another name"),
    "another kind of output": ("predict model t.csv -o x.txt", 2, "must end in .csv, .parquet or .xlsx"),
    "a misspelt machine": ("fit t.csv -t answer --reject 0.3 -o x --machine forrest", 2, "did you mean 'forest'?"),
    "a share in percent": ("fit t.csv -t answer -o x --reject-rate 10", 2, "between 0 and 1, as in 0.1"),
    "a cost and a share": (f"fit t.csv {FIT} --reject-rate 0.1", 2, "both say when to reject"),
    "two tables": (f"fit t.csv t.csv {FIT}", 2, "join them into one"),
    "a label is missing": (f"fit unlabelled.csv {FIT}", 3, "add it, or pass --drop-unlabelled"),
    "a sheet that is not the first": (f"fit sheets.xlsx {FIT}", 3, "has no column 'answer'"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("mistakes")
    text = write_table(found / "t.csv").read_text(encoding="utf-8")
    header, *rows = text.splitlines()
    cells = [row.split(",") for row in rows]
    commas = [f'"{age.replace(".", ",")}",{city},{answer}' for age, city, answer in cells]
    costs = "actual,pred_no,pred_yes\nno,0,1\nyes,5,0\n"
    files = {
        "misspelt": costs.replace("pred_yes", "pred_yess"),
        "text": costs.replace("no,0,1", "no,0,one"),
        "swapped": costs.replace("no,0,1\nyes,5,0", "no,1,0\nyes,0,5"),
        "comma": "\n".join([header, *commas]),
        "semicolons": text.replace(",", ";").replace(".", ","),
        "empty": "",
        "header": header + "\n",
        "rows": "\n".join(rows),
        "zeros": header + "\n" + "\0" * 100,
        "page": "<!DOCTYPE html>\n<html></html>",
        "one": "\n".join([header, *(row for row in rows if row.endswith(",no"))]),
        "fewer": "\n".join(line.partition(",")[2] for line in (header, *rows)),
        "odd": text.replace(rows[0].partition(",")[0], "3.1.0"),
        "upper": text.replace(",no\n", ",No\n"),
        "unlabelled": text.replace(rows[0], rows[0].removesuffix("no")),
    }
    for name, content in files.items():
        (found / f"{name}.csv").write_text(content, encoding="utf-8")
    (found / "pdf.csv").write_bytes(b"%PDF-1.4\n" + bytes(range(256)))
    (found / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    (found / "folder").mkdir()
    with xlsxwriter.Workbook(found / "sheets.xlsx") as book:
        book.add_worksheet("read me").write(0, 0, "see the next sheet")
        pl.read_csv(found / "t.csv").write_excel(book, "data")
    assert run("fit", found / "t.csv", *EVEN, "-o", found / "model").exit_code == 0
    (found / "half").write_bytes((found / "model").read_bytes()[:300])
    return found


@pytest.mark.parametrize("mistake", [*MISTAKES])
def test_a_mistake_ends_in_one_sentence_with_the_way_out(folder, mistake, monkeypatch):
    typed, code, words = MISTAKES[mistake]
    monkeypatch.chdir(folder)
    before = sorted(path.name for path in folder.iterdir())
    result = run(*shlex.split(typed))
    (line,) = [line for line in heard(result) if "note: " not in line]
    assert (result.exit_code, words in line) == (code, True), line
    assert line.startswith("abstain: ")
    assert "Traceback" not in result.output
    assert sorted(path.name for path in folder.iterdir()) == before


def test_what_is_no_mistake_is_done(folder, monkeypatch, tmp_path):
    """Controls: other columns and another order at predict, a category that training did not have, the labels too."""
    monkeypatch.chdir(folder)
    plain = pl.read_csv("t.csv")
    other = plain.select("answer", extra=pl.lit(1), city=pl.lit("Oslo"), age="age")
    other.write_csv(tmp_path / "other.csv")
    result = run("predict", "model", tmp_path / "other.csv", "-o", tmp_path / "out.csv")
    assert result.exit_code == 0, result.output
    assert "have a category that did not occur in training: 'Oslo'" in result.stderr
    assert run("fit", "t.csv", *shlex.split(FIT), "--force", "-o", tmp_path / "x").exit_code == 0
    result = run("fit", "sheets.xlsx", *shlex.split(FIT))
    assert "note: sheets.xlsx has the sheets 'read me' and 'data', and the first one is read" in result.stderr
