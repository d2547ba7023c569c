"""Review files after other programs had them: read right, or refused with the row named."""

import csv
import io
import json
import shutil
import subprocess

import openpyxl
import pytest

from cli.reviewing import filled, line, predicted, rows_of, truths
from cli.running import run, said, write_table

OFFICE = shutil.which("soffice")
needs_office = pytest.mark.skipif(OFFICE is None, reason="needs LibreOffice")


@pytest.fixture
def review(tmp_path, model, cases):
    return filled(predicted(tmp_path, model, cases, "--audit", 20), truths(cases))


def audited(model, path, *options):
    result = run("audit", model, path, "--json", *options)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def resaved(path, kind, folder):
    """The file as LibreOffice saves it."""
    folder.mkdir()
    home = f"-env:UserInstallation=file://{folder / 'profile'}"
    command = [OFFICE, home, "--headless", "--convert-to", kind, "--outdir", str(folder), str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=240)  # noqa: S603
    return folder / f"{path.stem}.{kind.partition(':')[0]}"


def edited(path, change, target):
    book = openpyxl.load_workbook(path)
    change(book["cases"])
    book.save(target)
    return target


def names(sheet):
    return {cell.value: cell.column for cell in sheet[1]}


def test_sorted_rows_are_the_same_rows(tmp_path, model, review):
    def by_age(sheet):
        rows = sorted(sheet.iter_rows(min_row=2, values_only=True), key=lambda row: str(row[names(sheet)["age"] - 1]))
        for at, row in enumerate(rows, start=2):
            for column, value in enumerate(row, start=1):
                sheet.cell(at, column).value = value

    assert audited(model, edited(review, by_age, tmp_path / "sorted.xlsx")) == audited(model, review)


def test_a_column_sorted_alone_is_noticed(tmp_path, model, review):
    """Of all rows but the last three."""

    def ages(sheet):
        column = names(sheet)["age"]
        values = [row[column - 1].value for row in sheet.iter_rows(min_row=2)]
        for at, value in enumerate([*sorted(values[:-3], key=str), *values[-3:]], start=2):
            sheet.cell(at, column).value = value

    before, after = audited(model, review), audited(model, edited(review, ages, tmp_path / "torn.xlsx"))
    rows = openpyxl.load_workbook(review)["cases"].max_row - 1
    assert len(next(iter(after["not_used"].values()))) > rows / 2
    assert after["rows_handed_on"] == before["rows_handed_on"]


def test_deleted_rows_are_missed(tmp_path, model, review):
    def some(sheet):
        sheet.delete_rows(3, 4)

    result = run("audit", model, edited(review, some, tmp_path / "less.xlsx"), "--json")
    facts, whole = json.loads(result.stdout), audited(model, review)
    assert facts["rows_handed_on"] == whole["rows_handed_on"]
    missed = facts["rejected_rows_turned_out_as"]["no_verdict"] + 20 - facts["error_among_the_answers"]["rows"]
    assert missed == 4


def test_columns_and_sheets_that_people_add_do_no_harm(tmp_path, model, review):
    def more(sheet):
        sheet.insert_cols(1)
        sheet["A1"] = "my mark"
        sheet.parent.create_sheet("notes", 0)["A1"] = "first sheet now"

    assert audited(model, edited(review, more, tmp_path / "more.xlsx")) == audited(model, review) | {"not_used": {}}


def test_verdicts_in_other_capitals_and_with_spaces(tmp_path, model, review):
    def loud(sheet):
        for row in sheet.iter_rows(min_row=2):
            cell = row[names(sheet)["verdict"] - 1]
            cell.value = f" {cell.value.upper()} "

    assert audited(model, edited(review, loud, tmp_path / "loud.xlsx")) == audited(model, review)


@needs_office
@pytest.mark.long
@pytest.mark.parametrize("kind", ["xlsx", "csv"])
def test_libreoffice_saves_what_the_audit_reads(tmp_path, model, review, kind):
    saved = resaved(review, kind, tmp_path / "office")
    assert audited(model, saved) == audited(model, review)


@needs_office
@pytest.mark.long
def test_formulas_are_read_as_their_values(tmp_path, model, review):
    def formulas(sheet):
        column, age = names(sheet)["verdict"], names(sheet)["age"]
        for at in range(2, sheet.max_row + 1):
            sheet.cell(at, column).value = f'=IF(1=1,"{sheet.cell(at, column).value}","")'
            if sheet.cell(at, age).value is not None:
                sheet.cell(at, age).value = f"={sheet.cell(at, age).value}+0"

    written = edited(review, formulas, tmp_path / "formulas.xlsx")
    assert audited(model, resaved(written, "xlsx", tmp_path / "office")) == audited(model, review)
    # written by a program that computes nothing, the cells are empty: refused, or no verdict
    result = run("audit", model, written)
    assert result.exit_code == 3
    assert "no verdicts" in result.stderr
    assert "changed" in result.stderr


@needs_office
@pytest.mark.long
def test_a_formula_that_fails_is_no_verdict(tmp_path, model, review):
    def broken(sheet):
        sheet.cell(4, names(sheet)["verdict"]).value = "=1/0"

    saved = resaved(edited(review, broken, tmp_path / "broken.xlsx"), "xlsx", tmp_path / "office")
    facts, whole = audited(model, saved), audited(model, review)
    missed = [one["rejected_rows_turned_out_as"]["no_verdict"] for one in (facts, whole)]
    judged = [one["error_among_the_answers"]["rows"] for one in (facts, whole)]
    assert missed[0] - missed[1] + judged[1] - judged[0] == 1


@pytest.mark.parametrize(
    ("encoding", "options"),
    [("utf-8-sig", ()), ("utf-16", ()), ("windows-1252", ("--encoding", "windows-1252"))],
)
def test_a_csv_in_another_encoding(tmp_path, encoding, options):
    lines = write_table(tmp_path / "t.csv", labels=("nein", "für")).read_text(encoding="utf-8")
    (tmp_path / "t.csv").write_text(lines.replace("Ulm", "Köln"), encoding="utf-8")
    fit = ("-t", "answer", "--reject", 0.3, "--C", 10, "--gamma", 0.5, "-o", tmp_path / "m")
    assert run("fit", tmp_path / "t.csv", *fit).exit_code == 0
    path = predicted(tmp_path, tmp_path / "m", tmp_path / "t.csv", "--audit", 10, name="r.csv")
    filled(path, truths(tmp_path / "t.csv"))
    plain = audited(tmp_path / "m", path)
    path.write_text(path.read_text(encoding="utf-8"), encoding=encoding)
    assert audited(tmp_path / "m", path, *options) == plain
    if options:
        assert "--encoding" in said(run("audit", tmp_path / "m", path))


def test_a_csv_with_semicolons_and_decimal_commas(tmp_path, model, cases):
    path = filled(predicted(tmp_path, model, cases, "--audit", 10, name="r.csv"), truths(cases))
    plain, rows = audited(model, path), list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    for row in rows:
        row["age"] = row["age"].replace(".", ",")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    assert audited(model, path, "--decimal", ",") == plain
    assert "--decimal" in said(run("audit", model, path))


def test_ids_that_a_spreadsheet_turns_into_numbers_do_no_harm(tmp_path, model, cases):
    lines = cases.read_text().splitlines()
    named = tmp_path / "named.csv"
    named.write_text("\n".join([f"id,{lines[0]}", *(f"00{at},{row}" for at, row in enumerate(lines[1:]))]) + "\n")
    path = predicted(tmp_path, model, named, "--id", "id", "--audit", 5, name="r.csv")
    truth = truths(cases)
    filled(path, lambda row: truth({"row": f"line {int(row['id']) + 2}"}))
    before = audited(model, path)
    path.write_text(path.read_text().replace("\n00", "\n"))
    assert audited(model, path) == before


def test_a_formula_in_a_category_stays_what_it_was(tmp_path):
    lines = write_table(tmp_path / "t.csv").read_text().replace("Ulm", "=1+1").replace("Bonn", "@b")
    (tmp_path / "t.csv").write_text(lines)
    fit = ("-t", "answer", "--reject", 0.3, "--C", 10, "--gamma", 0.5, "-o", tmp_path / "m")
    assert run("fit", tmp_path / "t.csv", *fit).exit_code == 0
    found = []
    for name in ("r.csv", "r.xlsx"):
        path = predicted(tmp_path, tmp_path / "m", tmp_path / "t.csv", "--audit", 30, name=name)
        found.append(audited(tmp_path / "m", filled(path, truths(tmp_path / "t.csv"))))
    assert found[0] == found[1]
    assert found[0]["not_used"] == {}


def test_classes_that_are_numbers_may_be_written_with_decimals(tmp_path):
    """As the program of a reviewer may write them; another number is no class."""
    training, batch = (write_table(tmp_path / f"{at}.csv", seed=at, labels=("0", "1")) for at in (1, 2))
    options = ("--target", "answer", "--reject", 0.3, "--C", 10, "--gamma", 0.5)
    assert run("fit", training, *options, "-o", tmp_path / "m").exit_code == 0
    path, truth = predicted(tmp_path, tmp_path / "m", batch, "--audit", 40, name="r.csv"), truths(batch)
    plain = audited(tmp_path / "m", filled(path, truth))
    assert audited(tmp_path / "m", filled(path, lambda row: f"{truth(row)}.0")) == plain
    refused = run("audit", tmp_path / "m", filled(path, lambda row: f"{truth(row)}.5"))
    assert (refused.exit_code, "is not a class of the model" in said(refused)) == (3, True)


@pytest.mark.parametrize(("name", "unsure"), [("unsure", 0), ("no", 1)])
def test_a_class_may_be_called_unsure(tmp_path, name, unsure):
    training, batch = (write_table(tmp_path / f"{at}.csv", seed=at, labels=(name, "yes")) for at in (1, 2))
    options = ("--target", "answer", "--reject", 0.3, "--C", 10, "--gamma", 0.5)
    assert run("fit", training, *options, "-o", tmp_path / "m").exit_code == 0
    path = predicted(tmp_path, tmp_path / "m", batch, "--audit", 10, name="r.csv")
    facts = audited(tmp_path / "m", filled(path, lambda row: "unsure" if line(row) % 2 else "yes"))
    assert facts["unsure"] == unsure * sum(line(row) % 2 for row in rows_of(path))
    decided = list(csv.DictReader(io.StringIO((tmp_path / "answers.csv").read_text(encoding="utf-8"))))
    answered = [row for row in rows_of(path) if decided[line(row)]["rejected"] == "false"]
    judged = [row for row in answered if name == "unsure" or line(row) % 2 == 0]
    assert facts["error_among_the_answers"]["rows"] == len(judged)
