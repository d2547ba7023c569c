"""From scores to decisions: labels, the record of `decide`, the score."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression

from abstain import (
    Actions,
    Costs,
    EmbeddedRejectSVC,
    LinearRejectSVC,
    RejectSVC,
    RejectSVCCV,
    ThresholdRejector,
)

SYMMETRIC = Costs(reject=0.2)
ASYMMETRIC = Costs(false_positive=1, false_negative=5, reject=0.3)


class TestDecide:
    @pytest.mark.parametrize("pos_label", [None, 0])
    def test_the_record(self, data, pos_label):
        X, y = data
        clf = RejectSVC(ASYMMETRIC, pos_label=pos_label).fit(X, y)
        record = clf.decide(X)
        np.testing.assert_array_equal(record.label, clf.predict(X))
        np.testing.assert_array_equal(record.rejected, clf.reject_mask(X))
        np.testing.assert_array_equal(record.score, clf.decision_function(X))
        towards = 1 if pos_label is None else -1
        P = 1 / (1 + np.exp(-towards * record.score))
        np.testing.assert_allclose(record.expected_cost, np.c_[5 * P, np.full(len(P), 0.3), 1 - P])
        # the decision is the cheapest action
        negative, positive = clf.classes_[::towards]
        np.testing.assert_array_equal(
            record.label, np.array([negative, -1, positive])[record.expected_cost.argmin(axis=1)]
        )
        assert len(record) == len(X)

    def test_the_representation_is_one_line(self, data):
        record = RejectSVC(ASYMMETRIC).fit(*data).decide(data[0])
        assert record.rejected.any()
        assert repr(record) == f"Decisions({len(data[0])} rows, {record.rejected.sum()} rejected)"

    def test_without_costs_the_expected_cost_is_nan(self, data):
        record = RejectSVC().fit(*data).decide(data[0])
        assert np.isnan(record.expected_cost).all()
        assert record.expected_cost.shape == (len(data[0]), 3)

    def test_to_frame(self, data):
        record = RejectSVC(ASYMMETRIC).fit(*data).decide(data[0])
        frame = record.to_frame()
        likely, costs = ["probability_0", "probability_1"], ["cost_0", "cost_reject", "cost_1"]
        assert list(frame) == ["label", "rejected", "reason", "score", *likely, *costs]
        p = 1 / (1 + np.exp(-record.score))
        np.testing.assert_allclose(frame[likely], np.column_stack([1 - p, p]), rtol=1e-12)
        np.testing.assert_array_equal(frame["label"], record.label)
        np.testing.assert_array_equal(frame[costs], record.expected_cost)

    def test_score_is_minus_the_mean_cost(self, data):
        X, y = data
        clf = RejectSVC(ASYMMETRIC).fit(X, y)
        said = clf.predict(X)
        paid = np.where(said == -1, 0.3, np.where(said == y, 0.0, np.where(y == 1, 5.0, 1.0)))
        assert clf.score(X, y) == pytest.approx(-paid.mean())
        weight = np.arange(len(y), dtype=float)
        assert clf.score(X, y, weight) == pytest.approx(-(weight @ paid) / weight.sum())
        assert clf.score(X[y == 1], y[y == 1]) == pytest.approx(-paid[y == 1].mean())  # one class is enough
        plain = RejectSVC().fit(X, y)
        assert plain.score(X, y) == pytest.approx(-np.mean(plain.predict(X) != y))


LABELS = {
    "strings": (np.array(["sick", "well"]), "reject", "<U6"),
    "objects": (np.array(["sick", "well"], dtype=object), "reject", object),
    "bool": (np.array([False, True]), -1, np.int8),
    "uint8": (np.array([0, 1], dtype=np.uint8), -1, np.int8),
    "signs": (np.array([-1, 1]), 0, np.int64),
    "float32": (np.array([0, 1], dtype=np.float32), -1, np.float32),
}


class TestLabels:
    @pytest.mark.parametrize(("classes", "reject", "dtype"), LABELS.values(), ids=LABELS)
    def test_kinds(self, data, classes, reject, dtype):
        X, y = data
        clf = RejectSVC(Costs(reject=0.3), C=10).fit(X, classes[y])
        said = clf.predict(X)
        assert type(said) is np.ndarray
        assert clf.reject_label_ == reject
        assert set(said.tolist()) == {*classes.tolist(), reject}
        assert said.dtype.kind == np.dtype(dtype).kind
        np.testing.assert_array_equal(clf.classes_, classes)
        assert clf.classes_.dtype == classes.dtype
        assert clf.predict_forced(X).dtype == classes.dtype
        assert RejectSVC().fit(X, classes[y]).predict(X).dtype == classes.dtype

    def test_own_reject_label(self, data):
        X, y = data
        clf = RejectSVC(Costs(reject=0.3), C=10, reject_label=9).fit(X, y)
        assert set(clf.predict(X)) == {0, 1, 9}
        assert clf.reject_label_ == 9

    @pytest.mark.parametrize("container", [list, pd.Series, lambda y: pl.Series(y.tolist())])
    def test_containers(self, data, container):
        X, y = data
        names = np.array(["sick", "well"])[y]
        expected = RejectSVC(ASYMMETRIC).fit(X, names).predict(X)
        np.testing.assert_array_equal(RejectSVC(ASYMMETRIC).fit(X, container(names)).predict(X), expected)


@pytest.mark.parametrize("make", [RejectSVC, lambda costs, **kw: RejectSVCCV(costs, Cs=2, gammas=1, cv=2, **kw)])
def test_a_fit_that_fails_changes_nothing(data, make):
    X, y = data
    clf = make(ASYMMETRIC, kernel="linear").fit(X, y)
    before = clf.decision_function(X)
    with pytest.raises(ValueError, match="one class"):
        clf.fit(X[:10, :1], np.zeros(10))
    assert clf.n_features_in_ == X.shape[1]
    np.testing.assert_array_equal(clf.decision_function(X), before)
    with pytest.raises(ValueError, match="expecting 4 features"):
        clf.decision_function(X[:, :1])


THREE_WAYS = Actions({0: {0: 0, 1: 1}, 1: {0: 1, 1: 0}, "ask": 0.2})


SEVERAL = [RejectSVC(SYMMETRIC), RejectSVC(), LinearRejectSVC(SYMMETRIC)]
SEVERAL += [ThresholdRejector(LogisticRegression(), SYMMETRIC)]
TWO = [*SEVERAL, RejectSVC(THREE_WAYS), EmbeddedRejectSVC(0.2, n_starts=1)]


@pytest.mark.parametrize(("clf", "n_classes"), [*((clf, 2) for clf in TWO), *((clf, 3) for clf in SEVERAL)])
def test_the_reason_of_every_decision(clf, n_classes):
    X, y = make_blobs(150, centers=n_classes, cluster_std=4.0, random_state=0)
    found = clf.fit(X, y).decide(X)
    assert found.reason.tolist() == ["ambiguous" if rejected else "decided" for rejected in found.rejected]
    assert found.novel is None
    rejects = not (isinstance(clf, RejectSVC) and clf.costs is None)
    assert ("ambiguous" in found.reason) == rejects
    assert found.to_frame()["reason"].tolist() == found.reason.tolist()
    assert "reason" in found._repr_html_()
