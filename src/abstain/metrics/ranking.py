"""Rows ranked from the most to the least confident, with ties merged; the input of every curve and area.

With a score s and its cut, the forced choice is +1 if s > cut, else -1, and its confidence is |s - cut|. With a score
for each of several classes, it is the class of the highest, and its confidence the lead over the second. The symmetric
rule accepts the rows whose confidence reaches a level; rows of equal confidence are accepted together or not at all.
"""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d

from abstain.arguments import real_number
from abstain.costs.cuts import distances
from abstain.costs.table import CostTable
from abstain.labels import classes_of
from abstain.metrics.outcomes import are_decisions, has_costs, read
from abstain.pairs import UNDECIDED
from abstain.rules.tuning.scored_rows import confidence_of


@dataclass(frozen=True, eq=False)
class RankedRows:
    """Rows of positive weight in order of decreasing confidence.

    Tied rows are ordered by true class, choice, weight and costs, so that sums over them and resamples drawn from them
    are bitwise equal for every order of the input.

    Attributes
    ----------
    wrong : ndarray of bool, shape (n,)
        Where the forced choice is an error.
    weight : ndarray of float64, shape (n,)
        Sample weights; ones if none are given.
    decided, rejected : ndarray of float64, shape (n,)
        The cost of the forced choice and of a reject; without costs, 1 for an error and 0 for a reject.
    confidence : ndarray of float64, shape (m,)
        The distinct confidences, decreasing.
    starts : ndarray of intp, shape (m,)
        Index of the first row of each confidence.
    cut : float
        The threshold of the forced choice.
    costs : CostTable
        The actions and the costs.
    """

    wrong: NDArray[np.bool_]
    weight: NDArray[np.float64]
    decided: NDArray[np.float64]
    rejected: NDArray[np.float64]
    confidence: NDArray[np.float64]
    starts: NDArray[np.intp]
    cut: float
    costs: CostTable

    @classmethod
    def of(cls, y_true: Any, score: Any, cut: float, *, costs: Any = None, **options: Any) -> Self:
        """Check labels, scores, weights and costs, and rank the rows; the options are those of the reader."""
        if are_decisions(score):
            raise TypeError("score must be numbers, not Decisions; pass their scores, decisions.score.")
        several = has_class_scores(score)
        if not several and (n := len(classes_of(y_true))) > 2:
            raise ValueError(
                f"score must have a column for each of the {n} classes of y_true, sorted; its shape is "
                f"{np.shape(score)}."
            )
        s, cut = (np.asarray(score, dtype=np.float64), 0.0) if several else checked_scores(score, cut)
        check_consistent_length(y_true, s)
        outcomes = read(y_true, UNDECIDED, costs, **options)
        truth, table, k = outcomes.truth, outcomes.choices, len(outcomes.classes)
        if s.shape[1:] != ((k,) if k > 2 else ()) or np.isnan(s).any():
            raise ValueError(
                f"score must have a number for each row and each of the {k} classes of y_true, sorted; its shape is "
                f"{s.shape}, with {int(np.isnan(s).sum())} NaN."
            )
        if several:
            confidence, choice = confidence_of(s, "lead"), np.argmax(s, axis=1)
        else:
            high = int(options["pos_label"] != outcomes.classes[0])
            confidence, choice = distances(s, cut), np.where(s > cut, high, 1 - high)
        weight = np.ones(len(s)) if outcomes.weight is None else outcomes.weight
        wrong = choice != truth
        decided, rejected = wrong.astype(np.float64), np.zeros(len(s))
        if has_costs(table):
            answers, reject = _answering(table)
            decided, rejected = (table.of(truth, at) for at in (answers[choice], np.full(len(s), reject)))
        order = np.lexsort((rejected, decided, weight, choice, truth, -confidence))
        order = order[weight[order] > 0]
        confidence = confidence[order]
        starts = np.flatnonzero(np.append(True, confidence[1:] != confidence[:-1]))
        rows = wrong[order], weight[order], decided[order], rejected[order]
        return cls(*rows, confidence[starts], starts, cut, table)

    @property
    def accepted(self) -> NDArray[np.float64]:
        """The weight of the rows accepted at 0, 1, ..., m distinct confidences, starting with the highest."""
        return running(self.merged(self.weight))

    @property
    def reject_rate(self) -> NDArray[np.float64]:
        """Share of the weight rejected at 0, 1, ..., m distinct confidences, starting with the lowest."""
        rejected = running(self.merged(self.weight)[::-1])
        return rejected / rejected[-1]

    def sums(self, rows: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The weight of some of the rows accepted, as `accepted` has that of all."""
        return running(self.merged(self.weight * rows))

    def merged(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Sums of one value per row over the rows of each confidence."""
        return np.asarray(np.add.reduceat(values, self.starts), dtype=np.float64)


def has_curve(table: CostTable) -> bool:
    """Return whether there is one answer for each class and one reject, whose rate a curve varies."""
    answered = np.array(table.answers)[~table.rejecting]
    return sorted(answered.tolist()) == [*range(table.n_classes)] and sum(table.hands_on) == 1


def _answering(table: CostTable) -> tuple[NDArray[np.intp], int]:
    """Return the action that answers each class, and the one reject; an error if that is not what they are."""
    if not has_curve(table):
        raise ValueError(
            f"costs has the actions {list(table.names or ())}, and a curve needs one answer for each class and one "
            "reject, whose rate it varies; state such costs, or use mean_cost."
        )
    return np.argsort(np.where(table.rejecting, table.n_classes, table.answers)), table.hands_on.index(True)


def has_class_scores(score: Any) -> bool:
    """Whether there is a score for each of several classes."""
    return np.ndim(score) == 2 and np.shape(score)[-1] > 2


def running(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of the first 0, 1, ..., m values."""
    return np.append(0.0, np.cumsum(values))


def checked_scores(score: ArrayLike, cut: Any) -> tuple[NDArray[np.float64], float]:
    """Return one score per row, and the cut."""
    values, cut = np.asarray(score), real_number("cut", cut)
    if values.ndim == 2 and values.shape[1] > 1:
        raise ValueError(
            f"score must be one number per row; its shape is {values.shape}. For probabilities pass the column of the "
            "positive class, such as proba[:, 1], with cut=0.5."
        )
    if values.dtype.kind not in "biuf":
        raise ValueError(f"score must be numbers; its dtype is {values.dtype}. For labels use the metrics of y_pred.")
    if math.isinf(cut):
        raise ValueError(f"cut={cut} must be finite: 0 for a decision function, 0.5 for a probability.")
    s: NDArray[np.float64] = column_or_1d(values).astype(np.float64)
    if np.isnan(s).any():
        raise ValueError(f"score contains NaN at row {int(np.flatnonzero(np.isnan(s))[0])}; every row needs a score.")
    return s, cut
