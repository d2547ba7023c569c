"""From a checked request, labels and scored rows to the rule that fulfils it, and to the bound on its error."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.costs.costs import Costs
from abstain.costs.cuts import Thresholds
from abstain.labels import Labels
from abstain.machines.class_calibration import ClassCalibration
from abstain.rules.by_answer import ByAnswer
from abstain.rules.class_deciders import Cheapest, Confidence, Sets
from abstain.rules.deciders import Cuts, Decider, PerRow
from abstain.rules.readouts import LogOdds, Readout, Unknown
from abstain.rules.rule import Rule
from abstain.rules.tuning.budget import cut_within, cuts_within
from abstain.rules.tuning.class_error import ClassErrorBound, class_error_bound, forced_cut, two_thresholds
from abstain.rules.tuning.request import Request
from abstain.rules.tuning.risk_control import ErrorBound, certify, certify_answers
from abstain.rules.tuning.scored_rows import ScoredRows, two_sided

__all__ = ["conformal_rule", "p_value_rule", "placed_rule"]


def placed_rule(
    request: Request, labels: Labels, rows: ScoredRows | None, readout: Readout
) -> tuple[Rule, ErrorBound | None]:
    """Return the rule of a checked request, and the bound if an error is to be certified.

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
    decider, bound = _by_costs(request, labels), None
    if decider is None:
        decider, bound = _by_rows(request, rows, labels)
    return Rule(labels, request.costs, readout, decider), bound


def _by_costs(request: Request, labels: Labels) -> Decider | None:
    """Return the decider that follows from costs and probabilities alone, if the request asks for it (Chow)."""
    costs = request.costs
    if request.by_row and costs is None:
        return PerRow()
    if costs is None or request.method.for_costs is not None:
        return None
    return Cuts(costs.levels(), costs.levels(forced=True)) if labels.n_classes == 2 else Cheapest()


def _by_rows(request: Request, rows: ScoredRows | None, labels: Labels) -> tuple[Decider, ErrorBound | None]:
    """Place cuts on the confidence of the answer; of two classes, where that is more, two thresholds on the score."""
    method, costs, two = request.method, request.costs, labels.n_classes == 2
    by: Any = "highest" if method.needs_probabilities else "lead"
    cuts, bound = np.full(labels.n_classes, -np.inf), None
    if rows is not None and request.way is not None:
        if two and not isinstance(request.max_error, ByAnswer) and not isinstance(request.reject_rate, ByAnswer):
            return _by_thresholds(request, rows, labels)
        answered = rows.answered(by)
        if request.max_error is not None:
            cuts, bound = certify_answers(answered, request.max_error, request.confidence)
        elif costs is not None and method.for_answers is not None:
            cuts = method.for_answers(answered, costs)
        else:
            within = cuts_within if isinstance(request.reject_rate, ByAnswer) else cut_within
            cuts = within(answered, request.reject_rate, for_new=request.for_new)
    return Cuts.at(two_sided(cuts), 0.0, labels.answers) if two else Confidence(cuts, by), bound


def _by_thresholds(request: Request, rows: ScoredRows, labels: Labels) -> tuple[Decider, ErrorBound | None]:
    """Place two thresholds on one score, and the cut of the forced choice, which is the classifier's own or placed."""
    method, costs, shares, cut, bound = request.method, request.costs, request.reject_rate, 0.0, None
    if request.max_error is not None:
        thresholds, bound = certify(rows, request.max_error, request.confidence, labels.orientation)
    elif costs is not None and method.for_costs is not None:
        thresholds = method.for_costs(rows, costs)
    else:
        shares = shares[::-1] if isinstance(shares, tuple) and labels.orientation < 0 else shares
        thresholds = method.for_budget(rows, shares, for_new=request.for_new)
    if method.forced_cut is not None:
        even = Costs() if costs is None else costs
        cut = float(np.clip(method.forced_cut(rows, even), thresholds.lower, thresholds.upper))
    return Cuts.at(thresholds, cut, labels.answers), bound


def conformal_rule(
    request: Request, labels: Labels, rows: ScoredRows, readout: Readout
) -> tuple[Rule, ClassErrorBound]:
    """Return the rule that keeps promises by true class, by cuts on the scores, and its bound."""
    calibration = ClassCalibration.of([(rows.score, rows.code)], labels.n_classes)
    bound = class_error_bound(request.class_error, calibration)
    if labels.n_classes > 2:
        return Rule(labels, None, readout, Sets(np.array([*bound.cuts.values()]))), bound
    thresholds = two_thresholds(bound)
    return Rule(labels, None, readout, Cuts.at(thresholds, forced_cut(thresholds), labels.answers)), bound


def p_value_rule(labels: Labels, least: Any) -> Rule:
    """Return the rule of scores that are p-values: of two classes their difference, of more one for each."""
    if labels.n_classes > 2:
        return Rule(labels, None, Unknown(), Sets(np.array(least), by_p_value=True))
    return Rule(labels, None, LogOdds(), Cuts.at(Thresholds(-0.5, 0.5), 0.0, labels.answers))
