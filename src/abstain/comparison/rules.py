"""The default models of `abstain.compare`: the rules of the papers, and other machines with Chow's rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled

from abstain.candidates.machines import BEST, MACHINES, NAMES, SVM
from abstain.candidates.search import MachineSearch
from abstain.comparison.general_rules import CHOSEN, action_rules, class_rules, row_rules
from abstain.costs.actions import Actions
from abstain.costs.class_costs import ClassCosts
from abstain.costs.costs import Costs
from abstain.costs.row_costs import RowCosts
from abstain.estimators.embedded.estimator import EmbeddedRejectSVC
from abstain.estimators.svm.svc_cv import RejectSVCCV
from abstain.estimators.threshold.threshold import ThresholdRejector

# Decades of C and a factor of 16 either way in gamma: enough for a fair comparison, in a third of the usual time.
_GRID: dict[str, Any] = {"Cs": 6, "gammas": 3}
_EMBEDDED_CS = tuple(np.logspace(-3, 1, 5).tolist())

BARTLETT_WEGKAMP, EMBEDDED = "Bartlett-Wegkamp", "embedded, linear"
EQUAL_COSTS = "it supports only equal error costs and one reject cost, and these costs differ by class"
TWO_CLASSES = "it supports only two classes that are answered or rejected, at one set of costs"
SPARSE = "it does not support sparse rows"


def default_rules(
    costs: Any,
    *,
    pos_label: Any = None,
    sparse: bool = False,
    grouped: bool = False,
    machines: Sequence[str] = NAMES,
) -> dict[str, Any]:
    """The rules of the papers and other machines, on standardised features and tuned inside the training rows.

    "double hinge" (GRKC08), "Bartlett-Wegkamp" (BW08, symmetric costs only) and "embedded, linear" (FR02, symmetric
    costs only, linear as published) are trained with the reject cost; they choose C and gamma by the mean cost. So does
    "SVM with costs, no rejects", trained for the error costs alone and cut at their threshold: what rejecting must
    beat. The others apply a rule to the same plain SVM, which chooses C and gamma by its error rate: no rejects
    ("SVM"), one symmetric threshold (FR02, GRKC08's naive rule), T04's two thresholds, and Chow's rule on Platt's
    probabilities. Logistic regression, forests and boosted trees have Chow's rule, and their parameters are chosen by
    the mean cost.

    Parameters
    ----------
    costs : Costs, RowCosts or Actions
        The costs. For several classes, `Actions` and costs per row, see `abstain.comparison.general_rules`.
    pos_label : label, default=None
        The positive class of the costs.
    sparse : bool, default=False
        Whether X is sparse; its features are then not centred.
    grouped : bool, default=False
        Whether the rules are fitted with groups, which their own folds then respect.
    machines : sequence of str
        Those that take part: "svm" for the rules of the papers, "logistic", "forest", "boosting", and "best", which
        chooses one of these four inside the training rows.

    Returns
    -------
    dict of str to Pipeline
        Without the rules returned by `left_out`.
    """
    if isinstance(costs, ClassCosts):
        rules = class_rules(costs, machines, _GRID)
    elif isinstance(costs, Actions):
        rules = action_rules(costs, machines, _GRID)
    elif isinstance(costs, RowCosts):
        rules = row_rules(costs, machines, _GRID, pos_label=pos_label, sparse=sparse)
    else:
        rules = _pair_rules(costs, machines, pos_label=pos_label, sparse=sparse, grouped=grouped)
    if routing_enabled():
        for rule in rules.values():
            if isinstance(costs, RowCosts) and isinstance(rule, RejectSVCCV):
                rule.set_fit_request(row_costs=True).set_predict_request(row_costs=True)
            if grouped and not isinstance(rule, GridSearchCV):
                rule.set_fit_request(groups=True)
    missing = left_out(costs, sparse=sparse, machines=machines)
    return {
        name: make_pipeline(StandardScaler(with_mean=not sparse), rule)
        for name, rule in rules.items()
        if name not in missing
    }


def _pair_rules(
    costs: Costs, machines: Sequence[str], *, pos_label: Any, sparse: bool, grouped: bool
) -> dict[str, Any]:
    """The rules for two classes and one set of costs."""
    machine = RejectSVCCV(**_GRID)
    rules: dict[str, Any] = {
        "double hinge": RejectSVCCV(costs, pos_label=pos_label, **_GRID),
        BARTLETT_WEGKAMP: RejectSVCCV(costs, rule="bartlett-wegkamp", pos_label=pos_label, **_GRID),
        EMBEDDED: _embedded(costs, pos_label, grouped=grouped),
        "SVM with costs, no rejects": RejectSVCCV(_never_rejecting(costs), pos_label=pos_label, **_GRID),
        "SVM": machine,
    }
    titles = {"symmetric": "SVM, one threshold", "roc": "SVM, two thresholds (ROC)", "chow": "SVM, Chow on Platt"}
    for method, title in titles.items():
        rules[title] = ThresholdRejector(machine, costs, method=method, pos_label=pos_label)
    rules = rules if SVM in machines else {}
    shared: dict[str, Any] = {"pos_label": pos_label, "svm": RejectSVCCV(**_GRID), "n_jobs": -1}
    able = [name for name in NAMES if name == SVM or MACHINES[name].takes_sparse or not sparse]
    rules |= {title_of(name): MachineSearch(costs, (name,), **shared) for name in MACHINES if name in machines}
    return rules | ({CHOSEN: MachineSearch(costs, able, **shared)} if BEST in machines else {})


def left_out(costs: Any, *, sparse: bool = False, machines: Sequence[str] = NAMES) -> dict[str, str]:
    """The rules that cannot be compared at these costs or on sparse rows, each with the reason."""
    found = {}
    if SVM in machines:
        if not isinstance(costs, Costs):
            found = {BARTLETT_WEGKAMP: TWO_CLASSES, EMBEDDED: TWO_CLASSES}
        elif costs.false_positive != costs.false_negative or costs.reject_negative != costs.reject_positive:
            found = {BARTLETT_WEGKAMP: EQUAL_COSTS, EMBEDDED: EQUAL_COSTS}
        elif sparse:
            found = {EMBEDDED: SPARSE}
    dense = [name for name in MACHINES if name in machines and not MACHINES[name].takes_sparse]
    return found | {title_of(name): SPARSE for name in dense if sparse}


def title_of(machine: str) -> str:
    """The name of a machine in a comparison."""
    return f"{machine}, Chow"


def _never_rejecting(costs: Costs) -> Costs:
    """The same error costs with the reject cost 1 / (1 / c_fp + 1 / c_fn), at which the two thresholds meet."""
    even = 1.0 / (1.0 / costs.false_positive + 1.0 / costs.false_negative)
    return Costs(costs.false_positive, costs.false_negative, even)


def _embedded(costs: Costs, pos_label: Any, *, grouped: bool) -> GridSearchCV:
    """FR02's machine, with C chosen by its score, minus the mean cost in units of an error."""
    w_R = min(costs.reject_negative / costs.false_positive, 1.0)
    folds = StratifiedGroupKFold(5) if grouped else 5
    return GridSearchCV(EmbeddedRejectSVC(w_R, pos_label=pos_label), {"C": _EMBEDDED_CS}, cv=folds)
