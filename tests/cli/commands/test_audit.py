"""`abstain audit`: what verdicts say, against counts by hand; rows that are not of the model are named and not used."""

import csv
import io
import json

import numpy as np
import openpyxl
import pytest

from abstain.metrics import mean_cost
from abstain.review.intervals import share_interval
from cli.reviewing import filled, line, predicted, rows_of, truths
from cli.running import heard, run, said, write_table


def audited(*arguments):
    result = run("audit", *arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def answers(folder, name="answers.csv"):
    return list(csv.DictReader(io.StringIO((folder / name).read_text(encoding="utf-8"))))


@pytest.mark.parametrize("name", ["review.csv", "review.xlsx"])
def test_an_audit_counts_errors_costs_and_rejects(tmp_path, model, cases, name):
    path, truth = predicted(tmp_path, model, cases, "--audit", 40, "--capacity", 15, name=name), truths(cases)
    filled(path, truth)
    facts, decided = audited(model, path), answers(tmp_path)
    error = facts["error_among_the_answers"]
    seen = [line({"row": row["row"]}) for row in rows_of(path)]
    of_answers = [at for at in seen if decided[at]["rejected"] == "false"]
    wrong = sum(decided[at]["label"] != truth({"row": f"line {at + 2}"}) for at in of_answers)
    assert (facts["audited_rows"], error["rows"], error["wrong"]) == (40, 40, wrong)
    assert (error["from"], error["to"]) == share_interval(wrong, 40, 285)
    assert wrong > 0
    y = np.array([truth({"row": f"line {at + 2}"}) for at in range(300)])
    label = np.array([row["label"] for row in decided])
    paid = mean_cost(y[of_answers], label[of_answers], **COSTS)
    assert facts["cost_per_row"]["estimate"] == pytest.approx((285 * paid + 15 * 0.3) / 300)
    everything = mean_cost(y, label, **COSTS)
    assert facts["cost_per_row"]["from"] <= everything <= facts["cost_per_row"]["to"]
    rejected = [truth({"row": f"line {at + 2}"}) for at in seen if decided[at]["rejected"] == "true"]
    turned = {"no": rejected.count("no"), "yes": rejected.count("yes"), "no_verdict": 0}
    assert facts["rejected_rows_turned_out_as"] == turned
    assert facts["not_used"] == {}


def costs():
    from abstain import Costs

    return {"costs": Costs(1, 5, 0.3), "pos_label": "yes", "reject_label": "reject"}


COSTS = costs()


def test_text_and_drift(tmp_path, model, cases):
    path = filled(predicted(tmp_path, model, cases, "--audit", 10), truths(cases))
    result = run("audit", model, path, "--cases", cases)
    assert result.exit_code == 0
    assert "audited answers are wrong" in " ".join(result.stdout.split())
    assert "rejected rows turned out as" in result.stdout
    assert "--cases" not in result.stdout


def test_several_files_are_several_batches(tmp_path, model, cases):
    other = write_table(tmp_path / "other.csv", rows=200, seed=9)
    one = filled(predicted(tmp_path, model, cases, "--audit", 10), truths(cases), tmp_path / "1.xlsx")
    two = filled(predicted(tmp_path, model, other, "--audit", 10, name="two.csv"), truths(other))
    facts = audited(model, one, two)
    assert facts["batches"] == 2
    assert facts["rows_the_model_answers"] + facts["rows_handed_on"] == 500
    assert facts["error_among_the_answers"]["rows"] == 20
    assert facts["reviewers"] == []


def test_two_draws_of_the_same_rows_are_not_two_batches(tmp_path, model, cases):
    files = [
        filled(predicted(tmp_path, model, cases, "--audit", 8, "--seed", seed, name=f"r{seed}.csv"), truths(cases))
        for seed in (3, 4)
    ]
    result = run("audit", model, *files)
    assert result.exit_code == 3
    assert "of the same rows" in said(result)
    assert run("audit", model, files[0]).exit_code == 0


def test_two_reviewers_of_one_batch(tmp_path, model, cases):
    path, truth = predicted(tmp_path, model, cases, "--audit", 10), truths(cases)
    one = filled(path, truth, tmp_path / "1.xlsx")
    two = filled(path, lambda row: "unsure" if line(row) % 7 == 0 else "yes", tmp_path / "2.xlsx")
    (found,) = audited(model, one, two)["reviewers"]
    rows = [row for row in rows_of(one) if line(row) % 7]
    assert found["rows"] == len(rows)
    assert found["same_verdict"] == sum(truth(row) == "yes" for row in rows)
    assert found["kappa"] == pytest.approx(0.0)
    assert audited(model, one, two)["batches"] == 1
    assert audited(model, two, one)["error_among_the_answers"] != audited(model, one, two)["error_among_the_answers"]


def test_unsure_and_missing_verdicts_are_counted_and_named(tmp_path, model, cases):
    path = predicted(tmp_path, model, cases, "--audit", 20)
    filled(path, lambda row: "Unsure" if line(row) % 3 == 0 else None if line(row) % 3 == 1 else "no")
    result = run("audit", model, path, "--json")
    facts = json.loads(result.stdout)
    assert facts["unsure"] == sum(line(row) % 3 == 0 for row in rows_of(path))
    assert "have no usable verdict; the intervals count them as right and as wrong" in result.stderr
    error, lacking = facts["error_among_the_answers"], 20 - facts["error_among_the_answers"]["rows"]
    assert lacking > 5
    assert error["from"] == share_interval(error["wrong"], 20, facts["rows_the_model_answers"])[0]
    assert error["to"] == share_interval(error["wrong"] + lacking, 20, facts["rows_the_model_answers"])[1]


def test_changed_rows_are_named_and_not_used(tmp_path, model, cases):
    path = filled(predicted(tmp_path, model, cases, "--audit", 20), truths(cases))
    whole, book = audited(model, path), openpyxl.load_workbook(path)
    sheet = book["cases"]
    names = [cell.value for cell in sheet[1]]
    sheet.cell(5, names.index("age") + 1).value = 99.5
    sheet.cell(7, names.index("code") + 1).value = None
    sheet.cell(9, names.index("code") + 1).value = sheet.cell(10, names.index("code") + 1).value
    book.save(path)
    result = run("audit", model, path, "--json")
    facts = json.loads(result.stdout)
    assert [*facts["not_used"].values()] == [["row 5", "row 7", "row 9"]]
    # if one was drawn for the audit, the next line says how many are lacking
    for words in ("'row 5', 'row 9' changed after", "'row 7' without a code of this model"):
        assert words in heard(result)[0]
    assert sum(facts["rejected_rows_turned_out_as"].values()) == facts["rows_handed_on"] == whole["rows_handed_on"]


def timed(path, cases, times):
    rows = rows_of(filled(path, truths(cases)))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*rows[0], "started", "finished"])
        writer.writeheader()
        for at, row in enumerate(rows):
            writer.writerow(row | dict(zip(("started", "finished"), times[at % len(times)], strict=True)))
    return len(rows)


TIMES = [
    ("2024-01-31 09:00:00", "2024-01-31 09:00:30"),
    ("2024-01-31 09:10:00", "2024-01-31 09:12:00"),
    ("", "2024-01-31 09:00:00"),
]


def test_the_time_for_a_verdict(tmp_path, model, cases):
    path = predicted(tmp_path, model, cases, "--audit", 5, name="r.csv")
    n = timed(path, cases, TIMES)
    spent = [30.0] * len(range(0, n, 3)) + [120.0] * len(range(1, n, 3))
    assert audited(model, path)["median_seconds"] == np.median(spent)


def test_times_that_cannot_be_read_are_named(tmp_path, model, cases):
    path = predicted(tmp_path, model, cases, "--audit", 5, name="r.csv")
    timed(path, cases, [*TIMES[:2], ("half past nine", "2024-01-31 09:50:00")])
    result = run("audit", model, path, "--json")
    assert json.loads(result.stdout)["median_seconds"] is not None
    assert "times of 'line 4', 'line 7'" in result.stderr
    path = predicted(tmp_path, model, cases, "--audit", 5, name="r.csv")
    timed(path, cases, [("early", "late")])
    assert "are not times" in said(run("audit", model, path))


def swapped_truths(cases):
    truth = truths(cases)
    return lambda row: {"no": "yes", "yes": "no"}[truth(row)]


def test_promises_are_judged(tmp_path):
    training = write_table(tmp_path / "t.csv", rows=600, seed=1)
    batch = write_table(tmp_path / "b.csv", rows=400, seed=2)
    for option, states in (("--max-error", 1), ("--class-error", 2)):
        model = tmp_path / option
        fit = run("fit", training, "-t", "answer", option, 0.2, "--machine", "logistic", "-o", model)
        assert fit.exit_code == 0, fit.stderr
        path = predicted(tmp_path, model, batch, "--audit", 150, name="r.csv")
        kept = audited(model, filled(path, truths(batch), tmp_path / "good.csv"))
        assert len(kept["promises"]) == states
        assert {promise["state"] for promise in kept["promises"]} <= {"kept", "open"}
        assert kept["cost_per_row"] is None
        swapped = filled(path, swapped_truths(batch), tmp_path / "bad.csv")
        assert {promise["state"] for promise in audited(model, swapped)["promises"]} == {"broken"}


def test_rows_over_capacity_break_no_promise(tmp_path):
    training, batch = (write_table(tmp_path / f"{at}.csv", rows=rows, seed=at) for at, rows in ((1, 600), (2, 1200)))
    fit = ("-t", "answer", "--max-error", 0.08, "--machine", "logistic", "-o", tmp_path / "m")
    assert run("fit", training, *fit).exit_code == 0
    review = tmp_path / "r.csv"
    options = ("--review", review, "--capacity", 10, "--audit", 1200, "--json", "-o", tmp_path / "a.csv")
    result = run("predict", tmp_path / "m", batch, *options)
    over = json.loads(result.stdout)["over_capacity"]
    assert f"{over} rows over capacity get an answer" in " ".join(result.stderr.split())
    facts = audited(tmp_path / "m", filled(review, truths(batch)))
    (promise,) = facts["promises"]
    own = [row for row in answers(tmp_path, "a.csv") if row["reason"] == "decided"]
    wrong = [row["label"] != row["answer"] for row in own]
    assert (promise["rows"], promise["wrong"]) == (len(own), sum(wrong))
    assert promise["state"] == "kept"
    assert facts["error_among_the_answers"]["estimate"] > 0.08, "over capacity the answers are worse"
    assert (facts["over_capacity"], facts["error_over_capacity"]["rows"]) == (over, over)
    assert facts["error_over_capacity"]["estimate"] > 2 * promise["estimate"]
    assert "promises are about the answers that are not over capacity" in facts["verdict"]["sentence"]


def test_every_batch_needs_an_audit(tmp_path, model, cases):
    other = write_table(tmp_path / "other.csv", rows=200, seed=9)
    one = filled(predicted(tmp_path, model, cases, "--audit", 10), truths(cases), tmp_path / "1.xlsx")
    two = filled(predicted(tmp_path, model, other, name="two.csv"), truths(other))
    result = run("audit", model, one, two, "--json")
    assert "1 of 2 batches have no audited row" in result.stderr
    assert json.loads(result.stdout)["error_among_the_answers"]["to"] > 200 / 500 * 0.5


def test_row_costs_are_those_of_the_rows(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("t", "b"):
        y = np.arange(160) % 2
        x, loan = y + rng.normal(0, 0.8, 160), np.round(rng.uniform(1, 9, 160), 2)
        rows = "\n".join(f"{a:.4f},{b},{'ny'[k]}" for a, b, k in zip(x, loan, y, strict=True))
        (tmp_path / f"{name}.csv").write_text(f"x,loan,kind\n{rows}\n")
    model = tmp_path / "m"
    fit = ("-t", "kind", "--pos-label", "y", "--false-negative-column", "loan", "--reject", 0.4, "--ignore", "loan")
    assert run("fit", tmp_path / "t.csv", *fit, "--C", 1, "--gamma", 1, "-o", model).exit_code == 0
    path = predicted(tmp_path, model, tmp_path / "b.csv", "--audit", 500, name="r.csv")
    truth = truths(tmp_path / "b.csv", "kind")
    facts = audited(model, filled(path, truth))
    paid = [
        0.4 if row["rejected"] == "true" else 0.0 if row["label"] == row["kind"]
        else float(row["loan"]) if row["kind"] == "y" else 1.0
        for row in answers(tmp_path)
    ]  # fmt: skip
    assert facts["cost_per_row"]["estimate"] == pytest.approx(np.mean(paid))
    changed = rows_of(path)[0]
    text = path.read_text().replace(f",{changed['loan']},", ",8.88,", 1)
    path.write_text(text)
    assert len(next(iter(audited(model, path)["not_used"].values()))) == 1, "its costs are what the model reads"
