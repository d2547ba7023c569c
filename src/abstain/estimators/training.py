"""The training rows of a machine: checked, weighed, and posed as the dual problem; and the scores of new rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from abstain.dual.problem import DualProblem
from abstain.estimators.weights import checked_sample_weight, row_weights
from abstain.kernels import Kernel, resolve_gamma
from abstain.labels import Labels
from abstain.losses.margin_loss import MarginLoss
from abstain.solvers.expansion import expand

Rows = Any  # dense float64 in C order, or CSR float64
ASYMMETRY = 1e-6  # what rounding in single precision leaves between K_ij and K_ji, relative to the largest entry
BLOCK = 1024


def checked_rows(estimator: Any, X: Any, y: Any = "no_validation", *, dense: bool, reset: bool) -> Rows:
    """X as the solvers read it: float64, finite, aligned and in C order, or CSR with sorted, valid indices."""
    accepted = False if dense else "csr"
    checked = validate_data(estimator, X, y, reset=reset, accept_sparse=accepted, dtype=np.float64)
    rows = checked[0] if isinstance(checked, tuple) else checked
    if not sparse.issparse(rows):
        return np.require(rows, requirements=["C", "A", "E"])  # misaligned arrays pass validate_data unrepaired
    rows.check_format(full_check=True)  # an index out of range would be read outside the arrays
    if not rows.has_canonical_format:
        rows = rows.copy()  # sorting in place would change the caller's matrix
        rows.sum_duplicates()
    return rows


@dataclass(frozen=True, eq=False)
class Training:
    """The rows of one fit.

    Attributes
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        The rows as given; the Gram matrix for a precomputed kernel.
    sign : ndarray of int8, shape (n_samples,)
        +1 for the positive class, -1 for the other.
    weight : ndarray of float64, shape (n_samples,)
        C s_i, class weights inside.
    kept : ndarray of intp
        Rows with weight above 0, the only ones that the solver sees.
    kernel : Kernel or callable
        The kernel, its gamma resolved.
    """

    X: Rows
    sign: NDArray[np.int8]
    weight: NDArray[np.float64]
    kept: NDArray[np.intp]
    kernel: Kernel | Callable[..., Any]

    @classmethod
    def of(cls, parameters: Any, X: Rows, y: Any, sample_weight: Any, *, labels: Labels, steepest: float) -> Self:
        """Weigh the rows and resolve the kernel by an estimator's parameters and the loss's steepest slope."""
        sign = labels.encode(y)
        sample_weight = checked_sample_weight(sample_weight, X)
        weight = row_weights(parameters, sample_weight, sign, labels, steepest)
        return cls(X, sign, weight, np.flatnonzero(weight), _kernel(parameters, X, sample_weight))

    def problem(self, loss: MarginLoss) -> DualProblem:
        """Pose the dual problem of the rows that have weight."""
        kernel, kept = self.kernel, self.kept
        everything = len(kept) == len(self.sign)
        if isinstance(kernel, Kernel) and kernel.name != "precomputed":
            X = self.X if everything else self.X[kept]
        else:
            X = self.X if isinstance(kernel, Kernel) else _gram(kernel, self.X)
            X = symmetric(X, "X" if isinstance(kernel, Kernel) else "kernel(X, X)")
            X = X if everything else np.ascontiguousarray(X[np.ix_(kept, kept)])
            kernel = Kernel("precomputed")
        return DualProblem(kernel, X, self.sign[kept], loss, self.weight[kept])

    def whole_problem(self, loss: MarginLoss) -> DualProblem:
        """Pose the dual problem of all rows; those without weight never move, but have a score like the others."""
        return replace(self, kept=np.arange(len(self.sign))).problem(loss)

    def vectors(self, support: NDArray[np.intp]) -> Rows:
        """The support vectors; none for a precomputed kernel, whose rows are no points."""
        if isinstance(self.kernel, Kernel) and self.kernel.name == "precomputed":
            return np.empty((0, 0))
        return self.X[support]

    def basis(self) -> Rows | None:
        """All rows, as a callable kernel wants them at `predict`; a copy, since the caller's may change."""
        return None if isinstance(self.kernel, Kernel) else self.X.copy()


def scores(fitted: SimpleNamespace, rows: Rows) -> NDArray[np.float64]:
    """f(x) = sum_j beta_j k(x_j, x) + bias by the fitted attributes of a machine."""
    kernel, coef, support = fitted._kernel, fitted.dual_coef_[0], fitted.support_  # noqa: SLF001 (a snapshot of self)
    if isinstance(kernel, Kernel) and kernel.name == "linear":
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            f = rows @ feature_weights(coef, fitted.support_vectors_)
    elif isinstance(kernel, Kernel) and kernel.name != "precomputed":
        vectors = fitted.support_vectors_
        if sparse.issparse(rows) is not sparse.issparse(vectors):  # the machine's own format, or the sparser of two
            rows, vectors = sparse.csr_array(rows), sparse.csr_array(vectors)
        f = expand(kernel, rows, vectors, coef, n_jobs=fitted.n_jobs)
    else:
        block = rows if isinstance(kernel, Kernel) else np.asarray(kernel(rows, fitted._X_fit), dtype=np.float64)  # noqa: SLF001
        if block.shape != (rows.shape[0], len(fitted.sets_)):
            raise ValueError(
                f"kernel values must have shape {(rows.shape[0], len(fitted.sets_))}, one column per training row, "
                f"got {block.shape}."
            )
        f = block[:, support] @ coef
    f = f + fitted.intercept_[0]
    if not np.isfinite(f).all():
        raise ValueError("X is so large that the kernel overflows for some rows; scale it as the training rows were.")
    return f


def feature_weights(coef: NDArray[np.float64], vectors: Rows) -> NDArray[np.float64]:
    """Sum beta_j x_j, the weights of the linear kernel, from the centre: terms of vectors far from 0 would cancel."""
    if sparse.issparse(vectors) or not len(coef):
        return np.asarray(coef @ vectors)
    centre = vectors.mean(axis=0)
    return np.asarray(coef @ (vectors - centre) + coef.sum() * centre)


def symmetric(gram: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """The Gram matrix if it is square and symmetric, its rounding averaged out; an error otherwise."""
    if gram.shape[0] != gram.shape[1]:
        raise ValueError(
            f"{name} must be a square matrix of kernel values between the training rows, got shape {gram.shape}."
        )
    worst = 0.0
    for start in range(0, len(gram), BLOCK):
        rows = slice(start, start + BLOCK)
        worst = max(worst, float(np.abs(gram[rows] - gram[:, rows].T).max()))
    if worst == 0.0:
        return gram
    if not worst <= ASYMMETRY * float(np.abs(gram).max()):
        raise ValueError(
            f"{name} must be symmetric, but K[i, j] and K[j, i] differ by up to {worst:.3g}; "
            "a kernel has k(a, b) = k(b, a). Give (K + K.T) / 2 if rounding is all that parts them."
        )
    return 0.5 * gram + 0.5 * gram.T


def _kernel(parameters: Any, X: Rows, sample_weight: NDArray[np.float64]) -> Kernel | Callable[..., Any]:
    if callable(parameters.kernel):
        return parameters.kernel
    needs_gamma = parameters.kernel in ("rbf", "poly", "sigmoid")
    gamma = resolve_gamma(parameters.gamma, X, sample_weight) if needs_gamma else 1.0
    return Kernel(parameters.kernel, gamma=gamma, coef0=float(parameters.coef0), degree=int(parameters.degree))


def _gram(kernel: Callable[..., Any], X: Rows) -> NDArray[np.float64]:
    """The Gram matrix of a callable kernel, computed once."""
    gram = np.require(kernel(X, X), dtype=np.float64, requirements=["C", "A", "E"])
    if gram.shape != (X.shape[0], X.shape[0]):
        raise ValueError(
            f"kernel(X, X) must return one value per pair of rows, shape {(X.shape[0], X.shape[0])}, got {gram.shape}."
        )
    if not np.isfinite(gram).all():
        raise ValueError("kernel(X, X) returned NaN or infinity; a kernel must be finite on all pairs of rows.")
    return gram
