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
    from abstain.files.onnx.graph import Graph

__all__ = ["Scoring", "dense", "score_nodes"]

TINY = np.finfo(np.float64).tiny  # the least probability of which a logarithm is taken, as in `log_probabilities`


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
        """Read a fitted LogisticRegression; an error where its probabilities are not those of `score_nodes`."""
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


def dense(matrix: Any) -> NDArray[np.float64]:
    """Return the matrix as an array."""
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)


def score_nodes(graph: Graph, scoring: Scoring, X: str) -> str:
    """Return the score of each row, as `decision_function` has it."""
    # products with a matrix even of one column: onnxruntime rejects a vector if the other matrix has no rows
    if scoring.centre is not None:
        values = graph.apply("Sub", X, scoring.centre) if scoring.centre.any() else X
    else:
        values = KERNELS[scoring.kernel.name](graph, X, scoring.vectors, scoring.kernel)
    products = graph.apply("Gemm", values, np.ascontiguousarray(scoring.coef.T))
    sums = graph.apply("Add", products, scoring.biases)
    if scoring.is_vote:
        return _ovr_values(graph, sums, (1 + math.isqrt(1 + 8 * len(scoring.biases))) // 2)
    if len(scoring.biases) > 1:
        return _log_probabilities(graph, sums) if scoring.is_probability else sums
    score = graph.apply("Squeeze", sums, np.array([1]))
    return _log_odds(graph, score) if scoring.is_probability else score


def _log_odds(graph: Graph, score: str) -> str:
    """Return what `log_odds` makes of the probabilities 1 / (1 + exp(-score)) and 1 minus that, rounding included."""
    # not Sigmoid, which is 1 minus a rounded number where the score is negative
    second = graph.apply("Div", 1.0, graph.apply("Add", graph.apply("Exp", graph.apply("Neg", score)), 1.0))
    first = graph.apply("Sub", 1.0, second)
    p, q = (graph.apply("Max", part, TINY) for part in (second, first))
    larger, smaller = graph.apply("Max", p, q), graph.apply("Min", p, q)
    odds = graph.apply("Log", graph.apply("Div", larger, smaller))
    return graph.apply("Where", graph.apply("Greater", p, q), odds, graph.apply("Sub", 0.0, odds))


def _log_probabilities(graph: Graph, scores: str) -> str:
    return graph.apply("Log", graph.apply("Max", graph.apply("Softmax", scores, axis=-1), TINY))


def _ovr_values(graph: Graph, each: str, n_classes: int) -> str:
    """Return the values of `SVC` from the scores of the pairs, as in `ovr_values`.

    ::

        votes_k + s_k / (3 (|s_k| + 1))
    """
    pairs = class_pairs(n_classes)
    turned, seconds = np.zeros((len(pairs), n_classes)), np.zeros(n_classes)
    for row, (i, j) in enumerate(pairs):
        turned[row, i], turned[row, j] = 1.0, -1.0
        seconds[j] += 1.0
    first = graph.cast(graph.apply("GreaterOrEqual", each, 0.0), "f")
    # a pair won by its first class moves a vote from the second to it
    votes = graph.apply("Add", graph.apply("Gemm", first, turned), seconds)
    total = graph.apply("Gemm", each, turned)
    size = graph.apply("Mul", graph.apply("Add", graph.apply("Abs", total), 1.0), 3.0)
    return graph.apply("Add", votes, graph.apply("Div", total, size))


def _inner(graph: Graph, X: str, vectors: Any, kernel: Kernel) -> str:
    """Gamma x's + coef0 for every row x and vector s; gamma s first, as x's may overflow where the whole does not."""
    products = graph.apply("Gemm", X, vectors * float(kernel.gamma), transB=1)
    return graph.apply("Add", products, float(kernel.coef0))


def _poly(graph: Graph, X: str, vectors: Any, kernel: Kernel) -> str:
    return graph.apply("Pow", _inner(graph, X, vectors, kernel), float(kernel.degree))


def _sigmoid(graph: Graph, X: str, vectors: Any, kernel: Kernel) -> str:
    inner = _inner(graph, X, vectors, kernel)  # the sign of infinity may be that of a part of the sum
    return graph.apply("Where", graph.apply("IsInf", inner), np.nan, graph.apply("Tanh", inner))


def _rbf(graph: Graph, X: str, vectors: Any, kernel: Kernel) -> str:
    """exp(2 z's - |z|^2 - |s|^2) with z = sqrt(gamma) (x - centre): the squares would cancel far from the centre.

    Products are Gemm, not MatMul: onnxruntime fuses a factor into MatMul and rounds it to float32.
    """
    centre = vectors.mean(axis=0) if len(vectors) else np.zeros(vectors.shape[1])
    root = np.sqrt(kernel.gamma)
    s = (vectors - centre) * root
    z = graph.apply("Mul", graph.apply("Sub", X, centre), root)
    twice = graph.apply("Gemm", z, 2.0 * s, transB=1)
    squares = graph.across("ReduceSumSquare", z)
    exponent = graph.apply("Sub", graph.apply("Sub", twice, squares), np.einsum("ij,ij->i", s, s))
    beyond = graph.apply("Equal", squares, np.inf)  # where 2 z's may overflow too: no row is near
    return graph.apply("Exp", graph.apply("Min", graph.apply("Where", beyond, -np.inf, exponent), 0.0))


# The kernels that can be exported, besides the linear one, which is a product with its weights.
KERNELS: dict[str, Any] = {"rbf": _rbf, "poly": _poly, "sigmoid": _sigmoid}
