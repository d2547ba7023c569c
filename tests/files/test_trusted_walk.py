"""Every public estimator, fitted in many ways, is read by skops with TRUSTED_TYPES alone: a walk along `__all__`."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils.fixes import parse_version

import abstain
from abstain import TRUSTED_TYPES, Actions, Costs, RejectSVC

RNG = np.random.default_rng(5)
Y = np.arange(120) % 2
X = RNG.normal(size=(120, 3)) + 1.2 * Y[:, np.newaxis]
Y3 = np.arange(120) % 3
X3 = RNG.normal(size=(120, 3)) + 1.5 * np.eye(3)[Y3]
ROW_COSTS = np.column_stack([np.ones(120), 1 + RNG.random(120), np.full(120, 0.3)])
ESTIMATORS = sorted(
    name
    for name in abstain.__all__
    if inspect.isclass(kind := getattr(abstain, name)) and issubclass(kind, BaseEstimator)
)
SMALL = {
    "RejectSVCCV": {"Cs": [0.1, 1.0], "gammas": [0.3], "cv": 2},
    "LinearRejectSVCCV": {"Cs": [0.1, 1.0], "cv": 2},
    "MachineSearch": {"cv": 2, "machines": ["logistic"]},
    "EmbeddedRejectSVC": {"n_starts": 1},
    "NoveltyRejector": {"rate": 0.1, "random_state": 0},
}
COSTS = {
    "none": None,
    "costs": Costs(1, 1, 0.3),
    "actions": Actions({0: {0: 0, 1: 2}, 1: {0: 3, 1: 0}, "call": 0.3, "visit": {0: 0.4, 1: 0.2}}),
}
# settings that change what a fitted estimator is made of
SETTINGS = {
    "RejectSVC": [{"kernel": "linear"}, {"kernel": "laplacian"}, {"solver": "active-set"}],
    "LinearRejectSVC": [{"kernel": "rbf", "n_components": 5}],
    "ThresholdRejector": [
        {"reject_rate": 0.2},
        {"max_error": 0.6, "confidence": 0.6, "random_state": 0},
        {"class_error": 0.2, "random_state": 0},
        {"class_error": 0.2, "conformal": "cross", "cv": 2},
        {"method": "chow", "reject_rate": 0.1},
    ],
    "MachineSearch": [{"machines": ["svm"]}],
    "OneClassSVM": [{"kernel": "linear"}],
    "EmbeddedRejectSVC": [{"kernel": "rbf", "lower_bound": True}],
}
# what says in words that it is for two classes, or for classes only
REFUSED = "Only binary classification|Forced answers classes|is not a classifier of abstain|3 classes|for two classes"


def parameters(name):
    return inspect.signature(getattr(abstain, name)).parameters


def cases(name):
    """Give estimators, and rows they are fitted to."""
    around = [RejectSVC, lambda costs: LogisticRegression()] if "estimator" in parameters(name) else [None]  # noqa: ARG005
    made = getattr(abstain, name)
    for inner in around:
        for kind, costs in COSTS.items():
            if kind != "none" and inner is None and "costs" not in parameters(name):
                continue
            given = {**SMALL.get(name, {}), **({"estimator": inner(costs)} if inner else {})}
            yield made(**given, **({"costs": costs} if "costs" in parameters(name) else {})), (X, Y)
            if kind != "actions":
                yield made(**given, **({"costs": costs} if "costs" in parameters(name) else {})), (X3, Y3)
        for more in SETTINGS.get(name, []):
            given = {**SMALL.get(name, {}), **({"estimator": inner(None)} if inner else {}), **more}
            yield made(**given), (X, Y)
            yield made(**given), (X3, Y3)


def untrusted(fitted):
    return set(skops.io.get_untrusted_types(data=skops.io.dumps(fitted))) - set(TRUSTED_TYPES)


def walked(name):
    """Fit every case; give the number of fits, and the types that are not trusted."""
    fits, found = 0, set()
    for estimator, (rows, y) in cases(name):
        try:
            estimator.fit(rows, y)
        except ValueError as error:
            assert re.search(REFUSED, str(error)), (estimator, error)  # noqa: PT017
            continue
        fits += 1
        found |= untrusted(estimator)
        raw = skops.io.dumps(estimator)
        np.testing.assert_array_equal(skops.io.loads(raw, trusted=TRUSTED_TYPES).predict(rows), estimator.predict(rows))
    return fits, found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_public_estimator_is_read(name):
    fits, found = walked(name)
    assert found == set()
    assert fits >= 2


@pytest.mark.filterwarnings("ignore")
def test_rows_with_costs_of_their_own_sparse_rows_and_frames():
    for made in (abstain.RejectSVC, abstain.LinearRejectSVC):
        assert untrusted(made().fit(X, Y, row_costs=ROW_COSTS)) == set()
        assert untrusted(made(COSTS["costs"]).fit(csr_array(X), Y)) == set()
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    assert untrusted(abstain.NoveltyRejector(RejectSVC(), 0.1, random_state=0).fit(frame, Y)) == set()


@pytest.mark.skipif(parse_version(skops.__version__) < parse_version("0.16"), reason="earlier ones trust trees")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("machine", ["forest", "boosting"])
def test_trees_are_not_trusted(machine):
    # skops does not check their nodes, which index memory; `abstain.load` does
    fitted = abstain.MachineSearch(machines=[machine], cv=2).fit(X, Y)
    assert {name.rpartition(".")[2] for name in untrusted(fitted)} <= {"Tree", "TreePredictor"}
    assert untrusted(fitted)


def test_the_walk_has_teeth(monkeypatch):
    # control: with one name less, the walk finds it
    fewer = [name for name in TRUSTED_TYPES if not name.endswith("OptimalProofs")]
    monkeypatch.setitem(globals(), "TRUSTED_TYPES", fewer)
    assert untrusted(RejectSVC().fit(X3, Y3)) == {"abstain.dual.proof.OptimalProofs"}


def test_a_path_is_read():
    path = abstain.reject_svc_path(X, Y)
    assert untrusted(path) == set()
    again = skops.io.loads(skops.io.dumps(path), trusted=TRUSTED_TYPES)
    np.testing.assert_array_equal(again.at(path.C_max)[0], path.at(path.C_max)[0])
