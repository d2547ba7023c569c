"""The commands on models saved from Python: estimators other than those that `abstain fit` makes."""

import csv
import io
import json

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from abstain import Actions, Costs, EmbeddedRejectSVC, NoveltyRejector, RejectSVC, ThresholdRejector, save
from abstain.preprocessing import default_pipeline
from cli.running import run, said, write_table

COSTS = Costs(1, 5, 0.3)
HOSTILE = ("<script>alert(1)</script>", "=cmd|' /C calc'!A0")
MACHINES = {
    "embedded": EmbeddedRejectSVC(0.2, C=1.0),
    "embedded kernel": EmbeddedRejectSVC(0.2, kernel="rbf"),
    "rejector of embedded": ThresholdRejector(EmbeddedRejectSVC(0.2), COSTS),
    "rejector of logistic": ThresholdRejector(LogisticRegression(), reject_rate=0.2),
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    path = write_table(tmp_path_factory.mktemp("hostile") / "table.csv", labels=HOSTILE)
    return path, pd.read_csv(path)


@pytest.mark.parametrize("name", MACHINES)
def test_predict_evaluate_and_export(name, hostile, tmp_path):
    data, frame = hostile
    model = default_pipeline(MACHINES[name], ["age"], ["city"]).fit(frame, frame["answer"])
    save(model, tmp_path / "model")
    answers = list(csv.DictReader(io.StringIO(run("predict", tmp_path / "model", data).stdout)))
    expected = ["'" + label if label[0] == "=" else label for label in model.predict(frame)]
    assert [row["label"] for row in answers] == expected
    facts = json.loads(run("evaluate", tmp_path / "model", data, "--json").stdout)
    assert facts["reject_rate"] == pytest.approx(np.mean(model.predict(frame) == "reject"))
    if model[-1].rule_.costs is not None:
        assert facts["mean_cost"] == pytest.approx(-model.score(frame, frame["answer"]))
    assert run("export", tmp_path / "model", "--onnx", tmp_path / "graph").exit_code == 0


def test_the_report_of_an_embedded_machine(hostile, tmp_path):
    data, frame = hostile
    save(default_pipeline(MACHINES["embedded"], ["age"], ["city"]).fit(frame, frame["answer"]), tmp_path / "model")
    result = run("evaluate", tmp_path / "model", data, "--report", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "EmbeddedRejectSVC" in page
    assert HOSTILE[0] not in page


def test_export_names_what_cannot_be_a_graph(hostile, tmp_path):
    _, frame = hostile
    chow = ThresholdRejector(RandomForestClassifier(5, random_state=0), COSTS, method="chow")
    save(default_pipeline(chow, ["age"], ["city"]).fit(frame, frame["answer"]), tmp_path / "model")
    result = run("export", tmp_path / "model", "--onnx", tmp_path / "graph")
    assert result.exit_code == 3
    assert "RandomForestClassifier, which has no ONNX graph here" in said(result)
    assert not (tmp_path / "graph").exists()


def test_a_machine_of_named_columns_fills_nothing_in(hostile, tmp_path):
    data, frame = hostile
    present = frame.dropna(subset=["age"])
    save(EmbeddedRejectSVC(0.2).fit(present[["age"]], present["answer"]), tmp_path / "model")
    result = run("predict", tmp_path / "model", data)
    assert result.exit_code == 3
    assert "table.csv: line 5, column 'age': a number is missing, and this model does not impute it" in said(result)
    present.to_csv(tmp_path / "present.csv", index=False)
    assert run("predict", tmp_path / "model", tmp_path / "present.csv").exit_code == 0


def test_a_pipeline_of_named_columns(hostile, tmp_path):
    data, frame = hostile
    filled = SimpleImputer(strategy="constant", fill_value="none")
    cities = make_pipeline(filled, OneHotEncoder(handle_unknown="ignore"))
    ages = make_pipeline(SimpleImputer(), StandardScaler())
    columns = ColumnTransformer([("age", ages, ["age"]), ("c", cities, ["city"])])
    model = make_pipeline(columns, RejectSVC(COSTS)).fit(frame[["city", "age"]], frame["answer"])
    save(model, tmp_path / "model")
    answers = list(csv.DictReader(io.StringIO(run("predict", tmp_path / "model", data).stdout)))
    score = [float(row["score"]) for row in answers]
    np.testing.assert_allclose(score, model.decision_function(frame[["city", "age"]]), rtol=1e-9)
    assert run("export", tmp_path / "model", "--onnx", tmp_path / "graph").exit_code == 0


def test_export_of_a_model_with_a_guard(hostile, tmp_path):
    _, frame = hostile
    model = NoveltyRejector(default_pipeline(RejectSVC(COSTS), ["age"], ["city"]), rate=0.1, random_state=0)
    save(model.fit(frame, frame["answer"]), tmp_path / "model")
    result = run("export", tmp_path / "model", "--onnx", tmp_path / "graph")
    assert result.exit_code == 0, result.output
    session = onnxruntime.InferenceSession(tmp_path / "graph", providers=["CPUExecutionProvider"])
    for rows, share in ((frame, pytest.approx(0.1, abs=0.1)), (frame.assign(age=1e4), 1.0)):
        cells = {"age": rows[["age"]].to_numpy(dtype=np.float64)}
        cells["city"] = rows[["city"]].astype(object).fillna("").to_numpy(dtype=object)
        label, novel, p_value = session.run(["label", "novel", "p_value"], cells)
        assert label.tolist() == model.predict(rows).tolist()
        assert p_value.tolist() == model.novelty(rows).tolist()
        assert novel.mean() == share


def test_export_of_a_pipeline_fitted_to_arrays(hostile, tmp_path):
    _, frame = hostile
    present = frame.dropna(subset=["age"])
    model = make_pipeline(StandardScaler(), RejectSVC(COSTS)).fit(present[["age"]].to_numpy(), present["answer"])
    save(model, tmp_path / "model")
    result = run("export", tmp_path / "model", "--onnx", tmp_path / "graph")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "graph").stat().st_size > 0


@pytest.mark.parametrize("command", [("predict",), ("evaluate",), ("export", "--onnx", "graph")])
def test_models_with_actions_saved_from_python(command, tmp_path):
    data = write_table(tmp_path / "table.csv", labels=("no", "yes"))
    frame = pd.read_csv(data)
    actions = Actions({"no": {"no": 0, "yes": 5}, "yes": {"no": 1, "yes": 0}, "ask": 0.3})
    save(default_pipeline(RejectSVC(actions), ["age"], ["city"]).fit(frame, frame["answer"]), tmp_path / "model")
    name, *options = command
    given = [tmp_path / "graph" if option == "graph" else option for option in options] or [data]
    result = run(name, tmp_path / "model", *given)
    assert result.exit_code == 0, result.output
