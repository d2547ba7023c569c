"""The proof that a solution is optimal: objectives, gap and violation, computed independently of any solver."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain import _native
from abstain.dual.problem import DualProblem
from abstain.kernels import size_of_rows
from abstain.losses.margin_loss import LossTable, MarginLoss

_NO_LENGTH = 1e-6  # squared length of a machine of one class that counts as 0, as a share of the longest one
UNBALANCED = 1e-10  # share of the sum of coefficients of a class that rounding may leave between the two sums


@dataclass(frozen=True)
class Certificate:
    """How good a (beta, bias) is.

    Attributes
    ----------
    primal, dual : float
        The two objectives; the optimum lies between them.
    gap : float
        primal - dual, >= 0: how far the primal can be from its optimum.
    relative_gap : float
        The gap over the primal, or over what `scale` returns for one class; always finite.
    kkt_violation : float
        The initial gain of the best pair step, in units of the score, or the amount (as a share of the largest
        coefficient allowed) by which beta is outside its box or its sum differs from the total; 0 at the optimum.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    kkt_violation: float


class Measures(NamedTuple):
    """What one pass of the core over the rows finds (native/core/certificate.hpp has the formulas): numbers.

    Of several problems over parts of the same rows, arrays with an entry for each part.

    Attributes
    ----------
    bias, primal, dual, gap : float
    pairs : float
        The initial gain of the best pair step.
    outside, excess : float
        By how much a coefficient is outside its box, and by how much their sum differs from the total.
    size, length, reach : float
        |beta|_1, |beta|_2 and |w |slopes[0]| + |beta||_2.
    top : float
        The largest coefficient allowed.
    room : float
        The factor at which the first coefficient reaches its first breakpoint.
    """

    bias: Any
    primal: Any
    dual: Any
    gap: Any
    pairs: Any
    outside: Any
    excess: Any
    size: Any
    length: Any
    reach: Any
    top: Any
    room: Any

    @classmethod
    def of(
        cls,
        problem: DualProblem,
        beta: NDArray[np.float64],
        F: NDArray[np.float64],
        bias: float = math.nan,
        lift: float = 0.0,
    ) -> "Measures":
        """Measure (beta, bias) at the sums F; nan is the best bias, which is raised by `lift` of its size."""
        beta, F = (np.require(one, np.float64, ["C", "A"]) for one in (beta, F))
        given: dict[str, Any] = {"total": float(problem.total), "bias": np.array([bias]), "lift": lift}
        found = _native.measured(starts=np.array([0, problem.n]), **problem.native, beta=beta, F=F, **given)
        return cls(*found[0].tolist())


def certify(
    problem: DualProblem, beta: NDArray[np.float64], bias: float, expansion: NDArray[np.float64] | None = None
) -> Certificate:
    """Certify (beta, bias); the expansion is recomputed in float64 unless it is given.

    ::

        primal - dual = sum_i [w_i loss_i(z_i) + g_i z_i - phi_i(g_i)] - bias (sum_i beta_i - total)

    with z = y f and g = y beta.

    Each bracket is >= 0 by the definition of phi. The gap is the sum of brackets, so large objectives do not cancel.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        F = problem.scores(beta) if expansion is None else expansion
    found = Measures.of(problem, beta, F, bias)
    return certificate_of(found, scale(problem, beta, found.primal, found.dual))


def certificate_of(found: "Measures", size: float) -> Certificate:
    """Return the certificate of these measures, with a gap relative to this size."""
    relative = found.gap / size
    infeasible = max(found.outside, abs(found.excess)) / max(found.top, sys.float_info.min)
    # After an overflow nothing is proven: the gap is then the largest number, not nan.
    relative = relative if math.isfinite(relative) else sys.float_info.max
    return Certificate(found.primal, found.dual, found.gap, relative, max(found.pairs, infeasible))


def scale(problem: DualProblem, beta: NDArray[np.float64], primal: float, dual: float) -> float:
    """Return what the gap is relative to.

    ::

        total = 0:  |primal|
        else:       max(|primal|, |dual|, 1e-6 (sum_i |beta_i| sqrt k(x_i, x_i))^2 / 2)

    The objectives of one class are negative at the optimum, where both are -1/2 |h|^2, and the primal passes through 0
    on its way there. They are 0 for the linear kernel if the origin lies among the rows: no h separates it from them.
    The last number bounds 1/2 |h|^2, and a millionth of it is a length that counts as 0.
    """
    if problem.total == 0.0:
        return max(abs(primal), sys.float_info.min)
    with np.errstate(over="ignore", invalid="ignore"):
        least = shortest_scale(beta, problem.diagonal)
    return max(abs(primal), abs(dual), least, sys.float_info.min)


def shortest_scale(beta: NDArray[np.float64], diagonal: NDArray[np.float64]) -> float:
    """Return half of the squared length that counts as 0, for coefficients of rows with these k(x, x)."""
    return 0.5 * _NO_LENGTH * float(np.abs(beta) @ np.sqrt(np.abs(diagonal))) ** 2


def score_rounding(
    problem: DualProblem, beta: NDArray[np.float64], precision: type[np.floating[Any]] = np.float64
) -> NDArray[np.float64]:
    """Estimate the error of F_i if kernel values have this precision and sums are in float64.

    ::

        error of F_i ~ root_i(eps_k ((1 + s_i) |beta root|_2 + |beta root s|_2) + eps 1/2 |beta root|_1) + eps/10 |knot|

    where |k(x_i, x_j)| <= root_i root_j, and s_i + s_j bounds the relative rounding of the value by its exponent. Sums
    of independent roundings grow like the root of the sum of squares. The running sum, which is rounded too, reaches
    1/2 |beta root|_1 if one class is summed before the other. The largest knot and scores near it are rounded too, at
    most by eps |knot|, without the factor of ten in `rounding`.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        root, exponent = magnitudes(problem)
        products = beta * root
        values = (1.0 + exponent) * _length(products) + _length(products * exponent)
        values *= float(np.finfo(precision).eps)
        rounded = 0.1 * sys.float_info.epsilon * largest_knot(problem.loss)
        return np.asarray(root * (values + 0.5 * sys.float_info.epsilon * np.abs(products).sum()) + rounded)


def largest_knot(loss: MarginLoss | LossTable) -> float:
    """Return the largest absolute knot of a loss."""
    return float(np.abs(loss.tables()[0]).max(initial=0.0))


def rounding(problem: DualProblem, beta: NDArray[np.float64], error: NDArray[np.float64] | None = None) -> float:
    """Estimate how much of the gap these errors of F can hide, in units of the objective, times ten for safety.

    ::

        error of the gap  ~  |(w |slopes[0]| + |beta|) error|_2

    A score that is off by e moves a row's part of the gap by no more than (w_i |slopes[0]| + |beta_i|) e. The errors
    are those of float64 by default.
    """
    error = score_rounding(problem, beta) if error is None else error
    with np.errstate(over="ignore", invalid="ignore"):
        return 10.0 * _length((problem.breakpoint(problem.loss.n_knots) + np.abs(beta)) * error)


def most_rounding(problem: DualProblem, found: "Measures") -> float:
    """Return a bound on `rounding` in fewer passes: the squares of all rows together are those of each row at most."""
    entries = problem.X.data if issparse(problem.X) else problem.X.ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        squares = float(entries @ entries)
        of_row = squares if problem.kernel.formula.power == 2 else math.sqrt(problem.X.shape[1] * squares)
        largest = [of if isinstance(of, float) else float(np.max(of)) for of in magnitudes(problem, of_row)]
        return float(rounding_bound(largest, found.length, found.size, found.reach, problem.loss))


def rounding_bound(largest: Sequence[float], length: Any, size: Any, reach: Any, loss: MarginLoss | LossTable) -> Any:
    """Return a bound on `rounding` by the largest root_i and s_i, |beta|_2, |beta|_1 and |w |slopes[0]| + |beta||_2."""
    root, exponent = largest
    eps = sys.float_info.epsilon
    error = root * root * eps * ((1.0 + 2.0 * exponent) * length + 0.5 * size) + 0.1 * eps * largest_knot(loss)
    return 10.0 * error * reach


def _length(vector: NDArray[np.float64]) -> float:
    square = float(vector @ vector)
    return math.sqrt(square) if square < math.inf else float(np.abs(vector).sum())  # no less, where squares overflow


def magnitudes(problem: DualProblem, size: float | None = None) -> tuple[Any, Any]:
    """Return root_i and s_i of `rounding` for each row, or bounds on them if no `size_of_rows` is above `size`."""
    kernel, X = problem.kernel, problem.X
    if kernel.name == "precomputed":
        return np.sqrt(np.abs(problem.diagonal)), 0.0
    sizes: Any = size
    if size is None:
        centred = not issparse(X) and (kernel.name == "linear" or kernel.formula.stationary)
        sizes = size_of_rows(kernel, X - X.sum(axis=0) / len(X) if centred else X)
    if kernel.name == "linear":
        return np.sqrt(sizes), 0.0
    if kernel.formula.stationary:
        return 1.0, 2.0 * kernel.gamma * sizes
    inner = kernel.gamma * sizes + abs(kernel.coef0)
    if kernel.name == "poly":  # a power multiplies the relative rounding of its base
        return np.sqrt(inner**kernel.degree), float(kernel.degree)
    if kernel.name == "sigmoid":  # |tanh(u) - tanh(v)| <= |u - v|, so its error is at most that of its argument
        return np.sqrt(inner), 0.0
    return np.sqrt(np.abs(problem.diagonal)), 0.0


def feasible(problem: DualProblem, beta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return coefficients inside their boxes that sum to the total; otherwise the dual value would not be a bound.

    If the total is 0, the class with the larger sum is shrunk; otherwise all rows that can move do. Coefficients that
    are feasible up to rounding stay as they are, on the breakpoints where they rest; what rounding left of a
    coefficient that is 0 makes no support vector.
    """
    given = np.require(beta, np.float64, ["C", "A"])
    made = _native.made_feasible(**problem.native, total=float(problem.total), beta=given)
    return beta if made is None else np.asarray(made)


def stretch(problem: DualProblem, beta: NDArray[np.float64], violation: float) -> float:
    """Return the factor s >= 1 for beta that takes rows just short of their last knot t past it.

    ::

        s = 1 + violation / (2 t)

    Where no row has a loss at the optimum, rows that miss t by violation / 2 still cost up to w violation / 2 each. At
    large C that is most of the primal, although the machine is nearly optimal; s changes the rest of the objectives
    only by about violation / t. If a row has a loss, with a coefficient on a breakpoint or beyond, s is 1.
    """
    g = problem.sign * beta
    room = float(np.divide(problem.breakpoint(1), g, out=np.full(problem.n, np.inf), where=g > 0).min())
    last = float(problem.knots[:, -1].min())
    return max(1.0, min(1.0 + violation / (2.0 * last), room)) if last > 0.0 else 1.0
