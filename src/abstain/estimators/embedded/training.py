"""The training rows of FR02's machine as features, and the scores of new rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from abstain.estimators.training import Rows, symmetric
from abstain.features import KernelFeatures, column_of, kernel_features
from abstain.kernels import Kernel, resolve_gamma
from abstain.labels import Labels
from abstain.losses.step_loss import StepLoss
from abstain.solvers.embedded.problem import EmbeddedProblem, EmbeddedSolution
from abstain.solvers.expansion import expand

WHOLE = 3000  # rows up to which a Gram matrix is made at once, and not column by column


@dataclass(frozen=True, eq=False)
class EmbeddedTraining:
    """The rows of one fit, or of one sweep over reject costs.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        The rows as given; the Gram matrix for a precomputed kernel.
    labels : Labels
    kernel : Kernel or callable
        The kernel, its gamma resolved.
    factor : KernelFeatures or None
        The features that stand for the kernel; None for the linear one, whose features are the columns of X.
    problem : EmbeddedProblem
        The training problem; y_i is +1 for ``classes_[1]``: the machine does not depend on which class is positive.
    """

    X: Rows
    labels: Labels
    kernel: Kernel | Callable[..., Any]
    factor: KernelFeatures | None
    problem: EmbeddedProblem

    @classmethod
    def of(cls, parameters: Any, X: Rows, y: Any, labels: Labels, loss: StepLoss) -> Self:
        """Make the features of an estimator's kernel and pose the problem."""
        kernel = _kernel(parameters, X)
        factor = None
        if isinstance(kernel, Kernel) and kernel.name == "linear":
            features = X.toarray() if sparse.issparse(X) else X
        else:
            factor = _factor(kernel, X, int(parameters.n_components))
            features = factor.features
        sign = labels.encode(y) * np.int8(labels.orientation)
        return cls(X, labels, kernel, factor, EmbeddedProblem.of(features, sign, loss, float(parameters.C)))

    def machine(self, solution: EmbeddedSolution) -> dict[str, Any]:
        """Weights, bias and what else scores are computed from, as fitted attributes."""
        weights = self.problem.weights(solution.u)
        bias = self.problem.bias(solution.u, solution.b)
        fitted = {"intercept_": np.array([bias]), "_kernel": self.kernel, "_n_fit": self.X.shape[0], "_X_fit": None}
        if self.factor is None:
            return {**fitted, "coef_": weights[np.newaxis]}
        pivots = self.factor.pivots
        order = np.argsort(pivots)
        named = isinstance(self.kernel, Kernel)
        precomputed = named and self.kernel.name == "precomputed"  # type: ignore[union-attr]
        return {
            **fitted,
            "support_": pivots[order],
            "support_vectors_": np.empty((0, 0)) if precomputed else self.X[pivots[order]],
            "dual_coef_": self.factor.coefficients(weights)[order][np.newaxis],
            "_X_fit": None if named else self.X.copy(),  # a callable kernel wants them all; the caller's may change
        }


def embedded_scores(fitted: SimpleNamespace, rows: Rows) -> NDArray[np.float64]:
    """f(x) = w.x + b, or sum_p c_p k(x_p, x) + b, by the fitted attributes of a machine."""
    kernel = fitted._kernel  # noqa: SLF001 (a snapshot of self)
    with np.errstate(over="ignore", invalid="ignore"):  # refused below
        if hasattr(fitted, "coef_"):
            f = rows @ fitted.coef_[0]
        elif isinstance(kernel, Kernel) and kernel.name != "precomputed":
            vectors = fitted.support_vectors_
            if sparse.issparse(rows) is not sparse.issparse(vectors):
                rows, vectors = sparse.csr_array(rows), sparse.csr_array(vectors)
            f = expand(kernel, rows, vectors, fitted.dual_coef_[0])
        else:
            block = rows if isinstance(kernel, Kernel) else np.asarray(kernel(rows, fitted._X_fit), dtype=np.float64)  # noqa: SLF001
            expected = (rows.shape[0], fitted._n_fit)  # noqa: SLF001
            if block.shape != expected:
                raise ValueError(
                    f"kernel values must have shape {expected}, one column per training row, got {block.shape}."
                )
            f = block[:, fitted.support_] @ fitted.dual_coef_[0]
    f = f + fitted.intercept_[0]
    if not np.isfinite(f).all():
        raise ValueError("X is so large that the scores overflow for some rows; scale it as the training rows were.")
    return f


def _kernel(parameters: Any, X: Rows) -> Kernel | Callable[..., Any]:
    if callable(parameters.kernel):
        return parameters.kernel
    gamma = resolve_gamma(parameters.gamma, X) if parameters.kernel in ("rbf", "poly", "sigmoid") else 1.0
    return Kernel(parameters.kernel, gamma=gamma, coef0=float(parameters.coef0), degree=int(parameters.degree))


def _factor(kernel: Kernel | Callable[..., Any], X: Rows, max_rank: int) -> KernelFeatures:
    """Features of the kernel on the rows X, from its whole Gram matrix where that is small or given anyway."""
    if isinstance(kernel, Kernel) and kernel.name != "precomputed" and X.shape[0] > WHOLE:
        return kernel_features(column_of(kernel, X), _finite(kernel.diagonal(X)), max_rank)
    if isinstance(kernel, Kernel):
        gram = symmetric(X, "X") if kernel.name == "precomputed" else kernel(X)
    else:
        gram, square = np.asarray(kernel(X, X), dtype=np.float64), (X.shape[0], X.shape[0])
        if gram.shape != square:
            raise ValueError(f"kernel(X, X) must return one value per pair of rows, shape {square}, got {gram.shape}.")
        gram = symmetric(_finite(gram), "kernel(X, X)")
    gram = _finite(gram)
    return kernel_features(lambda i: gram[i], gram.diagonal().copy(), max_rank)


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    if not np.isfinite(values).all():
        raise ValueError("the kernel overflows or is not a number on some pairs of rows; scale the features.")
    return values
