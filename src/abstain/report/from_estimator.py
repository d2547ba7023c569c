"""The report of a fitted estimator on labelled rows: what it publishes, handed on as arrays."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from abstain.candidates.average import machine_of
from abstain.costs.table import CostTable
from abstain.estimators.unwrap import FittedClassifier, decide, final_estimator, unguarded
from abstain.reasons.explain import explain
from abstain.report.model import Report
from abstain.report.rows import LISTED, index_of
from abstain.rules.decisions import Decisions

# Fitted attributes and parameters that a reader of the report may ask for, in this order, where an estimator has them.
_STATED = {
    "kernel": "Kernel",
    "kernel_": "Kernel",
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


def report_for(
    estimator: Any, X: Any, y: Any, costs: CostTable | None = None, *, row_costs: Any = None, **arguments: Any
) -> Report:
    """Report what a fitted rejecting classifier does on labelled rows.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier of this library, a Pipeline that ends in one, or a search that found one.
    X, y
        Rows and their true labels; held out from training, or the numbers flatter.
    costs : Costs or Actions, default=None
        The costs; by default those the classifier was trained for.
    row_costs : array-like or data frame, default=None
        Costs of each row, as in `RejectSVC.predict`, in place of `costs`.
    **arguments
        Those of `Report.of_decisions`, such as `title` and `row_names`, by default the index of a data frame X.
        `data_facts` and `model_facts` add to what is known here.

    Returns
    -------
    Report
        With a slider over the reject cost if two thresholds on one score decide: not for more than two classes, for
        `Actions` or with `row_costs`.

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
    prices: Any = fitted.costs if costs is None else costs
    several = len(fitted.classes) > 2
    by_thresholds = row_costs is None and not several and (prices is None or prices.answering)
    thresholds = fitted.thresholds if by_thresholds else None  # raises an error if it has none
    if prices is None and row_costs is None:
        raise ValueError("costs=None, and the classifier was trained without costs; a report needs costs: pass them.")
    rule = fitted.rule_for(len(y), row_costs)
    found = decide(estimator, X, row_costs)
    arguments["model_facts"] = model_facts(fitted.final) | dict(arguments.get("model_facts") or {})
    known = {"Rows": len(y), "Features": getattr(fitted.estimator, "n_features_in_", "unknown")}
    known |= {f"Rows of {label}": int(np.sum(np.asarray(y) == label)) for label in fitted.classes}
    arguments["data_facts"] = known | dict(arguments.get("data_facts") or {})
    arguments = {"rows": X, "sentences": sentences_of(estimator, X, found, row_costs)} | arguments
    arguments["row_names"] = index_of(X) if arguments.get("row_names") is None else arguments["row_names"]
    arguments |= {"classes": fitted.classes, "pos_label": fitted.positive}
    if thresholds is not None:
        given: dict[str, Any] = {"cut": fitted.cut, "decisions": found} | arguments
        return Report.of(y, found.score, prices, thresholds, **given)
    arguments["row_costs"] = None if row_costs is None else rule.costs
    return Report.of_decisions(y, found, prices, **arguments)


def sentences_of(estimator: Any, X: Any, found: Decisions, row_costs: Any = None) -> dict[int, str]:
    """Say why the listed rows are rejected, by their positions; nothing of rows that are not a table of cells."""
    listed = found.queue[:LISTED]
    if not (hasattr(X, "columns") or issparse(X) or np.ndim(X) == 2):
        return {}
    why = explain(estimator, X, row_costs=row_costs, decisions=found, rows=listed)
    return dict(zip(listed.tolist(), why.sentence.tolist(), strict=True))


def model_facts(final: Any) -> dict[str, Any]:
    """Return what there is to know of a fitted classifier, by the names the report shows."""
    if hasattr(final, "guard_"):
        guard = final.guard_
        about = {
            "Largest share of rows like those in training rejected as novel": guard.rate if guard.acts else 0.0,
            "Rows that calibrated this share": guard.m,
        }
        return model_facts(final_estimator(unguarded(final))) | about
    facts: dict[str, Any] = {"Machine": type(final).__name__}
    for attribute, name in _STATED.items():
        if hasattr(final, attribute) and not hasattr(final, f"{attribute}_"):
            facts[name] = getattr(final, attribute)
    if (found := machine_of(getattr(final, "estimator", None))) is not None:
        facts |= {"Classifier": found[0], **found[1]}
    if hasattr(final, "n_support_"):
        facts["Support vectors"] = int(np.sum(final.n_support_))
    return facts
