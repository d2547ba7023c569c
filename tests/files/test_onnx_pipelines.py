"""Graphs of Pipelines decide as Python does, on the training rows and on rows with gaps and unseen categories."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from abstain import RejectSVC, decide, to_onnx
from abstain.files.onnx import check as onnx_check
from onnx_cases import run
from pipeline_cases import CASES, COSTS, fitted, frame


def feeds(graph, X):
    """The rows as the graph takes them: one matrix, or one column per input, "" for a missing text."""
    names = [one.name for one in graph.graph.input]
    if names == ["X"]:
        return {"X": np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)}
    columns = {name: X[name].to_numpy() for name in names} if hasattr(X, "columns") else {"x0": X[:, 0]}
    texts = {one.name for one in graph.graph.input if one.type.tensor_type.elem_type == 8}
    found = {}
    for name, column in columns.items():
        cells = [one if isinstance(one, str) else "" for one in column.tolist()] if name in texts else column
        found[name] = np.array(cells, dtype=object if name in texts else np.float64)[:, np.newaxis]
    return found


@pytest.mark.parametrize("name", [name for name, (*_, has_graph) in CASES.items() if has_graph])
def test_a_graph_decides_as_python_does(name):
    model, X = fitted(name)
    wide = X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X  # float32 scales in float32
    graph = to_onnx(model)
    label, score, rejected = run(graph, feeds(graph, X))
    decisions = decide(model, wide)
    np.testing.assert_allclose(score, decisions.score, rtol=0, atol=1e-10)
    assert label.tolist() == decisions.label.tolist()
    assert rejected.tolist() == decisions.rejected.tolist()
    assert np.ptp(score) > 0.1, "scores differ, or the test says little"


@pytest.mark.parametrize("name", [name for name, (*_, has_graph) in CASES.items() if not has_graph])
def test_what_has_no_graph_is_refused(name):
    with pytest.raises(ValueError, match="which has no ONNX graph here; transform the rows before"):
        to_onnx(fitted(name)[0])


@pytest.mark.parametrize("name", ["mixed", "mixed, sparse", "columns by type"])
def test_unseen_categories_and_gaps(name):
    model, X = fitted(name)
    graph = to_onnx(model)
    new = X.assign(city="Rom", gaps=np.nan)
    score = run(graph, feeds(graph, new))[1]
    np.testing.assert_allclose(score, model.decision_function(new), rtol=0, atol=1e-10)
    assert np.abs(score - model.decision_function(X)).max() > 1e-3, "the change matters"


def test_inputs_are_the_columns_that_are_read():
    def inputs(name):
        return [one.name for one in to_onnx(fitted(name)[0]).graph.input]

    assert inputs("mixed") == ["age", "dose", "count", "city", "ward", "gaps"]
    assert inputs("names of a frame") == inputs("columns by number") == ["X"]
    assert inputs("OneHotEncoder of text") == ["x0"]


def test_a_graph_of_other_steps_is_not_returned():
    """The control of the comparison: another mean, another category, another fill value are all noticed."""
    model, _ = fitted("mixed")
    graph = to_onnx(model)
    changed = [
        lambda one: one.named_transformers_["numbers"][1].mean_.__iadd__(0.1),
        lambda one: one.named_transformers_["numbers"][0].statistics_.__iadd__(9.0),
        lambda one: one.named_transformers_["city"].categories_[0].__setitem__(0, "Aalen"),
    ]
    onnx_check.compare(graph, model)
    for change in changed:
        other = clone(model).fit(*frame())
        change(other[0])
        with pytest.raises(RuntimeError, match="differ from Python's"):
            onnx_check.compare(graph, other)


@pytest.mark.parametrize(
    ("steps", "columns", "message"),
    [
        (ColumnTransformer([("a", OneHotEncoder(), ["city"]), ("b", "passthrough", ["city"])]), ["city"], "both as t"),
        (SimpleImputer(strategy="most_frequent", add_indicator=True), ["ward"], "add_indicator=True"),
    ],
    ids=["text and numbers", "flags"],
)
def test_text_that_has_no_graph(steps, columns, message):
    X, y = frame()
    encoded = make_pipeline(steps, OneHotEncoder(handle_unknown="ignore"), RejectSVC(COSTS)).fit(X[columns], y)
    with pytest.raises(ValueError, match=message):
        to_onnx(encoded)


def test_empty_text_and_missing_text_cannot_both_be_categories():
    X, y = frame()
    both = X[["ward"]].replace("a", "")
    with pytest.raises(ValueError, match='two of None, NaN and ""'):
        to_onnx(make_pipeline(OneHotEncoder(), RejectSVC(COSTS)).fit(both, y))


def test_missing_categories_are_encoded_as_in_python():
    X, y = frame()
    encode = OrdinalEncoder(encoded_missing_value=-3, handle_unknown="use_encoded_value", unknown_value=-5)
    model = make_pipeline(encode, StandardScaler(), RejectSVC(COSTS)).fit(X[["ward", "city"]], y)
    graph, new = to_onnx(model), X[["ward", "city"]].assign(city="Rom")
    for rows in (X[["ward", "city"]], new):
        np.testing.assert_allclose(run(graph, feeds(graph, rows))[1], model.decision_function(rows), atol=1e-10)


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        (OrdinalEncoder(min_frequency=30), r"OrdinalEncoder\(min_frequency=30\), which has no ONNX graph; leave min_f"),
        (OrdinalEncoder(max_categories=2), r"OrdinalEncoder\(max_categories=2\), which has no ONNX graph"),
        (OneHotEncoder(min_frequency=30), r"OneHotEncoder\(min_frequency=30\), which has no ONNX graph"),
        (OneHotEncoder(max_categories=2), r"OneHotEncoder\(max_categories=2\), which has no ONNX graph"),
        (OneHotEncoder(handle_unknown="infrequent_if_exist"), "infrequent_if_exist'.*; use 'ignore'"),
        (OneHotEncoder(drop=["Ulm"]), r"drop=\['Ulm'\]\), which has no ONNX graph"),
    ],
    ids=str,
)
def test_encoders_that_join_categories_are_refused_also_without_onnxruntime(encoder, message, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    X, y = frame()
    model = make_pipeline(encoder, RejectSVC(COSTS)).fit(X[["city"]], y)
    with pytest.raises(ValueError, match=message):
        to_onnx(model)


@pytest.mark.parametrize("missing", [None, np.nan], ids=str)
@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(),
        OneHotEncoder(handle_unknown="ignore"),
        OrdinalEncoder(encoded_missing_value=-3),
        OrdinalEncoder(encoded_missing_value=-3, handle_unknown="use_encoded_value", unknown_value=-5),
    ],
    ids=str,
)
def test_missing_text_is_what_the_encoder_was_trained_with(encoder, missing):
    X, y = frame()
    cells = np.where(np.arange(len(X)) % 6 == 0, missing, X["city"].to_numpy(dtype=object))
    X = X[["age"]].assign(city=pd.Series(cells, dtype=object, index=X.index))
    columns = ColumnTransformer([("number", StandardScaler(), ["age"]), ("text", encoder, ["city"])])
    model = make_pipeline(columns, RejectSVC(COSTS)).fit(X, y)
    assert columns.fit(X).named_transformers_["text"].categories_[0][-1] is missing
    graph = to_onnx(model)
    np.testing.assert_allclose(run(graph, feeds(graph, X))[1], model.decision_function(X), rtol=0, atol=1e-10)


def test_no_rows_have_no_answers():
    model, X = fitted("mixed")
    graph = to_onnx(model)
    assert run(graph, feeds(graph, X.head(0)))[1].shape == (0,)
