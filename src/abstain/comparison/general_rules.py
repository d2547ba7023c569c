"""The default models of `abstain.compare` for several classes, for actions, and for costs per row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from abstain.candidates.machines import BEST, MACHINES, NAMES, SVM
from abstain.candidates.search import MachineSearch
from abstain.costs.actions import Actions
from abstain.costs.class_costs import ClassCosts
from abstain.costs.costs import Costs
from abstain.costs.row_costs import RowCosts
from abstain.estimators.svm.svc_cv import RejectSVCCV
from abstain.estimators.threshold.threshold import ThresholdRejector

__all__ = ["CHOSEN", "action_rules", "class_rules", "mean_costs", "row_rules"]

CHOSEN = "best machine"


def class_rules(costs: ClassCosts, machines: Any, grid: dict[str, Any]) -> dict[str, Any]:
    """The rules for several classes, each tuned inside the training rows by the mean cost.

    One machine for each class against the rest, with tuned cuts and with Bayes' cuts; the same trained and cut at the
    reject cost at which nothing is rejected; and a plain SVM by votes. Around the plain SVM, a cut on the lead over the
    second class, and Chow's rule on Platt's probabilities; Chow's rule on other machines.
    """
    plain = RejectSVCCV(**grid)
    rules: dict[str, Any] = {
        "double hinge": RejectSVCCV(costs, **grid),
        "double hinge, Bayes' cuts": RejectSVCCV(costs, cuts="bayes", **grid),
        "SVM with costs, no rejects": RejectSVCCV(_never_rejecting(costs), **grid),
        "SVM": plain,
        "SVM, cut on the lead": ThresholdRejector(plain, costs, method="symmetric"),
        "SVM, Chow on Platt": ThresholdRejector(plain, costs, method="chow"),
    }
    return (rules if SVM in machines else {}) | _others(costs, machines, grid)


def action_rules(actions: Actions, machines: Any, grid: dict[str, Any]) -> dict[str, Any]:
    """The rules that choose between actions: the tangent hinge with a knot at each cut, and Chow's rule."""
    rules: dict[str, Any] = {
        "tangent hinge": RejectSVCCV(actions, **grid),
        "SVM, Chow on Platt": ThresholdRejector(RejectSVCCV(**grid), actions, method="chow"),
    }
    return (rules if SVM in machines else {}) | _others(actions, machines, grid)


def row_rules(costs: RowCosts, machines: Any, grid: dict[str, Any], *, pos_label: Any, sparse: bool) -> dict[str, Any]:
    """The rules for costs per row: the double hinge trained and decided by them, and rules at their means alone."""
    mean = mean_costs(costs)
    shared: dict[str, Any] = {"pos_label": pos_label, "svm": RejectSVCCV(**grid), "n_jobs": -1}
    rules: dict[str, Any] = {}
    if SVM in machines:
        rules["double hinge"] = RejectSVCCV(pos_label=pos_label, **grid)
        rules["double hinge, mean costs"] = MachineSearch(mean, (SVM,), **shared)
        wrapped = ThresholdRejector(RejectSVCCV(**grid), mean, method="chow", pos_label=pos_label)
        rules["SVM, Chow on Platt, mean costs"] = wrapped
    return rules | {
        f"{name}, Chow, mean costs": MachineSearch(mean, (name,), **shared)
        for name, machine in MACHINES.items()
        if name in machines and (machine.takes_sparse or not sparse)
    }


def mean_costs(costs: RowCosts) -> Costs:
    """The mean of each cost over the rows; reject costs that could never pay are lowered to the largest that can."""
    return RowCosts(*costs.table().mean(axis=0)[:, np.newaxis]).of_row(0)


def _others(costs: Any, machines: Any, grid: dict[str, Any]) -> dict[str, Any]:
    """Other machines with Chow's rule, and the choice among all, whose parameters are chosen by the mean cost."""
    shared: dict[str, Any] = {"svm": RejectSVCCV(**grid), "n_jobs": -1}
    found = {f"{name}, Chow": MachineSearch(costs, (name,), **shared) for name in MACHINES if name in machines}
    return found | ({CHOSEN: MachineSearch(costs, NAMES, **shared)} if BEST in machines else {})


def _never_rejecting(costs: ClassCosts) -> ClassCosts:
    """The same error costs with the largest reject costs that can pay, at which nothing is rejected."""
    return replace(costs, reject=tuple((costs.largest_scale * costs.reject_costs).tolist()))
