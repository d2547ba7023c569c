"""Machines decide dask arrays lazily, chunk by chunk, as they decide rows in memory."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from abstain import Costs, EmbeddedRejectSVC, LinearRejectSVC, OneClassSVM, RejectSVC, ThresholdRejector
from dask_cases import chunked, da


def test_cuts_of_a_linear_machine_are_tuned_on_dask_arrays(rows):
    X, y = rows
    asked = {"costs": Costs(reject=0.2), "cv": 3, "method": "symmetric"}
    in_memory = ThresholdRejector(LinearRejectSVC(Costs(reject=0.2)), **asked).fit(X, y)
    lazy = ThresholdRejector(LinearRejectSVC(Costs(reject=0.2)), **asked).fit(chunked(X), y)
    assert (lazy.predict(X) == in_memory.predict(X)).mean() > 0.95  # each of the four fits has a tolerance


def test_one_class_scores_dask_arrays_by_chunks(rows):
    X, _ = rows
    machine = OneClassSVM(nu=0.2).fit(X[:100])
    lazy = machine.predict(da.concatenate([chunked(X)[:0], chunked(X)]))
    expected = machine.predict(X)
    machine.fit(X[100:200])  # what is lazy has kept the machine
    np.testing.assert_array_equal(lazy.compute(), expected)
    assert 0 < (expected == -1).sum() < len(X)


@pytest.mark.parametrize(
    "clf",
    [
        RejectSVC(Costs(reject=0.2)),
        EmbeddedRejectSVC(reject_cost=0.2, n_starts=1),
        ThresholdRejector(LogisticRegression(), costs=Costs(reject=0.2)),
    ],
    ids=lambda clf: type(clf).__name__,
)
def test_other_machines_decide_dask_arrays(rows, clf):
    X, y = rows
    clf.fit(X[:200], y[:200])
    lazy = clf.predict(chunked(X))
    expected = clf.predict(X)
    clf.fit(X[:200], y[:200][::-1])  # what is lazy has kept the machine
    np.testing.assert_array_equal(lazy.compute(), expected)
    np.testing.assert_allclose(clf.decision_function(chunked(X)).compute(), clf.decision_function(X), atol=1e-9)
    for method in {"predict_forced", "reject_mask", "predict_set", "predict_proba"} & set(dir(clf)):
        lazy, expected = getattr(clf, method)(chunked(X)), getattr(clf, method)(X)
        assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_array_equal(lazy.compute(), expected)
    np.testing.assert_array_equal(clf.decide(chunked(X)).label, clf.predict(X))
    np.testing.assert_allclose(clf.decide(chunked(X)).expected_cost, clf.decide(X).expected_cost, rtol=1e-9)
    assert clf.score(chunked(X), chunked(y)) == clf.score(X, y)
