"""`to_onnx`: a fitted estimator as an ONNX graph of standard operations in float64.

The ``ai.onnx.ml`` operators for support vector machines compute in float32, which changes decisions near a threshold.
"""

from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from abstain.candidates.average import MachineAverage
from abstain.estimators.novelty.guard import Guard
from abstain.estimators.novelty.novelty import NoveltyRejector
from abstain.estimators.svm.one_class import OneClassSVM
from abstain.estimators.unwrap import resampling
from abstain.files.format.errors import no_graph
from abstain.files.onnx.check import Inputs, compare
from abstain.files.onnx.rules import check_encoders, decision_nodes, detector_scoring, guard_nodes, split
from abstain.files.onnx.scores import AverageScoring, Scoring
from abstain.files.onnx.steps import NUMBER, Column, Table, through
from abstain.machines.response_machine import ResponseMachine

if TYPE_CHECKING:
    import onnx

    from abstain.files.onnx.graph import Graph, Value


def to_onnx(estimator: Any) -> "onnx.ModelProto":
    """Write a fitted estimator as an ONNX model with outputs "label", "score" and "rejected", one entry per row.

    A NoveltyRejector has two more outputs, "novel" and "p_value"; novel rows are rejected, whatever their score.
    With more than two classes "score" has one column per class, as `decision_function` has; with `Actions` the label is
    the name of the action. Everything is computed in float64, distances after subtracting a centre, and decisions
    follow the rule of the estimator. If onnxruntime is installed, the graph is run and compared with Python before it
    is returned.

    Parameters
    ----------
    estimator : RejectSVC, RejectSVCCV, LinearRejectSVC, LinearRejectSVCCV, EmbeddedRejectSVC, ThresholdRejector, \
            NoveltyRejector, or Pipeline of one
        Fitted, with one of the kernels linear, rbf, laplacian, poly and sigmoid. A ThresholdRejector must be around one
        of the first five, or around LogisticRegression, also with ``method="chow"``, or be the average of such machines
        that `MachineSearch` fits. A NoveltyRejector must have its
        default detector or a OneClassSVM of this library, around any of these. The steps of a Pipeline may be
        scikit-learn's StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, Normalizer, SimpleImputer,
        OneHotEncoder and OrdinalEncoder, "passthrough", and Pipelines and ColumnTransformers of these.

    Returns
    -------
    onnx.ModelProto
        With one input "X" of float64, shape (rows, features). If a Pipeline reads text, or begins with a
        ColumnTransformer of a data frame, it has one input per column that it reads, with its name and shape (rows, 1):
        float64 with NaN for a missing number, text with "" for a missing category; columns of an array are "x0", "x1".
        If a column has the name of an output, its input is that name after "column:". A graph cannot raise an error:
        a row for which Python does, because a number is NaN or infinite, a score overflows or a category is unknown,
        has "rejected" true and a "score" of NaN. Its label is the reject label, also of a machine without costs, or
        the action that costs least at worst; where booleans or the reject label's type leave no room, the first class.

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
        from abstain.files.onnx.graph import Graph
    except ImportError as error:
        raise ImportError("to_onnx needs onnx; install it with: pip install 'abstain[onnx]'.") from error
    check_is_fitted(estimator)
    graph, chain = Graph(), Chain.of(estimator)
    decider, guard = chain.decider, chain.guard
    table = through(chain.before, _inputs(graph, chain))
    p_value, novel = (None, None) if guard is None else guard_nodes(guard, table)
    rows = through(chain.inside, table).numbers()
    graph.refuse_unless_finite(rows)
    columns = len(decider.classes_) if len(decider.classes_) > 2 else None
    score, refused = _refusing(chain.scoring.score(rows), several=columns is not None)
    withheld = refused if novel is None else novel | refused
    label, rejected, kind = decision_nodes(decider.rule_, score, withheld)
    graph.output("label", kind, label)
    graph.output("score", "f", score, columns)
    graph.output("rejected", "b", rejected)
    if p_value is not None and novel is not None:
        graph.output("novel", "b", novel)
        graph.output("p_value", "f", p_value)
    model = graph.model(metadata.version("abstain"), f"{type(decider).__name__} by abstain")
    compare(model, estimator)
    return model


@dataclass(frozen=True)
class Chain:
    """The parts of a fitted estimator in the order in which rows pass through them.

    Attributes
    ----------
    before : list of transformers
        Before the guard, or before the classifier if there is none.
    guard : Guard or None
    inside : list of transformers
        Of the classifier behind the guard; the detector has its own.
    decider : estimator
        The NoveltyRejector, or the classifier: it has the rule.
    scoring : Scoring or AverageScoring
        Its score decides.
    """

    before: list[Any]
    guard: Guard | None
    inside: list[Any]
    decider: Any
    scoring: Scoring | AverageScoring

    @classmethod
    def of(cls, estimator: Any) -> "Chain":
        """Take an estimator apart; an error if it has no graph."""
        before, decider = split(estimator)
        if type(decider) is not NoveltyRejector:
            steps, scoring = _scored(decider)
            return cls(before + steps, None, [], decider, scoring)
        fitted = decider._fitted_
        outer, classifier = split(fitted.estimator) if fitted.is_ours else ([], decider)
        inner, scoring = _scored(classifier)
        inside = outer + inner
        detector_scoring(fitted.guard)  # an error if it has no graph
        check_encoders(inside, fitted.guard.detector)
        return cls(before, fitted.guard, inside, decider, scoring)

    @property
    def pipeline(self) -> Pipeline | None:
        """All transformers, then the decider, which reads the columns if they all pass them on; None without any."""
        steps = [*self.before, *self.inside]
        return Pipeline([(f"{at}", step) for at, step in enumerate([*steps, self.decider])]) if steps else None


def _refusing(score: "Value", *, several: bool) -> "tuple[Value, Value]":
    """Return the scores, NaN where Python raises an error, and whether it does for each row."""
    score.graph.refuse_unless_finite(score if several else score.apply("Unsqueeze", np.array([1])))
    refused = score.graph.refused()
    flat = refused.column()
    return (refused if several else flat).where(np.nan, score), flat


def _inputs(graph: "Graph", chain: "Chain") -> Table:
    """The inputs of the graph: one matrix, or columns one by one. The steps of Pipelines refuse infinite numbers."""
    if chain.pipeline is None:
        return Table(graph.input("X", NUMBER, chain.scoring.n_features, "rows"))
    inputs = Inputs.of(chain.pipeline, guarded=chain.guard is not None)
    columns: list[Column | None] = []
    for name, called, kind in zip(inputs.names, inputs.inputs, inputs.kinds, strict=True) if inputs.apart else ():
        columns.append(None if kind is None else Column(graph.input(called, kind, 1, f"column {name!r}"), kind))
    matrix = None if inputs.apart else graph.input("X", NUMBER, len(inputs.kinds), "rows")
    table = Table(matrix, tuple(columns))
    if read := [at for at, kind in enumerate(inputs.kinds) if kind == NUMBER]:
        graph.refuse(table.at(read).numbers().apply("IsInf"))
    return table


def _scored(estimator: Any) -> tuple[list[Any], Scoring | AverageScoring]:
    """Return the transformers of the classifier inside an estimator, and the sums whose score decides."""
    machine, what = getattr(estimator, "machine_", None), f"is a {type(estimator).__name__}"
    if type(estimator) is OneClassSVM:
        with_one = "NoveltyRejector(classifier, detector=OneClassSVM(...)), whose graph has the p-value of each row"
        way = f"put it in front of a classifier, {with_one}"
        raise ValueError(f"estimator {what}, which decides on no classes and has no ONNX graph alone; {way}.")
    if left := resampling(getattr(estimator, "steps", [])):
        way_out = "; use scikit-learn's Pipeline of its other fitted steps, which decides the same"
        raise no_graph(f"is a Pipeline with the step {left[0]!r}, which only resamples training rows", way_out)
    steps: list[Any] = []
    if isinstance(machine, ResponseMachine):
        method = machine.method
        steps, classifier = split(machine.classifier)
        if type(classifier) is LogisticRegression:
            return steps, Scoring.of_logistic(classifier, method)
        if type(classifier) is MachineAverage:
            return steps, AverageScoring.of(classifier)
        what = f"{what} around a {type(classifier).__name__}"
        machine = getattr(classifier, "machine_", None) if method == "decision_function" else None
    found = Scoring.of(machine)
    if found is None:
        way_out = " here; use skl2onnx for scikit-learn's own estimators, and abstain.save for those of this library"
        raise no_graph(what, way_out)
    return steps, found
