"""The scores of a machine, or of an average, as ONNX nodes: one column for two classes, else one per class or pair."""

import math
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from abstain.candidates.average import LEAST
from abstain.files.format.errors import no_graph
from abstain.kernels import Kernel
from abstain.machines.kernel_machine import KernelMachine, OneVsOneMachine, class_pairs
from abstain.machines.linear_machine import LinearMachine
from abstain.rules.readouts import Ladders, LogOdds, Softmax
from abstain.rules.tuning.sigmoid import FIRST, Lead

if TYPE_CHECKING:
    from abstain.candidates.average import MachineAverage
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
            what = "the probabilities of a LogisticRegression with multi_class or with solver='liblinear' for several"
            raise ValueError(f"{what} classes have no ONNX graph; leave both at their defaults.")
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

    def score(self, X: "Value") -> "Value":
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


def pair(score: "Value") -> "tuple[Value, Value]":
    """Return the probabilities 1 minus 1 / (1 + exp(-score)), and this, rounding included."""
    second = 1.0 / ((-score).apply("Exp") + 1.0)  # not Sigmoid: 1 minus a rounded number where the score is negative
    return 1.0 - second, second


def log_odds(first: "Value", second: "Value") -> "Value":
    """Return what `log_odds` makes of the probabilities of two classes."""
    p, q = second.at_least(TINY), first.at_least(TINY)
    odds = (p.at_least(q) / p.at_most(q)).apply("Log")
    return (p > q).where(odds, 0.0 - odds)


def _ovr_values(each: "Value", n_classes: int) -> "Value":
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


def _inner(X: "Value", vectors: Any, kernel: Kernel) -> "Value":
    """Gamma x's + coef0 for every row x and vector s; gamma s first, as x's may overflow where the whole does not."""
    return X.apply("Gemm", vectors * float(kernel.gamma), transB=1) + float(kernel.coef0)


def _poly(X: "Value", vectors: Any, kernel: Kernel) -> "Value":
    return _inner(X, vectors, kernel).apply("Pow", float(kernel.degree))


def _sigmoid(X: "Value", vectors: Any, kernel: Kernel) -> "Value":
    inner = _inner(X, vectors, kernel)  # the sign of infinity may be that of a part of the sum
    return inner.apply("IsInf").where(np.nan, inner.apply("Tanh"))


def _rbf(X: "Value", vectors: Any, kernel: Kernel) -> "Value":
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


def _laplacian(X: "Value", vectors: Any, kernel: Kernel) -> "Value":
    """exp(-gamma sum |x_k - s_k|); a power of two near gamma first, so that neither tiny nor huge data overflow."""
    unit = 2.0 ** max(-1000, min(math.frexp(kernel.gamma)[1], 1000))
    return ((X * unit).distances(vectors * unit) * (-kernel.gamma / unit)).apply("Exp")


# The kernels that can be exported, besides the linear one, which is a product with its weights.
KERNELS: dict[str, Any] = {"rbf": _rbf, "laplacian": _laplacian, "poly": _poly, "sigmoid": _sigmoid}


@dataclass(frozen=True, eq=False)
class AverageScoring:
    """The sums of several machines, and the score that the mean of their probabilities makes.

    Attributes
    ----------
    parts : tuple of (Scoring, Readout)
        Of each machine, and what its scores mean.
    """

    parts: tuple[tuple[Scoring, Any], ...]
    is_probability = True

    @classmethod
    def of(cls, average: "MachineAverage") -> Self:
        """Read a fitted average; an error for machines without a graph."""
        found, several = [], len(average.classes_) > 2
        for one in average.estimators_:
            if type(one) is LogisticRegression:
                scoring, readout = Scoring.of_logistic(one, "predict_proba"), Softmax() if several else LogOdds(1.0)
                found.append((Scoring(scoring.coef, scoring.biases, scoring.centre), readout))
            elif (sums := Scoring.of(getattr(one, "machine_", None))) is not None:
                found.append((sums, one.rule_.readout))
            else:
                what = f"has an average of machines with a {type(one).__name__}"
                raise no_graph(what, "; average SVMs and logistic regressions only, or fit with --machine svm")
        return cls(tuple(found))

    @property
    def n_features(self) -> int:
        """The number of columns of X."""
        return self.parts[0][0].n_features

    def score(self, X: "Value") -> "Value":
        """Return the score of each row in a graph."""
        share, scores = 1.0 / len(self.parts), [(scoring.score(X), readout) for scoring, readout in self.parts]
        if isinstance(self.parts[0][1], LogOdds):
            both = zip(*(pair(score * float(readout.unit)) for score, readout in scores), strict=True)
            return log_odds(*((reduce(add, each) * share).at_least(LEAST) for each in both))
        said = [probability_nodes(readout, score) for score, readout in scores]
        return (reduce(add, said) * share).at_least(LEAST).apply("Log")

    def steepness(self) -> NDArray[np.float64]:
        """How much the log-odds of two classes, or a probability of several, change at most with each sum."""
        return np.array([_steepness(readout) for _, readout in self.parts])


def _steepness(readout: Any) -> float:
    if isinstance(readout, LogOdds):
        return float(readout.unit)
    if isinstance(readout, Softmax):
        return 1.0
    low, high = readout.ends
    if readout.lead is not None:
        return float(readout.lead.scale * max(1.0, readout.lead.slope) / (high - low).min())
    points = np.column_stack([low, readout.tangents, high])
    heights = np.column_stack([0.0 * low, 1.0 / (1.0 + np.exp(-readout.tangents)), 1.0 + 0.0 * high])
    apart, rise = np.diff(points), np.diff(heights)
    return 2.0 * len(low) * float((rise[apart > 0.0] / apart[apart > 0.0]).max(initial=1.0))


def probability_nodes(readout: Any, score: "Value") -> "Value":
    """As `probabilities` of the readout: a softmax, or by the lead of the likeliest class, or by the ladders."""
    if isinstance(readout, Softmax):
        return score.apply("Softmax", axis=-1)
    if not isinstance(readout, Ladders):
        what = type(readout).__name__
        raise ValueError(f"scores that are read by a {what} have no ONNX graph; use abstain.save.")  # noqa: TRY004
    n = len(readout.tangents)
    if readout.lead is not None:
        low, high = readout.ends
        return _corrected(readout.lead, (score - low) / (high - low), n)
    own = readout.interpolated(score, where)
    total = own.across("ReduceSum")
    share, scaled = (1.0 - total) / float(n), own / total.at_least(1.0)
    return (total < 1.0).where(own + share, scaled)


def where(test: "Value", then: Any, otherwise: Any) -> "Value":
    """Choose between two, for readouts that calculate with arrays or with values of a graph."""
    return test.where(then, otherwise)


def _corrected(lead: Lead, heights: "Value", n_classes: int) -> "Value":
    """As `Lead`: a softmax, in which the log-odds of the likeliest class against the rest are corrected."""
    power = heights * lead.scale
    top, others = top_of(power, n_classes)
    second = others.across("ReduceMax")
    total = (others - second).apply("Exp").across("ReduceSum").apply("Log")
    ahead = power.across("ReduceMax") - second - total
    rest = others.apply("Softmax", axis=-1)
    odds = (ahead * lead.slope + lead.shift).at_least(rest.across("ReduceMax").apply("Log") + FIRST)
    behind = rest * (-odds).apply("Sigmoid")
    return top.where(odds.apply("Sigmoid"), behind)


def top_of(values: "Value", n_classes: int) -> "tuple[Value, Value]":
    """Where the first largest value of each row is, and the values with -inf there."""
    at = values.apply("ArgMax", axis=-1, keepdims=1)
    top = values.graph.apply("Equal", np.arange(n_classes), at)
    return top, top.where(-np.inf, values)
