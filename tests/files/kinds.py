"""One small fitted model of each kind that a file can contain; each is fitted once for all tests."""

from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from abstain import (
    Actions,
    Costs,
    LinearRejectSVC,
    LinearRejectSVCCV,
    NoveltyRejector,
    RejectSVC,
    RejectSVCCV,
    ThresholdRejector,
)
from pipeline_cases import fitted

CALLS = Actions({"yes": {0: 2, 1: 0}, "no": {0: 0, 1: 3}, "call": 0.4}, rejects=["call"])
TRIAGE = Actions(
    {
        0: {0: 0, 1: 3, 2: 6},
        "treat": {0: 1, 1: 0, 2: 3},
        2: {0: 2, 1: 1, 2: 0},
        "ask": 0.4,
        "test": {0: 0.5, 1: 0.3, 2: 0.2},
    },
    rejects=("ask", "test"),
)
GENERAL = Costs.from_table({0: {1: 1, 2: 2}, 1: {0: 5, 2: 3}, 2: {0: 1, 1: 1}}, reject={0: 0.2, 1: 0.6, 2: 0.3})


@cache
def two():
    return make_classification(60, 3, n_informative=3, n_redundant=0, flip_y=0.2, class_sep=0.7, random_state=5)


@cache
def three():
    rng = np.random.default_rng(3)
    y = np.arange(60) % 3
    return rng.standard_normal((60, 3)) + 1.5 * np.eye(3)[y], y


def on(rows, estimator):
    """The estimator fitted to these rows, when it is first asked for."""
    return cache(lambda: estimator.fit(*rows()))


def named(name):
    return lambda request: request.getfixturevalue(name)


def made(make):
    return lambda request: make()  # noqa: ARG005 (as for fixtures)


COSTS = Costs(reject=0.2)
STEPS = [
    *("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "PowerTransformer", "QuantileTransformer"),
    *("SimpleImputer", "SimpleImputer constant", "OneHotEncoder of numbers", "OneHotEncoder of missing text"),
    *("OrdinalEncoder", "mixed", "columns by number"),
]
FIXTURES = ["machine", "search", "embedded", "embedded_linear", "one_class", "rejector", "forest", "boosting"]
FIXTURES += ["sigmoids", "curves", "pipeline", "guarded"]
MADE = {
    "sparse": on(lambda: (csr_array(two()[0]), two()[1]), RejectSVC()),
    "actions": on(two, RejectSVC(CALLS)),
    "pairs": on(three, RejectSVC()),
    "classes": on(three, RejectSVCCV(COSTS, Cs=[1.0, 10.0], gammas=[0.3], cv=2)),
    "chosen kernel": on(two, RejectSVCCV(COSTS, kernel="auto", Cs=[0.1, 1.0], gammas=[0.3], cv=2)),
    "linear": on(two, LinearRejectSVC(Costs(1, 3, 0.3))),
    "linear search": on(three, LinearRejectSVCCV(COSTS, Cs=[0.1, 1.0], cv=2)),
    "landmarks": on(two, LinearRejectSVC(COSTS, kernel="rbf", n_components=8, random_state=0)),
    "logistic": on(two, ThresholdRejector(LogisticRegression(), max_error=0.45, confidence=0.6, random_state=0)),
    "several": on(three, ThresholdRejector(LogisticRegression(), COSTS, method="roc", cv=2)),
    "sets": on(three, ThresholdRejector(LogisticRegression(), class_error=0.2, random_state=0)),
}
KINDS = {name: named(name) for name in FIXTURES} | {name: made(make) for name, make in MADE.items()}
KINDS |= {name: made(lambda name=name: fitted(name)[0]) for name in STEPS}


def rows_of(kind, request: pytest.FixtureRequest):
    """Rows to decide."""
    if kind in STEPS:
        return fitted(kind)[1]
    if kind == "pipeline":
        return request.getfixturevalue("table")[0]
    if kind in ("pairs", "classes", "linear search", "several", "sets"):
        return three()[0]
    return csr_array(two()[0]) if kind == "sparse" else two()[0]


SIZE = np.random.default_rng(4).uniform(0.5, 2.0, (60, 1, 1))  # how much depends on a row
# the rows, the costs, and those of each row
COST_KINDS = {
    "two": (two, Costs(1, 3, 0.3), None),
    "several": (three, GENERAL, None),
    "actions of two": (two, CALLS, None),
    "actions of several": (three, TRIAGE, None),
    "rows of two": (two, None, SIZE[:, 0] * [1, 3, 0.3]),
    "rows of two, and costs": (two, Costs(1, 3, 0.3), SIZE[:, 0] * [3, 1, 0.2]),
    "rows of several": (three, None, SIZE * GENERAL.values),
    "rows of actions of two": (two, CALLS, SIZE * CALLS.values),
    "rows of actions of several": (three, TRIAGE, SIZE * TRIAGE.values),
}
ESTIMATORS = {
    "RejectSVC": RejectSVC,
    "RejectSVCCV": lambda costs: RejectSVCCV(costs, Cs=[0.1, 1.0], gammas=[0.3], cv=2),
    "LinearRejectSVC": LinearRejectSVC,
    "LinearRejectSVCCV": lambda costs: LinearRejectSVCCV(costs, Cs=[0.1, 1.0], cv=2),
    "ThresholdRejector": lambda costs: ThresholdRejector(LogisticRegression(), costs, method="chow"),
    "NoveltyRejector": lambda costs: NoveltyRejector(RejectSVC(costs), rate=0.1, random_state=0),
}


@cache
def cell(costs, estimator):
    """An estimator fitted for a kind of costs, the rows to decide, and their costs as an argument."""
    rows, stated, own = COST_KINDS[costs]
    given = {} if own is None else {"row_costs": own}
    return ESTIMATORS[estimator](stated).fit(*rows(), **given), rows()[0], given
