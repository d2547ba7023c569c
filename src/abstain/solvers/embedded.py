"""FR02's training problem without its slacks, in coordinates suited to an optimiser, and its two native solvers.

::

    F(w, b, eps) = 1/2 w.w + C sum_i phi(y_i (w.x_i + b), eps)      phi(m, eps) = min_(xi >= 1 - m) h''(xi, eps)

With x centred and rotated to its principal axes, with variances v_k, the k-th coordinate of w times sqrt(v_k + 1/(C n))
is u_k: the losses are then about equally curved in every u_k, and the penalty stays exact, ``1/2 sum_k lambda_k u_k^2``
with ``lambda_k = 1 / (C v_k + 1/n)`` after division by C. Each axis is oriented by the rows and their labels, so rows
in another order, or rotated, have the same coordinates up to rounding; `EmbeddedProblem.rounded` removes that too.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from abstain import _native
from abstain.dual.problem import DualProblem
from abstain.kernels import Kernel
from abstain.losses.step_loss import StepLoss
from abstain.losses.tangent_hinge import hinge
from abstain.solvers.native import SMO

NEGLIGIBLE = 1e-12  # directions with a smaller C n v_k are dropped: their penalty outweighs any gain
LEAST_PENALTY = 1e-200  # the dual divides by the penalty; this is negligible relative to losses of about 1
EQUAL = 1e-9  # singular values closer than this share count as one: any rotation of their axes will do
GRAIN = 2.0**-14  # of rounded coordinates, which are about 1; far above rounding errors, far below a step of the loss
BITS = 16  # of other rounded numbers
SVM_ROWS = 5000  # with more rows, every k-th is used: a start need not be exact, and the time stays linear in n
SVM_STEPS = 20  # pair steps per row
SVM_TOL = 0.1
SVM_EPS = (0.1, 0.4, 0.8)
# Hops if their number is not given: about 0.2 s, where the time of one is proportional to OVERHEAD + n d.
LEAST_HOPS, MOST_HOPS, WORK, OVERHEAD = 48, 2000, 9_500_000, 3800
FAR = 1e6  # rows with larger entries, in the SVM's units, for which the solver would not finish


@dataclass(frozen=True, eq=False)
class EmbeddedProblem:
    """The problem on rows of features.

    Attributes
    ----------
    z : ndarray of shape (n, r)
        The rows in the optimiser's coordinates.
    sign : ndarray of int8, shape (n,)
        y_i.
    penalty : ndarray of shape (r,)
        lambda_k.
    loss : StepLoss
    C : float
    centre, axes, scale : ndarray
        To convert u to w: ``w = axes @ (u * scale)``; ``centre`` is the mean of the features.
    """

    z: NDArray[np.float64]
    sign: NDArray[np.int8]
    penalty: NDArray[np.float64]
    loss: StepLoss
    C: float
    centre: NDArray[np.float64]
    axes: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def of(cls, features: NDArray[np.float64], sign: NDArray[np.int8], loss: StepLoss, C: float) -> Self:
        """Centre, rotate and scale the features."""
        n = len(features)
        largest = float(np.abs(features).max(initial=0.0))
        power = math.frexp(largest)[1] if largest > 0.0 else 0
        rows = np.ldexp(features, -power)  # exact; the square of a huge or tiny number would overflow or underflow
        centre = rows.mean(axis=0)
        rows = rows - centre
        singular, axes = _principal_axes(rows, sign)
        with np.errstate(over="ignore", under="ignore"):
            ridge = np.ldexp(1.0 / C, -2 * power) / n  # 1 / (C n) in these units; may be 0 or infinite
            kept = singular**2 > max(NEGLIGIBLE * n * ridge, (1e-15 * max(rows.shape) * singular.max(initial=0.0)) ** 2)
            axes, variance = axes[:, kept], singular[kept] ** 2 / n
            width = np.sqrt(variance + ridge)
            penalty = np.maximum(1.0 / (C * np.ldexp(variance, 2 * power) + 1.0 / n), LEAST_PENALTY)
        z = np.ascontiguousarray((rows @ axes) / width)
        return cls(z, sign, penalty, loss, C, np.ldexp(centre, power), axes, np.ldexp(1.0 / width, -power))

    def rounded(self) -> Self:
        """Return the problem in rounded numbers, with its rows in a canonical order: rounding diverts no search."""
        z = np.rint(self.z / GRAIN) * GRAIN + 0.0  # no -0.0, whose bytes differ
        order = canonical_order(z, self.sign)
        return replace(self, z=z[order], sign=self.sign[order], penalty=rounded(self.penalty))

    def weights(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights w of the features."""
        return np.asarray(self.axes @ (u * self.scale))

    def bias(self, u: NDArray[np.float64], b: float) -> float:
        """Return the bias for features that are not centred."""
        return b - float(self.centre @ self.weights(u))

    @property
    def native(self) -> dict[str, Any]:
        """The problem as keywords of the native solvers."""
        return {"z": self.z, "sign": self.sign, "penalty": self.penalty, "costs": self.loss.costs}


@dataclass(frozen=True)
class EmbeddedLimits:
    """When a solver of the problem stops, and what it calls with its progress.

    Parameters
    ----------
    max_iter : int
        Steps after which it stops in any case, with status ``iteration_limit``.
    time_limit : float or None
        Seconds after which it stops, with status ``time_limit``.
    progress : callable or None
        Called about every 20 ms with the iterations and the quantity that should become small; True stops the solver.
    """

    max_iter: int = 1_000_000
    time_limit: float | None = None
    progress: Callable[[int, float], bool | None] | None = None

    @property
    def native(self) -> dict[str, Any]:
        """The limits as keywords of the native solvers."""
        seconds = np.inf if self.time_limit is None else float(self.time_limit)
        return {"max_iter": int(self.max_iter), "seconds": seconds, "report": self.progress}


def canonical_order(rows: Any, sign: NDArray[np.int8]) -> NDArray[np.intp]:
    """Return an order of the rows by values and signs alone; `rows` is a C-ordered array or a canonical CSR matrix."""
    if sparse.issparse(rows):
        pieces = [slice(*ends) for ends in pairwise(rows.indptr)]
        keys = [rows.indices[piece].tobytes() + rows.data[piece].tobytes() for piece in pieces]
    else:
        keys = [row.tobytes() for row in rows]
    return np.array(sorted(range(len(sign)), key=lambda i: (keys[i], sign[i])), dtype=np.intp)


def rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values to `BITS` binary digits."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(mantissa, BITS)), exponent - BITS)


def _principal_axes(
    rows: NDArray[np.float64], sign: NDArray[np.int8]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Singular values and oriented right singular vectors, from a QR factor: squaring would lose small directions."""
    if not rows.size:
        return np.empty(0), np.empty((rows.shape[1], 0))
    _, singular, transposed = np.linalg.svd(np.linalg.qr(rows, mode="r"), full_matrices=False)
    axes = np.ascontiguousarray(transposed.T)
    cuts = np.flatnonzero(singular[:-1] - singular[1:] > EQUAL * singular[:-1]) + 1
    for group in np.split(np.arange(len(singular)), cuts):
        axes[:, group] = axes[:, group] @ _orientation(rows @ axes[:, group], sign)
    return singular, axes


def _orientation(z: NDArray[np.float64], sign: NDArray[np.int8]) -> NDArray[np.float64]:
    """Fix the rotation of axes that are otherwise arbitrary, by sums over the rows that turn with the axes."""
    length = np.sqrt(np.square(z).sum(axis=1))
    length /= length.max() or 1.0
    moments = z.T @ ((sign + 0.5)[:, np.newaxis] * length[:, np.newaxis] ** np.arange(1, z.shape[1] + 1))
    turn, upper = np.linalg.qr(moments)
    return np.asarray(turn * np.where(np.diagonal(upper) < 0.0, -1.0, 1.0))


@dataclass(frozen=True, eq=False)
class EmbeddedSolution:
    """A point and how it was found.

    Attributes
    ----------
    point : ndarray of shape (r + 2,)
        u, b, eps.
    objective : float
        F, not divided by C.
    status : {"local", "inaccurate", "iteration_limit", "time_limit"}
        "local": a local minimum. There may be lower ones.
    iterations : int
    lower_bound : float or None
        The dual value, W <= F at any point, if the dual was solved.
    multipliers : ndarray of shape (n,) or None
        alpha, if the dual was solved.
    trace : ndarray or None
        W, from the table of the inner problem, after each round of the dual's pair steps.
    """

    point: NDArray[np.float64]
    objective: float
    status: str
    iterations: int
    lower_bound: float | None = None
    multipliers: NDArray[np.float64] | None = None
    trace: NDArray[np.float64] | None = None

    @property
    def u(self) -> NDArray[np.float64]:
        """The weights, in the optimiser's coordinates."""
        return self.point[:-2]

    @property
    def b(self) -> float:
        """The bias for centred rows."""
        return float(self.point[-2])

    @property
    def eps(self) -> float:
        """Half the width of the reject band."""
        return float(self.point[-1])


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
