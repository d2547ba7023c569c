"""The score of two classes behind a page: what a slider over the reject cost needs to count the rows again.

Scores keep the orientation of estimators, towards ``classes[1]``, so that a score on a threshold is treated the same
way here and there. The costs are oriented with them: "above" is the class of high scores and takes the place of the
positive class, "below" that of the negative class.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from abstain.costs.costs import Costs
from abstain.costs.cuts import Thresholds
from abstain.costs.table import CostTable
from abstain.labels import Labels
from abstain.metrics.ranking import checked_scores
from abstain.report.curves import Curves, are_bayes, curves_of, price_confidence, rejected_first, share_of
from abstain.report.rows import Histogram, Steps, novel_mask
from abstain.report.text import unique_names
from abstain.rules.deciders import Cuts
from abstain.rules.decisions import Decisions
from abstain.rules.readouts import LogOdds
from abstain.rules.rule import Rule


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
    forced : ndarray of intp
        The class of each row, 0 below and 1 above, with the cut alone.
    steps, histogram, curves
        Rows, scores and curves; novel rows are not in `steps`.
    novel : ndarray of shape (2, 2)
        The rows that a guard rejects, whatever the reject cost: their number by true class, that of low and that of
        high scores, and by forced decision.
    """

    below: str
    above: str
    positive_above: bool
    costs: Costs
    thresholds: Thresholds
    cut: float
    follows_price: bool
    forced: NDArray[np.intp]
    steps: Steps
    histogram: Histogram
    curves: Curves
    novel: NDArray[np.int64]

    @classmethod
    def of(
        cls, y_true: Any, score: Any, costs: Costs, thresholds: Any, *, labels: Labels, cut: Any, novel: Any
    ) -> Self:
        """Decide the rows and arrange them by score; the arguments are those of `Report.of`."""
        turned = costs.swapped() if labels.orientation < 0 else costs
        code, (s, _) = labels.encode(y_true), checked_scores(score, 0.0)
        check_consistent_length(code, s)
        follows = are_bayes(thresholds, turned)
        between = (thresholds.lower + thresholds.upper) / 2
        own = turned.cut if follows else between if np.isfinite(between) else 0.0
        middle = own if cut is None else float(cut)
        unlike = novel_mask(novel, len(s))
        known, marks = np.flatnonzero(~unlike), (thresholds.lower, thresholds.upper, middle)
        forced = (Thresholds(middle, middle).decide(s) > 0).astype(np.intp)
        ranked, ranked_cut = (price_confidence(turned, s), 0.0) if follows else (s, middle)
        below, above = unique_names(labels.classes.tolist())
        steps, bars = Steps.of(code[known], s[known], marks), Histogram.of(code, s, marks, unlike)
        curves = curves_of(code, rejected_first(ranked, unlike, ranked_cut), turned, ranked_cut)
        guarded = np.bincount(2 * code[unlike] + forced[unlike], minlength=4).reshape(2, 2)
        rows, upwards = (steps, bars, curves, guarded), labels.orientation > 0
        return cls(below, above, upwards, turned, thresholds, middle, follows, forced, *rows)

    def decisions(self, score: Any, costs: CostTable, labels: Labels, novel: Any) -> Decisions:
        """The decisions, with expected costs if the thresholds are Bayes' thresholds for these costs."""
        unit = 1.0 if self.follows_price else math.nan
        rule = Rule(labels, costs, LogOdds(unit), Cuts.at(self.thresholds, self.cut, labels.answers))
        found, unlike = rule.decide(np.asarray(score, dtype=np.float64)), novel_mask(novel, len(score))
        label, expected = found.label.copy(), found.expected_cost.copy()
        label[unlike], expected[unlike] = labels.reject_label, np.nan
        return replace(found, label=label, rejected=found.rejected | unlike, expected_cost=expected, novel=unlike)

    @property
    def largest(self) -> float:
        """The largest reject cost that can pay, for the class "below"."""
        return self.costs.reject_negative / share_of(self.costs)

    def upwards(self, counts: NDArray[Any]) -> NDArray[Any]:
        """Turn counts, of which the last class is the positive one, so that they go from below to above."""
        return counts if self.positive_above else counts[::-1, ::-1]
