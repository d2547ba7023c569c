"""`abstain fit --also`: verdicts are training rows, as if they stood in the table; and the whole loop."""

import csv
import io
import json

import numpy as np
import polars as pl
import pytest

import abstain
from cli.reviewing import filled, line, predicted, truths
from cli.running import FIT, pipeline_of, run, said, write_table


@pytest.mark.parametrize("name", ["review.csv", "review.xlsx"])
def test_the_model_is_that_of_a_table_with_these_rows(tmp_path, table, model, cases, name):
    path, truth = predicted(tmp_path, model, cases, "--audit", 10, name=name), truths(cases)
    filled(path, lambda row: "unsure" if line(row) % 5 == 0 else None if line(row) % 5 == 1 else truth(row))
    review = (
        pl.read_csv(path, infer_schema_length=0) if name.endswith("csv") else pl.read_excel(path, sheet_name="cases")
    )
    used = [line(row) for row in review.iter_rows(named=True) if line(row) % 5 > 1]
    lines, more = table.read_text().splitlines(), cases.read_text().splitlines()[1:]
    joined = tmp_path / "joined.csv"
    joined.write_text("\n".join([*lines, *(more[at] for at in used)]) + "\n")
    result = run("fit", table, *FIT, "--also", path, "-o", tmp_path / "one", "--json")
    assert result.exit_code == 0, result.stderr
    facts = json.loads(result.stdout)
    assert (facts["verdicts"], facts["rows"]) == (len(used), 80 + len(used))
    assert run("fit", joined, *FIT, "-o", tmp_path / "two").exit_code == 0
    X = pl.read_csv(cases, null_values="").select("age", "city").to_pandas()
    X = X.where(X.notna(), None)
    one, two = (abstain.load(tmp_path / which).decision_function(X) for which in ("one", "two"))
    np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-9)
    plain = abstain.load(model).decision_function(X)
    assert np.abs(one - plain).max() > 0.01, "the verdicts changed nothing"


def test_groups_and_costs_of_rows_are_read_from_the_review(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("t", "b"):
        y = np.arange(200) % 2
        x, loan = y + rng.normal(0, 0.8, 200), np.round(rng.uniform(1, 9, 200), 2)
        rows = (f"{a:.4f},{b},g{at // 4},{'ny'[k]}" for at, (a, b, k) in enumerate(zip(x, loan, y, strict=True)))
        (tmp_path / f"{name}.csv").write_text("x,loan,group,kind\n" + "\n".join(rows) + "\n")
    fit = ("-t", "kind", "--pos-label", "y", "--false-negative-column", "loan", "--reject", 0.4, "--groups", "group")
    fit += ("--C", 1, "--gamma", 1)
    assert run("fit", tmp_path / "t.csv", *fit, "-o", tmp_path / "m").exit_code == 0
    path = filled(predicted(tmp_path, tmp_path / "m", tmp_path / "b.csv"), truths(tmp_path / "b.csv", "kind"))
    result = run("fit", tmp_path / "t.csv", *fit, "--also", path, "-o", tmp_path / "m2")
    assert result.exit_code == 0, result.stderr
    assert len(pipeline_of(tmp_path / "m2")[-1].support_) > 0


def test_the_whole_loop(tmp_path):
    """Fit, predict, verdicts, audit, fit again: with the rounds fresh rows cost less, and audits cover the costs."""
    fresh, found = write_table(tmp_path / "fresh.csv", rows=2000, seed=99), []
    training, model, reviews = write_table(tmp_path / "t.csv", rows=40, seed=1), tmp_path / "m0", []
    fit = ("--target", "answer", "--pos-label", "yes", "--false-negative", 5, "--reject", 0.3, "--gamma", 0.5, "--C", 1)
    assert run("fit", training, *fit, "-o", model).exit_code == 0
    for at in range(4):
        result = json.loads(run("evaluate", model, fresh, "--json").stdout)
        found.append(result["mean_cost"])
        batch = write_table(tmp_path / f"b{at}.csv", rows=200, seed=10 + at)
        options = ("--audit", 20, "--seed", at)
        reviews.append(filled(predicted(tmp_path, model, batch, *options, name=f"r{at}.xlsx"), truths(batch)))
        facts = json.loads(run("audit", model, reviews[-1], "--json").stdout)
        rows = list(csv.DictReader(io.StringIO((tmp_path / "answers.csv").read_text())))
        label, y = (np.array([row[name] for row in rows]) for name in ("label", "answer"))
        paid = abstain.metrics.mean_cost(y, label, abstain.Costs(1, 5, 0.3), pos_label="yes", reject_label="reject")
        assert facts["cost_per_row"]["from"] - 1e-9 <= paid <= facts["cost_per_row"]["to"] + 1e-9
        model = tmp_path / f"m{at + 1}"
        also = [part for path in reviews for part in ("--also", path)]
        assert run("fit", training, *fit, *also, "-o", model).exit_code == 0
    assert found[-1] < 0.97 * found[0]


def mistake(tmp_path, table, *options):
    result = run("fit", table, *FIT, *options, "-o", tmp_path / "m")
    assert result.exit_code in (2, 3)
    assert not (tmp_path / "m").exists()
    return said(result)


def test_mistakes_end_in_one_sentence_with_the_way_out(tmp_path, table, model, cases):
    empty = predicted(tmp_path, model, cases, name="r.csv")
    assert "has no verdicts" in mistake(tmp_path, table, "--also", empty)
    assert "the file of answers" in mistake(tmp_path, table, "--also", tmp_path / "answers.csv")
    path = filled(empty, truths(cases), tmp_path / "f.csv")
    other = tmp_path / "other.csv"
    other.write_text(table.read_text().replace("city", "town", 1))
    assert "no column 'town'" in mistake(tmp_path, other, "--also", path)
    path.write_text(path.read_text().replace(",yes,", ",yess,", 1))
    assert "did you mean 'yes'?" in mistake(tmp_path, table, "--also", path)
    path.write_text(path.read_text().replace(",yess,", ",maybe,", 1))
    assert "'no', 'yes' and 'unsure'" in mistake(tmp_path, table, "--also", path)
    asked = ("-t", "answer", "--max-error", 0.1, "--also", path, "-o", tmp_path / "m")
    assert "leave it out" in said(run("fit", table, *asked))
    assert run("fit", table, *FIT, "--also", tmp_path / "none.csv", "-o", tmp_path / "m").exit_code == 2


def test_rows_that_changed_are_named_and_not_used(tmp_path, table, model, cases):
    path = filled(predicted(tmp_path, model, cases, "--audit", 10, name="r.csv"), truths(cases))
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    whole = json.loads(run("fit", table, *FIT, "--also", path, "-o", tmp_path / "m", "--json").stdout)["verdicts"]
    assert whole == len(rows)

    def written(change):
        edited = [dict(row) for row in rows]
        change(edited)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, edited[0])
            writer.writeheader()
            writer.writerows(edited)
        result = run("fit", table, *FIT, "--also", path, "-o", tmp_path / "m", "--json", "--force")
        return json.loads(result.stdout)["verdicts"] if result.exit_code == 0 else None, result.stderr

    def some(edited):
        edited[2]["age"] = "77.5"
        edited[3]["code"] = ""
        edited.append(edited[0])

    found, heard = written(some)
    assert found == whole - 2
    assert "'line 4' changed after" in heard
    assert "'line 5' without a code" in heard
    assert f"'line {len(rows) + 2}' there twice" in heard

    def torn(edited):  # a column sorted alone
        for row, age in zip(edited[1:], sorted(row["age"] for row in rows[1:]), strict=True):
            row["age"] = age

    found, heard = written(torn)
    assert found < whole / 4
    assert "changed after 'abstain predict' wrote the file" in heard

    def all_of_them(edited):
        for row in edited:
            row["age"] = "41.5"

    assert written(all_of_them)[0] is None
    assert "changed in all rows" in written(all_of_them)[1]


def test_a_fit_to_other_columns_says_that_changes_cannot_be_noticed(tmp_path, table, model, cases):
    path = filled(predicted(tmp_path, model, cases, name="r.csv"), truths(cases))
    result = run("fit", table, *FIT, "--also", path, "--ignore", "city", "-o", tmp_path / "m")
    assert result.exit_code == 0
    assert "reads other columns" in result.stderr
    plain = run("fit", table, *FIT, "--also", path, "-o", tmp_path / "m", "--force")
    assert "reads other columns" not in plain.stderr
    assert "rows of --also are harder than others" in " ".join(plain.stdout.split())


def test_a_review_file_is_no_table_of_new_rows(tmp_path, table, model, cases):
    path = filled(predicted(tmp_path, model, cases, name="r.csv"), truths(cases))
    fit = ("--target", "verdict", *FIT[2:], "-o", tmp_path / "m")
    for given in ((path,), (table, path)):
        assert "--also" in said(run("fit", *given, *fit))
    result = run("evaluate", model, path, "--target", "verdict")
    assert result.exit_code == 0
    assert "'abstain audit'" in result.stderr
