"""The two solvers of FR02's training problem in the native core: pair steps on its dual, and annealed descent."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain import _native
from abstain.dual.problem import DualProblem
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import hinge
from abstain.solvers.embedded.problem import EmbeddedLimits, EmbeddedProblem, EmbeddedSolution, rounded
from abstain.solvers.native import SMO

SVM_ROWS = 5000  # with more rows, every k-th is used: a start need not be exact, and the time stays linear in n
SVM_STEPS = 20  # pair steps per row
SVM_TOL = 0.1
SVM_EPS = (0.1, 0.4, 0.8)
# Hops if their number is not given: about 0.2 s, where the time of one is proportional to OVERHEAD + n d.
LEAST_HOPS, MOST_HOPS, WORK, OVERHEAD = 48, 2000, 9_500_000, 3800
FAR = 1e6  # rows with larger entries, in the SVM's units, for which the solver would not finish


@dataclass(frozen=True)
class EmbeddedDual(EmbeddedLimits):
    """Pair steps with golden section on the concave dual W; see ``native/core/embedded/dual.hpp``.

    The weights follow from the multipliers; bias and eps minimise F for these weights. Because F is not convex, W stays
    below it, and the resulting machine is not a minimum of F. Its steps are pair steps, and `progress` gets the slope
    of the steepest pair.
    """

    def solve(self, problem: EmbeddedProblem) -> EmbeddedSolution:
        """Maximise the dual and recover a machine."""
        given = problem.native | self.native
        point, value, status, iterations, bound, multipliers, trace = _native.embedded_dual(**given)
        C = problem.C
        return EmbeddedSolution(point, C * value, status, iterations, C * bound, C * multipliers, C * trace)


@dataclass(frozen=True)
class EmbeddedPrimal(EmbeddedLimits):
    """Annealed descent on F(w, b, eps), then hops; see ``native/core/embedded/primal.hpp``.

    It starts from u = 0, with smooth loss steps that are made steeper in stages, and from the plain SVM of the same C.
    Then it makes `hops` hops: each weights rows or changes the costs at random for one descent, and descends again.
    Where hops no longer lead down, the search goes on from a new point, then from the lowest one again. Last come the
    points in `starts`. The search runs on `EmbeddedProblem.rounded`; every point that comes near the lowest so far is
    polished on the problem itself, and the solution is the lowest of these. So more hops or more starts never raise F.

    Parameters
    ----------
    hops : int or None
        None means `hops_for` the problem: as many as take about 0.2 s, between 48 and 2,000.
    seed : int
        The same seed leads to the same solution.
    max_iter, time_limit, progress
        As in `EmbeddedLimits`: descent steps, and `progress` gets the size of the projected gradient.
    """

    hops: int | None = None
    seed: int = 0

    def solve(self, problem: EmbeddedProblem, starts: Sequence[NDArray[np.float64]] = ()) -> EmbeddedSolution:
        """Solve the problem; `starts` are further points (u, b, eps), tried last."""
        rough = problem.rounded()
        hops = hops_for(*problem.z.shape) if self.hops is None else int(self.hops)
        point, value, status, iterations = _native.embedded_primal(
            **problem.native,
            rough_z=rough.z,
            rough_sign=rough.sign,
            rough_penalty=rough.penalty,
            starts=_table(svm_starts(rough, self.time_limit), problem),
            later=_table(starts, problem),
            hops=hops,
            seed=int(self.seed),
            **self.native,
        )
        return EmbeddedSolution(point, problem.C * value, status, iterations)


def hops_for(n: int, d: int) -> int:
    """Return the number of hops for n rows of d features."""
    return min(max(WORK // (OVERHEAD + n * d), LEAST_HOPS), MOST_HOPS)


def _table(points: Sequence[NDArray[np.float64]], problem: EmbeddedProblem) -> NDArray[np.float64]:
    return np.array(points, dtype=np.float64).reshape(len(points), problem.z.shape[1] + 2)


def svm_starts(problem: EmbeddedProblem, time_limit: float | None = None) -> list[NDArray[np.float64]]:
    """Return the plain SVM of the same C, by SMO, with several eps; empty if the rows are too badly scaled for it."""
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
    plane = rounded(np.append(solution.beta @ X / np.sqrt(problem.penalty), solution.bias))
    return [np.array([*plane, eps]) for eps in (SVM_EPS if problem.loss.rejects else (0.0,))]
