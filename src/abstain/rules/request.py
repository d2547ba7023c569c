"""What a ThresholdRejector is asked for, in one of three ways, and the thresholds that answer it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils._param_validation import InvalidParameterError

from abstain.arguments import real_number
from abstain.costs import Costs
from abstain.rules.budget import roc_within, symmetric_within
from abstain.rules.risk_control import Certificate, certify
from abstain.rules.scored_rows import ScoredRows
from abstain.rules.tuning import forced_cut, roc_thresholds, symmetric_thresholds
from abstain.thresholds import Thresholds

Shares = float | tuple[float, float]  # for all rows, or for the classes (negative, positive)


@dataclass(frozen=True)
class Answer:
    """Thresholds on the score, the cut of the forced choice, and the proof where one was asked for."""

    thresholds: Thresholds
    cut: float
    certificate: Certificate | None = None


@dataclass(frozen=True)
class Ask:
    """Costs, a budget of rejects, a ceiling on the error among the accepted, or nothing; checked.

    Attributes
    ----------
    costs : Costs or None
        Prices, whose sum is to be least.
    reject_rate : float, (float, float) or None
        The largest share of rejects, of all rows or of the (negative, positive) class.
    max_error : float, (float, float) or None
        The ceiling on the error among the accepted, of all or of the (negative, positive) class.
    confidence : float
        How sure the ceiling is to be kept.
    method : {"symmetric", "roc", "chow"}
        The rule whose thresholds are wanted.
    """

    costs: Costs | None
    reject_rate: Shares | None
    max_error: Shares | None
    confidence: float
    method: str

    @classmethod
    def of(cls, parameters: Any) -> Self:
        """Read an estimator's parameters; asked in two ways, or for what cannot be, is an error."""
        names = ("costs", "reject_rate", "max_error")
        if len(given := [name for name in names if getattr(parameters, name) is not None]) > 1:
            raise ValueError(
                f"{' and '.join(given)} are given together; ask in one way only: costs, reject_rate, or max_error with "
                "confidence."
            )
        costs, confidence = parameters.costs, real_number("confidence", parameters.confidence)
        if not (costs is None or isinstance(costs, Costs)):
            raise InvalidParameterError(  # a ValueError and a TypeError, as for scikit-learn's own parameters
                f"costs must be a Costs or None, not {costs!r} of type {type(costs).__name__}; "
                "write ThresholdRejector(estimator, Costs(false_positive=1, false_negative=5, reject=0.3))."
            )
        if not 0 < confidence < 1:
            raise ValueError(f"confidence={parameters.confidence!r} must lie between 0 and 1, both excluded.")
        reject_rate, max_error = _shares("reject_rate", parameters), _shares("max_error", parameters)
        if max_error is not None and not (np.min(max_error) > 0 and np.max(max_error) < 1):
            raise ValueError(
                f"max_error={parameters.max_error!r} must lie between 0 and 1, both excluded: no number of rows "
                "certifies that there are no errors at all."
            )
        if max_error is not None and parameters.method == "roc":
            raise ValueError(
                'method="roc" chooses its two thresholds by the labels, and max_error can be certified only for a '
                'sequence of thresholds fixed without them; use method="symmetric" or method="chow".'
            )
        return cls(costs, reject_rate, max_error, confidence, parameters.method)

    @property
    def way(self) -> Literal["costs", "reject_rate", "max_error"] | None:
        """Which of the three was asked for."""
        if self.costs is not None:
            return "costs"
        if self.reject_rate is not None:
            return "reject_rate"
        return None if self.max_error is None else "max_error"

    @property
    def needs_rows(self) -> bool:
        """Whether thresholds are tuned on rows: not where nothing is rejected, and Chow's follow from the costs."""
        return self.way is not None and not (self.way == "costs" and self.method == "chow")

    def answer(self, rows: ScoredRows | None, orientation: int, cut: float) -> Answer:
        """The thresholds, oriented to ``classes_[1]``.

        Parameters
        ----------
        rows : ScoredRows or None
            Rows to tune on; None where there is nothing to tune.
        orientation : {1, -1}
            1 if the positive class is ``classes_[1]``.
        cut : float
            Where the classifier itself cuts its score.
        """
        costs = None if self.costs is None else _oriented(self.costs, orientation)
        if costs is not None and self.method == "chow":
            return Answer(costs.thresholds(), costs.false_positive / (costs.false_positive + costs.false_negative))
        if rows is None or self.way is None:
            return Answer(Thresholds(cut, cut), cut)
        if self.max_error is not None:
            thresholds, certificate = certify(rows, self.max_error, self.confidence, orientation)
            return Answer(thresholds, cut, certificate)
        if self.reject_rate is not None:
            shares = self.reject_rate
            if isinstance(shares, tuple) and orientation < 0:
                shares = (shares[1], shares[0])
            thresholds = (roc_within if self.method == "roc" else symmetric_within)(rows, shares)
        elif costs is not None:
            thresholds = (roc_thresholds if self.method == "roc" else symmetric_thresholds)(rows, costs)
        if self.method == "roc":
            cut = float(np.clip(forced_cut(rows, costs or Costs()), thresholds.lower, thresholds.upper))
        return Answer(thresholds, cut)


def _oriented(costs: Costs, orientation: int) -> Costs:
    """The same prices with ``classes_[1]`` for the positive class."""
    if orientation > 0:
        return costs
    swapped = (costs.reject_positive, costs.reject_negative)
    return Costs(costs.false_negative, costs.false_positive, swapped)


def _shares(name: str, parameters: Any) -> Shares | None:
    """One share, or the pair (negative, positive), each in [0, 1]."""
    given = getattr(parameters, name)
    if given is None:
        return None
    value = given.tolist() if isinstance(given, np.ndarray) else given
    pair = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    if pair and len(value) != 2:
        raise ValueError(f"{name}={given!r} must be one share or the pair (negative, positive).")
    shares = tuple(real_number(f"{name}[{at}]", one) for at, one in enumerate(value)) if pair else None
    shares = (real_number(name, value),) if shares is None else shares
    if not all(0 <= share <= 1 for share in shares):
        raise ValueError(f"{name}={given!r} must lie in [0, 1]: it is a share of the rows.")
    return (shares[0], shares[1]) if pair else shares[0]
