"""Conformal p-values against the formula written as loops, with ties and several folds."""

from fractions import Fraction

import numpy as np
import pytest

from abstain.machines.cross_machine import ClassCalibration, in_favour, least_count


def by_hand(folds, scores, n_classes):
    """(1 + sum over folds of #{i of class k: t_k(x_i) <= t_k(x)}) / (n_k + 1), by loops."""
    found = np.empty((len(scores[0]), n_classes))
    for row in range(len(found)):
        for k in range(n_classes):
            count = rows = 0
            for (known, code), new in zip(folds, scores, strict=True):
                for one, label in zip(known, code, strict=True):
                    if label == k:
                        rows += 1
                        count += favour(one, k) <= favour(new[row], k)
            found[row, k] = (1 + count) / (rows + 1)
    return found


def favour(score, k):
    if np.ndim(score) == 0:
        return score if k else -score
    return score[k] - max(other for j, other in enumerate(score) if j != k)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("n_folds", [1, 3])
def test_p_values_are_the_formula(n_classes, n_folds):
    random = np.random.default_rng(n_classes)
    wide = () if n_classes == 2 else (n_classes,)
    # whole numbers, so that scores tie
    folds = [(random.integers(-3, 4, (12, *wide)) * 1.0, np.arange(12) % n_classes) for _ in range(n_folds)]
    scores = [random.integers(-4, 5, (9, *wide)) * 1.0 for _ in range(n_folds)]
    found = ClassCalibration.of(folds, n_classes).p_values(scores)
    np.testing.assert_array_equal(found, by_hand(folds, scores, n_classes))
    rounded, strictly = (
        ClassCalibration.of([(known + more, code) for known, code in folds], n_classes) for more in (1e-14, 1e-6)
    )
    np.testing.assert_array_equal(rounded.p_values(scores), found)
    if n_classes == 2:  # the control: ties count
        assert (strictly.p_values(scores) != found).any()


def test_the_lead_of_tied_classes_is_0():
    assert in_favour(np.array([[2.0, 2.0, 1.0], [0.0, 3.0, 1.0]])).tolist() == [[0.0, 0.0, -1.0], [-3.0, 2.0, -2.0]]


def test_two_classes_are_the_general_case():
    f = np.random.default_rng(0).normal(size=20)
    code = np.arange(20) % 2
    pair = ClassCalibration.of([(f, code)], 2)
    columns = ClassCalibration.of([(np.column_stack([-f / 2, f / 2]), code)], 2)
    new = np.linspace(-3, 3, 50)
    np.testing.assert_array_equal(pair.p_values([new]), columns.p_values([np.column_stack([-new / 2, new / 2])]))


@pytest.mark.parametrize("rate", ["0.29", "0.05", "0.01", "0.1", "0.333", "0.9"])
def test_the_least_count_is_exact(rate):
    for n in range(1, 300):
        exact = Fraction(rate) * (n + 1)
        assert least_count(float(rate), n) == min(exact.numerator // exact.denominator, n), n
