"""The scores of a machine as ONNX nodes: one column for two classes, one per class or pair of classes for more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from abstain.kernels import Kernel
from abstain.machines.class_machine import OneVsOneMachine, OneVsRestMachine, class_pairs
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine

if TYPE_CHECKING:
    from abstain.files.onnx.graph import Graph

__all__ = ["KERNELS", "Expansion", "LinearScores", "Scoring", "dense", "score_nodes"]



@dataclass(frozen=True, eq=False)
class LinearScores:
    """One linear score per class, as `LogisticRegression` has them.

    Attributes
    ----------
    coef : ndarray of shape (n_classes, n_features)
    biases : ndarray of shape (n_classes,)
    """

    coef: NDArray[np.float64]
    biases: NDArray[np.float64]

    @property
    def n_features(self) -> int:
        """The number of columns of X."""
        return int(self.coef.shape[1])


Scoring = KernelMachine | LinearMachine | LinearScores | OneVsRestMachine


class Expansion:
    """The sums of a machine: of kernel values with the vectors, or for the linear kernel of features.

    Attributes
    ----------
    coef : ndarray of shape (n_machines, n_vectors or n_features)
    biases : ndarray of shape (n_machines,)
    vectors : ndarray or None
        None for weights of features.
    centre : ndarray or None
        For weights of features, what is subtracted from the rows.
    kernel : Kernel, callable or None
    """

    def __init__(self, machine: Scoring) -> None:
        self.vectors: Any = None
        self.centre: Any = None
        self.kernel: Any = getattr(machine, "kernel", None)
        if isinstance(machine, LinearScores):
            self.biases, coef, self.centre = machine.biases, machine.coef, np.zeros(machine.n_features)
        elif isinstance(machine, OneVsRestMachine):
            self.biases, coef = machine.biases, machine.coef
            if machine.linear is not None:
                coef, self.centre = machine.linear
            else:
                self.vectors = dense(machine.vectors)
        else:
            linear = machine if isinstance(machine, LinearMachine) else machine.linear
            self.biases = np.array([machine.bias], dtype=np.float64)
            if linear is not None:
                coef, self.centre = linear.weights, linear.centre
            elif isinstance(machine, KernelMachine):
                coef, self.vectors = machine.coef, dense(machine.vectors)
        self.coef = np.atleast_2d(dense(coef))


def dense(matrix: Any) -> NDArray[np.float64]:
    """The matrix as an array."""
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)


def score_nodes(graph: Graph, machine: Scoring, X: str) -> str:
    """Give the score of each row, as `decision_function` has it."""
    each = _sums(graph, Expansion(machine), X)
    if isinstance(machine, OneVsOneMachine):
        return _ovr_values(graph, each, len(machine.n_support))
    if isinstance(machine, KernelMachine | LinearMachine):
        each = graph.apply("Squeeze", each, graph.constant(np.array([1])))
    return each


def _sums(graph: Graph, machine: Expansion, X: str) -> str:
    """f(x) of each row by each machine, shape (rows, machines).

    A product with a matrix even of one column: onnxruntime rejects a vector if the other matrix has no rows.
    """
    if machine.centre is not None:
        values = graph.apply("Sub", X, graph.constant(machine.centre)) if machine.centre.any() else X
    else:
        values = KERNELS[machine.kernel.name](graph, X, machine.vectors, machine.kernel)
    sums = graph.apply("Gemm", values, graph.constant(np.ascontiguousarray(machine.coef.T)))
    return graph.apply("Add", sums, graph.constant(machine.biases))


def _ovr_values(graph: Graph, each: str, n_classes: int) -> str:
    """The values of `SVC` from the scores of the pairs, as in `ovr_values`.

    ::

        votes_k + s_k / (3 (|s_k| + 1))
    """
    pairs = class_pairs(n_classes)
    signed, seconds = np.zeros((len(pairs), n_classes)), np.zeros(n_classes)
    for row, (i, j) in enumerate(pairs):
        signed[row, i], signed[row, j] = 1.0, -1.0
        seconds[j] += 1.0
    turned = graph.constant(signed)
    first = graph.apply("Cast", graph.apply("GreaterOrEqual", each, graph.constant(0.0)), to=_float64())
    # a pair won by its first class moves a vote from the second to it
    votes = graph.apply("Add", graph.apply("Gemm", first, turned), graph.constant(seconds))
    total = graph.apply("Gemm", each, turned)
    size = graph.apply("Add", graph.apply("Abs", total), graph.constant(1.0))
    part = graph.apply("Div", total, graph.apply("Mul", size, graph.constant(3.0)))
    return graph.apply("Add", votes, part)


def _float64() -> int:
    from onnx import TensorProto

    return int(TensorProto.DOUBLE)


def _inner(graph: Graph, X: str, vectors: Any, kernel: Kernel) -> str:
    """Gamma x's + coef0 for every row x and vector s; gamma s first, as x's may overflow where the whole does not."""
    products = graph.apply("Gemm", X, graph.constant(vectors * float(kernel.gamma)), transB=1)
    return graph.apply("Add", products, graph.constant(float(kernel.coef0)))


def _poly(graph: Graph, X: str, vectors: Any, kernel: Kernel) -> str:
    return graph.apply("Pow", _inner(graph, X, vectors, kernel), graph.constant(float(kernel.degree)))


def _sigmoid(graph: Graph, X: str, vectors: Any, kernel: Kernel) -> str:
    inner = _inner(graph, X, vectors, kernel)  # the sign of infinity may be that of a part of the sum
    return graph.apply("Where", graph.apply("IsInf", inner), graph.constant(np.nan), graph.apply("Tanh", inner))


def _rbf(graph: Graph, X: str, vectors: Any, kernel: Kernel) -> str:
    """exp(2 z's - |z|^2 - |s|^2) with z = sqrt(gamma) (x - centre): the squares would cancel far from the centre.

    Products are Gemm, not MatMul: onnxruntime fuses a factor into MatMul and rounds it to float32.
    """
    centre = vectors.mean(axis=0) if len(vectors) else np.zeros(vectors.shape[1])
    root = np.sqrt(kernel.gamma)
    s = (vectors - centre) * root
    z = graph.apply("Mul", graph.apply("Sub", X, graph.constant(centre)), graph.constant(root))
    twice = graph.apply("Gemm", z, graph.constant(2.0 * s), transB=1)
    squares = graph.apply("ReduceSumSquare", z, graph.constant(np.array([1])), keepdims=1)
    exponent = graph.apply("Sub", graph.apply("Sub", twice, squares), graph.constant(np.einsum("ij,ij->i", s, s)))
    beyond = graph.apply("Equal", squares, graph.constant(np.inf))  # where 2 z's may overflow too: no row is near
    exponent = graph.apply("Where", beyond, graph.constant(-np.inf), exponent)
    return graph.apply("Exp", graph.apply("Min", exponent, graph.constant(0.0)))


# The kernels that can be exported; the linear one is a product with its weights.
KERNELS: dict[str, Any] = {"linear": None, "rbf": _rbf, "poly": _poly, "sigmoid": _sigmoid}
