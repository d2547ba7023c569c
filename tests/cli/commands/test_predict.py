"""`abstain predict` says what the library says, row by row, and never holds a large file."""

import csv
import io
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import abstain
from cli.running import FIT, run, said, write_table

PROBABILITIES = ("probability_no", "probability_yes")
ADDED = ("label", "rejected", "reason", "score", *PROBABILITIES, "cost_no", "cost_reject", "cost_yes")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_rows_keep_their_cells_and_get_the_librarys_answers(table, model):
    given, answered = rows_of(table.read_text(encoding="utf-8")), rows_of(run("predict", model, table).stdout)
    assert [{name: row[name] for name in given[0]} for row in answered] == given
    assert tuple(answered[0])[3:] == ADDED
    pipeline = abstain.load(model)
    X = pd.DataFrame(
        {"age": [float(row["age"] or "nan") for row in given], "city": [row["city"] or None for row in given]}
    )
    assert [row["label"] for row in answered] == pipeline.predict(X).tolist()
    np.testing.assert_array_equal([float(row["score"]) for row in answered], pipeline.decision_function(X))
    assert {row["label"] for row in answered} == {"no", "yes", "reject"}, "a table that shows too little"
    assert [row["rejected"] for row in answered] == [str(row["label"] == "reject").lower() for row in answered]


def test_expected_costs_follow_from_the_score(table, model):
    # P = 1 / (1 + exp(-f)); costs 1, 5 and 0.3
    for row in rows_of(run("predict", model, table).stdout):
        p = 1 / (1 + np.exp(-float(row["score"])))
        expected = (1 - p, p, 5 * p, 0.3, 1 - p)
        np.testing.assert_allclose([float(row[name]) for name in ADDED[4:]], expected, rtol=1e-9)


def test_the_positive_class_may_be_the_first(tmp_path, table):
    path = tmp_path / "model"
    assert run("fit", table, *FIT, "-o", path, "--pos-label", "no").exit_code == 0
    for row in rows_of(run("predict", path, table).stdout):
        p = 1 / (1 + np.exp(float(row["score"])))  # the score speaks for "yes", the positive class is "no"
        assert float(row["cost_yes"]) == pytest.approx(5 * p)  # of calling a row of "no" so


def test_batches_do_not_show(table, model, monkeypatch):
    from abstain.cli.tables import csv_records

    whole = run("predict", model, table).stdout
    monkeypatch.setattr(csv_records, "CHUNK", 100)
    assert run("predict", model, table).stdout == whole


def test_parquet_gives_the_same_answers(tmp_path, table, model):
    path = tmp_path / "table.parquet"
    pl.read_csv(table).write_parquet(path)
    answers = [[row[name] for name in ADDED] for row in rows_of(run("predict", model, path).stdout)]
    assert answers == [[row[name] for name in ADDED] for row in rows_of(run("predict", model, table).stdout)]


def test_answers_are_written_in_the_notation_of_the_table(tmp_path, table, model):
    german = table.read_text(encoding="utf-8").replace(",", ";").replace(".", ",")
    path = tmp_path / "german.csv"
    path.write_text(german, encoding="utf-8")
    result = run("predict", model, path, "--decimal", ",")
    answered = list(csv.DictReader(io.StringIO(result.stdout), delimiter=";"))
    plain = rows_of(run("predict", model, table).stdout)
    assert [[row[name].replace(",", ".") for name in row] for row in answered] == [[*row.values()] for row in plain]
    assert any("," in row["score"] for row in answered)
    pl.read_csv(table).write_parquet(tmp_path / "table.parquet")  # without a separator of its own
    typed = run("predict", model, tmp_path / "table.parquet", "--decimal", ",").stdout
    assert [line.split(";")[3:] for line in typed.splitlines()] == [
        line.split(";")[3:] for line in result.stdout.splitlines()
    ]


def test_a_column_of_an_added_name_is_refused_unless_prefixed(tmp_path, model):
    path = tmp_path / "table.csv"
    path.write_text("age,city,score\n30,Ulm,x\n", encoding="utf-8")
    result = run("predict", model, path)
    assert result.exit_code == 3
    assert "already has a column 'score'" in said(result)
    (row,) = rows_of(run("predict", model, path, "--prefix", "svm_").stdout)
    assert row["score"] == "x"
    assert float(row["svm_score"])


def test_json_counts(tmp_path, table, model):
    out = tmp_path / "out.csv"
    counted = json.loads(run("predict", model, table, "-o", out, "--json").stdout)
    answered = rows_of(out.read_text(encoding="utf-8"))
    rejected = sum(row["rejected"] == "true" for row in answered)
    counts = {"output": str(out), "rows": 80, "rejected": rejected, "reject_rate": rejected / 80}
    counts |= {"ambiguous": rejected, "novel": 0}
    named = {"score": "log-odds of 'yes', the class that sorts last", "negative_class": "no", "positive_class": "yes"}
    named["a_false_negative_is"] = "deciding 'no' for a row of 'yes'"
    drift = counted.pop("drift")
    assert (drift["drifted"], drift["differences"]) == (False, [])
    nothing = {name: [] for name in ("unseen_categories", "outside_the_range", "newly_missing")}
    assert counted == counts | named | nothing
    assert run("predict", model, table, "--json").exit_code == 2


def test_what_was_written_is_confirmed(tmp_path, table, model):
    out = tmp_path / "out.csv"
    result = run("predict", model, table, "-o", out)
    rejected = sum(row["rejected"] == "true" for row in rows_of(out.read_text(encoding="utf-8")))
    *lines, drift = filter(None, result.stdout.splitlines())
    assert drift.startswith("This batch is like the training rows")
    facts = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in lines)
    assert facts == {
        "output": str(out),
        "rows": "80",
        "rejected": str(rejected),
        "reject rate": f"{rejected / 80:.4g}",
        "ambiguous": str(rejected),
        "novel": "0",
        "score": "log-odds of 'yes', the class that sorts last",
        "negative class": "no",
        "positive class": "yes",
        "a false negative is": "deciding 'no' for a row of 'yes'",
    }
    assert result.stderr == ""
    piped = run("predict", model, table)
    assert len(rows_of(piped.stdout)) == 80  # only rows
    assert piped.stderr == ""


def test_hostile_cells_stay_text(tmp_path):
    labels = ("</script><script>alert(1)</script>", "=cmd|' /C calc'!A0")
    data, path, out = tmp_path / "data.csv", tmp_path / "model", tmp_path / "out.csv"
    write_table(data, labels=labels)
    fitted = run("fit", data, *FIT, "--pos-label", labels[1], "-o", path)
    assert fitted.exit_code == 0
    assert run("evaluate", path, data).exit_code == 0
    assert run("predict", path, data, "-o", out).exit_code == 0
    cells = {cell for row in rows_of(out.read_text(encoding="utf-8")) for cell in (row["answer"], row["label"])}
    assert f"'{labels[1]}" in cells  # the apostrophe
    assert labels[1] not in cells
    assert labels[0] in cells


def peak(model, data, out, chunk=None):
    """Largest resident memory of a predict in a process of its own, in MB."""
    # not getrusage, which on Linux would count what the process that started this one had
    script = (
        "import sys\nfrom abstain.cli.tables import csv_records\n"
        f"csv_records.CHUNK = {chunk} or csv_records.CHUNK\n"
        "from abstain.cli.commands.predict import predict\nfrom abstain.cli.input.models import load_model\n"
        "from abstain.cli.options import Given\nfrom pathlib import Path\n"
        "given = Given(data=Path(sys.argv[2]), output=Path(sys.argv[3]), force=True)\n"
        "predict(load_model(Path(sys.argv[1])), given)\n"
        "status = Path('/proc/self/status').read_text(encoding='utf-8')\n"
        "print(next(line for line in status.splitlines() if line.startswith('VmHWM')).split()[1])"
    )
    ended = subprocess.run(  # noqa: S603 (our own script)
        [sys.executable, "-c", script, str(model), str(data), str(out)], capture_output=True, text=True, check=True
    )
    return int(ended.stdout) / 1024


@pytest.mark.long
def test_a_large_file_is_never_held(tmp_path, model):
    row = b"34.5,Ulm," + b"x" * 9991 + b"\n"
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    small.write_bytes(b"age,city,note\n" + row * 10)
    with large.open("wb") as file:
        file.write(b"age,city,note\n")
        for _ in range(60):
            file.write(row * 100)
    assert large.stat().st_size > 60e6
    before = peak(model, small, tmp_path / "out.csv")
    grown = peak(model, large, tmp_path / "out.csv") - before
    assert grown < 50, f"{grown:.0f} MB more for a file of 60 MB: it was held as a whole"
    with (tmp_path / "out.csv").open("rb") as file:
        assert sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b"")) == 6_001
    held = peak(model, large, tmp_path / "out.csv", chunk=1 << 28) - before
    assert held > 60, "the measure would not see a file that is held"


def test_a_number_too_large_to_compute_with_is_named(tmp_path, model):
    path = tmp_path / "table.csv"
    path.write_text("age,city\n30,Ulm\n1e200,Ulm\n", encoding="utf-8")
    result = run("predict", model, path)
    assert result.exit_code == 3
    assert "line 3, column 'age': '1e200' is too large to compute with" in said(result)


def test_a_model_without_names_of_columns_is_refused(tmp_path, table):
    path = tmp_path / "model"
    abstain.save(abstain.RejectSVC().fit([[0.0], [1.0]], ["no", "yes"]), path)
    result = run("predict", path, table)
    assert result.exit_code == 3
    assert "the model has no column names" in said(result)


def test_a_machine_fitted_to_a_data_frame_is_a_model(tmp_path):
    import pandas as pd

    path, rows = tmp_path / "model", tmp_path / "rows.csv"
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
    machine = abstain.RejectSVC(abstain.Costs(reject=0.2)).fit(frame, [0, 0, 1, 1])
    abstain.save(machine, path)
    rows.write_text("b,note,a\n1,x,0\n0,y,3\n", encoding="utf-8")
    answered = rows_of(run("predict", path, rows).stdout)
    assert [int(row["label"]) for row in answered] == machine.predict(frame.iloc[[0, 3]]).tolist()


@pytest.mark.parametrize("pos_label", ["no", "yes"])
def test_the_classes_of_the_columns_are_named(table, tmp_path, pos_label):
    model, out = tmp_path / "model", tmp_path / "out.csv"
    fitted = json.loads(run("fit", table, *FIT, "--pos-label", pos_label, "-o", model, "--json").stdout)
    said = json.loads(run("predict", model, table, "-o", out, "--json").stdout)
    assert said["score"] == fitted["score"] == "log-odds of 'yes', the class that sorts last"
    assert said["positive_class"] == pos_label != said["negative_class"]
    rows = pl.read_csv(out)
    assert set(rows.filter(pl.col("score") > pl.col("score").quantile(0.9))["label"]) == {"yes"}
    right = rows["cost_yes"] < rows["cost_no"]
    assert set(rows.filter(right & ~rows["rejected"])["label"]) == {"yes"}


def test_fit_asks_for_the_positive_class(table, tmp_path):
    options = [one for one in FIT if one not in ("--pos-label", "yes")]
    result = run("fit", table, *options, "-o", tmp_path / "model")
    assert result.exit_code == 2
    assert "--pos-label is missing" in said(result)
    assert not (tmp_path / "model").exists()
    compared = run("compare", table, "--target", "answer", "--false-negative", 5, "--reject", 0.3)
    assert (compared.exit_code, "--pos-label is missing" in said(compared)) == (2, True)


def test_missing_text_is_given_as_each_encoder_knows_it(tmp_path):
    """One column trained with None and one with NaN, as tables from two sources have them."""
    rng = np.random.default_rng(0)
    codes = [None if at % 6 == 0 else "xy"[at % 2] for at in range(60)]
    cities = [np.nan if at % 5 == 1 else "uv"[at % 2] for at in range(60)]
    texts = {"code": pd.Series(codes, dtype=object), "city": pd.Series(cities, dtype=object)}
    rows = pd.DataFrame({"age": rng.normal(size=60), **texts})
    encode = OneHotEncoder(handle_unknown="ignore")
    encode = make_column_transformer((encode, ["code", "city"]), remainder="passthrough")
    model = make_pipeline(encode, abstain.RejectSVC(abstain.Costs(reject=0.2))).fit(rows, np.arange(60) % 3 > 0)
    path, data, out = tmp_path / "model", tmp_path / "data.csv", tmp_path / "out.csv"
    abstain.save(model, path)
    rows.to_csv(data, index=False)
    assert run("predict", path, data, "-o", out).exit_code == 0
    scores = [float(row["score"]) for row in rows_of(out.read_text(encoding="utf-8"))]
    np.testing.assert_allclose(scores, model.decision_function(rows), atol=1e-12)
