"""The machine of a kernel expansion, f(x) = sum_j coef_j k(x_j, x) + bias; of several classes; of pairs of them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from abstain import _native
from abstain.arguments import threads
from abstain.compressed import check_indices
from abstain.kernels import Kernel, Matrix, called_kernel, native_matrix
from abstain.machines.linear_machine import LinearMachine
from abstain.machines.machine import check_width, finite

_BLOCK = 4_000_000  # entries, or kernel values, in memory at a time: 32 MB


def expand(
    kernel: Kernel, X: Matrix, vectors: Matrix, coef: NDArray[np.float64], n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Sum the expansion at each row of X.

    The native core expands dense vectors. Sparse rows are made dense for them block by block, so that sparse and dense
    X have the same scores; rows in float32 become float64 in the same way. Sparse vectors, and kernels that the core
    does not have, use `kernel_values`.
    """
    out = np.zeros(X.shape[0])
    if coef.size == 0:
        return out
    native = kernel.formula.native and not issparse(vectors)
    if native and not issparse(X) and X.dtype == np.float64:
        X, vectors, coef = (np.require(one, np.float64, ["C", "A"]) for one in (X, vectors, coef))
        return _native.expand(X, vectors, coef, *_native_facts(kernel, n_jobs))
    step = max(1, _BLOCK // max(coef.size, X.shape[1] if native else 1))
    for block in (slice(first, first + step) for first in range(0, X.shape[0], step)):
        if native:
            dense = X[block].toarray() if issparse(X) else X[block]
            out[block] = expand(kernel, dense.astype(np.float64, copy=False), vectors, coef, n_jobs)
        else:
            out[block] = kernel_values(kernel, X[block], vectors, n_jobs) @ coef
    return out


def _native_facts(kernel: Kernel, n_jobs: int | None) -> tuple[str, float, float, int, int]:
    """Return the kernel, and the number of threads, as the native core takes them."""
    return kernel.name, kernel.gamma, kernel.coef0, kernel.degree, threads(n_jobs)


def kernel_values(kernel: Kernel, X: Matrix, vectors: Matrix, n_jobs: int | None = 1) -> NDArray[np.float64]:
    """Return k(x, v) for each row and vector, in float64; the native core computes what differences can decide."""
    if issparse(X) is not issparse(vectors):
        X = csr_array(X) if issparse(vectors) else X.toarray()
    differences = kernel.formula.power == 1 or (kernel.formula.stationary and issparse(vectors))
    if not (differences and kernel.formula.native) or 0 in X.shape + vectors.shape:
        return kernel(X, vectors)
    rows, others = (native_matrix(one, np.float64) for one in (X, vectors))
    values = _native.kernel_values(rows, others, *_native_facts(kernel, n_jobs))
    return values.reshape(X.shape[0], vectors.shape[0])


def expand_parts(
    kernel: Kernel,
    X: NDArray[np.float64],
    rows: NDArray[np.int64],
    starts: NDArray[np.int64],
    *,
    coef: NDArray[np.float64],
    gram: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Sum, for each part of the rows, the expansion with the part's coefficients at the part's rows.

    Part p has the rows of X with the indices ``rows[starts[p]:starts[p + 1]]``, and the coefficients at these places.
    X must be dense, and the kernel one that the native core has, unless `gram` has all `gram_values` of the rows.
    """
    coef = np.require(coef, np.float64, ["C", "A"])
    dense = np.require(X, np.float64, ["C", "A"]) if gram is None else None
    return _native.expand_parts(dense, rows, starts, coef, *_native_facts(kernel, n_jobs), gram)


def gram_values(kernel: Kernel, X: Matrix, n_jobs: int | None = None) -> NDArray[np.float64]:
    """Return all values between the rows in float64, as scores are computed; each line may be longer than needed."""
    if issparse(X):
        return np.require(kernel_values(kernel, X, X, n_jobs), np.float64, ["C", "A"])
    X = np.require(X, np.float64, ["C", "A"])
    return _native.gram(X, *_native_facts(kernel, n_jobs))


def kernel_bytes(n_rows: int) -> float:
    """Return an upper bound on the memory of `gram_values`."""
    return 8.0 * (n_rows + 127.0) ** 2


@dataclass(frozen=True, eq=False)
class KernelMachine:
    """Some training rows, a coefficient for each, and a bias; for several classes, a row of coefficients for each.

    Attributes
    ----------
    kernel : Kernel or callable
        A callable gets two arrays of rows, or two CSR matrices, and returns one value per pair.
    vectors : ndarray or CSR of shape (n_vectors, n_features)
        The rows x_j; of shape (0, 0) for a precomputed kernel.
    coef : ndarray of shape (n_vectors,), or ndarray or CSR of shape (n_machines, n_vectors)
    bias : float or ndarray of shape (n_machines,)
        For the linear kernel, the score at the mean of the (dense) vectors, as in `linear`.
    support : ndarray of intp, shape (n_vectors,)
        Indices of the vectors among the training rows.
    n_rows : int
        The number of training rows, which is the number of columns of X for a precomputed kernel.
    balanced : bool, default=True
        Whether the coefficients sum to 0; in a machine of one class they do not.
    """

    kernel: Kernel | Callable[..., Any]
    vectors: Matrix
    coef: Any
    bias: Any
    support: NDArray[np.intp]
    n_rows: int
    balanced: bool = field(default=True, kw_only=True)

    @cached_property
    def linear(self) -> LinearMachine | None:
        """The same machine with one weight per feature, for the linear kernel; computed once and used for all scores.

        Where the coefficients sum to 0 the rows may be centred: ``f(x) = sum_j coef_j (x_j - c).(x - c) + bias``.
        """
        if not (isinstance(self.kernel, Kernel) and self.kernel.name == "linear"):
            return None
        centre = np.zeros(self.vectors.shape[1])
        if issparse(self.vectors) or not len(self.support) or not self.balanced:
            weights = self.coef @ self.vectors
            return LinearMachine(np.asarray(weights.toarray() if issparse(weights) else weights), centre, self.bias)
        # halved, so that a sum of rows near the largest float does not overflow
        centre = 2.0 * (0.5 * self.vectors).mean(axis=0)
        return LinearMachine(np.asarray(self.coef @ (self.vectors - centre)), centre, self.bias)

    @property
    def intercept(self) -> Any:
        """The constant that scikit-learn calls `intercept_`."""
        return self.bias if self.linear is None else self.linear.intercept

    @property
    def n_features(self) -> int:
        """The number of columns of X."""
        return self.n_rows if self.is_precomputed else int(self.vectors.shape[1])

    @property
    def is_precomputed(self) -> bool:
        """Whether X contains kernel values with the training rows instead of features."""
        return isinstance(self.kernel, Kernel) and self.kernel.name == "precomputed"

    def rescaled(self, scale: float, shift: float) -> Self:
        """Return the machine of ``scale * score + shift``."""
        return replace(self, coef=scale * self.coef, bias=scale * self.bias + shift)

    def expansion(self, X: Matrix, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return sum_j coef_j k(x_j, x) for each row: the score without its bias."""
        if issparse(self.vectors):
            check_indices(self.vectors, "support_vectors_")  # a machine that does not come from a fit may be forged
        if self.linear is not None:
            return self.linear.expansion(X)
        if self.coef.ndim == 1 and isinstance(self.kernel, Kernel) and not self.is_precomputed:
            return expand(self.kernel, X, self.vectors, self.coef, n_jobs)
        out = np.empty((X.shape[0], *self.coef.shape[:-1]))
        step = max(1, _BLOCK // max(1, self.n_rows if self.is_precomputed else len(self.support), X.shape[1]))
        for block in (slice(first, first + step) for first in range(0, X.shape[0], step)):
            out[block] = (self.coef @ self.values(X[block], n_jobs).T).T
        return out

    def values(self, X: Matrix, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the kernel values of these rows with the vectors."""
        if isinstance(self.kernel, Kernel) and not self.is_precomputed:
            return kernel_values(self.kernel, X, self.vectors, n_jobs)
        values, columns, of = X, self.n_rows, "training row"
        if not isinstance(self.kernel, Kernel):
            values, columns, of = called_kernel(self.kernel, X, self.vectors), len(self.support), "vector"
        if values.shape != (X.shape[0], columns):
            raise ValueError(
                f"kernel values must have shape {(X.shape[0], columns)}, one column per {of}, got {values.shape}."
            )
        values = values[:, self.support] if self.is_precomputed else values
        return np.asarray(values.toarray() if issparse(values) else values)

    def score(self, X: Matrix, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the score of each row, shape (n,) or (n, n_machines)."""
        if not self.is_precomputed:
            check_width(X, self.n_features)
        with np.errstate(over="ignore", invalid="ignore"):
            return finite(self.expansion(X, n_jobs) + self.bias)


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """List the pairs of classes in the order of scikit-learn's `SVC`; a score above 0 means the first of the pair."""
    return list(combinations(range(n_classes), 2))


@dataclass(frozen=True, eq=False)
class OneVsOneMachine(KernelMachine):
    """One expansion per pair of classes, each trained on the rows of its two classes, as in scikit-learn's `SVC`.

    Attributes
    ----------
    n_support : ndarray of intp, shape (n_classes,)
        How many vectors each class has; the vectors are sorted by class.
    """

    n_support: NDArray[np.intp]

    @property
    def dual_coef(self) -> NDArray[np.float64]:
        """The coefficients in the layout of `SVC`, (n_classes - 1, n_vectors): by the other class of the pair."""
        n = len(self.n_support)
        ends = np.cumsum(self.n_support)
        found = np.zeros((n - 1, len(self.support)))
        dense = self.coef.toarray() if issparse(self.coef) else self.coef
        for row, (i, j) in enumerate(class_pairs(n)):
            of_i, of_j = (slice(ends[k] - self.n_support[k], ends[k]) for k in (i, j))
            found[j - 1, of_i] = dense[row, of_i]
            found[i, of_j] = dense[row, of_j]
        return found

    def score(self, X: Matrix, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return what `SVC` gives for ``decision_function_shape="ovr"``: see `ovr_values`."""
        # the sum of finite scores may overflow
        return finite(ovr_values(super().score(X, n_jobs), len(self.n_support)))


def ovr_values(each: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Return one value per class from those of the pairs: its votes, plus less than 1/3 by the sum of its scores.

    ::

        votes_k + s_k / (3 (|s_k| + 1)),     s_k = sum of the scores of k against each other class
    """
    won, total = (np.zeros((len(each), n_classes)) for _ in range(2))
    with np.errstate(over="ignore", invalid="ignore"):
        for column, (i, j) in zip(each.T, class_pairs(n_classes), strict=True):
            first = column >= 0
            won[:, i] += first
            won[:, j] += ~first
            total[:, i] += column
            total[:, j] -= column
    return vote_values(won, total)


def vote_values(won: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of `ovr_values` from votes and sums of scores."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(won + total / (3.0 * (np.abs(total) + 1.0)))


def votes(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the votes in `ovr_values`."""
    return np.rint(values)
