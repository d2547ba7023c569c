"""Training problems: some with answers worked out by hand, and seeded random ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np

from abstain.costs.costs import Costs
from abstain.costs.cuts import Thresholds
from abstain.costs.per_row import row_table
from abstain.dual.problem import DualProblem
from abstain.kernels import Kernel
from abstain.labels import Labels
from abstain.losses.margin_loss import MarginLoss, PiecewiseLinear
from abstain.losses.tangent_hinge import double_hinge, hinge, tangent_hinge


@dataclass(frozen=True)
class Known:
    """A problem, its optimal value, the middle of its optimal biases, and the coefficients where they are unique."""

    name: str
    problem: DualProblem
    value: float
    bias: float
    beta: tuple[float, ...] | None = None

    def __str__(self) -> str:
        return self.name


def pose(X, sign, loss, C=1.0, kernel=Kernel("linear"), weight=None) -> DualProblem:  # noqa: B008 (a frozen value)
    X = np.asarray(X, dtype=np.float64)
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
    return DualProblem(kernel, X, np.asarray(sign, dtype=np.int8), loss, C * weight)


def entropy(p: float) -> float:
    return -p * log(p) - (1 - p) * log(1 - p)


def two_points(loss, C) -> DualProblem:
    """x = +1 and x = -1 on a line: beta = (g, -g), w = 2 g, margins w + bias and w - bias."""
    return pose([[1.0], [-1.0]], [1, -1], loss, C)


# Costs(1, 5, 0.3): p_low = 0.3 / 5 = 0.06 and p_high = 0.7, so the double hinge of docs/theory.md has
_H_LOW, _H_HIGH = entropy(0.06), entropy(0.7)
TAU_POSITIVE, TAU_NEGATIVE = _H_HIGH / 0.3, _H_LOW / 0.06
RHO = (_H_LOW - _H_HIGH) / 0.64
ASYMMETRIC = Costs(1, 5, 0.3)


def hinge_apart() -> Known:
    """w = 1 reaches both knots: 1/2 w^2 is all there is to pay."""
    return Known("hinge, two points apart", two_points(hinge(), 1.0), 0.5, 0.0, (0.5, -0.5))


def hinge_at_bound() -> Known:
    """C = 0.1 holds g at 0.1: w = 0.2, each point pays 0.1 * 0.8; any |bias| <= 0.8 does as well."""
    return Known("hinge, all at the bound", two_points(hinge(), 0.1), 0.02 + 2 * 0.08, 0.0, (0.1, -0.1))


def hinge_coincident() -> Known:
    """Three positives and a negative in one place: f = bias = 1, the negative pays 2."""
    return Known("hinge, all points one", pose(np.ones((4, 1)), [1, 1, 1, -1], hinge(), 3.0), 6.0, 1.0)


def double_hinge_free() -> Known:
    """A large C: both points sit on tau, so 2 w = tau_+ + tau_- and g = w / 2."""
    w = (TAU_POSITIVE + TAU_NEGATIVE) / 2
    problem = two_points(double_hinge(ASYMMETRIC), 1000.0)
    return Known("double hinge, both on tau", problem, w**2 / 2, TAU_POSITIVE - w, (w / 2, -w / 2))


def double_hinge_on_rho() -> Known:
    """C = 5: the negative's B = 0.06 C is passed, its margin falls to -rho while the positive holds tau_+.

    2 w = tau_+ - rho with g = w / 2 between B_- = 0.3 and B_+ = 1.5; the negative pays B_- (tau_- + rho).
    """
    C = 5.0
    w = (TAU_POSITIVE - RHO) / 2
    value = w**2 / 2 + 0.06 * C * (TAU_NEGATIVE + RHO)
    problem = two_points(double_hinge(ASYMMETRIC), C)
    return Known("double hinge, one on rho", problem, value, TAU_POSITIVE - w, (w / 2, -w / 2))


def double_hinge_on_b() -> Known:
    """r = 1/5 and a C so small that both margins lie between rho = 0 and tau: g = B = C / 5 and w = 2 B."""
    C, tau = 1.0, entropy(0.2) / 0.2
    B = 0.2 * C
    value = (2 * B) ** 2 / 2 + 2 * B * (tau - 2 * B)
    return Known("double hinge, both on B", two_points(double_hinge(Costs(reject=0.2)), C), value, 0.0, (B, -B))


def double_hinge_coincident() -> Known:
    """Every point in one place: h = 0, and the bias alone minimises 2 l_+(b) + l_-(-b).

    Left of tau_+ the slope is 2 * (-0.3) + 0.7 > 0, left of rho 2 * (-0.94) + 0.06 < 0: the bend at rho is the minimum.
    """
    value = 2 * 0.3 * (TAU_POSITIVE - RHO) + 0.06 * (TAU_NEGATIVE + RHO)
    problem = pose(np.ones((3, 2)), [1, 1, -1], double_hinge(ASYMMETRIC), 1.0, Kernel("rbf"))
    return Known("double hinge, all points one", problem, value, RHO)


def without_weight() -> Known:
    """Rows of weight 0 in the way change nothing."""
    X, sign = [[1.0], [-1.0], [9.0], [-9.0]], [1, -1, -1, 1]
    problem = pose(X, sign, hinge(), weight=[1, 1, 0, 0])
    return Known("hinge, two rows without weight", problem, 0.5, 0.0, (0.5, -0.5, 0.0, 0.0))


KNOWN = (
    hinge_apart(),
    hinge_at_bound(),
    hinge_coincident(),
    double_hinge_free(),
    double_hinge_on_rho(),
    double_hinge_on_b(),
    double_hinge_coincident(),
    without_weight(),
)


def with_one_sign_of_rho(problem: DualProblem) -> DualProblem:
    """The same problem as A14 (10)-(14) print it: one rho in margin units for both classes."""
    negative, positive = problem.loss.negative, problem.loss.positive
    wrong = PiecewiseLinear((positive.knots[0], negative.knots[1]), negative.slopes)
    return replace(problem, loss=replace(problem.loss, negative=wrong))


KERNELS = (Kernel("linear"), Kernel("rbf", gamma=0.7), Kernel("poly", gamma=0.5, coef0=1.0, degree=2))


def random_problem(seed: int, sizes: tuple[int, int] = (4, 30)) -> DualProblem:
    """A small problem of 1 to 5 knots; by turns with ties, duplicate rows and rows without weight."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(*sizes, endpoint=True))
    X = rng.normal(size=(n, int(rng.integers(1, 4))))
    if seed % 3 == 0:
        X = np.round(X)  # a coarse grid: many equal distances and equal rows
    if seed % 5 == 0:
        X[n // 2 :] = X[: n - n // 2]  # every row twice
    sign = np.where(rng.random(n) < rng.uniform(0.2, 0.8), 1, -1)
    sign[:2] = 1, -1
    weight = np.ones(n) if seed % 2 else rng.exponential(size=n) + 0.01
    if seed % 7 == 0:
        weight[2:] *= rng.random(n - 2) < 0.7
    C = 10.0 ** rng.uniform(-2, 3)
    return pose(X, sign, random_loss(rng), C, KERNELS[seed % len(KERNELS)], weight)


def random_loss(rng: np.random.Generator) -> MarginLoss:
    """Tangents of the logistic loss, or any other knots and slopes; the two classes need not resemble each other."""
    K = int(rng.integers(1, 6))
    if rng.random() < 0.5:
        return tangent_hinge(np.cumsum(rng.uniform(0.05, 1.5, K)) + rng.uniform(-4, 1))

    def any_loss() -> PiecewiseLinear:
        last = rng.uniform(0.2, 2)  # above 0, so that f = 0 is not free
        knots = last - np.cumsum([0.0, *rng.uniform(0.05, 1, K - 1)])[::-1]
        return PiecewiseLinear(knots, -np.cumsum(rng.uniform(0.05, 1, K))[::-1])

    return MarginLoss(any_loss(), any_loss(), Thresholds(0.0, 0.0), cut=0.0)


def costs_of_rows(row_costs):
    """Return the table of costs per row of two classes, the second of them positive."""
    return row_table(row_costs, Labels.of([0, 1], rejects=True))


def random_row_costs(rng: np.random.Generator, n: int, never: float = 0.2, spread: float = 1.0) -> np.ndarray:
    """Costs of n rows, of which about the share `never` is never rejected."""
    false_positive, false_negative = np.exp(spread * rng.normal(size=(2, n)))
    most = 1.0 / (1.0 / false_positive + 1.0 / false_negative)  # where the two thresholds meet
    reject = most * np.where(rng.random(n) < never, 1.0, rng.uniform(0.02, 0.98, n))
    return np.column_stack([false_positive, false_negative, reject])


def clouds(n=80, d=2, seed=0, share=0.5):
    """Two overlapping Gaussian clouds and their signs, with this share of positive ones."""
    rng = np.random.default_rng(seed)
    sign = np.where(np.arange(n) < share * n, 1, -1)
    return rng.normal(size=(n, d)) + 0.7 * sign[:, np.newaxis], sign
