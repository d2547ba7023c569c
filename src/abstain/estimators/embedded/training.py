"""The training rows of FR02's machine as features, and the machine of a solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from abstain.estimators.training import resolved_kernel, symmetric, training_gram
from abstain.features import KernelFeatures, column_of, kernel_features
from abstain.kernels import Kernel, Matrix
from abstain.labels import Labels
from abstain.losses.step_loss import StepLoss
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine
from abstain.solvers.embedded.problem import EmbeddedProblem, EmbeddedSolution

WHOLE = 3000  # rows up to which a Gram matrix is computed at once, not column by column


@dataclass(frozen=True, eq=False)
class EmbeddedTraining:
    """The rows of one fit, or of one sweep over reject costs.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        The rows as given; the Gram matrix for a precomputed kernel.
    labels : Labels
    kernel : Kernel or callable
        The kernel, with gamma as a number.
    factor : KernelFeatures or None
        The features that represent the kernel; None for the linear kernel, whose features are the columns of X.
    problem : EmbeddedProblem
        The training problem, with y_i = +1 for ``classes_[1]``; the machine does not depend on which class is positive.
    """

    X: Matrix
    labels: Labels
    kernel: Kernel | Callable[..., Any]
    factor: KernelFeatures | None
    problem: EmbeddedProblem

    @classmethod
    def of(cls, parameters: Any, X: Matrix, y: Any, labels: Labels, loss: StepLoss) -> Self:
        """Make the features of an estimator's kernel and pose the problem."""
        kernel = resolved_kernel(parameters, parameters.gamma, X)
        factor = None
        if isinstance(kernel, Kernel) and kernel.name == "linear":
            features = X.toarray() if sparse.issparse(X) else X
        else:
            factor = _factor(kernel, X, int(parameters.n_components))
            features = factor.features
        problem = EmbeddedProblem.of(features, labels.encode(y), loss, float(parameters.C))
        return cls(X, labels, kernel, factor, problem)

    @property
    def definite(self) -> bool:
        """Whether the kernel is positive semidefinite on these rows."""
        return self.factor is None or self.factor.definite

    def machine(self, solution: EmbeddedSolution) -> LinearMachine | KernelMachine:
        """Give the machine: weights of the features, or an expansion on the rows that represent the kernel."""
        problem, weights = self.problem, self.problem.weights(solution.u)
        if self.factor is None:
            return LinearMachine(weights, problem.centre, solution.b)
        pivots, coef = self.factor.pivots, self.factor.coefficients(weights)
        order = np.argsort(pivots)
        support = pivots[order]
        precomputed = isinstance(self.kernel, Kernel) and self.kernel.name == "precomputed"
        vectors = np.empty((0, 0)) if precomputed else self.X[support]
        bias = problem.bias(solution.u, solution.b)
        return KernelMachine(self.kernel, vectors, coef[order], bias, support, self.X.shape[0])


def _factor(kernel: Kernel | Callable[..., Any], X: Matrix, max_rank: int) -> KernelFeatures:
    """Features of the kernel on the rows X, from its full Gram matrix if that is small or given."""
    if isinstance(kernel, Kernel) and kernel.name != "precomputed" and X.shape[0] > WHOLE:
        return kernel_features(column_of(kernel, X), _finite(kernel.diagonal(X)), max_rank)
    given, name = training_gram(kernel, X)
    computed = isinstance(kernel, Kernel) and kernel.name != "precomputed"
    gram = _finite(given if computed else symmetric(given, name))
    return kernel_features(lambda i: gram[i], gram.diagonal().copy(), max_rank)


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    if not np.isfinite(values).all():
        raise ValueError("the kernel overflows or is not a number on some pairs of rows; scale the features.")
    return values
