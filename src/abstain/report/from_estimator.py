"""The report of a fitted estimator on labelled rows: what it publishes, handed on as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.candidates.machines import machine_of
from abstain.costs import Costs
from abstain.estimators.unwrap import FittedClassifier
from abstain.report.model import Report
from abstain.report.rows import index_of
from abstain.rules.action_rule import refuse_actions

# Fitted attributes and parameters that a reader of the report may ask for, in this order, where an estimator has them.
_STATED = {
    "kernel": "Kernel",
    "C_": "C (chosen by cross-validation)",
    "C": "C",
    "gamma_": "gamma (chosen by cross-validation)",
    "gamma": "gamma",
    "method_": "Method",
    "rule": "Rule",
    "status_": "Solver's status",
    "duality_gap_": "Relative duality gap",
    "n_iter_": "Iterations",
}


def report_for(estimator: Any, X: Any, y: Any, costs: Costs | None = None, **arguments: Any) -> Report:
    """Report what a fitted rejecting classifier does on labelled rows.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier of this library, a Pipeline that ends in one, or a search that found one.
    X, y
        Rows and their true labels; held out from training, or the numbers flatter.
    costs : Costs, default=None
        The costs; by default those the classifier was trained for.
    **arguments
        Those of `Report.of`, such as `title` and `row_names`, which is by default the index of a data frame X.
        `data_facts` and `model_facts` add to what is known here.

    Examples
    --------
    >>> from abstain import Costs, RejectSVC
    >>> from abstain.report import report_for
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"]
    >>> clf = RejectSVC(Costs(reject=0.2), C=10, kernel="linear").fit(X, y)
    >>> report_for(clf, X, y).table.rejected
    4.0
    """
    fitted = FittedClassifier.of(estimator, arguments.get("pos_label"))
    refuse_actions(fitted.rule, "reports", "abstain.metrics.ActionTable, or a machine with Costs")
    _ = fitted.thresholds  # raises an error if it has none
    prices = fitted.costs if costs is None else costs
    if prices is None:
        raise ValueError("costs=None, and the classifier was trained without costs; a report needs prices: pass costs.")
    score, thresholds, cut = fitted.log_odds(fitted.score(X))
    data = {"Rows": len(score), "Features": getattr(estimator, "n_features_in_", "unknown")}
    data |= {f"Rows of {label}": int(np.sum(np.asarray(y) == label)) for label in fitted.classes}
    arguments["data_facts"] = data | dict(arguments.get("data_facts") or {})
    arguments["model_facts"] = model_facts(fitted.final) | dict(arguments.get("model_facts") or {})
    if arguments.get("row_names") is None:
        arguments["row_names"] = index_of(X)
    arguments.setdefault("cut", cut)
    arguments.setdefault("pos_label", fitted.positive)
    return Report.of(y, score, prices, thresholds, classes=fitted.final.classes_, **arguments)


def model_facts(final: Any) -> dict[str, Any]:
    """Give what there is to know of a fitted classifier, by the names the report shows."""
    facts: dict[str, Any] = {"Machine": type(final).__name__}
    for attribute, name in _STATED.items():
        if hasattr(final, attribute) and not hasattr(final, f"{attribute}_"):
            facts[name] = getattr(final, attribute)
    if (found := machine_of(getattr(final, "estimator", None))) is not None:
        facts |= {"Classifier": found[0], **found[1]}
    if hasattr(final, "n_support_"):
        facts["Support vectors"] = int(np.sum(final.n_support_))
    return facts
