"""Faults that need more than one call, by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from abstain import Costs, RejectSVC, Thresholds
from abstain.rules.deciders import Cuts
from estimators.hard_cases.data import X0, Y0, weights
from estimators.hard_cases.processes import bounded


def weight_of_1e300():
    # C s = 1e300 is a number like any other, but beside it the other rows' losses are rounding: no gap can be closed.
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):
        clf = RejectSVC().fit(X0, Y0, weights(1e300))
    assert clf.status_ == "inaccurate"
    assert np.isfinite(clf.decision_function(X0)).all()


def csr_out_of_range():
    X = sparse.csr_array(X0)
    X.indices[7] = 99
    with pytest.raises(ValueError, match="indices"):
        RejectSVC().fit(X, Y0)


def wrong_gram_at_predict():
    clf = RejectSVC(kernel="precomputed").fit(X0 @ X0.T, Y0)
    with pytest.raises(ValueError, match="299 features"):
        clf.predict((X0 @ X0.T)[:, 1:])


def wrong_shape_of_callable_at_predict():
    clf = RejectSVC(kernel=lambda a, b: a[: len(X0)] @ b.T).fit(X0, Y0)
    with pytest.raises(ValueError, match=r"must have shape \(600, \d+\), one column per vector, got"):
        clf.predict(np.r_[X0, X0])


def no_rows_at_predict():
    clf = RejectSVC(Costs(reject=0.2)).fit(X0, Y0)
    for ask in (clf.predict, clf.decision_function, clf.decide, clf.predict_forced, clf.reject_mask):
        with pytest.raises(ValueError, match="minimum of 1 is required"):
            ask(X0[:0])


def overflow_at_predict():
    clf = RejectSVC(kernel="poly").fit(X0, Y0)
    with pytest.raises(ValueError, match="the scores of some rows overflow"):
        clf.predict(X0 * 1e200)


def shifted_by_1e6():
    grid = np.round(X0 * 64) / 64  # exact after the shift
    for kernel in ("rbf", "linear"):
        near, far = RejectSVC(kernel=kernel).fit(grid, Y0), RejectSVC(kernel=kernel).fit(grid + 1e6, Y0)
        np.testing.assert_array_equal(near.predict(grid), far.predict(grid + 1e6))
        np.testing.assert_allclose(near.decision_function(grid), far.decision_function(grid + 1e6), atol=1e-6)


def label_orders():
    expected = RejectSVC().fit(X0, Y0).decision_function(X0)
    for low, high in ((-1, 1), ("a", "b"), (False, True), (2, 7)):
        for pos_label in (None, low, high):
            clf = RejectSVC(pos_label=pos_label).fit(X0, np.where(Y0 == 1, high, low))
            np.testing.assert_allclose(clf.decision_function(X0), expected, atol=1e-9)
            flipped = RejectSVC(pos_label=pos_label).fit(X0, np.where(Y0 == 1, low, high))
            np.testing.assert_allclose(flipped.decision_function(X0), -expected, atol=1e-9)


def reject_price_at_the_limit():
    clf = RejectSVC(Costs(false_positive=1, false_negative=3, reject=0.75)).fit(X0, Y0)  # 0.75/1 + 0.75/3 = 1
    assert clf.thresholds_.lower == clf.thresholds_.upper
    assert not clf.reject_mask(X0).any()


def reject_price_beyond_the_limit():
    with pytest.raises(ValueError, match=r"can never pay.*0\.75"):
        Costs(false_positive=1, false_negative=3, reject=0.76)


def everything_rejected():
    clf = RejectSVC(Costs(reject=1e-9)).fit(X0, Y0)
    assert clf.reject_mask(X0).all()
    assert set(clf.predict(X0)) == {-1}
    assert clf.score(X0, Y0) == pytest.approx(-1e-9)
    assert set(clf.predict_forced(X0)) == {0, 1}


def bad_costs():
    for price in (0, -1, np.nan, np.inf):
        for name in ("false_positive", "false_negative", "reject"):
            with pytest.raises(ValueError, match=name):
                Costs(**{name: price})


def score_on_a_threshold():
    clf = RejectSVC(Costs(reject=0.2), kernel="linear").fit([[-1.0], [1.0]], [0, 1])
    f = clf.decision_function([[0.3]])[0]
    for lower, upper, label in ((f, f + 1, -1), (f - 1, f, -1), (f, f, 0), (np.nextafter(f, 9), f + 1, 0)):
        moved = replace(clf.rule_, decider=Cuts.at(Thresholds(lower, upper), 0.0, clf.rule_.answers))
        clf._fitted_ = replace(clf._fitted_, rule=moved)
        assert clf.predict([[0.3]]) == label


TOGETHER = [
    weight_of_1e300,
    csr_out_of_range,
    wrong_gram_at_predict,
    wrong_shape_of_callable_at_predict,
    no_rows_at_predict,
    overflow_at_predict,
    shifted_by_1e6,
    label_orders,
    reject_price_at_the_limit,
    reject_price_beyond_the_limit,
    everything_rejected,
    bad_costs,
    score_on_a_threshold,
]


@pytest.mark.parametrize("fault", TOGETHER, ids=lambda fault: fault.__name__.replace("_", " "))
def test_survives(fault):
    bounded(fault)
