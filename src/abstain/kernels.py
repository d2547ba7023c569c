"""Kernels as values: blocks of the Gram matrix in float64, and the value of ``gamma="scale"``."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist
from sklearn.utils.extmath import row_norms

from abstain.arguments import positive_number, real_number, whole_number

CANCELLED = 0.125  # share of the sizes of two sparse rows below which their distance is taken from differences,
ROUNDED = 8.0  # unless it is at most this, in units of the kernel: then rounding is that of the value
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
    power : int
        The kernel depends on gamma times this power of the unit of the features; see `resolve_gamma`.
    stationary : bool
        Whether values depend on x - y only, lie between 0 and 1, and are 1 for x = y.
    definite : callable
        ``definite(kernel)`` returns whether the formula is positive semidefinite on any rows.
    native : bool
        Whether the native core has the kernel too; if not, solvers get its Gram matrix.
    """

    block: "Callable[[Kernel, Matrix, Matrix | None], NDArray[np.float64]]"
    diagonal: "Callable[[Kernel, Matrix], NDArray[np.float64]]"
    takes_gamma: bool = False
    power: int = 2
    stationary: bool = False
    definite: "Callable[[Kernel], bool]" = lambda _: True
    native: bool = False


@dataclass(frozen=True)
class Kernel:
    """A kernel by name, with its parameters resolved to numbers.

    ::

        linear      x'y                          poly      (gamma x'y + coef0)^degree
        rbf         exp(-gamma |x - y|^2)        sigmoid   tanh(gamma x'y + coef0)
        laplacian   exp(-gamma sum |x_k - y_k|)

    "precomputed" has no formula: the data are the Gram matrix.

    Parameters
    ----------
    name : {"linear", "rbf", "laplacian", "poly", "sigmoid", "precomputed"}
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
            way = "; RejectSVCCV chooses between rbf and laplacian" if self.name == "auto" else ""
            raise ValueError(f"kernel={self.name!r} must be one of {', '.join(KERNELS)}{way}.")
        object.__setattr__(self, "gamma", positive_number("gamma", self.gamma))
        object.__setattr__(self, "coef0", real_number("coef0", self.coef0))
        if math.isinf(self.coef0):
            raise ValueError(f"coef0={self.coef0} must be finite.")
        object.__setattr__(self, "degree", whole_number("degree", self.degree))

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


def _of_products(value: "Callable[[Kernel, NDArray[np.float64]], NDArray[np.float64]]", **facts: Any) -> Formula:
    """Return the formula of a kernel that is a function of the dot product x'y; `value` may work in place."""
    return Formula(
        block=lambda kernel, X, Y: value(kernel, _products(X, X if Y is None else Y)),
        diagonal=lambda kernel, X: value(kernel, _squared_norms(X)),
        **facts,
    )


def _of_distances(exponent: "Callable[[Kernel, Matrix, Matrix], NDArray[np.float64]]", **facts: Any) -> Formula:
    """Return the formula of a kernel that is the exponential of minus a distance, which `exponent` has as an array."""

    def block(kernel: "Kernel", X: Matrix, Y: Matrix | None) -> NDArray[np.float64]:
        values = exponent(kernel, *_alike(X, X if Y is None else Y))
        np.exp(values, out=values)
        if Y is None:
            np.fill_diagonal(values, 1.0)
        return values

    return Formula(block, lambda _, X: np.ones(X.shape[0]), takes_gamma=True, stationary=True, native=True, **facts)


def _affine(kernel: "Kernel", products: NDArray[np.float64]) -> NDArray[np.float64]:
    products *= kernel.gamma
    products += kernel.coef0
    return products


def _no_formula(*_: Any) -> NDArray[np.float64]:
    raise ValueError('kernel="precomputed" has no formula to evaluate; the data are the Gram matrix.')


def _rbf(kernel: "Kernel", X: Matrix, Y: Matrix) -> NDArray[np.float64]:
    """Compute exp(-gamma |x - y|^2), after scaling by a power of two near the root of gamma: no size overflows.

    Of sparse rows whose squares cancel, which they do far from the origin, distances are sums of squared differences.
    """
    root = math.ldexp(1.0, math.frexp(math.sqrt(kernel.gamma))[1])
    if not issparse(X):
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
    if issparse(X) and x2.max(initial=0.0) + y2.max(initial=0.0) > ROUNDED:
        for i in range(X.shape[0]):
            near = np.flatnonzero(-exponent[i] < CANCELLED * (x2[i] + y2))
            if len(near):
                exponent[i, near] = -cdist(X[i : i + 1].toarray(), Y[near].toarray(), "sqeuclidean")[0]
    np.minimum(exponent, 0.0, out=exponent)
    exponent *= kernel.gamma / root / root
    return exponent


def _laplacian(kernel: "Kernel", X: Matrix, Y: Matrix) -> NDArray[np.float64]:
    """Compute exp(-gamma sum |x_k - y_k|) from differences, after scaling by a power of two near gamma, as for rbf."""
    exponent = max(-1000, min(math.frexp(kernel.gamma)[1], 1000))
    X, Y = (math.ldexp(1.0, exponent) * one for one in (X, Y))
    distances = _sparse_distances(X, Y) if issparse(X) else cdist(X, Y, "cityblock")
    distances *= -math.ldexp(kernel.gamma, -exponent)
    distances[np.isnan(distances)] = -np.inf
    return distances


def _alike(X: Matrix, Y: Matrix) -> tuple[Matrix, Matrix]:
    """Return both dense unless both are sparse."""
    return (X, Y) if issparse(X) and issparse(Y) else tuple(one.toarray() if issparse(one) else one for one in (X, Y))


def _sparse_distances(X: Matrix, Y: Matrix) -> NDArray[np.float64]:
    """Compute sum |x_k - y_k| = |x| + |y| - 2 sum min(|x_k|, |y_k|), the last over entries of the same sign.

    Where these cancel, which they do far from the origin, distances are sums of differences.
    """
    X.sum_duplicates()
    Y.sum_duplicates()
    columns = Y.tocsc()
    sizes = np.add.outer(*(np.asarray(abs(one).sum(axis=1)).ravel() for one in (X, Y)))
    distances = sizes.copy()
    for i, (first, last) in enumerate(pairwise(X.indptr)):
        shared = columns[:, X.indices[first:last]]
        x = np.repeat(X.data[first:last], np.diff(shared.indptr))
        overlap = np.abs(np.clip(shared.data, np.minimum(x, 0.0), np.maximum(x, 0.0)))
        distances[i] -= 2.0 * np.bincount(shared.indices, overlap, Y.shape[0])
        near = np.flatnonzero(distances[i] < CANCELLED * sizes[i])
        if len(near):
            distances[i, near] = cdist(X[i : i + 1].toarray(), Y[near].toarray(), "cityblock")[0]
    return distances


def _products(X: Matrix, Y: Matrix) -> NDArray[np.float64]:
    products = X @ Y.T
    return np.asarray(products.toarray() if issparse(products) else products)


def _squared_norms(X: Matrix) -> NDArray[np.float64]:
    if issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return np.asarray(row_norms(X, squared=True))


def size_of_rows(kernel: "Kernel", X: Matrix) -> NDArray[np.float64]:
    """Return |x|^2 for each row, or the sum of |x_k| for the laplacian kernel: the distance from 0 in its formula."""
    return _squared_norms(X) if kernel.formula.power == 2 else np.asarray(abs(X).sum(axis=1), dtype=np.float64).ravel()


def _poly(kernel: "Kernel", products: NDArray[np.float64]) -> NDArray[np.float64]:
    inner = _affine(kernel, products)
    return np.power(inner, kernel.degree, out=inner)


def _sigmoid(kernel: "Kernel", products: NDArray[np.float64]) -> NDArray[np.float64]:
    inner = _affine(kernel, products)
    inner[np.isinf(inner)] = np.nan  # the sign may come from an overflow of part of the sum
    return np.tanh(inner, out=inner)


# Every kernel by name. A new one is one entry here; for speed, also a formula in the native core; for export, in ONNX.
KERNELS: dict[str, Formula] = {
    "linear": _of_products(lambda _, products: products, native=True),
    "rbf": _of_distances(_rbf),
    "laplacian": _of_distances(_laplacian, power=1),
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


def native_matrix(X: Any, kind: type[np.floating[Any]]) -> dict[str, Any]:
    """Return dense or CSR rows as keywords, in this precision; rows that already have it are not copied."""
    if not issparse(X):
        return {"X": np.require(X, kind, ["C", "A"])}
    return {
        "values": np.require(X.data, kind, ["C", "A"]),
        "columns": np.require(X.indices, np.int32, ["C", "A"]),
        "starts": np.require(X.indptr, np.int64, ["C", "A"]),
        "features": X.shape[1],
    }
