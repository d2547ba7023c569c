"""What the page on model files says that they reveal: training rows, or not."""

import io
import zipfile

import numpy as np
import pytest
from onnx import numpy_helper
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from abstain import Costs, EmbeddedRejectSVC, LinearRejectSVC, NoveltyRejector, RejectSVC, ThresholdRejector, to_onnx

COSTS = Costs(reject=0.3)


def in_file(raw):
    """All numbers of a model file's arrays."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        arrays = [np.load(io.BytesIO(archive.read(name))) for name in names]
    return {value for array in arrays for value in array.ravel().tolist()}


def in_graph(model):
    """All numbers of a graph's constants."""
    return {float(x) for one in model.graph.initializer if one.data_type != 8 for x in numpy_helper.to_array(one).flat}


def revealed(numbers, X):
    """How many of the rows have all their values among these numbers."""
    return sum({*row} <= numbers for row in X.tolist())


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_machine_stores_its_support_vectors(kernel, data, contents):
    clf = RejectSVC(COSTS, kernel=kernel).fit(*data)
    assert revealed(in_file(contents(clf)), data[0]) == len(clf.support_) > 0


@pytest.mark.parametrize("clf", [EmbeddedRejectSVC(0.2), ThresholdRejector(LogisticRegression(), COSTS)], ids=repr)
def test_weights_alone_store_no_row(clf, data, contents):
    assert revealed(in_file(contents(clf.fit(*data))), data[0]) == 0


@pytest.mark.parametrize("before", ["passthrough", StandardScaler()], ids=repr)
def test_the_graph_of_a_linear_kernel_has_no_row(before, data):
    X, y = data
    model = make_pipeline(before, RejectSVC(COSTS, kernel="linear")).fit(X, y)
    numbers = in_graph(to_onnx(model))
    assert revealed(numbers, model[:-1].transform(X)) == revealed(numbers, X) == 0
    linear = model[-1].machine_.linear
    assert {*linear.weights.tolist()} <= numbers
    assert len(numbers) < 10 * X.shape[1]


def test_the_graph_of_another_kernel_has_the_support_vectors(data):
    """The control: they are there, around their centre."""
    X, y = data
    clf = RejectSVC(COSTS, gamma=1.0).fit(X, y)
    around = 2.0 * (clf.support_vectors_ - clf.support_vectors_.mean(axis=0))
    assert revealed(in_graph(to_onnx(clf)), around) == len(clf.support_)


def test_a_scaler_stores_extremes(data, contents):
    X, y = data
    numbers = in_file(contents(make_pipeline(MinMaxScaler(), EmbeddedRejectSVC(0.2)).fit(X, y)))
    assert {*X.min(axis=0).tolist(), *X.max(axis=0).tolist()} <= numbers


def test_a_guard_stores_the_support_vectors_of_its_detector(data, contents):
    X, y = data
    clf = NoveltyRejector(LinearRejectSVC(COSTS), rate=0.05, random_state=0).fit(X, y)
    columns, vectors = clf.guard_.detector.columns_, clf.guard_.detector.machine_.vectors
    assert revealed(in_file(contents(clf)), vectors) == len(vectors) > 0
    known, inside = {tuple(row) for row in np.round(X, 9).tolist()}, (np.abs(vectors) < 3.0).all(axis=1)
    back = vectors[inside] * columns.spread + columns.centre
    assert not columns.floor.any()
    assert len(back) > len(vectors) / 2
    assert {tuple(row) for row in np.round(back, 9).tolist()} <= known
    assert {*clf.guard_.scores.tolist()} <= in_file(contents(clf))
    assert revealed(in_file(contents(LinearRejectSVC(COSTS).fit(X, y))), X) == 0, "the classifier alone has none"
