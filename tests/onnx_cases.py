"""ONNX against Python on many rows: every machine, kernel and Pipeline, near the origin and far from it."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import onnxruntime
import pandas as pd
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from abstain import Costs, EmbeddedRejectSVC, RejectSVC, RejectSVCCV, ThresholdRejector, to_onnx
from abstain.preprocessing import default_pipeline

ROWS = 100_000
TRAINED = 300
FAR = 1e4
COSTS = Costs(1, 2, 0.3)
NUMERIC, CATEGORICAL = ["age", "dose", "weight"], ["city"]


@dataclass(frozen=True)
class Case:
    """A machine and where its rows lie; a Pipeline is fitted to the table, anything else to the features."""

    name: str
    estimator: object
    shift: float

    @property
    def cancels(self):
        """Whether terms much larger than the score cancel in it: all rows look alike to these kernels far from 0."""
        return bool(self.shift) and getattr(self.estimator, "kernel", None) in ("poly", "sigmoid")

    def __str__(self):
        return f"{self.name}{f', shifted by {self.shift:g}' if self.shift else ''}"


@dataclass(frozen=True)
class Outcome:
    """How the graph's answers differ from Python's."""

    labels_changed: int
    rejects_changed: int
    worst: float  # difference of two scores
    largest: float  # score
    decisions: int  # kinds of them: 3 where all are made


def kernels(kind, shift, far, **settings):
    """The machine with each vector kernel; in poly and sigmoid the origin has a meaning, so `far` from it C grows."""
    for kernel in ("linear", "rbf", "laplacian", "poly", "sigmoid"):
        chosen = {"gamma": 0.2, "coef0": 0.5 if kernel == "poly" else 0.0}
        if shift and kernel in ("poly", "sigmoid"):
            chosen = {"gamma": 0.25 / shift**2, "coef0": 0.0 if kernel == "poly" else -1.0, "C": far}
        yield f"{kind.__name__} {kernel}", kind(kernel=kernel, degree=2, max_iter=100_000, **settings | chosen)


def machines(shift):
    yield from kernels(RejectSVC, shift, far=2e7, costs=COSTS, C=10.0)
    yield from kernels(EmbeddedRejectSVC, shift, far=1e6, reject_cost=0.2, C=1.0)
    yield "RejectSVCCV", RejectSVCCV(COSTS, Cs=[1.0, 10.0], gammas=[0.1, 0.2], cv=2)
    yield "ThresholdRejector of RejectSVC", ThresholdRejector(RejectSVC(gamma=0.2), COSTS)
    yield "ThresholdRejector of LogisticRegression", ThresholdRejector(LogisticRegression(), reject_rate=0.2)
    inner = RejectSVCCV(COSTS, Cs=[1.0, 10.0], gammas=[0.02, 0.05], cv=2)  # as `abstain fit` makes it
    yield "Pipeline of RejectSVCCV", default_pipeline(inner, NUMERIC, CATEGORICAL)
    yield "Pipeline of RejectSVC linear", default_pipeline(RejectSVC(COSTS, kernel="linear"), NUMERIC, CATEGORICAL)
    yield "Pipeline of EmbeddedRejectSVC", default_pipeline(EmbeddedRejectSVC(0.2), NUMERIC, CATEGORICAL)


CASES = [Case(name, estimator, shift) for shift in (0.0, FAR) for name, estimator in machines(shift)]


@cache
def features(seed=0):
    settings = {"n_informative": 4, "n_redundant": 0, "flip_y": 0.2, "class_sep": 1.2, "random_state": seed}
    return make_classification(TRAINED + ROWS, 4, **settings)


@cache
def table(seed=0):
    """The features as a table: three numbers and a category, a tenth of the cells missing, one category never seen."""
    X, y = features(seed)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X[:, :3] * [9.0, 1.0, 0.01], columns=NUMERIC)
    frame = frame.mask(rng.uniform(size=frame.shape) < 0.1)
    city = np.array(["Bonn", "Ulm", "Köln", "</script>"], dtype=object)[np.digitize(X[:, 3], [-1, 0, 1])]
    city[rng.uniform(size=len(X)) < 0.1] = None
    city[TRAINED::97] = "never seen"
    return frame.assign(city=city), np.where(y == 1, "yes", "no")


def run(model, feeds, **settings):
    """Label, score and rejected of all rows, a few thousand at a time."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    for name, value in settings.items():
        setattr(options, name, value)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    blocks = max(1, len(next(iter(feeds.values()))) // 5000)
    pieces = zip(*(np.array_split(values, blocks) for values in feeds.values()), strict=True)
    runs = [session.run(["label", "score", "rejected"], dict(zip(feeds, piece, strict=True))) for piece in pieces]
    return [np.concatenate(parts) for parts in zip(*runs, strict=True)]


def judged(case, rows=ROWS, seed=0):
    """Fit the machine, decide `rows` further ones by Python and by the graph, and count the differences."""
    is_table = isinstance(case.estimator, Pipeline)
    X, y = table(seed) if is_table else features(seed)
    X = X.assign(**{name: X[name] + case.shift for name in NUMERIC}) if is_table else X + case.shift
    model = clone(case.estimator).fit(X[:TRAINED], y[:TRAINED])
    new = X[TRAINED : TRAINED + rows]
    if is_table:
        feeds = {name: new[[name]].to_numpy(dtype=np.float64) for name in NUMERIC}
        feeds |= {name: new[[name]].fillna("").to_numpy(dtype=object) for name in CATEGORICAL}
        decisions = model[-1].decide(model[:-1].transform(new))
    else:
        feeds, decisions = {"X": new}, model.decide(new)
    label, score, rejected = run(to_onnx(model), feeds)
    return Outcome(
        labels_changed=int((label != decisions.label).sum()),
        rejects_changed=int((rejected != decisions.rejected).sum()),
        worst=float(np.abs(score - decisions.score).max()),
        largest=float(np.abs(decisions.score).max()),
        decisions=len(np.unique(label)),
    )
