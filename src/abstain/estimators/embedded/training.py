"""The training rows of FR02's machine as features, and the fitted value of a solution."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import solve_triangular

from abstain.estimators.fitting.decide import Fitted
from abstain.estimators.fitting.posing import resolved_kernel, symmetric, training_gram
from abstain.kernels import Kernel, Matrix
from abstain.labels import Labels
from abstain.losses.step_loss import StepLoss
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine
from abstain.rules.rule import Rule
from abstain.solvers.embedded import EmbeddedProblem, EmbeddedSolution, canonical_order

WHOLE = 3000  # rows up to which a Gram matrix is computed at once, not column by column
EXACT = 1e-12  # K counts as factored once the rest of the diagonal is this small relative to its largest entry
INDEFINITE = 1e-8  # how far below 0 rounding may push the rest of the diagonal


@dataclass(frozen=True, eq=False)
class EmbeddedTraining:
    """The rows of one fit, or of one sweep over reject costs, in an order of their own, not the caller's.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        The rows; the Gram matrix for a precomputed kernel.
    order : ndarray of intp, shape (n_samples,)
        The caller's numbers of the rows.
    labels : Labels
    kernel : Kernel or callable
        The kernel, with gamma as a number.
    factor : KernelFeatures or None
        The features that represent the kernel; None for the linear kernel, whose features are the columns of X.
    problem : EmbeddedProblem
        The training problem, with y_i = +1 for ``classes_[1]``; the machine does not depend on which class is positive.
    """

    X: Matrix
    order: NDArray[np.intp]
    labels: Labels
    kernel: Kernel | Callable[..., Any]
    factor: "KernelFeatures | None"
    problem: EmbeddedProblem

    @classmethod
    def of(cls, parameters: Any, X: Matrix, y: Any, labels: Labels, loss: StepLoss) -> Self:
        """Make the features of an estimator's kernel and pose the problem."""
        sign = np.where(labels.encode(y) > 0, 1, -1).astype(np.int8)
        if parameters.kernel == "precomputed":
            X = symmetric(X, "X")
            order = _gram_order(X, sign)
            X = X[np.ix_(order, order)]
        else:
            X = X.toarray() if sparse.issparse(X) and parameters.kernel == "linear" else X
            order = canonical_order(X, sign)
            X = X[order]
        kernel = resolved_kernel(parameters, parameters.gamma, X)
        factor = None if parameters.kernel == "linear" else _factor(kernel, X, int(parameters.n_components))
        features = X if factor is None else factor.features
        problem = EmbeddedProblem.of(features, sign[order], loss, float(parameters.C))
        return cls(X, order, labels, kernel, factor, problem)

    @property
    def definite(self) -> bool:
        """Whether the kernel is positive semidefinite on these rows."""
        return self.factor is None or self.factor.definite

    def machine(self, solution: EmbeddedSolution) -> LinearMachine | KernelMachine:
        """Return the machine: weights of the features, or an expansion on the rows that represent the kernel."""
        problem, weights = self.problem, self.problem.weights(solution.u)
        if self.factor is None:
            return LinearMachine(weights, problem.centre, solution.b)
        pivots, coef = self.factor.pivots, self.factor.coefficients(weights)
        support = self.order[pivots]
        sorting = np.argsort(support)
        precomputed = isinstance(self.kernel, Kernel) and self.kernel.name == "precomputed"
        vectors = np.empty((0, 0)) if precomputed else self.X[pivots[sorting]]
        bias = problem.bias(solution.u, solution.b)
        return KernelMachine(self.kernel, vectors, coef[sorting], bias, support[sorting], self.X.shape[0])


@dataclass(frozen=True, eq=False)
class FittedEmbedded(Fitted):
    """A fitted `EmbeddedRejectSVC`.

    Attributes
    ----------
    objective, training_risk : float
        F, and the mean cost of the decisions on the training rows.
    lower_bound : float or None
        The dual value, if the dual was solved.
    status : {"local", "inaccurate", "iteration_limit", "time_limit"}
    iterations : int
    """

    objective: float
    training_risk: float
    lower_bound: float | None
    status: str
    iterations: int

    @classmethod
    def of(cls, training: EmbeddedTraining, solution: EmbeddedSolution, rule: Rule, bound: float | None) -> Self:
        """Make it from a solution and the rule of its band."""
        problem = training.problem
        choice = rule.choose(problem.z @ solution.u + solution.b)
        return cls(
            machine=training.machine(solution),
            rule=rule,
            objective=float(solution.objective),
            training_risk=float(rule.cost((problem.sign > 0).astype(np.intp), choice).mean()),
            lower_bound=None if bound is None else float(bound),
            status=solution.status if training.definite or solution.status != "local" else "inaccurate",
            iterations=solution.iterations,
        )


@dataclass(frozen=True, eq=False)
class KernelFeatures:
    """Features whose inner products are kernel values: a pivoted Cholesky factor of the Gram matrix.

    ::

        K ~ L L',  L = K[:, P] L_P^-T      f(x) = sum_p c_p k(x_p, x) with c = L_P^-T w  is  L w on the training rows

    The pivots P are rows, so a machine in L is an expansion on these rows only. The factor is exact if the rank of K
    does not exceed the number of pivots allowed; otherwise it is a Nystroem approximation with greedily chosen
    landmarks.

    Attributes
    ----------
    features : ndarray of shape (n, r)
        L, one row of features per training row.
    pivots : ndarray of intp, shape (r,)
        P, the rows whose kernel values span the features.
    rest : float
        Largest diagonal entry of K - L L', relative to the largest of K: 0 up to rounding if L is exact.
    definite : bool
        False if the diagonal of the rest went below 0: the kernel is not positive semidefinite on these rows.
    """

    features: NDArray[np.float64]
    pivots: NDArray[np.intp]
    rest: float
    definite: bool

    def coefficients(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coefficients c of the pivots with L w = K[:, P] c."""
        if not len(self.pivots):  # SciPy before 1.14 refuses empty matrices
            return np.zeros(0)
        return np.asarray(solve_triangular(self.features[self.pivots], w, lower=True, trans="T"))


def kernel_features(
    column: Callable[[int], NDArray[np.float64]], diagonal: NDArray[np.float64], max_rank: int
) -> "KernelFeatures":
    """Factor a Gram matrix with at most `max_rank` pivots, from its diagonal and a function for its columns.

    Parameters
    ----------
    column : callable
        ``column(i)`` is K[:, i].
    diagonal : ndarray of shape (n,)
        The diagonal of K.
    max_rank : int
        Maximum number of features.
    """
    n = len(diagonal)
    rest, scale = diagonal.copy(), float(np.abs(diagonal).max(initial=0.0))
    L = np.zeros((n, min(n, max_rank)), order="F")
    pivots: list[int] = []
    for k in range(L.shape[1]):
        p = int(np.argmax(rest))  # ties go to the first
        if not rest[p] > EXACT * scale:
            break
        root = np.sqrt(rest[p])
        L[:, k] = (column(p) - L[:, :k] @ L[p, :k]) / root
        L[pivots, k] = 0.0  # exactly
        L[p, k] = root
        rest -= L[:, k] ** 2
        rest[p] = 0.0
        pivots.append(p)
    r = len(pivots)
    definite = bool(rest.min(initial=0.0) >= -INDEFINITE * scale and diagonal.min(initial=0.0) >= 0.0)
    left = float(max(rest.max(initial=0.0), 0.0) / scale) if scale > 0.0 else 0.0
    return KernelFeatures(np.ascontiguousarray(L[:, :r]), np.array(pivots, dtype=np.intp), left, definite)


def column_of(kernel: Kernel, X: Any) -> Callable[[int], NDArray[np.float64]]:
    """Columns of a kernel's Gram matrix on the rows X, each computed on demand."""
    return lambda i: kernel(X, X[i : i + 1])[:, 0]


def _factor(kernel: Any, X: Matrix, max_rank: int) -> "KernelFeatures":
    """Features of the kernel on the rows X, from its full Gram matrix if that is small or given."""
    computed = isinstance(kernel, Kernel) and kernel.name != "precomputed"
    if computed and X.shape[0] > WHOLE:
        return kernel_features(column_of(kernel, X), _finite(kernel.diagonal(X)), max_rank)
    given, name = training_gram(kernel, X)
    gram = _finite(given if computed else symmetric(given, name))
    return kernel_features(lambda i: gram[i], gram.diagonal().copy(), max_rank)


def _gram_order(gram: NDArray[np.float64], sign: NDArray[np.int8]) -> NDArray[np.intp]:
    """An order of the rows of a Gram matrix by what no permutation changes; sums of integers have no rounding."""
    scale = float(np.abs(gram).max(initial=0.0)) or 1.0
    power, side = 40 - math.frexp(scale)[1], sign.astype(np.int64)
    whole = (np.rint(np.ldexp(row, power)).astype(np.int64) for row in gram)
    sums, signed = np.array([(row.sum(), row @ side) for row in whole]).T
    return np.lexsort((signed, sums, gram.diagonal(), sign))


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    if not np.isfinite(values).all():
        raise ValueError("the kernel overflows or is not a number on some pairs of rows; scale the features.")
    return values
