"""reject_price_sweep: one machine per reject cost, each started from its neighbour's solution."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from abstain.estimators.fitting.progress import FitTask
from abstain.estimators.fitting.training import Training, check_costs, refuse_row_costs_in
from abstain.estimators.svm.svc import RejectSVC
from abstain.losses.margin_loss import MarginLoss


def reject_price_sweep(
    estimator: RejectSVC,
    X: Any,
    y: ArrayLike,
    rejects: Iterable[float | tuple[float, float]],
    *,
    sample_weight: ArrayLike | None = None,
    row_costs: Any = None,
) -> list[RejectSVC]:
    """Fit the same machine at each of a series of reject costs, for trade-off curves.

    At similar costs most rows are in the same set (beyond the last knot, between two, ...), so each fit starts with
    every row in the set it had at the previous cost.

    Parameters
    ----------
    estimator : RejectSVC
        The machine to fit. It must have costs, whose reject cost is replaced; the estimator itself is not changed.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Training rows.
    y : array-like of shape (n_samples,)
        Their labels.
    rejects : iterable of float or (float, float)
        Reject costs as in `Costs`, in the order of the fits.
    sample_weight : array-like of shape (n_samples,), default=None
        Factors on C for each row.
    row_costs : None
        Must be None: a sweep varies the one reject cost of all rows.

    Returns
    -------
    list of RejectSVC
        Fitted, one per cost; each equals the result of a separate fit, up to the tolerance.

    Examples
    --------
    >>> from abstain import Costs, RejectSVC, reject_price_sweep
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> machines = reject_price_sweep(RejectSVC(Costs(), C=10), X, y, [0.4, 0.3, 0.2, 0.1])
    >>> [machine.costs.reject for machine in machines]
    [0.4, 0.3, 0.2, 0.1]
    """
    refuse_row_costs_in("a sweep varies", row_costs)
    check_costs(estimator)
    if estimator.costs is None:
        raise ValueError("estimator.costs must be a Costs, whose reject cost is varied, not None.")
    machines: list[RejectSVC] = []
    before: Training | None = None
    for reject in rejects:
        machine = clone(estimator).set_params(costs=estimator.costs.with_reject(reject))
        machine._validate_params()  # noqa: SLF001 (scikit-learn's own, as its fit does)
        training = Training.of(machine, X, y, sample_weight, validator=machine)
        task = FitTask(machine, X, y, sample_weight, verbose=bool(machine.verbose))
        start = None
        if before is not None and len(training.tasks) == 1:
            start = _carried_over(machines[-1].machine_, before, training, machine.C)
        fitted = machine._fit(training, machine.C, machine.gamma, task, start=start)  # noqa: SLF001
        machine._store(machine, fitted)  # noqa: SLF001
        task.end()
        machines.append(machine)
        before = training
    return machines


def _carried_over(machine: Any, before: Training, now: Training, C: float) -> NDArray[np.float64]:
    """Return coefficients for the new loss that keep every row in its set, at the same relative position.

    ::

        g = y beta between w u_k and w u_(k+1)   ->   the same share of the way between w u'_k and w u'_(k+1)
    """
    beta = np.zeros(machine.n_rows)
    beta[machine.support] = machine.coef
    old, new = before.losses[0], now.losses[0]
    assert isinstance(old, MarginLoss) and isinstance(new, MarginLoss)  # noqa: PT018, S101 (a sweep has no row costs)
    if old.n_knots != new.n_knots:  # the reject band closes or opens
        return beta
    carried = np.zeros_like(beta)
    weight = now.weights(C)
    for y in (-1, 1):
        rows = np.flatnonzero(y * beta > 0)
        g = y * beta[rows] / weight[rows]
        carried[rows] = y * weight[rows] * np.interp(g, _breakpoints(old, y), _breakpoints(new, y))
    return carried


def _breakpoints(loss: MarginLoss, y: int) -> NDArray[np.float64]:
    return np.array([0.0, *loss.of(y).breakpoints])
