"""Report: the contents of the page as data, computed from arrays, without HTML or estimators.

Scores keep the orientation of estimators, towards ``classes[1]``, so that a score on a threshold is treated the same
way here and there. The costs are oriented with them: internally, "above" is the class of high scores and takes the
place of the positive class, "below" that of the negative class. Only the text and the two metrics that name the
positive class convert back.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d

from abstain.comparison.result import Comparison
from abstain.comparison.verdict import FORCED, REJECTING, Verdict, blind_prices, deciding, verdict_on
from abstain.costs.costs import Costs, assigned_costs
from abstain.costs.thresholds import Thresholds
from abstain.labels import Labels
from abstain.metrics.tables import RejectTable
from abstain.report.compared import ComparedRules, verdict_shown
from abstain.report.curves import Curves, are_bayes, curves_of, price_confidence, rejected_first
from abstain.report.rows import Histogram, ListedRows, NovelRows, Steps, index_of, novel_mask
from abstain.report.text import Facts, facts_of, plain, unique_names

__all__ = ["Report"]


@dataclass(frozen=True, eq=False)
class Report:
    """The decisions of one trained machine on a set of labelled rows, at the stated costs.

    Attributes
    ----------
    title, question : str
        Heading, and the question being decided; `question` may be empty.
    date : str
        Day of the report, as in 2026-01-31.
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
    table, forced : RejectTable
        Counts with the thresholds, and with the cut alone; rows and columns from below to above.
    steps, listed, histogram, curves
        Rows, scores and curves of the page; novel rows are not in `steps` and `listed`.
    novel : NovelRows
        The rows that a guard rejects, whatever the reject cost.
    data_facts, model_facts : tuple of (str, str)
        Names and values.
    comparison : ComparedRules or None
        Several rules on the same rows.
    verdict : Verdict
        The machine against the alternatives; that of `comparison` if it is on the same decisions.
    unseen : bool
        Whether no row was used to train the machine that decides it.
    warnings : tuple of str
        Shown at the top of the page.
    """

    title: str
    question: str
    date: str
    below: str
    above: str
    positive_above: bool
    costs: Costs
    thresholds: Thresholds
    cut: float
    follows_price: bool
    table: RejectTable
    forced: RejectTable
    steps: Steps
    listed: ListedRows
    histogram: Histogram
    curves: Curves
    novel: NovelRows
    data_facts: Facts
    model_facts: Facts
    comparison: ComparedRules | None
    verdict: Verdict
    unseen: bool
    warnings: tuple[str, ...]

    @classmethod
    def of(
        cls,
        y_true: ArrayLike,
        score: ArrayLike,
        costs: Costs,
        thresholds: Thresholds,
        *,
        cut: float | None = None,
        novel: ArrayLike | None = None,
        pos_label: Any = None,
        classes: ArrayLike | None = None,
        title: str = "Decide, or reject",
        question: str = "",
        data_facts: Mapping[str, Any] | None = None,
        model_facts: Mapping[str, Any] | None = None,
        comparison: Comparison | None = None,
        row_names: Sequence[Any] | None = None,
        date: dt.date | None = None,
        unseen: bool = False,
        warnings: Sequence[str] = (),
    ) -> Self:
        """Build a report from labelled rows with their scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        score : array-like of shape (n_samples,)
            Oriented towards ``classes[1]``, like a decision function.
        costs : Costs
            The costs, for the positive class `pos_label`.
        thresholds : Thresholds
            Thresholds on the score, such as an estimator's `thresholds_`. If they are Bayes' thresholds on log-odds for
            `costs`, the slider of the page recomputes them; otherwise it keeps them and changes only the reject cost.
        cut : float, default=None
            Threshold of the forced choice; by default ``costs.cut`` for Bayes' thresholds, else the midpoint of the
            thresholds.
        novel : array-like of bool, shape (n_samples,), default=None
            The rows that a `NoveltyRejector` rejects as unlike its training rows; they are rejected at any score and
            reject cost.
        pos_label : label, default=None
            The positive class; ``classes[1]`` by default.
        classes : array-like of shape (2,), default=None
            The two classes, sorted; those of `y_true` by default.
        title, question : str
            Heading, and the question being decided.
        data_facts, model_facts : mapping, default=None
            Facts about the rows and the machine, as names and values.
        comparison : Comparison, default=None
            The result of `abstain.compare` on these rows, to be shown as a chart.
        row_names : sequence, default=None
            Names of the rows, such as a column of IDs; the name of a pandas Series heads them. By default the index of
            `y_true` if it has one, else numbers from 1.
        date : datetime.date, default=None
            Day of the report; today by default.
        unseen : bool, default=False
            Whether no row was used to train the machine that decides it, as in cross-validation. If False, the page
            says that its numbers hold for new rows only on this condition.
        warnings : sequence of str, default=()
            Shown at the top, after those that the numbers call for.

        Examples
        --------
        >>> from abstain import Costs
        >>> from abstain.report import Report
        >>> costs = Costs(false_positive=1, false_negative=5, reject=0.25)
        >>> report = Report.of(["no", "yes", "yes"], [-4.0, 0.0, 2.0], costs, costs.score_thresholds())
        >>> report.table.counts
        array([[1, 0, 0],
               [0, 1, 1]])
        """
        labels = Labels.of(y_true if classes is None else classes, pos_label=pos_label, rejects=False)
        turned, _ = assigned_costs(costs, labels.classes, pos_label)
        turned = turned.swapped() if labels.orientation < 0 else turned
        sign = labels.encode(y_true)
        names = index_of(y_true) if row_names is None else row_names
        s = _checked_scores(score, y_true, names)
        follows = are_bayes(thresholds, turned)
        middle = _middle(thresholds, turned, follows) if cut is None else float(cut)
        unlike = novel_mask(novel, len(s))
        known = np.flatnonzero(~unlike)
        choice, forced = np.where(unlike, np.int8(0), thresholds.decide(s)), Thresholds(middle, middle).decide(s)
        table = _counted(sign, choice)
        ranked, ranked_cut = (price_confidence(turned, s), 0.0) if follows else (s, middle)
        marks = (thresholds.lower, thresholds.upper, middle)
        distance = np.minimum(s - thresholds.lower, thresholds.upper - s)
        below, above = unique_names(labels.classes.tolist())
        names_of = (REJECTING, *(deciding(label) for label in labels.classes.tolist()))
        own = verdict_on(
            "The machine",
            turned.prices(sign, choice),
            dict(zip(names_of, blind_prices(turned, sign).T, strict=True)),
            {FORCED: turned.prices(sign, forced)},
            reject_rate=table.reject_rate,
            largest=float(turned.table().max()),
        )
        verdict = verdict_shown(own, comparison)
        return cls(
            title=plain(title, 160),
            question=plain(question, 2000) if question else "",
            date=(dt.datetime.now().astimezone().date() if date is None else date).isoformat(),
            below=below,
            above=above,
            positive_above=labels.orientation > 0,
            costs=turned,
            thresholds=thresholds,
            cut=middle,
            follows_price=follows,
            table=table,
            forced=_counted(sign, forced),
            steps=Steps.of(sign[known], s[known], marks),
            listed=ListedRows.of(sign, s, np.where(choice == 0, distance, np.inf), names, known),
            histogram=Histogram.of(sign, s, marks, unlike),
            curves=curves_of(sign, rejected_first(ranked, unlike, ranked_cut), turned, ranked_cut),
            novel=NovelRows.of(sign, s, forced, names, unlike),
            data_facts=facts_of(data_facts),
            model_facts=facts_of(model_facts),
            comparison=None if comparison is None else ComparedRules.of(comparison),
            verdict=verdict,
            unseen=unseen,
            warnings=tuple(plain(warning, 2000) for warning in (*verdict.warnings, *warnings)),
        )

    @property
    def positive_table(self) -> RejectTable:
        """The counts with the positive class second, as the metrics expect."""
        return self.table if self.positive_above else RejectTable(self.table.counts[::-1, ::-1])

    def measures(self) -> dict[str, float]:
        """All metrics at the stated costs, by name."""
        table = self.positive_table
        truth = self.table.counts.sum(axis=1) / self.table.total
        return {
            "mean_cost": self.table.mean_cost(self.costs),
            "forced_cost": self.forced.mean_cost(self.costs),
            "rejecting_cost": float(truth @ [self.costs.reject_negative, self.costs.reject_positive]),
            "reject_rate": table.reject_rate,
            "coverage": table.coverage,
            "error_rate": table.error_rate,
            "selective_error": table.selective_error,
            "selective_accuracy": table.selective_accuracy,
            "sensitivity": table.sensitivity,
            "positive_predictivity": table.positive_predictivity,
        }


def _checked_scores(score: ArrayLike, y_true: ArrayLike, row_names: Sequence[Any] | None) -> NDArray[np.float64]:
    s = column_or_1d(np.asarray(score, dtype=np.float64))
    check_consistent_length(y_true, s, row_names)
    if np.isnan(s).any():
        raise ValueError(f"score contains NaN at row {int(np.flatnonzero(np.isnan(s))[0])}; every row needs a score.")
    return s


def _middle(thresholds: Thresholds, costs: Costs, follows: bool) -> float:
    if follows:
        return costs.cut
    middle = (thresholds.lower + thresholds.upper) / 2
    return middle if np.isfinite(middle) else 0.0


def _counted(sign: NDArray[np.int8], choice: NDArray[np.int8]) -> RejectTable:
    return RejectTable.of(sign, choice, pos_label=1, reject_label=0)
