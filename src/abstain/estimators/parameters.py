"""What RejectSVC's parameters may be, and the loss that its costs and rule stand for."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions

from abstain.costs import Costs
from abstain.losses.double_hinge import double_hinge
from abstain.losses.generalized_hinge import BartlettWegkamp
from abstain.losses.hinge import hinge
from abstain.losses.margin_loss import MarginLoss

KERNELS = ("linear", "rbf", "poly", "sigmoid", "precomputed")
POSITIVE = Interval(Real, 0.0, None, closed="neither")

# Checked by scikit-learn at fit. Whatever needs more words, or another parameter or the data, is checked further down.
CONSTRAINTS: dict[str, list[Any] | str] = {
    "costs": "no_validation",
    "C": [POSITIVE],
    "kernel": [StrOptions(set(KERNELS)), callable],
    "degree": [Interval(Integral, 1, None, closed="left")],
    "gamma": [StrOptions({"scale", "auto"}), POSITIVE],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "rule": "no_validation",
    "pos_label": "no_validation",
    "reject_label": "no_validation",
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "solver": [StrOptions({"auto", "smo", "active-set"})],
    "tol": [POSITIVE],
    "cache_size": [POSITIVE],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "time_limit": [POSITIVE, None],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}


def checked_costs(costs: Any) -> Costs | None:
    """The costs, if they are a `Costs` or None: the two ways of saying what a decision costs."""
    if costs is None or isinstance(costs, Costs):
        return costs
    raise InvalidParameterError(  # a ValueError and a TypeError, as for scikit-learn's own parameters
        f"costs must be a Costs or None, not {costs!r} of type {type(costs).__name__}; "
        "write RejectSVC(Costs(false_positive=1, false_negative=5, reject=0.3)), or give C by name: RejectSVC(C=...)."
    )


def margin_loss(costs: Costs | None, rule: Any) -> MarginLoss:
    """The loss of the machine: hinge without costs, double hinge (GRKC08), or generalized hinge (BW08)."""
    bartlett_wegkamp = _bartlett_wegkamp(rule)
    if bartlett_wegkamp is None:
        return hinge() if costs is None else double_hinge(costs)
    if costs is None:
        raise ValueError(f"rule={rule!r} needs costs, got costs=None; state them, as in costs=Costs(reject=0.3).")
    return bartlett_wegkamp.loss(costs)


def log_odds_per_score(costs: Costs | None, rule: Any) -> float:
    """The factor from the score to the log-odds: H(r) / r in BW08's units, 1 in those of the tangent hinge."""
    if costs is None or _bartlett_wegkamp(rule) is None:
        return 1.0
    r = costs.reject_positive / costs.false_positive
    return -math.log(r) - (1 - r) / r * math.log1p(-r)


def _bartlett_wegkamp(rule: Any) -> BartlettWegkamp | None:
    if isinstance(rule, BartlettWegkamp):
        return rule
    if isinstance(rule, str) and rule == "bartlett-wegkamp":
        return BartlettWegkamp()
    if isinstance(rule, str) and rule == "chow":
        return None
    raise ValueError(f'rule must be "chow", "bartlett-wegkamp" or a BartlettWegkamp(delta), not {rule!r}.')
