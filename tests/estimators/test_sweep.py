"""reject_price_sweep: each machine is what a fit of its own gives, for less work in all."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from abstain import Costs, RejectSVC, reject_price_sweep
from abstain.estimators.fitting.training import Training
from abstain.estimators.svm.sweep import _carried_over
from class_cases import gaussians

PRICES = np.linspace(0.45, 0.03, 15).tolist()
BASE = Costs(1, 2, 0.3)


@pytest.fixture(scope="module")
def rows(data):
    return data[0] / 8, data[1]


def overlapping(n=1500, d=4, seed=0):
    """Beyond the small problems that are polished: what a fit finds is within its tolerance only."""
    y = np.arange(n) % 2
    return np.random.default_rng(seed).normal(size=(n, d)) + 0.8 * y[:, np.newaxis], y


def separate(estimator, X, y, prices, weight=None):
    machines = [RejectSVC(**estimator.get_params(deep=False)) for _ in prices]
    for machine, price in zip(machines, prices, strict=True):
        machine.set_params(costs=estimator.costs.with_reject(price)).fit(X, y, weight)
    return machines


def check(estimator, X, y, prices, weight=None, atol=1e-6):
    swept = reject_price_sweep(estimator, X, y, prices, sample_weight=weight)
    alone = separate(estimator, X, y, prices, weight)
    assert [machine.costs for machine in swept] == [estimator.costs.with_reject(price) for price in prices]
    for here, there in zip(swept, alone, strict=True):
        assert here.status_ == "optimal"
        assert here.objective_ == pytest.approx(there.objective_, rel=here.duality_gap_ + there.duality_gap_ + 1e-12)
        np.testing.assert_allclose(here.decision_function(X), there.decision_function(X), atol=atol)
        np.testing.assert_array_equal(here.thresholds_, there.thresholds_)
    return swept, alone


@pytest.mark.parametrize("options", [{}, {"C": 30.0}, {"kernel": "linear"}, {"kernel": "poly", "coef0": 1.0}], ids=str)
def test_each_machine_is_a_fit_of_its_own(rows, options):
    check(RejectSVC(BASE, **options), *rows, PRICES)


@pytest.mark.parametrize("solver", ["smo", "active-set"])
def test_whatever_the_solver(rows, solver):
    check(RejectSVC(BASE, solver=solver), *rows, PRICES, atol=0.01 if solver == "smo" else 1e-6)


def test_each_machine_differs_from_its_neighbour(rows):
    # control: the comparison above would notice a machine of the price before
    swept = reject_price_sweep(RejectSVC(BASE), *rows, PRICES)
    scores = [machine.decision_function(rows[0]) for machine in swept]
    assert min(np.abs(one - other).max() for one, other in zip(scores[1:], scores[:-1], strict=True)) > 1e-3


@pytest.mark.parametrize("solver", ["auto", "smo", "active-set"])
def test_fewer_iterations_in_all(solver):
    swept, alone = check(RejectSVC(BASE, C=3.0, solver=solver), *overlapping(), PRICES, atol=0.05)
    counts = [sum(machine.n_iter_ for machine in machines) for machines in (swept, alone)]
    assert counts[0] < counts[1]
    assert swept[0].n_iter_ == alone[0].n_iter_  # the first has no neighbour


def test_prices_that_close_and_open_the_band(rows):
    # at r_neg / 1 + r_pos / 1 = 1 one knot is left, and nothing is rejected
    swept, _ = check(RejectSVC(Costs()), *rows, [0.3, 0.5, 0.5, 0.2])
    rejected = [machine.reject_mask(rows[0]).any() for machine in swept]
    assert rejected == [True, False, False, True]


def test_a_price_per_class_and_any_order(rows):
    prices = [(0.1, 0.4), (0.3, 0.3), (0.05, 0.9), (0.3, 0.3)]
    swept, _ = check(RejectSVC(BASE), *rows, prices)
    np.testing.assert_allclose(swept[1].decision_function(rows[0]), swept[3].decision_function(rows[0]), atol=1e-6)


def test_weights_some_of_them_zero(rows):
    rng = np.random.default_rng(0)
    weight = rng.exponential(size=len(rows[1])) * (rng.random(len(rows[1])) < 0.7)
    check(RejectSVC(BASE, class_weight="balanced"), *rows, PRICES[::3], weight)


@pytest.mark.parametrize("pos_label", ["no", "yes"])
def test_labels_and_the_positive_class(rows, pos_label):
    check(RejectSVC(BASE, pos_label=pos_label), rows[0], np.where(rows[1] == 1, "yes", "no"), PRICES[::3])


def test_the_rule_of_bartlett_and_wegkamp(rows):
    check(RejectSVC(Costs(), rule="bartlett-wegkamp"), *rows, [0.4, 0.3, 0.2])


def test_sparse_rows_and_a_gram_matrix(rows):
    X, y = rows
    check(RejectSVC(BASE), csr_array(X), y, PRICES[::3])
    check(RejectSVC(BASE, kernel="precomputed"), X @ X.T, y, PRICES[::3])


def test_a_generator_of_prices_and_none_at_all(rows):
    assert len(reject_price_sweep(RejectSVC(BASE), *rows, (price for price in (0.4, 0.3)))) == 2
    assert reject_price_sweep(RejectSVC(BASE), *rows, []) == []


def test_the_estimator_is_left_alone(rows):
    estimator = RejectSVC(BASE, C=3.0)
    swept = reject_price_sweep(estimator, *rows, [0.2, 0.1])
    assert estimator.costs == BASE
    assert not hasattr(estimator, "support_")
    assert len({id(machine) for machine in swept}) == 2
    assert all(machine.C == 3.0 for machine in swept)


def test_every_row_is_carried_into_its_old_set(rows):
    X, y = rows
    before = RejectSVC(BASE).fit(X, y)
    now = RejectSVC(BASE.with_reject(0.25)).fit(X, y)
    old, new = (Training.of(clf, X, y, None, validator=RejectSVC()) for clf in (before, now))
    carried = _carried_over(before.machine_, old, new, before.C)
    # breakpoints of the new loss by docs/theory.md: b and b + d of each class
    p_low, p_high = now.costs.thresholds().lower, now.costs.thresholds().upper
    B = np.where(y == 1, 1 - p_high, p_low)
    top = B + (p_high - p_low)
    g = np.where(y == 1, carried, -carried)
    expected = np.select([g <= 0, g < B * (1 - 1e-12), g <= B * (1 + 1e-12), g < top * (1 - 1e-12)], [0, 1, 2, 3], 4)
    np.testing.assert_array_equal(expected, before.sets_)


def test_without_costs_there_is_no_price_to_vary(rows):
    with pytest.raises(ValueError, match=r"estimator\.costs must be a Costs, whose reject cost is varied, not None\."):
        reject_price_sweep(RejectSVC(), *rows, [0.2])


def test_a_price_that_can_never_pay_is_refused(rows):
    with pytest.raises(ValueError, match=r"can never pay"):
        reject_price_sweep(RejectSVC(BASE), *rows, [0.3, 0.9])


def test_several_classes_have_the_machines_of_separate_fits():
    X, y = gaussians(90)
    swept, _ = check(RejectSVC(Costs(reject=0.2)), X, y, [0.3, 0.1])
    assert (swept[0].decision_function(X) != swept[1].decision_function(X)).any()
