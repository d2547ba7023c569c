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

from abstain.files.onnx_inputs import Inputs, input_name
from abstain.files.onnx_steps import Column, Table, graph_of, kinds
from abstain.kernels import Kernel
from abstain.labels import Labels
from abstain.machines.class_machine import OneVsRestMachine
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine
from abstain.machines.response_machine import ResponseMachine
from abstain.rules.action_rule import refuse_actions
from abstain.rules.row_rule import RowRule
from abstain.rules.rule import Rule

if TYPE_CHECKING:
    import onnx

    from abstain.files.graph import Graph



def to_onnx(estimator: Any) -> onnx.ModelProto:
    """Write a fitted estimator as an ONNX model with outputs "label", "score" and "rejected", one entry per row.

    Everything is computed in float64, distances after subtracting a centre, and decisions follow the rule of
    `Thresholds`. If onnxruntime is installed, the graph is run and compared with Python before it is returned.

    Parameters
    ----------
    estimator : RejectSVC, RejectSVCCV, EmbeddedRejectSVC, ThresholdRejector, or Pipeline of one of these
        Fitted, with one of the kernels linear, rbf, poly and sigmoid. A ThresholdRejector must be around one of the
        three machines or LogisticRegression and decide by its decision function. The steps of a Pipeline may be
        scikit-learn's StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, Normalizer, SimpleImputer,
        OneHotEncoder and OrdinalEncoder, "passthrough", and Pipelines and ColumnTransformers of these.

    Returns
    -------
    onnx.ModelProto
        With one input "X" of float64, shape (rows, features). If a Pipeline reads text, or begins with a
        ColumnTransformer of a data frame, it has one input per column that it reads, with its name and shape (rows, 1):
        float64 with NaN for a missing number, text with "" for a missing category; columns of an array are "x0", "x1".
        If a column has the name of an output, its input is that name after "column:". Where Python raises an error,
        the graph goes on: scores that overflow are infinity or NaN, and an unknown category is none of the known ones.

    Raises
    ------
    ImportError
        onnx is not installed.
    RuntimeError
        The results of onnxruntime differ from those of Python.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import onnx
    >>> from abstain import Costs, RejectSVC, to_onnx
    >>> clf = RejectSVC(Costs(reject=0.2)).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    >>> model = to_onnx(clf)
    >>> [output.name for output in model.graph.output]
    ['label', 'score', 'rejected']
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     onnx.save(model, Path(folder) / "model.onnx")
    """
    try:
        from abstain.files.graph import Graph
    except ImportError as error:
        raise ImportError("to_onnx needs onnx; install it with: pip install 'abstain[onnx]'.") from error
    check_is_fitted(estimator)
    graph, decider = Graph(), estimator[-1] if type(estimator) is Pipeline else estimator
    refuse_actions(getattr(decider, "rule_", None), "to_onnx", "abstain.save, or a machine with Costs")
    machine = scoring_machine(decider)
    if isinstance(decider.rule_, RowRule):
        raise ValueError(  # noqa: TRY004 (a fitted machine that has no thresholds)
            "a graph decides all rows by one set of costs, and this machine was fitted with row_costs and without "
            "costs; state costs and fit again."
        )
    X = _features(graph, estimator) if type(estimator) is Pipeline else _matrix(graph, machine.n_features)
    _decision(graph, decider.rule_, _score(graph, machine, X))
    model = graph.model(metadata.version("abstain"), f"{type(decider).__name__} by abstain")
    from abstain.files.onnx_check import compare

    compare(model, estimator)
    return model


def _matrix(graph: Graph, n_features: int) -> str:
    return graph.input("X", kinds()["f"], n_features, "rows")


def _features(graph: Graph, pipeline: Pipeline) -> str:
    """The features that the steps before the last make from the inputs."""
    inputs = Inputs.of(pipeline)
    if not inputs.apart:
        table = Table(_matrix(graph, len(inputs.kinds)))
    else:
        named = zip(inputs.names, inputs.kinds, strict=True)
        columns = [
            None if kind is None else Column(graph.input(input_name(name), kinds()[kind], 1, f"column {name!r}"), kind)
            for name, kind in named
        ]
        table = Table(columns=tuple(columns))
    for _, step in pipeline.steps[:-1]:
        table = graph_of(graph, step, table)
    return table.numbers(graph)


def scoring_machine(estimator: Any) -> KernelMachine | LinearMachine:
    """Give the machine whose score decides; an error names what is supported if it has no graph."""
    machine, what = getattr(estimator, "machine_", None), f"estimator is a {type(estimator).__name__}"
    if isinstance(machine, ResponseMachine):
        classifier = machine.classifier
        what = f"{what} around a {type(classifier).__name__}"
        if machine.method != "decision_function":
            raise ValueError(
                f"{what} that decides by probabilities, but to_onnx supports decision functions only; use "
                "method='symmetric' or 'roc' around LogisticRegression or a machine of this library."
            )
        machine = getattr(classifier, "machine_", None)
        if type(classifier) is LogisticRegression and len(classifier.classes_) <= 2:
            weights = np.asarray(classifier.coef_[0], dtype=np.float64)
            machine = LinearMachine(weights, np.zeros(len(weights)), float(classifier.intercept_[0]))
    if isinstance(machine, OneVsRestMachine) or len(getattr(estimator, "classes_", ())) > 2:
        raise ValueError(
            f"{what} of {len(estimator.classes_)} classes, but to_onnx takes two classes only; use abstain.save, or "
            "decide where Python runs."
        )
    if not isinstance(machine, KernelMachine | LinearMachine):
        raise ValueError(  # noqa: TRY004 (one kind of error for every bad value, as in scikit-learn)
            f"{what}, but to_onnx takes RejectSVC, RejectSVCCV, EmbeddedRejectSVC, ThresholdRejectors around one of "
            "these or LogisticRegression, and Pipelines that end in one of these; use skl2onnx for scikit-learn's own "
            "estimators."
        )
    kernel = machine.kernel if isinstance(machine, KernelMachine) else None
    if kernel is not None and not (isinstance(kernel, Kernel) and kernel.name in _KERNELS):
        which = f"kernel={kernel.name!r}" if isinstance(kernel, Kernel) else "a callable kernel"
        raise ValueError(f"{which} has no graph; to_onnx needs {', '.join(_KERNELS)}.")
    return machine


def _score(graph: Graph, machine: KernelMachine | LinearMachine, X: str) -> str:
    """f(x) of each row, shape (rows,)."""
    linear = machine if isinstance(machine, LinearMachine) else machine.linear
    if linear is not None:
        centred = graph.apply("Sub", X, graph.constant(linear.centre)) if linear.centre.any() else X
        expansion = _product(graph, centred, linear.weights)
    elif isinstance(machine, KernelMachine) and isinstance(machine.kernel, Kernel):
        vectors = machine.vectors.toarray() if sparse.issparse(machine.vectors) else machine.vectors
        expansion = _product(graph, _KERNELS[machine.kernel.name](graph, X, vectors, machine.kernel), machine.coef)
    return graph.apply("Add", expansion, graph.constant(np.float64(machine.bias)))


def _inner(graph: Graph, X: str, vectors: Any, kernel: Kernel) -> str:
    """Gamma x's + coef0 for every row x and vector s."""
    products = graph.apply("Gemm", X, graph.constant(vectors), transB=1)
    scaled = graph.apply("Mul", products, graph.constant(float(kernel.gamma)))
    return graph.apply("Add", scaled, graph.constant(float(kernel.coef0)))


def _poly(graph: Graph, X: str, vectors: Any, kernel: Kernel) -> str:
    return graph.apply("Pow", _inner(graph, X, vectors, kernel), graph.constant(float(kernel.degree)))


def _sigmoid(graph: Graph, X: str, vectors: Any, kernel: Kernel) -> str:
    return graph.apply("Tanh", _inner(graph, X, vectors, kernel))


def _product(graph: Graph, matrix: str, vector: NDArray[np.float64]) -> str:
    """Matrix times vector, as a matrix of one column: onnxruntime rejects a vector if the matrix has no rows."""
    column = graph.apply("Gemm", matrix, graph.constant(vector[:, np.newaxis]))
    return graph.apply("Squeeze", column, graph.constant(np.array([1])))


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
    return graph.apply("Exp", graph.apply("Min", exponent, graph.constant(0.0)))


# The kernels that can be exported; the linear one is a product with its weights.
_KERNELS: dict[str, Any] = {"linear": None, "rbf": _rbf, "poly": _poly, "sigmoid": _sigmoid}


def _decision(graph: Graph, rule: Rule, score: str) -> None:
    """+1 if s > upper; else -1 if s < lower or lower == upper; else reject: exactly the rule of `Thresholds`."""
    types, labels, thresholds = kinds(), rule.labels, rule.thresholds
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
    graph.output("label", types[kind], label)
    graph.output("score", types["f"], score)
    graph.output("rejected", types["b"], rejected)


def _label_names(labels: Labels) -> tuple[str, list[Any]]:
    """The type of the labels, and the labels of ``classes_[0]``, of a reject and of ``classes_[1]``."""
    first, second = labels.classes.tolist()
    names = [first, labels.reject_label if labels.rejects else first, second]
    if isinstance(first, str):
        return "U", [np.array(name, dtype=object) for name in names]
    if isinstance(first, float):
        return "f", [np.float64(name) for name in names]
    if isinstance(first, bool) and not labels.rejects:
        return "b", names
    if not all(-(2**63) <= name < 2**63 for name in names):
        raise ValueError(f"classes {[first, second]} do not fit in ONNX's int64; use other labels.")
    return "i", [np.int64(name) for name in names]
