"""The training rows of FR02's machine as features, and the fitted value of a solution."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from abstain.estimators.fitting.decide import Fitted
from abstain.estimators.fitting.posing import resolved_kernel, symmetric, training_gram
from abstain.features import KernelFeatures, column_of, kernel_features
from abstain.kernels import Kernel, Matrix
from abstain.labels import Labels
from abstain.losses.step_loss import StepLoss
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine
from abstain.rules.rule import Rule
from abstain.solvers.embedded.problem import EmbeddedProblem, EmbeddedSolution, canonical_order

WHOLE = 3000  # rows up to which a Gram matrix is computed at once, not column by column


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
    factor: KernelFeatures | None
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


def _factor(kernel: Any, X: Matrix, max_rank: int) -> KernelFeatures:
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
