"""Scores of held-out rows for every task, fold and C by linear machines.

The machines of a fold and task are a path in ascending C: each fit starts where the previous one ended. A fold holds
rows out by a weight of 0, so that the rows are never copied.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from abstain.dual.linear_certificate import LinearProblem
from abstain.dual.problem import Task
from abstain.dual.proof import Status
from abstain.machines.linear_machine import LinearMachine
from abstain.solvers.cross_validation import Folds, HeldOut, Limits, Line
from abstain.solvers.linear import LinearNewton, LocalSums, Point, first_penalty
from abstain.solvers.linear_wide import WideRows

Start = tuple[Point, NDArray[np.float64]]  # a point and its multipliers
BLOCK = 1_000_000  # entries of held-out rows that are copied at a time


@dataclass(frozen=True, eq=False)
class LinearFits:
    """The fits of a search over rows of features.

    Attributes
    ----------
    X, centre : rows and their centre, as in `LinearProblem`
    tasks : sequence of Task
    limits : Limits
    """

    X: Any
    centre: NDArray[np.float64]
    tasks: Sequence[Task]
    limits: Limits
    coarse_first: ClassVar[bool] = False  # each fold is a path along all Cs

    @cached_property
    def wide(self) -> WideRows:
        """The rows, with one Gram matrix for all folds if they are few."""
        return WideRows(self.X, self.centre)

    def scores(
        self,
        rows: NDArray[np.intp] | None,
        folds: Folds,
        Cs: NDArray[np.float64],
        tried: NDArray[np.bool_],
        *,
        line: Line,
    ) -> HeldOut:
        """Return held-out scores of all rows."""
        del rows  # always all: there are no rounds on fewer
        found = HeldOut(self.tasks, folds, tried)
        counted = _Counted(line, np.tile(np.arange(len(Cs)), len(folds.tests) * len(self.tasks)))
        d, n = self.X.shape[1], len(self.tasks)
        for fold, test in enumerate(folds.tests):
            points = np.zeros((n, len(Cs), d + 1))
            status = np.full((n, len(Cs)), Status.TIME_LIMIT.value, dtype=object)
            for k, task in enumerate(self.tasks):
                weight = task.weight(folds.code, folds.weights[fold])
                problem = LinearProblem(self.X, self.centre, task.sign(folds.code), weight, task.loss)
                for c, (point, ended) in enumerate(self._path(problem, Cs, counted)):
                    points[k, c], status[k, c] = point, ended.value
            flat = points.reshape(-1, d + 1)
            machines = LinearMachine(flat[:, :-1], self.centre, flat[:, -1])
            step = max(1, BLOCK // max(1, d))
            parts = [machines.score(self.X[test[first : first + step]]) for first in range(0, len(test), step)]
            scores = np.concatenate(parts).reshape(len(test), n, len(Cs)).transpose(1, 2, 0)
            for k in range(n):
                found.add(k, (0, fold, slice(None)), scores[k], status[k])
        # if a fold does not end in time, its smaller Cs would be preferred because they finished on more folds
        whole = found.finished.all(axis=2, keepdims=True)
        found.ended *= whole if whole.any() else True
        return found

    def _path(
        self, problem: LinearProblem, Cs: NDArray[np.float64], counted: "_Counted"
    ) -> list[tuple[NDArray[np.float64], Status]]:
        found: list[tuple[Point, Status]] = []
        start: Start | None = None
        before = 1.0
        for C in Cs.tolist():
            if self.limits.seconds <= 0.0:
                found.append((np.zeros(self.X.shape[1] + 1), Status.TIME_LIMIT))
                continue
            began = time.monotonic()
            at = replace(problem, weight=C * problem.weight)
            if start is not None:
                start = (start[0], C / before * start[1])
            seconds = None if self.limits.until is None else self.limits.seconds
            settings = LinearNewton(self.limits.tol, self.limits.max_iter, seconds)
            start, status = self._ended(at, settings, start)
            before = C
            found.append((start[0], status))
            counted.done(time.monotonic() - began)
        return found

    def _ended(self, problem: LinearProblem, settings: LinearNewton, start: Start | None) -> tuple[Start, Status]:
        """Solve from a point and its multipliers; return those that were found."""
        before = None if start is None else (start[0][np.newaxis], start[1])
        for wide in self.wide.solve(problem, settings, self.limits.n_jobs, before):
            start = (wide.point, np.asarray(wide.gamma))
            if wide.status is not Status.INACCURATE:
                return start, wide.status
        sums: Any = LocalSums(problem, self.limits.n_jobs)
        if start is not None:
            sums.start(start[1])
        ended = settings.solve(sums, first_penalty(problem), None if start is None else start[0])
        return (ended.point, sums.gamma()), ended.status


class _Counted:
    """The seconds of fits that are made one after another."""

    def __init__(self, line: Line, fits: NDArray[np.intp]) -> None:
        self.line, self.seconds, self.at = line, np.zeros(len(fits)), 0
        line.begin(fits)

    def done(self, seconds: float) -> None:
        self.seconds[self.at] = max(seconds, 1e-9)
        self.at += 1
        self.line.report(self.seconds)
