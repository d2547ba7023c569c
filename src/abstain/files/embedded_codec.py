"""EmbeddedRejectSVC as fields and arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.costs import Costs
from abstain.estimators.decide import Terms
from abstain.estimators.embedded.estimator import EmbeddedRejectSVC
from abstain.files.arrays import Arrays
from abstain.files.errors import ModelFileError
from abstain.files.expansion import (
    FLOAT,
    SPARSE_KINDS,
    check_support,
    kernel_from,
    kernel_state,
    vector_parts,
    vector_specs,
    vectors_from,
)
from abstain.files.schema import Fields, Spec, fitting
from abstain.files.terms import attributes, terms_from, terms_state
from abstain.files.values import from_json, to_json
from abstain.kernels import Kernel
from abstain.losses.step_loss import StepLoss
from abstain.thresholds import Thresholds

# d features; s of the n training rows that the score is expanded on
LINEAR: dict[str, Spec] = {"coef": (FLOAT, (1, "d")), "intercept": (FLOAT, (1,))}
EXPANDED: dict[str, Spec] = {"support": (("<i8",), ("s",)), "dual_coef": (FLOAT, (1, "s")), "intercept": (FLOAT, (1,))}
STATUSES = ("local", "inaccurate", "iteration_limit", "time_limit")


def check_prices(estimator: EmbeddedRejectSVC) -> None:
    """Refuse parameters that no loss has, which scikit-learn's check of single parameters does not see."""
    StepLoss(estimator.reject_cost, estimator.margin_cost, float(estimator.steepness), float(estimator.slack_penalty))


def embedded_parts(fitted: EmbeddedRejectSVC) -> tuple[dict[str, Any], Arrays]:
    """Fields and arrays of a fitted machine; eps is the upper threshold, and stands there alone."""
    state: dict[str, Any] = {
        "kernel": kernel_state(fitted._kernel),
        "decisions": terms_state(fitted._terms, fitted.thresholds_),
        "n_rows": int(fitted._n_fit),
        "status": fitted.status_,
        "n_iter": int(fitted.n_iter_),
        "objective": to_json("objective_", fitted.objective_),
        "training_risk": to_json("training_risk_", fitted.training_risk_),
        "lower_bound": to_json("lower_bound_", getattr(fitted, "lower_bound_", None)),
    }
    if fitted._kernel.name == "linear":
        return state, {"coef": fitted.coef_, "intercept": fitted.intercept_}
    state["vectors"], vectors = vector_parts(fitted._kernel, fitted.support_vectors_)
    arrays = {"support": fitted.support_.astype("<i8"), "dual_coef": fitted.dual_coef_, "intercept": fitted.intercept_}
    return state, arrays | vectors


def embedded_attributes(fields: Fields, arrays: Arrays, n_features: int) -> dict[str, Any]:
    """The fitted attributes of a machine, checked one by one and against each other."""
    kernel = kernel_from(fields)
    terms, thresholds = terms_from(fields.take("decisions", dict))
    _check_decisions(terms, thresholds)
    n = fields.whole("n_rows", least=1)
    bound = from_json(fields.take("lower_bound"))
    if not (bound is None or isinstance(bound, float)):
        raise ModelFileError("its lower bound is no number.")
    return {
        **attributes(terms, thresholds),
        **_score(fields, arrays, kernel, n, n_features),
        "eps_": thresholds.upper,
        "objective_": fields.number("objective"),
        "training_risk_": _risk(fields),
        **({} if bound is None else {"lower_bound_": bound}),
        "n_iter_": fields.whole("n_iter"),
        "status_": fields.one_of("status", STATUSES),
        "_kernel": kernel,
        "_n_fit": n,
        "_X_fit": None,
    }


def _check_decisions(terms: Terms, thresholds: Thresholds) -> None:
    """The band of FR02: -eps and eps with 0 <= eps <= 1, open only where a reject costs less than half an error."""
    eps, costs = thresholds.upper, terms.costs
    if not 0.0 <= eps <= 1.0 or thresholds.lower != -eps:
        raise ModelFileError("its thresholds are not -eps and eps, with eps between 0 and 1.")
    if costs is None or costs != Costs(reject=costs.reject_negative):
        raise ModelFileError("its costs are not those of errors that cost 1 and rejects of one price.")
    if terms.labels.rejects != (costs.reject_negative < 0.5):
        raise ModelFileError("its labels and its reject cost do not agree on whether anything is rejected.")
    if terms.cut != 0.0 or not np.isnan(terms.log_odds_per_score):
        raise ModelFileError("its score is cut elsewhere than at 0, or declared to be log-odds.")


def _risk(fields: Fields) -> float:
    risk = fields.number("training_risk")
    if not 0.0 <= risk <= 1.0:
        raise ModelFileError("its training risk does not lie between 0 and 1.")
    return risk


def _score(fields: Fields, arrays: Arrays, kernel: Kernel, n: int, n_features: int) -> dict[str, Any]:
    """What scores are computed from: weights of the features, or an expansion on training rows."""
    if kernel.name == "linear":
        fitting(arrays, LINEAR, "machine", {"d": n_features})
        return {"coef_": arrays["coef"], "intercept_": arrays["intercept"]}
    storage = fields.one_of("vectors", ("dense", *SPARSE_KINDS))
    numbers = fitting(arrays, EXPANDED | vector_specs(kernel, storage), "machine", {"d": n_features})
    check_support(arrays, numbers["s"], n)
    if kernel.name == "precomputed" and n != n_features:
        raise ModelFileError("its Gram matrix has another number of columns than training rows.")
    return {
        "support_": arrays["support"].astype(np.intp, copy=False),
        "support_vectors_": vectors_from(arrays, kernel, storage, numbers),
        "dual_coef_": arrays["dual_coef"],
        "intercept_": arrays["intercept"],
    }
