import numpy as np
import pytest

from abstain import EmbeddedRejectSVC, embedded_reject_curve
from abstain.estimators.embedded.curve import REJECT_COSTS

COSTS = [0.05, 0.5, 0.2, 0.1]


def test_one_machine_per_cost_from_large_to_small(data):
    X, y = data
    curve = embedded_reject_curve(EmbeddedRejectSVC(n_starts=4), X, y, COSTS)
    np.testing.assert_array_equal(curve.reject_cost, sorted(COSTS, reverse=True))
    assert [machine.reject_cost for machine in curve.machines] == curve.reject_cost.tolist()
    np.testing.assert_array_equal(curve.eps, [machine.eps_ for machine in curve.machines])
    assert curve.eps[0] == 0
    assert all(machine.status_ == "local" for machine in curve.machines)


def test_points_are_those_of_the_machines(data):
    X, y = data
    curve = embedded_reject_curve(EmbeddedRejectSVC(n_starts=4), X[:100], y[:100], COSTS)
    for points, rows in ((curve.training, slice(100)), (curve.on(X[100:], y[100:]), slice(100, None))):
        for k, machine in enumerate(curve.machines):
            predicted = machine.predict(X[rows])
            rejected = predicted == machine.reject_label_
            assert points.reject_rate[k] == pytest.approx(rejected.mean())
            assert points.accuracy[k] == pytest.approx((predicted == y[rows])[~rejected].mean())
            assert points.risk[k] == pytest.approx(-machine.score(X[rows], y[rows]))
    np.testing.assert_allclose(curve.training.risk, [machine.training_risk_ for machine in curve.machines])


def test_no_point_is_above_a_fit_of_its_own_and_some_are_below():
    costs, below = (0.5, 0.3, 0.2, 0.1, 0.05), 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = rng.choice([-1, 1], 80)
        X = rng.normal(size=(80, 8)) + 0.3 * y[:, np.newaxis]
        X[:8] *= 4
        alone = [EmbeddedRejectSVC(cost, C=1.0, n_starts=6).fit(X, y).objective_ for cost in costs]
        swept = embedded_reject_curve(EmbeddedRejectSVC(C=1.0, n_starts=6), X, y, costs).objective
        assert (swept <= np.array(alone)).all()
        below += (swept < np.array(alone) * (1 - 1e-6)).sum()
    assert below  # a neighbour is a start


def test_the_estimator_itself_is_left_alone(data):
    estimator = EmbeddedRejectSVC(0.3, n_starts=1)
    embedded_reject_curve(estimator, *data, [0.2])
    assert estimator.reject_cost == 0.3
    assert not hasattr(estimator, "eps_")


def test_a_kernel_and_the_papers_solver_sweep_too(data):
    X, y = data
    kernel = embedded_reject_curve(EmbeddedRejectSVC(kernel="rbf", C=1.0, n_starts=1), X, y, [0.2, 0.1])
    assert kernel.training.accuracy.min() > 0.7
    dual = embedded_reject_curve(EmbeddedRejectSVC(solver="dual"), X, y, [0.2])
    assert dual.machines[0].lower_bound_ <= dual.objective[0]


def test_costs_of_the_grid_are_the_decimals_themselves():
    # one error costs exactly k rejects at w_R = 1/k; a grid that is computed misses such costs by a last digit
    for k in (2, 4, 5, 10, 20, 25, 50, 100):
        assert 1 / k in REJECT_COSTS
    assert 0.1 not in np.arange(0.5, 0.0, -0.05)


@pytest.mark.parametrize(("costs", "text"), [([], "reject_costs is empty"), ([0.2, 1.5], "reject_cost=1.5 must lie")])
def test_wrong_costs_are_refused(data, costs, text):
    with pytest.raises(ValueError, match=text):
        embedded_reject_curve(EmbeddedRejectSVC(), *data, costs)
    with pytest.raises(ValueError, match="'n_starts' parameter"):
        embedded_reject_curve(EmbeddedRejectSVC(n_starts=-1), *data, [0.2])
