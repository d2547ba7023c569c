"""From a checked request, labels and scored rows to the rule that fulfils it, and to the bound on its error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.costs.costs import Costs
from abstain.costs.cuts import Thresholds
from abstain.labels import Labels
from abstain.machines.cross_machine import ClassCalibration
from abstain.rules.class_deciders import Cheapest, Confidence, Sets
from abstain.rules.deciders import Cuts, Decider, PerRow
from abstain.rules.readouts import LogOdds, Readout, Unknown
from abstain.rules.rule import Rule
from abstain.rules.tuning.class_error import ClassErrorBound, class_error_bound, forced_cut, two_thresholds
from abstain.rules.tuning.methods import cuts_within
from abstain.rules.tuning.request import Request
from abstain.rules.tuning.risk_control import ErrorBound, certify
from abstain.rules.tuning.scored_rows import ByAnswer, ScoredRows, two_sided


def placed_rule(
    request: Request, labels: Labels, rows: ScoredRows | None, readout: Readout
) -> tuple[Rule, ErrorBound | ClassErrorBound | None]:
    """Return the rule of a checked request, and the bound if something is promised.

    Parameters
    ----------
    request : Request
        With costs for these classes.
    labels : Labels
    rows : ScoredRows or None
        Rows to place cuts on; None if there is nothing to place.
    readout : Readout
        What the scores mean. The classifier itself cuts one score at 0.
    """
    bound: ErrorBound | ClassErrorBound | None = None
    decider = _by_costs(request, labels)
    if decider is None and request.way == "class_error":
        decider, bound = _by_class(request, rows, labels)
    elif decider is None:
        decider, bound = _by_rows(request, rows, labels)
    return Rule(labels, request.costs, readout, decider), bound


def _by_costs(request: Request, labels: Labels) -> Decider | None:
    """Return the decider that follows from costs and probabilities alone, if the request asks for it (Chow)."""
    costs = request.costs
    if request.by_row and costs is None:
        return PerRow()
    if costs is None or not request.method.is_bayes:
        return None
    return Cuts(costs.levels(), costs.levels(forced=True)) if labels.n_classes == 2 else Cheapest()


def _by_rows(request: Request, rows: ScoredRows | None, labels: Labels) -> tuple[Decider, ErrorBound | None]:
    """Place cuts on the confidence of the answer; of two classes, where the method has them, two on the score."""
    method, costs, two, bound = request.method, request.costs, labels.n_classes == 2, None
    by: Any = "highest" if method.needs_probabilities else "lead"
    if rows is None or request.way is None:
        return by_confidence(labels, np.full(labels.n_classes, -np.inf), by), None
    if two and method.for_costs is not None:
        return _by_labels(request, rows, labels), None
    answered, band = rows.answered(by), two and not isinstance(request.share, ByAnswer)
    if request.way == "max_error":
        order, above = (labels.answers[0], labels.answers[-1]), 0.0 if band else -np.inf
        cuts, bound = certify(answered, request.share, request.confidence, order=order, above=above)
    elif costs is not None and method.for_answers is not None:
        cuts = method.for_answers(answered, costs)
    else:
        cuts = cuts_within(answered, request.share, for_new=request.for_new)
    return Cuts.at(rows.band(cuts), 0.0, labels.answers) if band else by_confidence(labels, cuts, by), bound


def _by_labels(request: Request, rows: ScoredRows, labels: Labels) -> Decider:
    """Place two thresholds on one score by the labels, and the cut of the forced choice, if it is not the own one."""
    method: Any = request.method
    costs, cut = request.costs, 0.0
    if costs is None:
        thresholds = method.for_budget(rows, request.share, for_new=request.for_new)
    else:
        thresholds = method.for_costs(rows, costs)
    if method.forced_cut is not None:
        found = method.forced_cut(rows, Costs() if costs is None else costs)
        cut = float(np.clip(found, thresholds.lower, thresholds.upper))
    return Cuts.at(thresholds, cut, labels.answers)


def by_confidence(labels: Labels, cuts: NDArray[np.float64], by: Any = "lead") -> Decider:
    """Return the decider that answers as the classifier itself does, unless the confidence is at most the cut."""
    return Cuts.at(two_sided(cuts), 0.0, labels.answers) if labels.n_classes == 2 else Confidence(cuts, by)


def _by_class(request: Request, rows: Any, labels: Labels) -> tuple[Decider, ClassErrorBound]:
    """Keep promises by true class by cuts on the scores."""
    calibration = ClassCalibration.of([(rows.score, rows.code)], labels.n_classes)
    bound = class_error_bound(request.share, calibration)
    if labels.n_classes > 2:
        return Sets(np.array([*bound.cuts.values()])), bound
    thresholds = two_thresholds(bound)
    return Cuts.at(thresholds, forced_cut(thresholds), labels.answers), bound


def p_value_rule(labels: Labels, least: Any) -> Rule:
    """Return the rule of scores that are p-values: of two classes their difference, of more one for each."""
    if labels.n_classes > 2:
        return Rule(labels, None, Unknown(), Sets(np.array(least), by_p_value=True))
    return Rule(labels, None, LogOdds(), Cuts.at(Thresholds(-0.5, 0.5), 0.0, labels.answers))
