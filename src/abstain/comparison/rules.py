"""The rules that `abstain.compare` sets side by side when it is given no models."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain.costs import Costs
from abstain.estimators.embedded.estimator import EmbeddedRejectSVC
from abstain.estimators.svc_cv import RejectSVCCV
from abstain.estimators.threshold import ThresholdRejector

# Decades of C and a factor of 16 either way in gamma: enough for a fair comparison, at a third of the usual price.
_GRID: dict[str, Any] = {"Cs": 6, "gammas": 3}
_EMBEDDED_CS = tuple(np.logspace(-3, 1, 5).tolist())

BARTLETT_WEGKAMP, EMBEDDED = "Bartlett-Wegkamp", "embedded, linear"
ONE_PRICE = "it knows one price for both errors and one for all rejects, and these costs have two"
SPARSE = "it would need the sparse rows dense"


def default_rules(costs: Costs, *, pos_label: Any = None, sparse: bool = False) -> dict[str, Any]:
    """The rules of the papers, each on standardised features with C and gamma chosen inside the training rows.

    "double hinge" (GRKC08), "Bartlett-Wegkamp" (BW08, symmetric costs only) and "embedded, linear" (FR02, likewise, and
    linear as published) are trained with the reject price; they choose C and gamma by the mean cost. The others put a
    rule on top of the same plain SVM, which chooses them by its error rate: none ("SVM"), one symmetric threshold
    (FR02, GRKC08's naive rule), T04's two, and Chow's rule on probabilities by Platt's sigmoid.

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
        Without those that `left_out` names.
    """
    machine = RejectSVCCV(**_GRID)
    rules: dict[str, Any] = {
        "double hinge": RejectSVCCV(costs, pos_label=pos_label, **_GRID),
        BARTLETT_WEGKAMP: RejectSVCCV(costs, rule="bartlett-wegkamp", pos_label=pos_label, **_GRID),
        EMBEDDED: _embedded(costs, pos_label),
        "SVM": machine,
    }
    titles = {"symmetric": "SVM, one threshold", "roc": "SVM, two thresholds (ROC)", "chow": "SVM, Chow on Platt"}
    for method, title in titles.items():
        rules[title] = ThresholdRejector(machine, costs, method=method, pos_label=pos_label)
    missing = left_out(costs, sparse=sparse)
    return {
        name: make_pipeline(StandardScaler(with_mean=not sparse), rule)
        for name, rule in rules.items()
        if name not in missing
    }


def left_out(costs: Costs, *, sparse: bool = False) -> dict[str, str]:
    """The rules that cannot be compared at these costs or on such rows, each with the reason."""
    if costs.false_positive != costs.false_negative or costs.reject_negative != costs.reject_positive:
        return {BARTLETT_WEGKAMP: ONE_PRICE, EMBEDDED: ONE_PRICE}
    return {EMBEDDED: SPARSE} if sparse else {}


def _embedded(costs: Costs, pos_label: Any) -> GridSearchCV:
    """FR02's machine, C chosen by its own score, which is minus the mean cost in units of an error."""
    w_R = min(costs.reject_negative / costs.false_positive, 1.0)
    return GridSearchCV(EmbeddedRejectSVC(w_R, pos_label=pos_label), {"C": _EMBEDDED_CS})
