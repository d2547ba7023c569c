"""Wrong parameters are refused at fit, with a reason."""

import dataclasses
import math
from inspect import signature

import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils._param_validation import validate_parameter_constraints

from abstain import (
    BartlettWegkamp,
    Costs,
    EmbeddedRejectSVC,
    Forced,
    LinearRejectSVC,
    NoveltyRejector,
    OneClassSVM,
    RejectSVC,
    RejectSVCCV,
    ThresholdRejector,
)
from abstain.candidates.search import MachineSearch
from looping import looped

ASYMMETRIC = Costs(false_positive=1, false_negative=5, reject=0.3)


WRONG = {
    "costs as a number": ({"costs": 0.3}, r"costs=0\.3 must be a Costs.*RejectSVC\(C="),
    "costs as a dict": ({"costs": {"reject": 0.3}}, "must be a Costs, not a dict"),
    "unknown rule": ({"rule": "chaos"}, "rule must be"),
    "asymmetric Bartlett-Wegkamp": ({"costs": ASYMMETRIC, "rule": "bartlett-wegkamp"}, "symmetric"),
    "Bartlett-Wegkamp without costs": ({"rule": "bartlett-wegkamp"}, "needs costs"),
    "delta out of range": ({"costs": Costs(reject=0.3), "rule": BartlettWegkamp(0.8)}, "delta"),
    "unknown kernel": ({"kernel": "gauss"}, "kernel"),
    "unknown solver": ({"solver": "magic"}, "solver"),
    "C of zero": ({"C": 0}, "C"),
    "C infinite": ({"C": float("inf")}, "C.*for a hard margin, a large number such as 1e6"),
    "C as text": ({"C": "1"}, "C"),
    "gamma negative": ({"gamma": -1.0}, "gamma"),
    "degree as a float": ({"degree": 2.5}, "degree"),
    "tol of zero": ({"tol": 0.0}, "tol"),
    "max_iter of zero": ({"max_iter": 0}, "max_iter"),
    "time_limit of zero": ({"time_limit": 0.0}, "time_limit"),
    "cache_size of zero": ({"cache_size": 0}, "cache_size"),
    "class_weight of an unknown class": ({"class_weight": {7: 1.0}}, r"class_weight names \[7\]"),
    "class_weight negative": ({"class_weight": {0: -1.0}}, "class_weight must contain finite numbers >= 0"),
    "class_weight infinite": ({"class_weight": {0: float("inf")}}, "class_weight must contain finite numbers >= 0"),
    "pos_label of another kind": ({"pos_label": "1"}, "pos_label='1' is not one of the classes"),
    "reject_label a class": ({"reject_label": 1}, "is one of the classes"),
}


@pytest.mark.parametrize(("options", "words"), WRONG.values(), ids=WRONG)
def test_wrong_parameters_are_refused_at_fit_with_a_reason(data, options, words):
    clf = RejectSVC(**options)  # construction checks nothing, as scikit-learn asks
    with pytest.raises(ValueError, match=words):
        clf.fit(*data)


@looped(number=[math.inf, -math.inf, math.nan], name=["C", "gamma", "coef0", "tol", "cache_size", "time_limit"])
def test_every_number_must_be_finite(data, number, name):
    with pytest.raises(ValueError, match=f"'{name}' parameter of RejectSVC must be .*Got {number} instead"):
        RejectSVC(kernel="poly", **{name: number}).fit(*data)


@looped(number=[math.inf, -math.inf, math.nan], name=["C", "gamma", "coef0", "steepness", "time_limit", "reject_cost"])
def test_every_number_of_the_embedded_machine_must_be_finite(data, number, name):
    with pytest.raises(ValueError, match=f"{name}.*{number}"):
        EmbeddedRejectSVC(kernel="poly", **{name: number}).fit(*data)


@looped(number=[math.inf, -math.inf, math.nan], name=["false_positive", "false_negative", "reject"])
def test_every_cost_must_be_finite(number, name):
    with pytest.raises(ValueError, match=f"{name}={number} must be"):
        Costs(**{name: number})


STATED_ONCE = {
    EmbeddedRejectSVC: EmbeddedRejectSVC(),
    ThresholdRejector: ThresholdRejector(LogisticRegression(), Costs(reject=0.2)),
    NoveltyRejector: NoveltyRejector(LogisticRegression(), 0.2, random_state=0),
    Forced: Forced(RejectSVC()),
    MachineSearch: MachineSearch(Costs(reject=0.2), ("logistic",), cv=3),
}


@pytest.mark.parametrize(("kind", "estimator"), STATED_ONCE.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_parameters_that_are_stated_once_make_a_plain_estimator(data, kind, estimator):
    given = estimator.get_params(deep=False)
    assert [*signature(kind).parameters] == [*signature(kind.__init__).parameters][1:]
    assert {*signature(kind).parameters} == {*given}
    assert vars(kind(**given)) == given
    with pytest.raises(TypeError, match="unexpected keyword"):
        kind(**given, other=1)
    # tools such as dask take a dataclass for its fields, and would not see what was fitted
    assert not dataclasses.is_dataclass(estimator)
    tokenize = pytest.importorskip("dask.base").tokenize
    X, y = data
    one, other = (tokenize(estimator.fit(X, labels)) for labels in (y, 1 - y))
    assert one != other
    assert other == tokenize(estimator)  # control


@pytest.mark.parametrize("kind", [RejectSVC, RejectSVCCV, LinearRejectSVC, OneClassSVM])
def test_defaults_are_valid_because_only_other_parameters_are_checked(kind):
    defaults = {name: parameter.default for name, parameter in signature(kind).parameters.items()}
    assert kind._get_param_names() == BaseEstimator._get_param_names.__func__(kind)
    validate_parameter_constraints(kind._parameter_constraints, defaults, caller_name=kind.__name__)


def test_the_defaults_of_other_constructors_are_checked(data):
    class Other(RejectSVC):
        def __init__(self, C=-1.0, **others):
            super().__init__(C=C, **others)

        @classmethod
        def _get_param_names(cls):
            return ["C"]

    with pytest.raises(ValueError, match="'C' parameter of Other"):
        Other().fit(*data)
