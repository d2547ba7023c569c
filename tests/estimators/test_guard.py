"""The guard: p-values against a count by hand, ties, and rows that a detector cannot score."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import IsolationForest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import OneClassSVM

from abstain.estimators.novelty.guard import Guard
from abstain.rules.tuning.class_error import rows_needed


class FirstColumn(BaseEstimator):
    """A detector for which a row is as unusual as its first number says."""

    def fit(self, X, y=None):  # noqa: ARG002
        return self

    def score_samples(self, X):
        if np.any(np.asarray(X) == "odd"):
            raise ValueError("unknown category")
        return -np.asarray(X)[:, 0].astype(float)


def column(*values):
    return np.array(values, dtype=float)[:, np.newaxis]


@pytest.mark.parametrize("m", [1, 4, 19, 99, 100])
@pytest.mark.parametrize("rate", [0.01, 0.05, 0.2, 0.29, 0.999])
def test_novel_rows_are_those_with_small_p_values(m, rate):
    rng = np.random.default_rng(m)
    scores = np.sort(rng.integers(0, max(2, m // 2), m).astype(float))
    scores[-(m // 20) :] = np.inf if m >= 20 else scores[-1]
    guard = Guard(None, scores, rate, n=0)
    s = np.concatenate([scores, scores + 0.5, [-1.0, np.inf, np.nan]])
    np.testing.assert_array_equal(guard.novel(s), guard.p_value(s) <= rate)


def test_p_values_are_counts_also_with_ties():
    rng = np.random.default_rng(0)
    for m in (0, 1, 7, 50):
        scores = np.sort(rng.integers(0, 6, m).astype(float))  # many ties
        guard = Guard(FirstColumn(), scores, rate=0.3, n=1)
        s = np.concatenate([rng.integers(-1, 8, 40).astype(float), [np.nan, np.inf, -np.inf]])
        unusual = np.where(np.isnan(s), np.inf, s)
        by_hand = [(1 + sum(known >= value for known in scores)) / (m + 1) for value in unusual]
        beyond = min(count / (m + 1) for count in range(1, m + 3) if count / (m + 1) > 0.3)  # of calibration rows
        by_hand = [max(p, beyond) if value in scores else p for p, value in zip(by_hand, unusual, strict=True)]
        np.testing.assert_array_equal(guard.p_value(s), by_hand)
        np.testing.assert_array_equal(guard.novel(s), np.array(by_hand) <= 0.3)


def test_scores_that_differ_by_rounding_are_ties():
    scores = np.array([-3.0, -2.0, -1.0])
    guard = Guard(None, scores, rate=0.25, n=1)
    np.testing.assert_array_equal(guard.p_value(scores + 1e-15), guard.p_value(scores))
    assert not guard.novel([-1.0 + 1e-15]).any()
    assert guard.novel([-1.0 + 1e-6]).all()  # a difference


def test_the_score_of_a_calibration_row_ties_in_any_batch():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    guard = Guard.calibrated(OneClassSVM().fit(X[:30]), X[30:], 0.05, 30)
    alone = guard.p_value(guard.unusual(X[30:]))
    with_far_rows = guard.p_value(guard.unusual(np.vstack([X[30:], 1e6 * X[:5]])))[:30]
    np.testing.assert_array_equal(alone, with_far_rows)
    np.testing.assert_array_equal(np.sort(alone), np.arange(2, 32) / 31)


def test_a_rate_that_is_just_reached_rejects():
    for m, rate in ((99, 0.01), (19, 0.05), (9, 0.1), (2, 1 / 3)):
        assert rows_needed(rate) == m
        assert Guard(None, np.zeros(m), rate, 1).novel([1.0]).all()
        assert not Guard(None, np.zeros(m - 1), rate, 1).novel([1.0]).any()
        assert not Guard(None, np.zeros(m), rate, 1).novel([0.0]).any()  # as unusual as the others


def test_the_rows_needed_are_the_fewest():
    for rate in np.concatenate([np.linspace(0.001, 0.999, 500), 1.0 / np.arange(2, 200)]):
        m = rows_needed(rate)
        assert 1 / (m + 1) <= rate
        assert m == 0 or 1 / m > rate


@pytest.mark.parametrize("detector", [OneClassSVM(), IsolationForest(n_estimators=10, random_state=0)], ids=repr)
@pytest.mark.parametrize("absurd", [np.inf, -np.inf, np.nan, 1e300, -1e39])
def test_rows_that_cannot_be_scored_are_the_most_unusual_and_leave_the_others_alone(detector, absurd):
    X = np.random.default_rng(0).normal(size=(120, 3))
    guard = Guard.calibrated(detector.fit(X[:60]), X[60:], 0.05, 60)
    alone, batch = guard.unusual(X[:4]), X[:4].copy()
    batch[1, 2] = absurd
    found = guard.unusual(batch)
    np.testing.assert_array_equal(found[[0, 2, 3]], alone[[0, 2, 3]])
    missing = np.isnan(absurd) and isinstance(detector, IsolationForest)  # which takes missing values
    assert found[1] == np.inf if not missing else np.isfinite(found[1])
    cells = sparse.csr_matrix(batch)
    if not isinstance(detector, IsolationForest):
        assert guard.unusual(cells)[1] == np.inf


def test_a_scale_that_overflows_makes_rows_novel_and_not_an_error():
    X = 1e-3 * np.random.default_rng(0).normal(size=(80, 2))
    guard = Guard.calibrated(make_pipeline(StandardScaler(), OneClassSVM()).fit(X[:40]), X[40:], 0.05, 40)
    with np.errstate(all="raise"):
        assert guard.unusual(np.array([[1e308, 0.0], [0.0, -1e308]])).tolist() == [np.inf, np.inf]


def test_a_nan_score_counts_as_novel():
    blind = make_pipeline(FunctionTransformer(), FirstColumn())
    blind[-1].score_samples = lambda X: np.full(len(X), np.nan)
    guard = Guard(blind, np.zeros(30), 0.05, 1)
    assert guard.novel_rows(column(0, 1)).all()


def test_one_unknown_category_does_not_stop_the_batch():
    encoder = make_pipeline(OneHotEncoder(sparse_output=False), FirstColumn()).fit([["a"], ["b"]])
    X = np.array([["a"], ["b"], ["c"], ["a"], ["d"]])
    guard = Guard(encoder, np.linspace(-1, 0, 30), 0.05, 2)
    assert guard.unusual(X).tolist() == [1.0, 0.0, np.inf, 1.0, np.inf]


class Rounding(FirstColumn):
    """The same, with an error of rounding that depends on the number of rows."""

    def score_samples(self, X):
        return super().score_samples(X) * (1.0 - 1e-12 * len(X))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_equal_rows_are_equally_unusual_in_batches_of_any_size(sign):
    rows = sign * column(*[1.0] * 30, *[3.0] * 10)
    guard = Guard.calibrated(Rounding(), np.random.default_rng(0).permutation(rows), 0.2, 1)
    batches = [rows, rows[:1], rows[-1:], np.tile(rows, (200, 1))]
    known = set(guard.scores)
    assert all(set(guard.unusual(batch)) <= known for batch in batches)
    assert not any(guard.novel_rows(batch).any() for batch in batches)  # a fourth is more than the rate
    assert guard.novel_rows(rows.max(keepdims=True) + 1e-6).all()  # which is not rounding
    assert [len(set(batch.scores)) for batch in (guard, Guard.calibrated(Rounding(), rows[:1], 0.5, 1))] == [2, 1]


def test_near_scores_are_levelled_upwards_and_others_are_kept():
    c = 1.0 + 2e-12
    values = [-1.0, 0.0, 5e-324, 1.0, 1.0 + 1e-12, c, 1.1, np.inf, np.inf]
    found = Guard.calibrated(FirstColumn(), column(*values), 0.2, 1).scores
    assert found.tolist() == [-1.0, 0.0, 5e-324, c, c, c, 1.1, np.inf, np.inf]


def test_a_detector_must_give_one_score_for_each_row():
    detector = FirstColumn()
    for found in (np.zeros(3), np.zeros((4, 1)), 0.0):
        detector.score_samples = lambda _, found=found: found
        with pytest.raises(TypeError, match="one score for each of 4 rows"):
            Guard.calibrated(detector, column(1, 2, 3, 4), 0.2, 1)


def test_other_columns_than_in_training_are_an_error():
    X = np.random.default_rng(0).normal(size=(80, 2))
    frame = pd.DataFrame(X, columns=["a", "b"])
    guard = Guard.calibrated(make_pipeline(StandardScaler(), OneClassSVM()).fit(frame[:40]), frame[40:], 0.05, 40)
    for rows in (frame[["b", "a"]], frame.assign(c=1.0), frame[["a"]], np.zeros((4, 3)), np.zeros(4)):
        with pytest.raises(ValueError, match="feature"):
            guard.unusual(rows)


def test_a_guard_that_can_reject_nothing_asks_no_detector():
    guard = Guard(None, np.zeros(5), 0.05, 1)
    assert guard.novel_rows(column(1, 2)).tolist() == [False, False]
    assert not guard.acts


def test_a_detector_that_fails_on_all_calibration_rows_is_an_error():
    odd = np.array([["odd"]] * 5)
    with pytest.raises(ValueError, match="unknown category"):
        Guard.calibrated(FirstColumn(), odd, 0.3, 1)
    with pytest.raises(ValueError, match="gives no number for any of 3 rows"):
        Guard.calibrated(FirstColumn(), column(np.inf, np.inf, np.inf), 0.3, 1)
    some = Guard.calibrated(FirstColumn(), column(1, np.inf, 2), 0.3, 1)
    assert some.scores.tolist() == [1, 2, np.inf]


def test_no_calibration_row_is_novel():
    guard = Guard(None, np.arange(199.0), rate=0.01, n=0)  # two of 200
    assert not guard.novel(guard.scores).any()
    assert not guard.novel(guard.scores[-1] * (1 + 1e-12)).any()  # but for rounding
    assert guard.novel([197.5, 198.5, np.inf, np.nan]).all()  # the control: rows beyond all but one of them
    assert not guard.novel([196.5]).any()


def test_a_row_that_cannot_be_scored_is_novel_beside_a_calibration_row_like_it():
    guard = Guard(None, np.append(np.arange(198.0), np.inf), rate=0.01, n=0)
    assert guard.novel([np.inf, np.nan]).all()


def test_standardised_rows_are_scored_as_the_pipeline_scores_them():
    X = np.random.default_rng(0).normal(3.0, 2.0, (200, 3))
    for scaler in (StandardScaler(), StandardScaler(with_mean=False), StandardScaler(with_std=False)):
        detector = make_pipeline(scaler, IsolationForest(random_state=0)).fit(X[:100])
        guard = Guard.calibrated(detector, X[100:], 0.01, 100)
        np.testing.assert_array_equal(guard.scores[-5:], np.sort(-detector.score_samples(X[100:]))[-5:])
        odd = np.vstack([X[:2], [[np.inf, 0.0, 0.0], [1e300, 0.0, 0.0]]])
        assert np.isposinf(guard.unusual(odd)).tolist() == [False, False, True, True]
