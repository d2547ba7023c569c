"""What a request to a ThresholdRejector means for several classes: the rule, and the bound on the error."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.class_labels import ClassLabels
from abstain.costs.class_costs import ClassCosts
from abstain.rules.by_answer import ByAnswer
from abstain.rules.lead_rule import LeadRule
from abstain.rules.probability_rule import ProbabilityRule
from abstain.rules.tuning.answer_control import certify_answers
from abstain.rules.tuning.answer_cuts import cut_within, cuts_within
from abstain.rules.tuning.answered_rows import ClassRows, Confidence
from abstain.rules.tuning.risk_control import ErrorBound

__all__ = ["check_several", "class_rule"]


def check_several(request: Any, labels: ClassLabels, pos_label: Any) -> None:
    """Raise an error if something is for two classes only."""
    n = labels.n_classes
    if pos_label is not None:
        raise ValueError(
            f"pos_label={pos_label!r} is for two classes, and y has {n}; leave it out, and name the classes in costs, "
            "reject_rate, max_error or class_error if they differ."
        )
    for name in ("reject_rate", "max_error"):
        if isinstance(pair := getattr(request, name), tuple):
            raise ValueError(  # noqa: TRY004 (as for every bad parameter)
                f"{name}={pair!r} is for a negative and a positive class, and y has {n} classes; give one number, or a "
                f"dict by the class answered, {name}={{{labels.classes.tolist()[0]!r}: {pair[0]}, ...}}."
            )
    method = request.method
    if request.reject_rate is not None and method.looks_at_labels:
        raise ValueError(
            f'method={request.name!r} with reject_rate is for two classes, and y has {n}; use method="symmetric" or '
            'method="chow", with one share or a dict by the class answered.'
        )
    if request.costs is not None and method.for_costs is not None and method.for_answers is None:
        raise ValueError(f"method={request.name!r} is for two classes, and y has {n}; use another method.")


def class_rule(
    request: Any, labels: ClassLabels, rows: ClassRows | None, *, is_log_probability: bool
) -> tuple[LeadRule | ProbabilityRule, ErrorBound | None]:
    """Give the rule of a checked request for these classes, and the bound if an error is to be certified.

    Parameters
    ----------
    request : Request
        With costs for these classes.
    labels : ClassLabels
    rows : ClassRows or None
        Rows to tune on; None if there is nothing to tune.
    is_log_probability : bool
        Whether the scores are log-probabilities.
    """
    method, costs = request.method, request.costs
    if costs is not None and method.for_costs is None:
        return ProbabilityRule(labels, costs), None
    by: Confidence = "highest" if method.needs_probabilities else "lead"
    cuts, bound = np.full(labels.n_classes, -np.inf), None
    if rows is not None and request.way is not None:
        answered = rows.answered(by)
        if request.max_error is not None:
            cuts, bound = certify_answers(answered, request.max_error, request.confidence)
        elif isinstance(costs, ClassCosts):
            cuts = method.for_answers(answered, costs)
        elif isinstance(request.reject_rate, ByAnswer):
            cuts = cuts_within(answered, request.reject_rate, for_new=request.for_new)
        else:
            cuts = cut_within(answered, request.reject_rate, for_new=request.for_new)
    return LeadRule(labels, cuts, costs, by, is_log_probability), bound
