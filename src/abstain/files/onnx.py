"""`to_onnx`: a fitted estimator as an ONNX graph of standard operations in float64.

The ``ai.onnx.ml`` operators for support vector machines compute in float32, which changes decisions near a threshold.
"""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from abstain.files.onnx_inputs import Inputs, input_name
from abstain.files.onnx_rules import decision_nodes
from abstain.files.onnx_scores import KERNELS, LinearScores, Scoring, score_nodes
from abstain.files.onnx_steps import Column, Table, graph_of, kinds
from abstain.kernels import Kernel
from abstain.machines.linear_class_machine import LinearClassMachine
from abstain.machines.linear_machine import LinearMachine
from abstain.machines.response_machine import ResponseMachine
from abstain.rules.row_rule import RowRule

if TYPE_CHECKING:
    import onnx

    from abstain.files.graph import Graph



def to_onnx(estimator: Any) -> onnx.ModelProto:
    """Write a fitted estimator as an ONNX model with outputs "label", "score" and "rejected", one entry per row.

    With more than two classes "score" has one column per class, as `decision_function` has; with `Actions` the label is
    the name of the action. Everything is computed in float64, distances after subtracting a centre, and decisions
    follow the rule of the estimator. If onnxruntime is installed, the graph is run and compared with Python before it
    is returned.

    Parameters
    ----------
    estimator : RejectSVC, RejectSVCCV, LinearRejectSVC, EmbeddedRejectSVC, ThresholdRejector, or Pipeline of one
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
    machine = scoring_machine(decider)
    if isinstance(decider.rule_, RowRule):
        raise ValueError(  # noqa: TRY004 (a fitted machine that has no thresholds)
            "a graph decides all rows by one set of costs, and this machine was fitted with row_costs and without "
            "costs; state costs and fit again."
        )
    X = _features(graph, estimator) if type(estimator) is Pipeline else _matrix(graph, machine.n_features)
    score = score_nodes(graph, machine, X)
    label, rejected, kind = decision_nodes(graph, decider.rule_, score)
    graph.output("label", kind, label)
    graph.output("score", kinds()["f"], score, len(decider.classes_) if len(decider.classes_) > 2 else None)
    graph.output("rejected", kinds()["b"], rejected)
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


def scoring_machine(estimator: Any) -> Scoring:
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
        if type(classifier) is LogisticRegression and len(classifier.classes_) > 2:
            coef, intercept = (np.asarray(part, np.float64) for part in (classifier.coef_, classifier.intercept_))
            machine = LinearScores(coef, intercept)
        elif type(classifier) is LogisticRegression:
            weights = np.asarray(classifier.coef_[0], dtype=np.float64)
            machine = LinearMachine(weights, np.zeros(len(weights)), float(classifier.intercept_[0]))
    if isinstance(machine, LinearClassMachine):
        machine = LinearScores(machine.weights, machine.intercepts)
    if not isinstance(machine, Scoring):
        raise ValueError(  # noqa: TRY004 (one kind of error for every bad value, as in scikit-learn)
            f"{what}, but to_onnx takes RejectSVC, RejectSVCCV, LinearRejectSVC, LinearRejectSVCCV, EmbeddedRejectSVC, "
            "ThresholdRejectors around one of these or LogisticRegression, and Pipelines that end in one of these; use "
            "skl2onnx for scikit-learn's own estimators."
        )
    kernel = getattr(machine, "kernel", None)
    if kernel is not None and not (isinstance(kernel, Kernel) and kernel.name in KERNELS):
        which = f"kernel={kernel.name!r}" if isinstance(kernel, Kernel) else "a callable kernel"
        raise ValueError(f"{which} has no graph; to_onnx needs {', '.join(KERNELS)}.")
    return machine
