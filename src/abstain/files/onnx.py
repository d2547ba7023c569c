"""`to_onnx`: a fitted estimator as an ONNX graph of standard operations in float64.

The ``ai.onnx.ml`` operators for support vector machines compute in float32, which changes decisions near a threshold.
"""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from abstain.estimators.embedded.estimator import EmbeddedRejectSVC
from abstain.estimators.svc import RejectSVC
from abstain.estimators.threshold import ThresholdRejector
from abstain.files.preprocessing_codec import check_preprocessing
from abstain.kernels import Kernel
from abstain.labels import Labels
from abstain.preprocessing import CATEGORICAL, MISSING, NUMERIC
from abstain.thresholds import Thresholds

if TYPE_CHECKING:
    import onnx

    from abstain.files.graph import Graph

OUTPUTS = ("label", "score", "rejected")


def to_onnx(estimator: Any) -> onnx.ModelProto:
    """Write a fitted estimator as an ONNX model with outputs "label", "score" and "rejected", one entry per row.

    Everything is computed in float64, distances from a centre that is subtracted first, and decided by the rule of
    `Thresholds`. Where onnxruntime is installed the graph is run and compared with Python before it is returned.

    Parameters
    ----------
    estimator : RejectSVC, RejectSVCCV, EmbeddedRejectSVC, ThresholdRejector, or Pipeline of one of these
        Fitted, with one of the kernels linear, rbf, poly and sigmoid; a ThresholdRejector around one of the three
        machines or LogisticRegression that decides by its decision function; Pipelines as
        `abstain.preprocessing.default_pipeline` makes them.

    Returns
    -------
    onnx.ModelProto
        With one input "X" of float64, shape (rows, features); for Pipelines one input per column, named like it, shape
        (rows, 1): float64 with NaN for a missing number, text with "" for a missing category. A column that is named
        like an output is called "column:" and its name. Where scores overflow, Python raises an error and the graph
        gives infinity or NaN.

    Raises
    ------
    ImportError
        onnx is not installed.
    RuntimeError
        onnxruntime computes something else than Python.

    Examples
    --------
    >>> from abstain import Costs, RejectSVC, to_onnx
    >>> clf = RejectSVC(Costs(reject=0.2)).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    >>> [output.name for output in to_onnx(clf).graph.output]
    ['label', 'score', 'rejected']
    """
    try:
        from abstain.files.graph import Graph
    except ImportError as error:
        raise ImportError("to_onnx needs onnx; install it by: pip install 'abstain[onnx]'.") from error
    check_is_fitted(estimator)
    graph = Graph()
    if type(estimator) is Pipeline:
        check_preprocessing(estimator)
        decider = estimator[-1]
        machine, features = scoring_machine(decider), _table(graph, estimator[0])
    else:
        decider, machine = estimator, scoring_machine(estimator)
        features = graph.input("X", _kinds()["f"], int(machine.n_features_in_), "rows")
    bias = graph.constant(np.float64(machine.intercept_[0]))
    score = graph.apply("Add", _expansion(graph, machine, features), bias)
    _decision(graph, decider.terms_.labels, decider.thresholds_, score)
    model = graph.model(metadata.version("abstain"), f"{type(decider).__name__} by abstain")
    from abstain.files.onnx_check import compare

    compare(model, estimator)
    return model


def _kinds() -> dict[str, int]:
    """ONNX's codes of types, by NumPy's letters."""
    from onnx import TensorProto

    codes = TensorProto.DOUBLE, TensorProto.INT64, TensorProto.STRING, TensorProto.BOOL
    return dict(zip("fiUb", map(int, codes), strict=True))


def scoring_machine(estimator: Any) -> Any:
    """The machine whose score is decided by: the estimator itself, or what a ThresholdRejector asks.

    What has no graph is refused, and told what has one.
    """
    machine, told = estimator, f"estimator is a {type(estimator).__name__}"
    if isinstance(estimator, ThresholdRejector):
        machine, told = estimator.estimator_, f"{told} that asks a {type(estimator.estimator_).__name__}"
        if estimator.response_method_ != "decision_function":
            raise ValueError(
                f"{told} for probabilities, and to_onnx writes decision functions only; use method='symmetric' or "
                "'roc' on a classifier that has one."
            )
    if type(machine) is LogisticRegression and machine is not estimator:
        return machine
    if not isinstance(machine, RejectSVC | EmbeddedRejectSVC):
        raise ValueError(  # noqa: TRY004 (one kind of error for every bad value, as in scikit-learn)
            f"{told}, and to_onnx takes RejectSVC, RejectSVCCV, EmbeddedRejectSVC, ThresholdRejectors around one of "
            "these or LogisticRegression, and Pipelines of abstain.preprocessing.default_pipeline around one of "
            "all these; skl2onnx writes scikit-learn's own."
        )
    kernel = machine._kernel
    if not isinstance(kernel, Kernel) or kernel.name == "precomputed":
        what = "precomputed" if isinstance(kernel, Kernel) else "a function of Python"
        raise ValueError(f"kernel={machine.kernel!r} is {what}; to_onnx needs linear, rbf, poly or sigmoid.")
    return machine


def linear_weights(machine: Any) -> NDArray[np.float64] | None:
    """Weights of the features, if the score is linear in them."""
    linear = type(machine) is LogisticRegression or machine._kernel.name == "linear"
    return np.asarray(machine.coef_[0], dtype=np.float64) if linear else None


def _expansion(graph: Graph, machine: Any, X: str) -> str:
    """Sum of beta_j k(x_j, x) over the support vectors, of shape (rows,)."""
    weights = linear_weights(machine)
    if weights is not None:
        return _product(graph, X, weights)
    kernel, coef, vectors = machine._kernel, machine.dual_coef_[0], machine.support_vectors_
    vectors = vectors.toarray() if sparse.issparse(vectors) else vectors
    if kernel.name == "rbf":
        values = _rbf(graph, X, vectors, float(kernel.gamma))
    else:
        products = graph.apply("Gemm", X, graph.constant(vectors), transB=1)
        scaled = graph.apply("Mul", products, graph.constant(float(kernel.gamma)))
        inner = graph.apply("Add", scaled, graph.constant(float(kernel.coef0)))
        poly = kernel.name == "poly"
        values = graph.apply("Pow", inner, graph.constant(float(kernel.degree))) if poly else graph.apply("Tanh", inner)
    return _product(graph, values, coef)


def _product(graph: Graph, matrix: str, vector: NDArray[np.float64]) -> str:
    """Matrix times vector, as a matrix of one column: onnxruntime refuses a vector where the matrix has no rows."""
    column = graph.apply("Gemm", matrix, graph.constant(vector[:, np.newaxis]))
    return graph.apply("Squeeze", column, graph.constant(np.array([1])))


def _rbf(graph: Graph, X: str, vectors: Any, gamma: float) -> str:
    """exp(2 z's - |z|^2 - |s|^2) with z = sqrt(gamma) (x - centre): the squares would cancel far from the centre.

    Products are Gemm, not MatMul: onnxruntime fuses a factor into MatMul and rounds it to float32 on the way.
    """
    centre = vectors.mean(axis=0) if len(vectors) else np.zeros(vectors.shape[1])
    root = np.sqrt(gamma)
    s = (vectors - centre) * root
    z = graph.apply("Mul", graph.apply("Sub", X, graph.constant(centre)), graph.constant(root))
    twice = graph.apply("Gemm", z, graph.constant(2.0 * s), transB=1)
    squares = graph.apply("ReduceSumSquare", z, graph.constant(np.array([1])), keepdims=1)
    exponent = graph.apply("Sub", graph.apply("Sub", twice, squares), graph.constant(np.einsum("ij,ij->i", s, s)))
    return graph.apply("Exp", graph.apply("Min", exponent, graph.constant(0.0)))


def _decision(graph: Graph, labels: Labels, thresholds: Thresholds, score: str) -> None:
    """+1 if s > upper; else -1 if s < lower or lower == upper; else reject: the rule of `Thresholds`, word for word."""
    kinds = _kinds()
    above = graph.apply("Greater", score, graph.constant(thresholds.upper))
    below = graph.apply("Not", above)
    if thresholds.rejects:
        below = graph.apply("Less", score, graph.constant(thresholds.lower))
    rejected = graph.apply("Not", graph.apply("Or", above, below))
    kind, names = _label_names(labels)
    if kind == "b":
        label = above
    else:
        first, rejecting, second = names
        label = graph.apply("Where", above, graph.constant(second), graph.constant(first))
        label = graph.apply("Where", rejected, graph.constant(rejecting), label) if labels.rejects else label
    graph.output("label", kinds[kind], label)
    graph.output("score", kinds["f"], score)
    graph.output("rejected", kinds["b"], rejected)


def _label_names(labels: Labels) -> tuple[str, list[Any]]:
    """The kind of the labels, and the names of ``classes_[0]``, of a reject and of ``classes_[1]``."""
    first, second = labels.classes.tolist()
    names = [first, labels.reject_label if labels.rejects else first, second]
    if isinstance(first, str):
        return "U", [np.array(name, dtype=object) for name in names]
    if isinstance(first, float):
        return "f", [np.float64(name) for name in names]
    if isinstance(first, bool) and not labels.rejects:
        return "b", names
    if not all(-(2**63) <= name < 2**63 for name in names):
        raise ValueError(f"classes {[first, second]} do not fit into ONNX's int64; use other labels.")
    return "i", [np.int64(name) for name in names]


def _table(graph: Graph, preprocess: Any) -> str:
    """The features that the preprocessing makes of the columns."""
    columns = {name: chosen for name, _, chosen in preprocess.transformers}
    made = []
    if NUMERIC in columns:
        made.append(_numeric(graph, columns[NUMERIC], preprocess.named_transformers_[NUMERIC]))
    if CATEGORICAL in columns:
        encode = preprocess.named_transformers_[CATEGORICAL]["encode"]
        for column, categories in zip(columns[CATEGORICAL], encode.categories_, strict=True):
            made.append(_categorical(graph, column, categories.tolist()))
    return graph.apply("Concat", *made, axis=1) if len(made) > 1 else made[0]


def _numeric(graph: Graph, columns: list[str], part: Any) -> str:
    impute, scale = (step for _, step in part.steps)
    inputs = [graph.input(input_name(name), _kinds()["f"], 1, f"column {name!r}") for name in columns]
    X = graph.apply("Concat", *inputs, axis=1)
    missing = graph.apply("IsNaN", X)
    statistics = graph.constant(np.asarray(impute.statistics_, dtype=np.float64))
    X = graph.apply("Where", missing, statistics, X)
    if len(impute.indicator_.features_):
        flags = graph.apply("Cast", missing, to=_kinds()["f"])
        chosen = graph.constant(np.asarray(impute.indicator_.features_, dtype=np.int64))
        X = graph.apply("Concat", X, graph.apply("Gather", flags, chosen, axis=1), axis=1)
    mean, spread = (graph.constant(np.asarray(one, dtype=np.float64)) for one in (scale.mean_, scale.scale_))
    return graph.apply("Div", graph.apply("Sub", X, mean), spread)


def _categorical(graph: Graph, column: str, categories: list[str]) -> str:
    text = graph.input(input_name(column), _kinds()["U"], 1, f"column {column!r}")
    if MISSING in categories and "" not in categories:
        empty = graph.apply("Equal", text, graph.constant(np.array("", dtype=object)))
        text = graph.apply("Where", empty, graph.constant(np.array(MISSING, dtype=object)), text)
    same = graph.apply("Equal", text, graph.constant(np.array([categories], dtype=object)))
    return graph.apply("Cast", same, to=_kinds()["f"])


def input_name(column: str) -> str:
    """What a column's input is called: like the column, unless the graph itself uses that name."""
    taken = column in ("", *OUTPUTS) or column.startswith(("abstain/", "column:"))
    return f"column:{column}" if taken else column
