"""A factor on all costs changes the unit of the mean costs, and nothing else: no threshold, no choice, no answer."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from abstain import (
    Actions,
    Costs,
    LinearRejectSVC,
    LinearRejectSVCCV,
    RejectSVC,
    RejectSVCCV,
    ThresholdRejector,
    compare,
)
from abstain.arguments import fractions, in_own_unit
from abstain.estimators.search.grid import Grid
from abstain.estimators.search.halving import survivors
from problems import costs_of_rows

FACTORS = (1e-6, 3, 7, 100, 1024, 1e6)
X, Y = make_classification(120, 5, n_informative=3, n_redundant=0, flip_y=0.25, random_state=3)
X3, Y3 = make_classification(120, 5, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.25, random_state=3)
ROWS = np.round(np.column_stack([np.linspace(1, 4, 120), np.linspace(9, 2, 120), np.linspace(0.31, 0.83, 120)]), 2)
NAMED = {"a": {"b": 1, "c": 4}, "b": {"a": 1.7, "c": 3}, "c": {"a": 2, "b": 2.2}}


def two(f):
    return Costs(1 * f, 5 * f, 0.6 * f)


def uneven(f):
    return Costs(2.3 * f, 0.7 * f, (0.37 * f, 0.29 * f))


def three(f):
    table = {truth: {answer: f * cost for answer, cost in row.items()} for truth, row in NAMED.items()}
    return Costs.from_table(table, reject={"a": 0.4 * f, "b": 0.45 * f, "c": 0.6 * f})


def actions(f):
    return Actions({"no": {0: 0, 1: 5 * f}, "yes": {0: 1 * f, 1: 0}, "ask": 0.6 * f, "see": {0: 0.4 * f, 1: 1.1 * f}})


KINDS = {
    "two classes": (two, X, Y, None),
    "unequal rejects": (uneven, X, Y, None),
    "three even classes": (lambda f: Costs(0.9 * f, 0.9 * f, 0.3 * f), X3, Y3, None),
    "three classes": (three, X3, np.array(["a", "b", "c"])[Y3], None),
    "actions": (actions, X, Y, None),
    "row costs": (lambda _: None, X, Y, ROWS),
}
ESTIMATORS = {
    "RejectSVC": RejectSVC,
    "RejectSVCCV": lambda costs: RejectSVCCV(costs, Cs=[0.1, 1, 10], gammas=[0.05, 0.3], cv=3),
    "LinearRejectSVC": LinearRejectSVC,
    "LinearRejectSVCCV": lambda costs: LinearRejectSVCCV(costs, Cs=[0.01, 0.1, 1], cv=3),
    "Chow": lambda costs: ThresholdRejector(LogisticRegression(), costs, method="chow"),
    "tuned": lambda costs: ThresholdRejector(LogisticRegression(), costs, method="symmetric"),
}


def fitted(estimator, kind, factor):
    costs, rows, y, row_costs = KINDS[kind]
    given_rows = {} if row_costs is None else {"row_costs": factor * row_costs}
    clf = ESTIMATORS[estimator](costs(factor)).fit(rows, y, **given_rows)
    return clf, clf.predict(rows, **given_rows), clf.decision_function(rows)


# ThresholdRejector takes no costs by row, and actions only with Chow's rule
UNDEFINED = {("Chow", "row costs"), ("tuned", "row costs"), ("tuned", "actions")}
CASES = [(estimator, kind) for estimator in ESTIMATORS for kind in KINDS if (estimator, kind) not in UNDEFINED]


@pytest.mark.parametrize(("estimator", "kind"), CASES)
def test_a_factor_on_all_costs_changes_only_the_unit_of_the_mean_cost(estimator, kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # which class is positive
        first, answers, scores = fitted(estimator, kind, 1)
        for factor in FACTORS[::2]:
            other, again, rescored = fitted(estimator, kind, factor)
            np.testing.assert_array_equal(again, answers)
            np.testing.assert_array_equal(rescored, scores)
            if estimator.endswith("CV"):
                assert (other.C_, other.cv_reject_rate_) == (first.C_, first.cv_reject_rate_)
                assert getattr(other, "gamma_", 0) == getattr(first, "gamma_", 0)
                assert other.best_score_ == pytest.approx(factor * first.best_score_, rel=1e-12)
                for name in ("mean_test_score", "std_test_score", "mean_tuned_score"):
                    found = other.cv_results_.get(name, np.zeros(1))
                    wanted = factor * first.cv_results_.get(name, np.zeros(1))
                    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14 * factor)
                ranks = (clf.cv_results_["rank_test_score"] for clf in (other, first))
                np.testing.assert_array_equal(*ranks)


@pytest.mark.parametrize("factor", FACTORS)
def test_the_verdict_of_a_comparison_does_not_depend_on_the_unit(factor):
    def verdict(f):
        models = {"svm": RejectSVC(two(f)), "logistic": ThresholdRejector(LogisticRegression(), two(f), method="chow")}
        return compare(models, X, Y, two(f), cv=3)

    one, other = verdict(1), verdict(factor)
    assert other.best == one.best
    assert other.verdict.worth_using == one.verdict.worth_using
    assert other.verdict.cheapest == one.verdict.cheapest
    assert other.verdict.saving == pytest.approx(factor * one.verdict.saving)


AMOUNT = st.integers(1, 9999).map(lambda cents: cents / 100)


@given(AMOUNT, AMOUNT, st.integers(1, 99), st.floats(1e-9, 1e9))
def test_thresholds_of_stated_costs_have_the_same_bits_in_any_unit(fp, fn, share, factor):
    reject = round(share / 100 / (1 / fp + 1 / fn), 4) or 1e-4
    costs = Costs(fp, fn, reject) if reject / fp + reject / fn < 1 else Costs(fp, fn, 0.01 * min(fp, fn))
    scaled = Costs(factor * fp, factor * fn, factor * costs.reject)
    assert scaled.thresholds() == costs.thresholds()
    assert scaled.score_thresholds() == costs.score_thresholds()
    assert (scaled.cut, scaled.rejects) == (costs.cut, costs.rejects)
    rows = costs_of_rows(np.array([[fp, fn, costs.reject]])).levels()
    np.testing.assert_array_equal(np.ravel(rows.cuts), costs.levels().cuts)


def test_costs_in_units_of_the_smaller_error_keep_their_digits():
    table = np.array([[0, 0.6, 1], [5, 0.123456789, 0]])
    np.testing.assert_array_equal(in_own_unit(table), table)
    near = np.array([[0, 1 - 1e-9, 1], [1e12, 0.1, 0]])  # whose difference needs all digits
    np.testing.assert_array_equal(in_own_unit(near), near)
    whole = np.array([[0, 0.3, 1.0], [12.99, 0.1 + 0.2, 0]])  # 0.3 up to rounding
    np.testing.assert_array_equal(in_own_unit(whole), [[0, 0.3, 1.0], [12.99, 0.3, 0]])
    far = np.array([[0, 1e-200, 1e-190], [1e190, 1e-200, 0]])  # whose quotient is not a number
    np.testing.assert_array_equal(in_own_unit(far), far)


@given(st.integers(1, 10**7), st.integers(1, 10**7), st.floats(-4e-16, 4e-16))
def test_quotients_of_whole_numbers_are_exact_whatever_was_rounded(p, q, off):
    assert fractions(np.array([p / q * (1 + off), 1.0])).tolist() == [p / q, 1.0]
    assert fractions(np.array([p / q * (1 + 1e-13)])) != [p / q]  # the control: another number


@given(st.floats(1e-20, 1e20))
def test_other_numbers_hardly_change(number):
    [found] = fractions(np.array([number])).tolist()
    assert found == pytest.approx(number, rel=9e-16)


def test_row_costs_are_in_one_unit_not_in_a_unit_for_each_row():
    """The control: rows whose costs grow by different factors train another machine."""
    same, doubled = RejectSVC().fit(X, Y, row_costs=ROWS), RejectSVC().fit(X, Y, row_costs=2 * ROWS)
    np.testing.assert_array_equal(same.decision_function(X), doubled.decision_function(X))
    uneven_rows = RejectSVC().fit(X, Y, row_costs=np.linspace(1, 3, 120)[:, np.newaxis] * ROWS)
    assert np.abs(uneven_rows.decision_function(X) - same.decision_function(X)).max() > 1e-3


def grid(costs, tuned=None):
    costs = np.asarray(costs, dtype=float)[:, np.newaxis]
    tuned = None if tuned is None else np.asarray(tuned, dtype=float)[:, np.newaxis]
    rows = np.full(costs.shape[:2], 100)
    return Grid(np.arange(1.0, len(costs) + 1), np.array([np.nan]), costs, rows=rows, tuned=tuned)


@pytest.mark.parametrize("factor", [1.0, *FACTORS])
def test_rounding_decides_no_choice(factor):
    last = 1 + 4e-16
    ties = grid(factor * np.array([[0.3 * last, 0.2], [0.3, 0.2]]))
    assert ties.best[0] == 1.0  # the smaller C
    nothing = grid([[factor * 0.3, factor * 0.2]], [[factor * 0.3 * last, factor * 0.2]])
    assert not nothing.best_is_tuned  # tuned cuts change nothing
    # where one fold of k differs, the mean difference is its own standard error
    for k in (2, 3, 5, 7):
        costs = np.full((1, k), factor * 0.1)
        tuned = costs.copy()
        tuned[0, 1] += factor * 0.07
        assert grid(costs, tuned).best_is_tuned
    more = grid(np.full((1, 3), factor * 0.1), factor * np.array([[0.12, 0.13, 0.12]]))
    assert not more.best_is_tuned
    costs, disorder = factor * np.array([[0.1, 0.1 * last], [0.2, 0.3]]), np.array([[0.4, 0.1], [0.2, 0.2]])
    assert survivors(costs, disorder, 1, every_gamma=False).tolist() == [[False, True], [False, False]]
