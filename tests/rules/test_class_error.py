"""Cuts of promises by class: the same answers as the p-values, for two classes and for more."""

from itertools import product

import numpy as np
import pytest

from abstain.labels import Labels
from abstain.machines.cross_machine import ClassCalibration
from abstain.rules.class_deciders import Sets
from abstain.rules.deciders import Cuts
from abstain.rules.readouts import LogOdds, Unknown
from abstain.rules.rule import Rule
from abstain.rules.tuning.class_error import ClassErrorBound, class_error_bound, forced_cut, rows_needed, two_thresholds

RATES = (0.05, 0.2, 0.4, 0.7)


def choices(inside):
    """The only class of a set, and n for others."""
    return np.where(inside.sum(axis=1) == 1, np.argmax(inside, axis=1), inside.shape[1])


@pytest.mark.parametrize("overlap", [-3, 0, 1, 4])
def test_two_thresholds_answer_as_the_sets_do(overlap):
    random = np.random.default_rng(overlap + 3)
    labels, new = Labels.of(["a", "b"], rejects=True), np.arange(-12, 13) / 2
    kinds = set()
    for first, second in product(RATES, RATES):
        code = np.arange(60) % 2
        score = random.integers(-4, 5, 60) + np.where(code == 1, 4 - overlap, overlap - 4) * 1.0
        calibration = ClassCalibration.of([(score, code)], 2)
        bound = class_error_bound({"a": first, "b": second}, calibration)
        thresholds = two_thresholds(bound)
        rule = Rule(labels, None, LogOdds(), Cuts.at(thresholds, forced_cut(thresholds), labels.answers))
        inside = calibration.p_values([new]) > (first, second)
        wanted = np.array([0, 2, 1])[choices(inside)]
        np.testing.assert_array_equal(rule.choose(new), wanted)
        answered = wanted != 1
        np.testing.assert_array_equal(rule.forced(new)[answered], rule.predict(new)[answered])
        np.testing.assert_array_equal(rule.forced(new)[~answered], np.where(new > 0, "b", "a")[~answered])
        kinds |= {*inside.sum(axis=1).tolist()}
    assert {1} < kinds  # some sets are not of one class


@pytest.mark.parametrize("n_classes", [3, 5])
def test_several_classes_answer_as_the_sets_do(n_classes):
    random = np.random.default_rng(n_classes)
    code = np.arange(100) % n_classes
    score = random.integers(0, 4, (100, n_classes)) + 3.0 * (np.arange(n_classes) == code[:, np.newaxis])
    new = random.integers(-2, 6, (200, n_classes)) * 1.0
    labels = Labels.named(np.arange(n_classes), rejects=True)
    calibration, rates = ClassCalibration.of([(score, code)], n_classes), dict.fromkeys(range(n_classes), 0.1)
    rates[0] = 0.3
    cuts = np.array([*class_error_bound(rates, calibration).cuts.values()])
    rule = Rule(labels, None, Unknown(), Sets(cuts))
    inside = calibration.p_values([new]) > np.array([*rates.values()])
    np.testing.assert_array_equal(rule.included(new), inside)
    np.testing.assert_array_equal(rule.choose(new), choices(inside))
    best, answered = rule.best(new), choices(inside) < n_classes
    np.testing.assert_array_equal(best[answered], choices(inside)[answered])
    none = ~inside.any(axis=1)
    np.testing.assert_array_equal(best[none], np.argmax(new[none], axis=1))
    margin = rule.decider.margin(rule, new)
    assert (margin[answered] >= 0).all()
    assert (margin[~answered] <= 0).all()
    assert answered.any()
    assert not answered.all()


@pytest.mark.parametrize(("rate", "needed"), [(0.01, 99), (0.05, 19), (0.3, 3), (0.5, 1), (0.9, 1)])
def test_a_class_with_too_few_rows_is_an_error_that_counts_them(rate, needed):
    assert rows_needed(rate) == needed
    rates = {"sick": rate, "well": 0.5}
    enough = ClassCalibration.of([(np.arange(needed + 3.0), np.array([0] * needed + [1] * 3))], 2)
    assert class_error_bound(rates, enough).n_rows == {"sick": needed, "well": 3}
    few = ClassCalibration.of([(np.arange(needed + 2.0), np.array([0] * (needed - 1) + [1] * 3))], 2)
    with pytest.raises(ValueError, match=f"'sick' needs at least {needed} calibration rows .*there are {needed - 1}"):
        class_error_bound(rates, few)


def test_the_law_of_one_calibration():
    bound = ClassErrorBound({"a": 0.05, "b": 0.1}, {"a": 99, "b": 99}, {"a": 0.0, "b": 0.0})
    # uniform scores: the share of misses is the j-th smallest of the calibration scores
    uniform = np.sort(np.random.default_rng(0).random((20000, 99)), axis=1)
    for (label, ends), j in zip(bound.interval(0.8).items(), (5, 10), strict=True):
        np.testing.assert_allclose(ends, np.quantile(uniform[:, j - 1], [0.1, 0.9]), atol=0.002, err_msg=label)
    assert bound.upper_bound == {"a": 0.05, "b": 0.1}
    several = ClassErrorBound({"a": 0.05}, {"a": 95}, {"a": 0.06}, folds=5)
    assert several.upper_bound["a"] == pytest.approx(2 * (0.05 + 0.95 * 0.04))
    with pytest.raises(ValueError, match="split"):
        several.interval()
    with pytest.raises(ValueError, match="share=1"):
        bound.interval(1)
