"""The accuracy-reject curve of FR02's machine: one machine per reject cost, each started from its neighbour."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from abstain.estimators.embedded.estimator import EmbeddedRejectSVC
from abstain.estimators.embedded.training import EmbeddedTraining

# Written out, not computed: at w_R = 1/k one error costs exactly k rejects, and rounding in the last digit of a
# computed grid would decide such ties at random.
REJECT_COSTS = (0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01)


@dataclass(frozen=True, eq=False)
class CurvePoints:
    """The results of the machines of a curve on one set of rows, one entry per reject cost.

    Attributes
    ----------
    reject_rate, error_rate : ndarray of float64
        Shares of all rows that are rejected, and that are decided wrongly.
    accuracy : ndarray of float64
        Share of the accepted rows that are decided correctly; nan if none is accepted.
    risk : ndarray of float64
        Reject cost times reject rate, plus error rate.
    """

    reject_rate: NDArray[np.float64]
    error_rate: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    risk: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EmbeddedRejectCurve:
    """The machines of a sweep over reject costs, from the largest cost to the smallest.

    Attributes
    ----------
    reject_cost : ndarray of float64
    machines : tuple of EmbeddedRejectSVC
        The fitted machines.
    eps, objective : ndarray of float64
        Their `eps_` and `objective_`.
    training : CurvePoints
        Their results on the training rows.
    """

    reject_cost: NDArray[np.float64]
    machines: tuple[EmbeddedRejectSVC, ...]
    eps: NDArray[np.float64]
    objective: NDArray[np.float64]
    training: CurvePoints

    def on(self, X: Any, y: ArrayLike) -> CurvePoints:
        """Return the points of the curve on other rows."""
        return _points(self.machines, X, y)


def embedded_reject_curve(
    estimator: EmbeddedRejectSVC, X: Any, y: ArrayLike, reject_costs: Sequence[float] = REJECT_COSTS
) -> EmbeddedRejectCurve:
    """Fit the machine for each reject cost, from large to small, and try its neighbour's solution as a further start.

    With the same settings, no machine of the curve has a larger `objective_` than a fit of its own.

    Parameters
    ----------
    estimator : EmbeddedRejectSVC
        The settings; its `reject_cost` is replaced in copies. A `margin_cost` of None follows the reject cost.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    reject_costs : sequence of float, default=(0.5, 0.45, ..., 0.01)
        The costs, in any order; repeated costs are fitted once.

    Returns
    -------
    EmbeddedRejectCurve

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from abstain import EmbeddedRejectSVC, embedded_reject_curve
    >>> X, y = make_blobs(120, centers=2, cluster_std=3.0, random_state=0)
    >>> curve = embedded_reject_curve(EmbeddedRejectSVC(), X, y, [0.1, 0.5])
    >>> curve.reject_cost, curve.training.reject_rate[0]
    (array([0.5, 0.1]), np.float64(0.0))
    """
    costs = np.unique(np.asarray(reject_costs, dtype=np.float64))[::-1]
    if not costs.size:
        raise ValueError("reject_costs is empty; give at least one cost in (0, 1].")
    machines: list[EmbeddedRejectSVC] = []
    training: EmbeddedTraining | None = None
    starts: tuple[NDArray[np.float64], ...] = ()
    for cost in costs:
        machine = clone(estimator).set_params(reject_cost=float(cost))
        machine._validate_params()  # noqa: SLF001 (scikit-learn's own, as its fit does)
        training, solution = machine._learn(machine, X, y, training, starts)  # noqa: SLF001
        machines.append(machine)
        starts = (solution.point,)
    return EmbeddedRejectCurve(
        reject_cost=costs,
        machines=tuple(machines),
        eps=np.array([machine.eps_ for machine in machines]),
        objective=np.array([machine.objective_ for machine in machines]),
        training=_points(machines, X, y),
    )


def _points(machines: Sequence[EmbeddedRejectSVC], X: Any, y: ArrayLike) -> CurvePoints:
    rejects = np.array([machine.reject_mask(X) for machine in machines])
    wrong = np.array([machine.predict_forced(X) != np.asarray(y) for machine in machines]) & ~rejects
    cost = np.array([machine.reject_cost for machine in machines])
    reject_rate, error_rate = rejects.mean(axis=1), wrong.mean(axis=1)
    accepted = (~rejects).sum(axis=1)
    right = accepted - wrong.sum(axis=1)
    accuracy = np.divide(right, accepted, out=np.full(len(cost), np.nan), where=accepted > 0)
    return CurvePoints(reject_rate, error_rate, accuracy, cost * reject_rate + error_rate)
