"""The linear machine by Newton steps over sums of rows (``native/core/linear/linear_newton.hpp``), here in memory."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from abstain import _native
from abstain.arguments import one_blas_thread, threads
from abstain.dual.linear_certificate import LinearProblem
from abstain.dual.proof import Status
from abstain.losses.margin_loss import LossTable, MarginLoss
from abstain.machines.linear_machine import native_data

Point = NDArray[np.float64]  # w and, last, b
MOST_DENSE = 2000  # features up to which the Hessian is formed
SAMPLED = 30  # rows for each entry of the point that a Hessian is estimated from at least
PRODUCTS = 4e10  # that forming a Hessian may take before it is estimated


def most_rows(features: int) -> int:
    """Return the largest number of rows from which a Hessian is formed; with more rows it is estimated."""
    return int(max(SAMPLED * (features + 1), PRODUCTS / (features + 1) ** 2))


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """What the solver found.

    Attributes
    ----------
    point : ndarray of shape (n_features + 1,)
        w and, last, b.
    scale : (float, float)
        The factors on gamma of the two sides, (-1, +1), that make it feasible.
    status : Status
    iterations : int
        Newton steps.
    gap : float
        The relative duality gap by the solver's own sums.
    sigma : float
        The last penalty, for a warm start; nan without Newton steps.
    gamma : float64 array of shape (n,) or None
        The multipliers; None where the sums have them.
    """

    point: Point
    scale: tuple[float, float]
    status: Status
    iterations: int
    gap: float
    sigma: float
    gamma: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class LinearNewton:
    """Settings of the solver.

    Attributes
    ----------
    tol : float
        The relative duality gap at which it stops.
    max_iter : int
        Limit on Newton steps.
    polish : bool
        Whether to go on below `tol` while one of three penalties halves the gap: to about the last digits.
    time_limit : float or None
        Seconds.
    progress : callable or None
        Called with the number of steps and the relative gap; a true answer ends the fit.
    """

    tol: float = 1e-4
    max_iter: int = 1000
    time_limit: float | None = None
    progress: Callable[..., bool | None] | None = None
    polish: bool = False

    def solve(self, sums: Any, sigma: float, start: Point | None = None) -> LinearSolution:
        """Minimise from `start`, with `sigma` as the first penalty.

        `sums` are over all rows, wherever they are, with the methods of ``native/core/linear/linear_block.hpp``. One
        with an attribute ``at_once`` is asked for the slopes at that many step lengths in one call. Where an attribute
        ``native`` is a block of the native core, none of their methods is called.
        """
        settings = {
            "tol": float(self.tol),
            "max_iter": int(self.max_iter),
            "seconds": np.inf if self.time_limit is None else float(self.time_limit),
            "progress": self.progress,
            "polish": self.polish,
            "most_formed": MOST_DENSE,
            "most_rows": most_rows(sums.features),
            "lapack": _Lapack(),
        }
        first = None if start is None else np.require(start, np.float64, ["C", "A"])
        block = getattr(sums, "native", None)
        if block is not None:
            point, scale, status, *rest = block.newton(sigma, first, settings)
        else:
            # threads of BLAS wait for each other where the processor has other work: five to ten times as long
            with one_blas_thread(), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                point, scale, status, *rest = _native.newton(sums, sigma, first, settings)
        return LinearSolution(point, scale, Status(status), *rest)


class _Lapack:
    """Factors of Hessians that are too large for the native core's."""

    def make(self, H: NDArray[np.float64]) -> bool:
        """Factor a symmetric matrix; False if it is not positive definite."""
        d = math.isqrt(len(H))
        try:
            with one_blas_thread():
                self.factor = scipy.linalg.cho_factor(H.reshape(d, d).T, overwrite_a=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            return False
        return True

    def solve(self, v: Point) -> Point:
        """Solve with the last factor."""
        return np.asarray(scipy.linalg.cho_solve(self.factor, v, overwrite_b=True, check_finite=False))


class LocalSums:
    """Sums over rows in memory, dense or CSR, of either precision, read in place; dense rows minus `centre`."""

    def __init__(self, problem: LinearProblem, n_jobs: int | None = None) -> None:
        self.rows, self.features = problem.X.shape
        kinds, tables = problem.kind.astype(np.int32), problem.loss.tables()
        data = native_data(problem.X, problem.centre)
        self.block = _native.LinearBlock(data, problem.sign, problem.weight, kinds, *tables, threads(n_jobs))

    @property
    def native(self) -> Any:
        """The block of the native core."""
        return self.block

    def __getattr__(self, name: str) -> Any:
        """Return a method of the native block, which has all methods that are not here."""
        if name == "block":  # not there yet
            raise AttributeError(name)
        return getattr(self.block, name)

    def between(self) -> int:
        """Return the number of rows between breakpoints."""
        return int(self.block.between())

    def hessian(self, most: int, *, everything: bool) -> NDArray[np.float64]:
        """Return the sum over the rows between breakpoints, or over all; an estimate from about `most` of them."""
        rows = self.rows if everything else self.between()
        stride = max(1, rows // most)
        found = self.block.hessian(everything, stride)
        return found if stride == 1 else found * (rows / -(-rows // stride))


def first_penalty(problem: LinearProblem) -> float:
    """Return a penalty that puts rows of margin 0 on the way to their last knot, where the objective is curved."""
    least = reach_of(problem.loss)
    counted = max(1, int(np.count_nonzero(problem.weight)))  # a row of weight 0 changes nothing
    mean = float(problem.weight.sum()) / counted
    return 0.5 * mean * (least if np.isfinite(least) else problem.loss.steepest)


def reach_of(loss: MarginLoss | LossTable) -> float:
    """Return the least slope at a last knot over that knot; inf if no last knot is above 0."""
    knots, slopes = loss.tables()
    reach = np.where(knots[:, -1] > 0.0, -slopes[:, -1] / np.maximum(knots[:, -1], 1e-300), np.inf)
    return float(reach.min())
