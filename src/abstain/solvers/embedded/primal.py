"""Solve FR02's training problem by annealed descent from many starts, in the native core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain import _native
from abstain.dual.problem import DualProblem
from abstain.kernels import Kernel
from abstain.losses.hinge import hinge
from abstain.solvers.embedded.problem import EmbeddedProblem, EmbeddedSolution
from abstain.solvers.smo import SMO

__all__ = ["EmbeddedPrimal"]

SVM_ROWS = 5000  # with more rows, every k-th is used: a start need not be exact, and the time stays linear in n
SVM_STEPS = 20  # pair steps per row
SVM_TOL = 0.1
SVM_EPS = (0.1, 0.4, 0.8)
FAR = 1e6  # rows with larger entries, in the SVM's units, for which the solver would not finish


@dataclass(frozen=True)
class EmbeddedPrimal:
    """Annealed descent on F(w, b, eps), then hops; see ``native/core/embedded/primal.hpp``.

    It starts from u = 0, with smooth loss steps that are made steeper in stages, from the plain SVM of the same C, and
    from the points in `starts`. Then it makes `hops` hops: each moves the point, weights the rows or changes the costs
    at random, and descends again. The solution is the lowest point found.

    Parameters
    ----------
    hops : int
    seed : int
        The same seed gives the same solution.
    max_iter : int
        Descent steps after which it stops in any case, with status ``iteration_limit``.
    time_limit : float or None
        Seconds after which it stops, with status ``time_limit``.
    progress : callable or None
        Called with ``(iterations, size of the projected gradient)`` about every 20 ms; True stops the solver.
    """

    hops: int = 48
    seed: int = 0
    max_iter: int = 1_000_000
    time_limit: float | None = None
    progress: Callable[[int, float], bool | None] | None = None

    def solve(self, problem: EmbeddedProblem, starts: Sequence[NDArray[np.float64]] = ()) -> EmbeddedSolution:
        """Solve the problem; `starts` are further starting points (u, b, eps)."""
        points = [*svm_starts(problem, self.time_limit), *starts]
        point, value, status, iterations = _native.embedded_primal(
            **problem.native,
            starts=np.array(points, dtype=np.float64).reshape(len(points), problem.z.shape[1] + 2),
            hops=int(self.hops),
            seed=int(self.seed),
            max_iter=int(self.max_iter),
            seconds=np.inf if self.time_limit is None else float(self.time_limit),
            report=self.progress,
        )
        return EmbeddedSolution(point, problem.C * value, status, iterations)


def svm_starts(problem: EmbeddedProblem, time_limit: float | None = None) -> list[NDArray[np.float64]]:
    """The plain SVM of the same C, by SMO, with several eps; empty if the rows are too badly scaled for it."""
    with np.errstate(divide="ignore", over="ignore"):
        X = problem.z / np.sqrt(problem.penalty)
    if not X.size or not np.abs(X).max() < FAR:
        return []
    every = slice(None, None, -(-len(X) // SVM_ROWS))
    X, sign = np.ascontiguousarray(X[every]), np.ascontiguousarray(problem.sign[every])
    if abs(int(sign.astype(np.int64).sum())) == len(sign):
        return []
    svm = DualProblem(Kernel("linear"), X, sign, hinge(), np.full(len(X), len(problem.sign) / len(X)))
    solution = SMO(tol=SVM_TOL, max_iter=SVM_STEPS * len(X), time_limit=time_limit, polish=False).solve(svm)
    u = solution.beta @ X / np.sqrt(problem.penalty)
    return [np.array([*u, solution.bias, eps]) for eps in (SVM_EPS if problem.loss.rejects else (0.0,))]
