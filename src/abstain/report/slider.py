"""The score of two classes behind a page: what a slider over the reject cost needs to count the rows again.

Scores keep the orientation of estimators, towards ``classes[1]``, so that a score on a threshold is treated the same
way here and there. The costs are oriented with them: "above" is the class of high scores and takes the place of the
positive class, "below" that of the negative class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length, column_or_1d

from abstain.costs.costs import Costs
from abstain.costs.cuts import Thresholds
from abstain.labels import NO_CLASS, Labels
from abstain.report.curves import Curves, are_bayes, curves_of, price_confidence, rejected_first, share_of
from abstain.report.rows import Histogram, ListedRows, NovelRows, Steps, novel_mask
from abstain.report.text import unique_names

_AT = np.array([0, NO_CLASS, 1])  # of the choices of `Thresholds`: below, reject, above


@dataclass(frozen=True, eq=False)
class Slider:
    """The score, its thresholds, and the rows by score.

    Attributes
    ----------
    below, above : str
        The classes of low and of high scores.
    positive_above : bool
        Whether "above" is the positive class.
    costs : Costs
        The costs, with "above" in the place of the positive class.
    thresholds : Thresholds
        Thresholds on the score.
    cut : float
        Threshold of the forced choice.
    follows_price : bool
        Whether the thresholds are Bayes' thresholds on log-odds for these costs, so that another reject cost moves
        them.
    choice, forced : ndarray of intp
        The class of each row, 0 below and 1 above, or -1 for a reject, with the thresholds and with the cut alone.
    steps, listed, histogram, curves
        Rows, scores and curves; novel rows are not in `steps` and `listed`.
    novel : NovelRows
        The rows that a guard rejects, whatever the reject cost.
    """

    below: str
    above: str
    positive_above: bool
    costs: Costs
    thresholds: Thresholds
    cut: float
    follows_price: bool
    choice: NDArray[np.intp]
    forced: NDArray[np.intp]
    steps: Steps
    listed: ListedRows
    histogram: Histogram
    curves: Curves
    novel: NovelRows

    @classmethod
    def of(
        cls, y_true: Any, score: Any, costs: Costs, thresholds: Any, *, labels: Labels, cut: Any, novel: Any, names: Any
    ) -> Self:
        """Decide the rows and arrange them by score; the arguments are those of `Report.of`."""
        turned = costs.swapped() if labels.orientation < 0 else costs
        code, s = labels.encode(y_true), column_or_1d(np.asarray(score, dtype=np.float64))
        check_consistent_length(code, s, names)
        if np.isnan(s).any():
            at = int(np.flatnonzero(np.isnan(s))[0])
            raise ValueError(f"score contains NaN at row {at}; every row needs a score.")
        follows = are_bayes(thresholds, turned)
        between = (thresholds.lower + thresholds.upper) / 2
        own = turned.cut if follows else between if np.isfinite(between) else 0.0
        middle = own if cut is None else float(cut)
        unlike = novel_mask(novel, len(s))
        known, marks = np.flatnonzero(~unlike), (thresholds.lower, thresholds.upper, middle)
        choice, forced = (_AT[one.decide(s) + 1] for one in (thresholds, Thresholds(middle, middle)))
        choice = np.where(unlike, NO_CLASS, choice)
        ranked, ranked_cut = (price_confidence(turned, s), 0.0) if follows else (s, middle)
        distance = np.minimum(s - thresholds.lower, thresholds.upper - s)
        below, above = unique_names(labels.classes.tolist())
        steps, bars = Steps.of(code[known], s[known], marks), Histogram.of(code, s, marks, unlike)
        listed = ListedRows.of(code, s, np.where(choice == NO_CLASS, distance, np.inf), names, known)
        curves = curves_of(code, rejected_first(ranked, unlike, ranked_cut), turned, ranked_cut)
        guarded, upwards = NovelRows.of(code, s, forced, names, unlike), labels.orientation > 0
        rows = steps, listed, bars, curves, guarded
        return cls(below, above, upwards, turned, thresholds, middle, follows, choice, forced, *rows)

    @property
    def largest(self) -> float:
        """The largest reject cost that can pay, for the class "below"."""
        return self.costs.reject_negative / share_of(self.costs)

    def upwards(self, counts: NDArray[Any]) -> NDArray[Any]:
        """Turn counts, of which the last class is the positive one, so that they go from below to above."""
        return counts if self.positive_above else counts[::-1, ::-1]
