"""The rules that `abstain.compare` sets side by side when it is given no models."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain.costs import Costs
from abstain.estimators.svc_cv import RejectSVCCV
from abstain.estimators.threshold import ThresholdRejector

# Decades of C and a factor of 16 either way in gamma: enough for a fair comparison, at a third of the usual price.
_GRID: dict[str, Any] = {"Cs": 6, "gammas": 3}


def default_rules(costs: Costs, *, pos_label: Any = None, sparse: bool = False) -> dict[str, Any]:
    """The rules of the papers, each on standardised features with C and gamma chosen inside the training rows.

    "double hinge" (GRKC08) and "Bartlett-Wegkamp" (BW08, symmetric costs only) are trained with the reject price; they
    choose C and gamma by the mean cost. The others put a rule on top of the same plain SVM, which chooses them by its
    error rate: none ("SVM"), one symmetric threshold (FR02, GRKC08's naive rule), T04's two, and Chow's rule on
    probabilities by Platt's sigmoid.

    Parameters
    ----------
    costs : Costs
        The prices.
    pos_label : label, default=None
        The class that "positive" means in them.
    sparse : bool, default=False
        Whether X is sparse, so that its features must not be centred.

    Returns
    -------
    dict of str to Pipeline
    """
    symmetric = costs.false_positive == costs.false_negative and costs.reject_negative == costs.reject_positive
    machine = RejectSVCCV(**_GRID)
    rules: dict[str, Any] = {"double hinge": RejectSVCCV(costs, pos_label=pos_label, **_GRID)}
    if symmetric:
        rules["Bartlett-Wegkamp"] = RejectSVCCV(costs, rule="bartlett-wegkamp", pos_label=pos_label, **_GRID)
    rules["SVM"] = machine
    titles = {"symmetric": "SVM, one threshold", "roc": "SVM, two thresholds (ROC)", "chow": "SVM, Chow on Platt"}
    for method, title in titles.items():
        rules[title] = ThresholdRejector(machine, costs, method=method, pos_label=pos_label)
    return {name: make_pipeline(StandardScaler(with_mean=not sparse), rule) for name, rule in rules.items()}
