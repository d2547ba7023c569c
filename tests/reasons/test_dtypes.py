"""A change is decided as it is printed, whatever the types of the columns of X and of the training table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from abstain import Costs, RejectSVC, decide, explain
from abstain.reasons.changes import changed


@pytest.fixture(scope="module")
def machine():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1)) + 1
    y = (X[:, 0] + rng.normal(size=200) * 0.3 > 1) * 1
    return RejectSVC(Costs(reject=0.3), kernel="linear").fit(X, y), X


@pytest.mark.parametrize(
    "made",
    [
        np.array,
        lambda rows: np.array(rows, dtype=np.int8),
        lambda rows: sparse.csr_array(np.array(rows)),
        lambda rows: sparse.coo_array(np.array(rows)),
    ],
    ids=["int", "int8", "csr", "coo"],
)
def test_whole_numbers_are_changed_to_fractions(machine, made):
    fitted, training = machine
    X = made([[1]])
    found = explain(fitted, X, training=training)
    assert found.decisions.rejected[0]
    assert not decide(fitted, np.array([[found.changes[0].value]])).rejected[0]
    nearer = np.array([[found.changes[0].value + 0.01]])
    assert decide(fitted, nearer).rejected[0], "the change is larger than it must be"
    given = explain(fitted, np.array([[1.0]]), training=training)
    assert found.changes[0] == given.changes[0]


def mixed(frame, library):
    return frame if library == "pandas" else pl.from_pandas(frame)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_cells_of_any_type_can_be_written(library):
    day = pd.Timestamp("2026-03-02")
    frame = pd.DataFrame({
        "f": [1.5, 2.5], "text": ["a", "b"], "time": [day, day], "whole": [1, 2], "truth": [True, False],
    })  # fmt: skip
    X = mixed(frame, library)
    at, columns = np.array([0, 0, 1, 1]), np.array([0, 1, 3, 4])
    found = changed(X, np.array([0, 1]), at, columns, [0.25, "longer", 7.5, 1])
    rows = found.to_numpy().tolist() if library == "pandas" else [list(row) for row in found.iter_rows()]
    assert [rows[0][0], rows[0][1], rows[1][3], rows[1][4]] == [0.25, "longer", 7.5, 1.0]
    assert [rows[1][0], rows[1][1], rows[0][3], rows[0][4]] == [2.5, "b", 1.0, 1.0]
    assert [pd.Timestamp(row[2]) for row in rows] == [day, day]


def test_missing_truths_and_whole_numbers_stay_missing():
    frame = pd.DataFrame({"a": pd.array([True, None, False], dtype="boolean"), "b": pd.array([1, 2, None], "Int64")})
    for X in (frame, pl.from_pandas(frame), pl.from_pandas(frame).with_columns(pl.lit(None).alias("a"))):
        found = changed(X, np.arange(3), np.array([0, 0]), np.array([0, 1]), [0, 2.5])
        cells = found if isinstance(found, pd.DataFrame) else found.to_pandas()
        assert np.isnan(cells["a"].astype(float)[1])
        assert cells["b"].astype(float).tolist()[:2] == [2.5, 2.0]
        assert np.isnan(cells["b"].astype(float)[2])


@pytest.mark.parametrize("kind", ["object", "category", "enum"])
def test_categories_that_a_batch_lacks_can_be_proposed(kind):
    rng = np.random.default_rng(1)
    names = rng.choice(["red", "blue", "grey"], size=300)
    train = pd.DataFrame({"x": rng.normal(size=300), "color": names})
    means = np.where(names == "red", 2.0, np.where(names == "blue", -2.0, 0.0))
    y = (train["x"] + means + rng.normal(size=300) > 0) * 1
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["color"]), remainder="passthrough")
    fitted = make_pipeline(encode, RejectSVC(Costs(reject=0.2), C=10)).fit(train, y)
    plain = pd.DataFrame({"x": [0.0, 0.1], "color": ["grey", "grey"]})
    expected = [None if one is None else tuple(one) for one in explain(fitted, plain, training=train).changes]
    assert any(one is not None for one in expected)
    if kind == "category":
        given = plain.astype({"color": "category"})
    elif kind == "enum":
        fitted = make_pipeline(encode, RejectSVC(Costs(reject=0.2), C=10)).fit(pl.from_pandas(train), y)
        given = pl.from_pandas(plain).with_columns(pl.col("color").cast(pl.Enum(["grey"])))
        train = pl.from_pandas(train)
    else:
        given = plain
    found = [None if one is None else tuple(one) for one in explain(fitted, given, training=train).changes]
    assert found == expected


def test_a_frame_and_an_array_are_not_one_table(machine):
    fitted, training = machine
    with pytest.raises(ValueError, match="two data frames with the same columns, or two arrays"):
        explain(fitted, np.array([[1.0]]), training=pd.DataFrame(training))
