"""The scores of a machine as ONNX nodes: one column for two classes, one per class or pair of classes for more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from abstain.kernels import Kernel
from abstain.machines.kernel_machine import KernelMachine, OneVsOneMachine, class_pairs
from abstain.machines.linear_machine import LinearMachine

if TYPE_CHECKING:
    from abstain.files.onnx.graph import Value


TINY = np.finfo(np.float64).tiny  # the least probability of which a logarithm is taken


@dataclass(frozen=True, eq=False)
class Scoring:
    """The sums of a machine, of kernel values with vectors or of features, and the score that they make.

    Attributes
    ----------
    coef : ndarray of shape (n_sums, n_vectors or n_features)
    biases : ndarray of shape (n_sums,)
    centre : ndarray or None
        For weights of features, what is subtracted from the rows.
    vectors, kernel : ndarray, Kernel or None
        None for weights of features.
    is_vote : bool, default=False
        Whether each sum is of a pair of classes, and the score made of votes.
    is_probability : bool, default=False
        Whether the score is made of probabilities: their log-odds for two classes, their logarithms for more.
    """

    coef: NDArray[np.float64]
    biases: NDArray[np.float64]
    centre: NDArray[np.float64] | None = None
    vectors: Any = None
    kernel: Any = None
    is_vote: bool = False
    is_probability: bool = False

    @classmethod
    def of(cls, machine: Any) -> Self | None:
        """Read a machine of this library; None for other objects, and an error for a kernel without a graph."""
        if not isinstance(machine, KernelMachine | LinearMachine):
            return None
        kernel = getattr(machine, "kernel", Kernel("linear"))
        if not isinstance(kernel, Kernel) or kernel.name not in ("linear", *KERNELS):
            which = f"kernel={kernel.name!r}" if isinstance(kernel, Kernel) else "a callable kernel"
            raise ValueError(f"{which} has no ONNX graph; use {', '.join(('linear', *KERNELS))}.")
        biases = np.atleast_1d(np.asarray(machine.bias, np.float64))
        found: dict[str, Any] = {"biases": biases, "is_vote": isinstance(machine, OneVsOneMachine)}
        linear: Any = machine if isinstance(machine, LinearMachine) else machine.linear
        if isinstance(machine, KernelMachine) and linear is None:
            return cls(np.atleast_2d(dense(machine.coef)), vectors=dense(machine.vectors), kernel=kernel, **found)
        return cls(np.atleast_2d(linear.weights), centre=linear.centre, **found)

    @classmethod
    def of_logistic(cls, classifier: Any, method: str) -> Self:
        """Read a fitted LogisticRegression; an error where its probabilities are not those of `score`."""
        by_rest = len(classifier.classes_) > 2 and classifier.solver == "liblinear"
        asked = getattr(classifier, "multi_class", None) in ("ovr", "multinomial")
        if method == "predict_proba" and (by_rest or asked):
            raise ValueError(
                "the probabilities of a LogisticRegression with multi_class or with solver='liblinear' for several "
                "classes have no ONNX graph; leave both at their defaults."
            )
        coef, biases = (np.asarray(part, np.float64) for part in (classifier.coef_, classifier.intercept_))
        return cls(coef, biases, np.zeros(coef.shape[1]), is_probability=method == "predict_proba")

    @property
    def n_features(self) -> int:
        """The number of columns of X."""
        return int(self.vectors.shape[1] if self.centre is None else len(self.centre))

    def sums(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each sum for each row, shape (n, n_sums)."""
        values = self.kernel(X, self.vectors) if self.centre is None else X - self.centre
        return np.asarray(values @ self.coef.T + self.biases)

    def score(self, X: Value) -> Value:
        """Return the score of each row in a graph, as `decision_function` has it."""
        # products with a matrix even of one column: onnxruntime rejects a vector if the other matrix has no rows
        if self.centre is not None:
            values = X - self.centre if self.centre.any() else X
        else:
            values = KERNELS[self.kernel.name](X, self.vectors, self.kernel)
        sums = values.apply("Gemm", np.ascontiguousarray(self.coef.T)) + self.biases
        if self.is_vote:
            return _ovr_values(sums, (1 + math.isqrt(1 + 8 * len(self.biases))) // 2)
        if len(self.biases) > 1:
            return sums.apply("Softmax", axis=-1).at_least(TINY).apply("Log") if self.is_probability else sums
        score = sums.apply("Squeeze", np.array([1]))
        return log_odds(*pair(score)) if self.is_probability else score


def dense(matrix: Any) -> NDArray[np.float64]:
    """Return the matrix as an array."""
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)


def pair(score: Value) -> tuple[Value, Value]:
    """Return the probabilities 1 minus 1 / (1 + exp(-score)), and this, rounding included."""
    second = 1.0 / ((-score).apply("Exp") + 1.0)  # not Sigmoid: 1 minus a rounded number where the score is negative
    return 1.0 - second, second


def log_odds(first: Value, second: Value) -> Value:
    """Return what `log_odds` makes of the probabilities of two classes."""
    p, q = second.at_least(TINY), first.at_least(TINY)
    odds = (p.at_least(q) / p.at_most(q)).apply("Log")
    return (p > q).where(odds, 0.0 - odds)


def _ovr_values(each: Value, n_classes: int) -> Value:
    """Return the values of `SVC` from the scores of the pairs, as in `ovr_values`.

    ::

        votes_k + s_k / (3 (|s_k| + 1))
    """
    pairs = class_pairs(n_classes)
    turned, seconds = np.zeros((len(pairs), n_classes)), np.zeros(n_classes)
    for row, (i, j) in enumerate(pairs):
        turned[row, i], turned[row, j] = 1.0, -1.0
        seconds[j] += 1.0
    # a pair won by its first class moves a vote from the second to it
    votes = (each >= 0.0).cast("f").apply("Gemm", turned) + seconds
    total = each.apply("Gemm", turned)
    return votes + total / ((abs(total) + 1.0) * 3.0)


def _inner(X: Value, vectors: Any, kernel: Kernel) -> Value:
    """Gamma x's + coef0 for every row x and vector s; gamma s first, as x's may overflow where the whole does not."""
    return X.apply("Gemm", vectors * float(kernel.gamma), transB=1) + float(kernel.coef0)


def _poly(X: Value, vectors: Any, kernel: Kernel) -> Value:
    return _inner(X, vectors, kernel).apply("Pow", float(kernel.degree))


def _sigmoid(X: Value, vectors: Any, kernel: Kernel) -> Value:
    inner = _inner(X, vectors, kernel)  # the sign of infinity may be that of a part of the sum
    return inner.apply("IsInf").where(np.nan, inner.apply("Tanh"))


def _rbf(X: Value, vectors: Any, kernel: Kernel) -> Value:
    """exp(2 z's - |z|^2 - |s|^2) with z = sqrt(gamma) (x - centre): the squares would cancel far from the centre.

    Products are Gemm, not MatMul: onnxruntime fuses a factor into MatMul and rounds it to float32.
    """
    centre = vectors.mean(axis=0) if len(vectors) else np.zeros(vectors.shape[1])
    root = np.sqrt(kernel.gamma)
    s, z = (vectors - centre) * root, (X - centre) * root
    twice, squares = z.apply("Gemm", 2.0 * s, transB=1), z.across("ReduceSumSquare")
    exponent = twice - squares - np.einsum("ij,ij->i", s, s)
    # where 2 z's may overflow too, no row is near
    return squares.equals(np.inf).where(-np.inf, exponent).at_most(0.0).apply("Exp")


def _laplacian(X: Value, vectors: Any, kernel: Kernel) -> Value:
    """exp(-gamma sum |x_k - s_k|); a power of two near gamma first, so that neither tiny nor huge data overflow."""
    unit = 2.0 ** max(-1000, min(math.frexp(kernel.gamma)[1], 1000))
    return ((X * unit).distances(vectors * unit) * (-kernel.gamma / unit)).apply("Exp")


# The kernels that can be exported, besides the linear one, which is a product with its weights.
KERNELS: dict[str, Any] = {"rbf": _rbf, "laplacian": _laplacian, "poly": _poly, "sigmoid": _sigmoid}
