"""The allowed parameters of RejectSVC, and the loss that follows from its costs and rule."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions

from abstain.costs.actions import Actions
from abstain.costs.costs import Costs, checked_costs
from abstain.losses.action_hinge import action_hinge
from abstain.losses.double_hinge import double_hinge
from abstain.losses.generalized_hinge import BartlettWegkamp
from abstain.losses.hinge import hinge
from abstain.losses.margin_loss import MarginLoss

POSITIVE = Interval(Real, 0.0, None, closed="neither")


class FiniteC(Interval):  # type: ignore[misc]
    """A positive, finite C; scikit-learn's `SVC` also takes infinity, so the error gives the way out."""

    def __str__(self) -> str:
        return f"{super().__str__()}; for a hard margin, a large number such as 1e6"


# Checked by scikit-learn at fit. Checks that need a longer message, another parameter or the data come later.
CONSTRAINTS: dict[str, list[Any] | str] = {
    "costs": "no_validation",
    "C": [FiniteC(Real, 0.0, None, closed="neither")],
    "kernel": [str, callable],  # the name is checked with the other parameters of the kernel
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


def stated_costs(costs: Any) -> Costs | Actions | None:
    """Give the costs if they are a `Costs`, `Actions` or None; anything else is an error."""
    if costs is None or isinstance(costs, Actions):
        return costs
    return checked_costs(costs, "RejectSVC({}), or give C by name: RejectSVC(C=...)")


def margin_loss(costs: Costs | Actions | None, rule: Any) -> MarginLoss:
    """Give the loss of the machine: the hinge without costs, the double hinge (GRKC08), or that of another rule (BW08).

    For `Actions` it is the tangent hinge at all their cuts.

    A rule is any value with a method ``loss(costs)`` that returns a `MarginLoss`.
    """
    if isinstance(rule, str) and rule in _RULES:
        rule = _RULES[rule]
    if isinstance(costs, Actions):
        if rule is not None:
            raise ValueError(f'rule={rule!r} is for Costs only; with Actions use rule="chow".')
        return action_hinge(costs)
    if rule is None:
        return hinge() if costs is None else double_hinge(costs)
    if isinstance(rule, str | type) or not callable(getattr(rule, "loss", None)):
        raise InvalidParameterError(
            f'rule must be "chow", "bartlett-wegkamp" or a BartlettWegkamp(delta), not {rule!r}.'
        )
    if costs is None:
        raise ValueError(f"rule={rule!r} needs costs, got costs=None; state them, as in costs=Costs(reject=0.3).")
    return rule.loss(costs)


_RULES = {"chow": None, "bartlett-wegkamp": BartlettWegkamp()}
