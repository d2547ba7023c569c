"""The search of LinearRejectSVCCV: held-out scores of linear machines for every fold and C.

Each fold is a path in ascending C: a fit starts where the one before ended. A fold holds rows out by their weight, 0,
so that the rows are never copied. `Grid`, `placed` and `ClassSearch` then price the scores and place the cuts as for
`RejectSVCCV`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.dual.linear_certificate import LinearProblem
from abstain.dual.solution import Status
from abstain.estimators.fitting.splitting import Splits
from abstain.estimators.fitting.training import Training
from abstain.estimators.linear.linear_fit import FittedLinear, LinearStart
from abstain.estimators.search.class_search import ClassSearch
from abstain.estimators.search.cuts import HeldOutRows, Searched, placed
from abstain.estimators.search.grid import Grid
from abstain.estimators.search.held_out_costs import Pricing
from abstain.machines.linear_class_machine import LinearClassMachine
from abstain.solvers.class_cross_validation import Limits, OutOfFoldClasses
from abstain.solvers.linear import LinearNewton
from abstain.solvers.linear_rows import LocalSums, first_penalty

__all__ = ["FittedLinearSearch", "LinearClassSearch", "LinearFolds", "chosen"]

BLOCK = 1_000_000  # entries of held-out rows that are copied at a time


@dataclass(frozen=True, eq=False)
class FittedLinearSearch(Searched, FittedLinear):
    """A fitted `LinearRejectSVCCV`."""


@dataclass(frozen=True, eq=False)
class LinearFolds:
    """The fits of a search on the same rows.

    Attributes
    ----------
    X, centre : rows and their centre, as in `LinearProblem`
    Cs : float64 array, ascending
    limits : Limits
    report : callable
        Called after each fit.
    """

    X: Any
    centre: NDArray[np.float64]
    Cs: NDArray[np.float64]
    limits: Limits
    report: Callable[[], None]

    def scores(
        self, poses: Sequence[tuple[NDArray[np.int8], Any]], weight: NDArray[np.float64], test: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
        """Fit the (signs, loss) of each machine with a fold's weights at C = 1, and score its test rows.

        The scores are of shape (Cs, test rows, machines); then, for each C, whether all machines reached the tolerance
        and whether they ended in time.
        """
        n_Cs, n, d = len(self.Cs), len(poses), self.X.shape[1]
        points = np.zeros((n, n_Cs, d + 1))
        optimal, finished = np.ones(n_Cs, dtype=bool), np.ones(n_Cs, dtype=bool)
        for k, (sign, loss) in enumerate(poses):
            problem = LinearProblem(self.X, self.centre, sign, weight, loss)
            for c, (point, status) in enumerate(self._path(problem)):
                points[k, c] = point
                optimal[c] &= status is Status.OPTIMAL
                finished[c] &= status is not Status.TIME_LIMIT
                self.report()
        flat = points.reshape(-1, d + 1)
        machines = LinearClassMachine(flat[:, :-1], self.centre, flat[:, -1])
        step = max(1, BLOCK // max(1, d))
        parts = [machines.score(self.X[test[first : first + step]]) for first in range(0, len(test), step)]
        return np.concatenate(parts).reshape(len(test), n, n_Cs).transpose(2, 0, 1), optimal, finished

    def _path(self, problem: LinearProblem) -> list[tuple[NDArray[np.float64], Status]]:
        found, start, before = [], None, 1.0
        for C in self.Cs.tolist():
            if self.limits.seconds <= 0.0:
                found.append((np.zeros(self.X.shape[1] + 1), Status.TIME_LIMIT))
                continue
            at = replace(problem, weight=C * problem.weight)
            sums: Any = LocalSums(at.X, at.centre, at.sign, at.weight, at.loss, self.limits.n_jobs)
            if start is not None:
                sums.start(C / before * start.gamma)
            seconds = None if self.limits.until is None else self.limits.seconds
            settings = LinearNewton(self.limits.tol, self.limits.max_iter, seconds)
            ended = settings.solve(sums, first_penalty(at.weight, at.loss), None if start is None else start.point)
            start, before = LinearStart(ended.point, sums.gamma()), C
            found.append((ended.point, ended.status))
        return found


def chosen(training: Training, splits: Splits, fits: LinearFolds, *, tune: bool) -> tuple[Grid, Any, NDArray[np.bool_]]:
    """Give the costs of the search, the scale and shift of the best C's score, and which fits reached their tolerance.

    The last has the shape (Cs, 1, folds), as the costs have.
    """
    shape = (len(splits.trains), len(fits.Cs))
    optimal, finished = np.ones(shape, dtype=bool), np.ones(shape, dtype=bool)
    fold, row = np.nonzero(splits.tests)
    scores = np.empty((shape[1], len(row)))
    for f, train in enumerate(splits.trains):
        found = fits.scores([(training.sign, training.loss)], training.weights(1.0, train), row[fold == f])
        scores[:, fold == f], optimal[f], finished[f] = found[0][:, :, 0], *found[1:]
    finished = _whole_folds(finished)
    pricing = Pricing.of(training, np.arange(len(training.sign)))
    costs = np.full((shape[1], 1, shape[0]), np.nan)
    for f in np.flatnonzero(finished.any(axis=1)).tolist():
        test, done = row[fold == f], finished[f]
        costs[done, 0, f] = pricing.paid(test, scores[np.ix_(done, fold == f)]) @ splits.tests[f, test]
    rows = np.full((shape[1], 1), len(training.sign), dtype=np.int64)
    mass = np.broadcast_to(splits.mass, costs.shape)
    grid = Grid(fits.Cs, np.array([np.nan]), costs, has_gamma=False, rows=rows, shared=splits.shared, mass=mass)
    used = np.asarray(finished.any(axis=1))
    kept = used[fold]
    weight = splits.weights(used)[fold, row][kept]
    held_out = HeldOutRows(scores[:, kept], fold[kept], row[kept], training.sign[row[kept]], weight)
    return *placed(grid, pricing, held_out, tune=tune), optimal.T[:, np.newaxis]


def _whole_folds(finished: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Leave out folds, (folds, Cs), whose larger C did not end in time, unless it is all there is.

    Otherwise the smaller C, finished on more folds, would be preferred.
    """
    whole = finished.all(axis=1, keepdims=True)
    return np.asarray(finished & whole) if whole.any() else finished


@dataclass(frozen=True, eq=False)
class LinearClassSearch(ClassSearch):
    """The search of several classes, each against the rest.

    Attributes
    ----------
    fits : LinearFolds
    """

    fits: LinearFolds | None = None

    def _scores(self, gamma: float, tests: list[NDArray[np.intp]], limits: Limits) -> OutOfFoldClasses:
        del gamma, limits
        fits: Any = self.fits
        training, n = self.training, self.training.n_classes
        losses = training.losses * (n if len(training.losses) == 1 else 1)
        poses = [(training.sign(k), losses[k]) for k in range(n)]
        found = [
            fits.scores(poses, training.weights(1.0, train), test)
            for train, test in zip(self.splits.trains, tests, strict=True)
        ]
        optimal, finished = (np.stack([one[at] for one in found]) for at in (1, 2))
        return OutOfFoldClasses([one[0] for one in found], optimal, _whole_folds(finished))
