"""The request of a ThresholdRejector's user, in one of four ways, and the cuts that fulfil it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils._param_validation import InvalidParameterError

from abstain.arguments import checked_costs, real_number, warn_caller
from abstain.costs.table import CostTable
from abstain.labels import Labels, warn_if_assumed
from abstain.rules.by_answer import ByAnswer
from abstain.rules.tuning.class_error import named_rates
from abstain.rules.tuning.methods import AUTO, METHODS, Method, automatic

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
    costs : CostTable or None
        Costs, whose sum is minimised.
    by_row : bool
        Whether each row that is decided comes with costs of its own.
    reject_rate : float, (float, float), dict, ByAnswer or None
        The largest share of rejects among all rows, in the (negative, positive) class, or by the class answered.
    max_error : float, (float, float), dict, ByAnswer or None
        The ceiling on the error among all accepted rows, those of the (negative, positive) class, or those answered so.
    confidence : float
        The confidence with which the ceiling holds.
    method : Method
        How thresholds are placed.
    name : str
        The name of the method.
    class_error : float, dict or None
        The largest share of each true class that is answered wrongly; a dict of all classes, in order, once they are
        known.
    for_new : bool
        Whether a budget is kept on new rows; False, on the rows that it was placed on, as in files of version 0.2.
    """

    costs: CostTable | None
    reject_rate: Any
    max_error: Any
    confidence: float
    method: Method
    name: str
    class_error: Any = None
    for_new: bool = True
    by_row: bool = False

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
        reject_rate, max_error, class_error = (_shares(one, getattr(parameters, one)) for one in WAYS[1:])
        if method.for_costs is not None and (max_error is not None or isinstance(reject_rate, dict)):
            why = "chooses the cut of the forced answer, by which the dict reject_rate is stated"
            if max_error is not None:
                why = (
                    "chooses its two thresholds by the labels, but max_error can be certified only for a sequence of "
                    "thresholds fixed without them"
                )
            raise ValueError(f'method="{parameters.method}" {why}; use method="symmetric" or method="chow".')
        if class_error is not None and parameters.method != AUTO:
            raise ValueError(
                f"method={parameters.method!r} places thresholds by costs, a budget or max_error; class_error has its "
                'own method, so leave method out, or use method="auto".'
            )
        name = name if class_error is None else CONFORMAL
        return cls(costs, reject_rate, max_error, confidence, method, name, class_error, by_row=by_row)

    def of_classes(self, labels: Labels) -> Self:
        """Return the request with costs and shares for these classes, also if they were stated by name."""
        stated = {"reject_rate": self.reject_rate, "max_error": self.max_error}
        named = {name: share for name, share in stated.items() if isinstance(share, dict)}
        ordered: dict[str, Any] = {name: ByAnswer.of(name, share, labels.classes) for name, share in named.items()}
        if isinstance(self.reject_rate, tuple):
            ordered["reject_rate"] = self.reject_rate[:: labels.orientation]
        if self.class_error is not None:
            ordered["class_error"] = named_rates(self.class_error, labels.classes)
        if self.costs is not None:
            ordered["costs"] = self.costs.named(labels)
        found = replace(self, **ordered)
        if labels.n_classes > 2:
            found.check_several(labels)
        return found

    def check_several(self, labels: Labels) -> None:
        """Raise an error if something has no meaning for more than two classes."""
        n = labels.n_classes
        for name in ("reject_rate", "max_error"):
            if isinstance(pair := getattr(self, name), tuple):
                raise ValueError(  # noqa: TRY004 (as for every bad parameter)
                    f"{name}={pair!r} is for a negative and a positive class, and y has {n} classes; give one number, "
                    f"or a dict by the class answered, {name}={{{labels.classes.tolist()[0]!r}: {pair[0]}, ...}}."
                )
        if self.reject_rate is not None and self.method.for_costs is not None:
            raise ValueError(
                f'method={self.name!r} with reject_rate is for two classes, and y has {n}; use method="symmetric" or '
                'method="chow", with one share or a dict by the class answered.'
            )
        if self.costs is not None and self.method.for_costs is not None and self.method.for_answers is None:
            raise ValueError(f"method={self.name!r} is for two classes, and y has {n}; use another method.")

    def warn_if_assumed(self, labels: Labels, pos_label: Any) -> None:
        """Warn if the request differs by class, and only the sort order of two strings gives the positive class."""
        if labels.n_classes > 2:
            return
        asked = {"reject_rate": self.reject_rate, "max_error": self.max_error}
        pairs = {name: value for name, value in asked.items() if isinstance(value, tuple)}
        if self.costs is not None:
            warn_if_assumed(self.costs, labels.classes, pos_label)
        elif pairs and pos_label is None and isinstance(labels.positive, str):
            (name, value), *_ = pairs.items()
            warn_caller(
                f"pos_label is not given, and {name}={value} is for the (negative, positive) class: "
                f"{labels.positive!r} is taken as the positive class because it sorts last. Pass "
                f"pos_label={labels.positive!r} or pos_label={labels.negative!r}."
            )

    @property
    def way(self) -> Literal["costs", "reject_rate", "max_error", "class_error"] | None:
        """Which of the four was requested."""
        stated: Any = (name for name in WAYS if getattr(self, name) is not None)
        return "costs" if self.by_row else next(stated, None)

    @property
    def promise(self) -> Literal["max_error", "class_error"] | None:
        """Which of the two that hold only on rows that the classifier was not fitted on, if one was requested."""
        return self.way if self.way in ("max_error", "class_error") else None

    @property
    def needs_rows(self) -> bool:
        """Whether thresholds are tuned on rows; not if nothing is rejected, or if they follow from the costs (Chow)."""
        return self.way is not None and not (self.way == "costs" and self.method.is_bayes)


def _shares(name: str, given: Any) -> Any:
    """Read one share, the pair (negative, positive), or a dict by class, each in [0, 1]; None if none is given."""
    if given is None:
        return None
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
