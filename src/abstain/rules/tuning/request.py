"""The request of a ThresholdRejector's user, in one of four ways, and the rule that fulfils it, with its bound."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import InvalidParameterError

from abstain.arguments import checked_costs, real_number, warn_caller
from abstain.costs.costs import Costs
from abstain.costs.cuts import Thresholds
from abstain.costs.table import CostTable
from abstain.labels import Labels, warn_if_assumed
from abstain.machines.cross_machine import ClassCalibration
from abstain.rules.class_deciders import Cheapest, Confidence, Sets
from abstain.rules.deciders import Cuts, Decider, PerRow
from abstain.rules.readouts import LogOdds, Readout, Unknown
from abstain.rules.rule import Rule
from abstain.rules.tuning import class_error
from abstain.rules.tuning.class_error import ClassErrorBound, named_rates
from abstain.rules.tuning.methods import AUTO, METHODS, Method, automatic, cuts_within
from abstain.rules.tuning.risk_control import ErrorBound, certify
from abstain.rules.tuning.scored_rows import ByAnswer, ScoredRows, two_sided

CONFORMAL = "conformal"  # the name of the method of class_error
WAYS = ("costs", "reject_rate", "max_error", "class_error")
# The shares that are neither 0 nor 1, and why.
OPEN = {
    "max_error": "no number of rows can certify an error of 0",
    "class_error": "at a rate of 0 a class could never be ruled out",
}


@dataclass(frozen=True)
class Request:
    """A checked request: costs, a budget of rejects, a ceiling on the error among the accepted or by class, or nothing.

    Attributes
    ----------
    way : str or None
        Which of `WAYS` was requested.
    costs : CostTable or None
        Costs, whose sum is minimised.
    share : float, (float, float), dict, ByAnswer or None
        For "reject_rate" the largest share of rejects, and for "max_error" the ceiling on the error among the accepted:
        of all rows, of the (negative, positive) class, or by the class answered. For "class_error" the largest share
        of each true class that is answered wrongly; a dict of all classes, in order, once they are known.
    confidence : float
        The confidence with which the ceiling holds.
    method : Method
        How thresholds are placed.
    name : str
        The name of the method.
    by_row : bool
        Whether each row that is decided comes with costs of its own.
    for_new : bool
        Whether a budget is kept on new rows; False, on the rows that it was placed on, as in files of version 0.2.
    """

    way: Any
    costs: CostTable | None
    share: Any
    confidence: float
    method: Method
    name: str
    by_row: bool = False
    for_new: bool = True

    @classmethod
    def of(cls, parameters: Any, *, by_row: bool = False) -> Self:
        """Read an estimator's parameters; more than one request, or an impossible one, is an error."""
        if len(given := [name for name in WAYS if getattr(parameters, name) is not None]) > 1:
            raise ValueError(
                f"{' and '.join(given)} are given together; give only one of costs, reject_rate, class_error, and "
                "max_error with confidence."
            )
        costs, confidence = parameters.costs, real_number("confidence", parameters.confidence)
        if costs is not None:
            costs = checked_costs(costs, "ThresholdRejector(estimator, {})")
        if not isinstance(parameters.method, str) or parameters.method not in (AUTO, *METHODS):
            known = ", ".join((AUTO, *METHODS))
            raise InvalidParameterError(f"method={parameters.method!r} must be one of {known}.")
        auto = automatic(costs, by_row=by_row)
        name = auto if parameters.method == AUTO else parameters.method
        method = METHODS[name]
        if METHODS[auto].is_bayes and not method.is_bayes:
            why = "row_costs differ by row" if by_row else "Actions are more than two answers and a reject"
            raise ValueError(
                f'method={name!r} places thresholds that are the same for all rows, but {why}; use method="chow", '
                "which decides by probabilities."
            )
        if by_row and (others := [one for one in given if one != "costs"]):
            raise ValueError(f"row_costs and {others[0]} are given together; decide by one of them.")
        if not 0 < confidence < 1:
            raise ValueError(f"confidence={parameters.confidence!r} must lie between 0 and 1, both excluded.")
        way: Any = "costs" if by_row else next(iter(given), None)
        share = None if way in (None, "costs") else _shares(way, getattr(parameters, way))
        if way == "class_error" and parameters.method != AUTO:
            raise ValueError(
                f"method={parameters.method!r} places thresholds by costs, a budget or max_error; class_error has its "
                'own method, so leave method out, or use method="auto".'
            )
        if method.for_costs is not None and (way == "max_error" or isinstance(share, dict)):
            why = "chooses the cut of the forced answer, by which the dict reject_rate is stated"
            if way == "max_error":
                why = (
                    "chooses its two thresholds by the labels, but max_error can be certified only for a sequence of "
                    "thresholds fixed without them"
                )
            raise ValueError(f'method="{parameters.method}" {why}; use method="symmetric" or method="chow".')
        name = CONFORMAL if way == "class_error" else name
        return cls(way, costs, share, confidence, method, name, by_row)

    def of_classes(self, labels: Labels) -> Self:
        """Return the request with costs and shares for these classes, also if they were stated by name."""
        costs, share = None if self.costs is None else self.costs.named(labels), self.share
        if self.way == "class_error":
            share = named_rates(share, labels.classes)
        elif isinstance(share, dict):
            share = ByAnswer.of(self.way, share, labels.classes)
        elif isinstance(share, tuple) and self.way == "reject_rate":
            share = share[:: labels.orientation]
        if labels.n_classes > 2:
            self._check_several(labels)
        return replace(self, costs=costs, share=share)

    def _check_several(self, labels: Labels) -> None:
        """Raise an error if something has no meaning for more than two classes."""
        n, first, two = labels.n_classes, labels.classes.tolist()[0], self.method.for_costs is not None
        if isinstance(self.share, tuple):
            raise ValueError(  # noqa: TRY004 (as for every bad parameter)
                f"{self.way}={self.share!r} is for a negative and a positive class, and y has {n} classes; give one "
                f"number, or a dict by the class answered, {self.way}={{{first!r}: {self.share[0]}, ...}}. "
                "Only binary classification is supported with a pair."
            )
        if self.way == "reject_rate" and two:
            raise ValueError(
                f'method={self.name!r} with reject_rate is for two classes, and y has {n}; use method="symmetric" or '
                'method="chow", with one share or a dict by the class answered. Only binary classification is '
                "supported otherwise."
            )
        if self.way == "costs" and two and self.method.for_answers is None:
            raise ValueError(f"method={self.name!r} is for two classes, and y has {n}; use another method.")

    def warn_if_assumed(self, labels: Labels, pos_label: Any) -> None:
        """Warn if the request differs by class, and only the sort order of two strings gives the positive class."""
        if labels.n_classes > 2:
            return
        if self.costs is not None:
            warn_if_assumed(self.costs, labels.classes, pos_label)
        elif isinstance(self.share, tuple) and pos_label is None and isinstance(labels.positive, str):
            warn_caller(
                f"pos_label is not given, and {self.way}={self.share} is for the (negative, positive) class: "
                f"{labels.positive!r} is taken as the positive class because it sorts last. Pass "
                f"pos_label={labels.positive!r} or pos_label={labels.negative!r}."
            )

    @property
    def promise(self) -> str | None:
        """Which of the two that hold only on rows that the classifier was not fitted on, if one was requested."""
        return self.way if self.way in OPEN else None

    @property
    def needs_rows(self) -> bool:
        """Whether thresholds are tuned on rows; not if nothing is rejected, or if they follow from the costs (Chow)."""
        return self.way is not None and not (self.way == "costs" and self.method.is_bayes)


def _shares(name: str, given: Any) -> Any:
    """Read one share, the pair (negative, positive), or a dict by class, each in [0, 1]."""
    value = given.tolist() if isinstance(given, np.ndarray) else given
    if isinstance(value, Mapping):
        found: Any = {label: real_number(f"{name}[{label!r}]", one) for label, one in value.items()}
        if not found:
            raise ValueError(f"{name}={given!r} names no class; name at least one, or leave {name} out.")
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        if name == "class_error":
            raise ValueError(
                f"{name}={given!r} must be one rate for all classes, or a dict {{class: rate}}; name the classes."
            )
        if len(value) != 2:
            raise ValueError(f"{name}={given!r} must be one share or the pair (negative, positive).")
        found = tuple(real_number(f"{name}[{at}]", one) for at, one in enumerate(value))
    else:
        found = real_number(name, value)
    shares = [*found.values()] if isinstance(found, dict) else found
    if np.min(shares) < 0 or np.max(shares) > 1:
        raise ValueError(f"{name}={given!r} must lie in [0, 1]: it is a share of the rows.")
    if name in OPEN and not (np.min(shares) > 0 and np.max(shares) < 1):
        raise ValueError(f"{name}={given!r} must lie between 0 and 1, both excluded: {OPEN[name]}.")
    return found


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
    bound = class_error.class_error_bound(request.share, calibration)
    if labels.n_classes > 2:
        return Sets(np.array([*bound.cuts.values()])), bound
    thresholds = class_error.two_thresholds(bound)
    return Cuts.at(thresholds, class_error.forced_cut(thresholds), labels.answers), bound


def p_value_rule(labels: Labels, least: Any) -> Rule:
    """Return the rule of scores that are p-values: of two classes their difference, of more one for each."""
    if labels.n_classes > 2:
        return Rule(labels, None, Unknown(), Sets(np.array(least), by_p_value=True))
    return Rule(labels, None, LogOdds(), Cuts.at(Thresholds(-0.5, 0.5), 0.0, labels.answers))
