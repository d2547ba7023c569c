"""Kernels as values: blocks of the Gram matrix in float64, and the value of ``gamma="scale"``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from abstain.arguments import positive_number, real_number

_BLOCK = 2_000_000  # entries of X that are centred at a time

Matrix: TypeAlias = Any  # a float64 array in C order, or a float64 CSR matrix


@dataclass(frozen=True)
class Formula:
    """What the library needs to know about one kernel.

    Attributes
    ----------
    block : callable
        ``block(kernel, X, Y)`` returns the values k(x_i, y_j), shape (len(X), len(Y)); Y is None for Y = X.
    diagonal : callable
        ``diagonal(kernel, X)`` returns k(x_i, x_i) for each row.
    takes_gamma : bool
        Whether the kernel has a parameter `gamma`.
    definite : callable
        ``definite(kernel)`` returns whether the formula is positive semidefinite on any rows.
    native : bool
        Whether the native core has the kernel too; if not, solvers get its Gram matrix.
    """

    block: Callable[[Kernel, Matrix, Matrix | None], NDArray[np.float64]]
    diagonal: Callable[[Kernel, Matrix], NDArray[np.float64]]
    takes_gamma: bool = False
    definite: Callable[[Kernel], bool] = lambda _: True
    native: bool = False


@dataclass(frozen=True)
class Kernel:
    """A kernel by name, with its parameters resolved to numbers.

    ::

        linear   x'y                             poly      (gamma x'y + coef0)^degree
        rbf      exp(-gamma |x - y|^2)           sigmoid   tanh(gamma x'y + coef0)

    "precomputed" has no formula: the data are the Gram matrix.

    Parameters
    ----------
    name : {"linear", "rbf", "poly", "sigmoid", "precomputed"}
        One of `KERNELS`.
    gamma : float, default=1.0
    coef0 : float, default=0.0
    degree : int, default=3

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.kernels import Kernel
    >>> Kernel("poly", coef0=1.0, degree=2)(np.array([[1.0], [2.0]]))
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    name: str
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3

    def __post_init__(self) -> None:
        if self.name not in KERNELS:
            raise ValueError(f"kernel={self.name!r} must be one of {', '.join(KERNELS)}.")
        object.__setattr__(self, "gamma", positive_number("gamma", self.gamma))
        object.__setattr__(self, "coef0", real_number("coef0", self.coef0))
        if math.isinf(self.coef0):
            raise ValueError(f"coef0={self.coef0} must be finite.")
        object.__setattr__(self, "degree", _whole_number("degree", self.degree))

    def __call__(self, X: Matrix, Y: Matrix | None = None) -> NDArray[np.float64]:
        """Return the block k(x_i, y_j), shape (len(X), len(Y)); Y = X by default."""
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow is inf, which DualProblem refuses
            return self.formula.block(self, X, Y)

    def diagonal(self, X: Matrix) -> NDArray[np.float64]:
        """Return k(x_i, x_i) for each row."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.formula.diagonal(self, X)

    @property
    def formula(self) -> Formula:
        """What the library needs to know about this kernel."""
        return KERNELS[self.name]


def _of_products(value: Callable[[Kernel, NDArray[np.float64]], NDArray[np.float64]], **facts: Any) -> Formula:
    """Return the formula of a kernel that is a function of the dot product x'y; `value` may work in place."""
    return Formula(
        block=lambda kernel, X, Y: value(kernel, _products(X, X if Y is None else Y)),
        diagonal=lambda kernel, X: value(kernel, _squared_norms(X)),
        **facts,
    )


def _affine(kernel: Kernel, products: NDArray[np.float64]) -> NDArray[np.float64]:
    products *= kernel.gamma
    products += kernel.coef0
    return products


def _no_formula(*_: Any) -> NDArray[np.float64]:
    raise ValueError('kernel="precomputed" has no formula to evaluate; the data are the Gram matrix.')


def _whole_number(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 0:
        raise ValueError(f"{name}={value!r} must be an integer >= 0.")
    return int(value)


def _rbf(kernel: Kernel, X: Matrix, Y: Matrix | None) -> NDArray[np.float64]:
    """Compute exp(-|root x - root y|^2), root^2 = gamma; scaled first, so that neither tiny nor huge data overflow."""
    root = math.sqrt(kernel.gamma)
    same = Y is None
    Y = X if Y is None else Y
    if not (issparse(X) or issparse(Y)):
        # |x|^2 - 2 x'y + |y|^2 loses the distance if the data are far from the origin.
        centre = Y.mean(axis=0) if len(Y) else np.zeros(Y.shape[1])
        centre[~np.isfinite(centre)] = 0.0
        X, Y = X - centre, Y - centre
    X, Y = X * root, Y * root
    x2, y2 = _squared_norms(X), _squared_norms(Y)
    exponent = _products(X, Y)
    exponent *= 2.0
    exponent -= x2[:, np.newaxis]
    exponent -= y2
    if not (np.isfinite(x2).all() and np.isfinite(y2).all()):
        exponent[np.isnan(exponent)] = -np.inf
    np.minimum(exponent, 0.0, out=exponent)
    block = np.exp(exponent, out=exponent)
    if same:
        np.fill_diagonal(block, 1.0)
    return block


def _products(X: Matrix, Y: Matrix) -> NDArray[np.float64]:
    products = X @ Y.T
    return np.asarray(products.toarray() if issparse(products) else products)


def _squared_norms(X: Matrix) -> NDArray[np.float64]:
    if issparse(X):
        if X.format != "csr" or not X.has_canonical_format:
            return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
        entries, squares = X.data[: X.indptr[-1]], np.zeros(X.shape[0])
        held = np.flatnonzero(np.diff(X.indptr))
        squares[held] = np.add.reduceat(entries * entries, X.indptr[held])
        return squares
    return np.asarray(np.einsum("ij,ij->i", X, X))


def _poly(kernel: Kernel, products: NDArray[np.float64]) -> NDArray[np.float64]:
    inner = _affine(kernel, products)
    return np.power(inner, kernel.degree, out=inner)


def _sigmoid(kernel: Kernel, products: NDArray[np.float64]) -> NDArray[np.float64]:
    inner = _affine(kernel, products)
    inner[np.isinf(inner)] = np.nan  # the sign may come from an overflow of part of the sum
    return np.tanh(inner, out=inner)


# Every kernel by name. A new one is one entry here; for speed, also a formula in the native core; for export, in ONNX.
KERNELS: dict[str, Formula] = {
    "linear": _of_products(lambda _, products: products, native=True),
    "rbf": Formula(_rbf, lambda _, X: np.ones(X.shape[0]), takes_gamma=True, native=True),
    "poly": _of_products(_poly, takes_gamma=True, definite=lambda kernel: kernel.coef0 >= 0, native=True),
    "sigmoid": _of_products(_sigmoid, takes_gamma=True, definite=lambda _: False, native=True),
    "precomputed": Formula(
        _no_formula, lambda _, X: np.asarray(X.diagonal(), dtype=np.float64), definite=lambda _: False, native=True
    ),
}


def called_kernel(kernel: Callable[..., Any], X: Matrix, Y: Matrix) -> NDArray[np.float64]:
    """Return the values of a callable kernel as a float64 array.

    The callable gets two arrays, or two CSR matrices if Y, the training rows, is sparse; X is converted likewise.
    """
    if issparse(Y):
        X = X if issparse(X) else csr_array(X)
    elif issparse(X):
        X = X.toarray()
    try:
        values = kernel(X, Y)
        return np.asarray(values.toarray() if issparse(values) else values, dtype=np.float64)
    except Exception as error:
        if not issparse(Y):
            raise
        raise ValueError(
            f"kernel(X, Y) failed on sparse rows, {type(error).__name__}: {error}; if X is sparse, a callable kernel "
            "gets two CSR matrices. Fit and predict with X.toarray(), or let the kernel convert them."
        ) from error


def resolve_gamma(gamma: float | str, X: Matrix, sample_weight: ArrayLike | None = None) -> float:
    """Return the numeric value of `gamma`.

    ::

        "scale"   1 / (d v)    v the variance of all entries of X, its rows weighted
        "auto"    1 / d

    For constant data "scale" is 1.0, as in scikit-learn. Data of scale above about 1e+154 or below about 1e-154 are
    refused, because 1 / (d v) is then outside the range of float64.

    Parameters
    ----------
    gamma : {"scale", "auto"} or float > 0
    X : float64 array or CSR matrix of shape (n_samples, n_features)
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows; a weight of 2 is the same as repeating the row.
    """
    if not isinstance(gamma, str):
        return positive_number("gamma", gamma)
    if gamma == "auto":
        return 1.0 / int(X.shape[1])
    if gamma != "scale":
        raise ValueError(f'gamma={gamma!r} must be "scale", "auto" or a positive number.')
    with np.errstate(over="ignore", invalid="ignore"):
        variance = _variance(X, sample_weight)
    if 1e-200 < variance < 1e200:  # far from where squares overflow
        return 1.0 / (X.shape[1] * variance)
    entries = X.data if issparse(X) else X
    largest = max(entries.max(initial=0.0), -entries.min(initial=0.0))  # np.abs would be a copy
    # Squares of such data are outside the range of float64; a power of two brings them near 1 without rounding.
    exponent = max(math.frexp(largest)[1], -1000)
    exponent = exponent if abs(exponent) > 400 else 0
    variance = _variance(np.ldexp(1.0, -exponent) * X if exponent else X, sample_weight)
    if variance <= 0.0:
        return 1.0
    with np.errstate(over="ignore", under="ignore"):
        width = np.ldexp(1.0 / (X.shape[1] * variance), -2 * exponent)
    if not np.finfo(np.float64).tiny <= width < np.inf:
        side = "above" if width == np.inf else "below"
        raise ValueError(
            f'gamma="scale" is 1 / (n_features * variance of X), which is {side} the range of float64 because X has '
            f"entries up to {largest:.3g}; scale the features, with StandardScaler for example."
        )
    return float(width)


def _variance(X: Matrix, sample_weight: ArrayLike | None) -> float:
    """Compute the variance of all entries with weighted rows, in two passes (one pass cancels far from 0)."""
    n, d = X.shape
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    weight = weight / weight.max()
    total = d * weight.sum()
    if not issparse(X):
        step = max(1, _BLOCK // max(1, d))  # rows in a memory-mapped file may be larger than memory
        blocks = [slice(first, first + step) for first in range(0, n, step)]
        mean = sum(weight[rows] @ X[rows].sum(axis=1, dtype=np.float64) for rows in blocks) / total
        squares = 0.0
        for rows in blocks:
            deviation = X[rows] - mean
            squares += weight[rows] @ np.einsum("ij,ij->i", deviation, deviation)
        return float(squares / total)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    stored = np.diff(X.indptr)
    entry_weight = np.repeat(weight, stored)
    mean = entry_weight @ X.data / total
    return float((entry_weight @ (X.data - mean) ** 2 + (weight @ (d - stored)) * mean**2) / total)
