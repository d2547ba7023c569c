"""TableReport: the report of decisions between any number of classes or actions, or with costs per row, as data.

The page of `Report` follows one score and its two thresholds. Here there is a table of classes and choices, and what
does not depend on the kind of costs: the counts, the numbers of each class, the verdict, curves and rejected rows.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from abstain.comparison.judges import Judge, judge_of
from abstain.comparison.result import Comparison
from abstain.comparison.text import stated_costs
from abstain.comparison.verdict import FORCED, Verdict, verdict_on
from abstain.metrics.counts import Counts
from abstain.report.compared import ComparedRules, verdict_shown
from abstain.report.line_plot import LinePlot, plots_of
from abstain.report.rows import index_of, novel_mask
from abstain.report.text import Facts, facts_of, plain, unique_names

__all__ = ["TableReport"]

_LISTED, _NAME = 25, 80


@dataclass(frozen=True)
class ClassNumbers:
    """The decisions on the rows of one true class; shares are nan where nothing can be counted.

    `counts` has an entry for each choice, and `kinds` says what it is: "right", "wrong" or "reject".
    """

    name: str
    rows: int
    counts: tuple[int, ...]
    kinds: tuple[str, ...]
    prices: tuple[float, ...]
    coverage: float
    selective_error: float
    predictivity: float
    mean_cost: float


@dataclass(frozen=True, eq=False)
class TableReport:
    """The decisions of one trained machine on a set of labelled rows, counted by true class and choice.

    Attributes
    ----------
    title, question, date, data_facts, model_facts, comparison, unseen, warnings
        As in `Report`.
    kind : {"classes", "actions", "rows"}
        What the costs are: of classes, of actions, or of each row of two classes.
    costs : str
        The costs in words.
    choices : tuple of str
        The columns of the table; the last, or for two classes the middle one, is the reject.
    classes : tuple of ClassNumbers
        The rows of the table.
    table : RejectTable, ClassTable or ActionTable
        The counts.
    mean_cost, forced_cost : float
        Of the decisions, and of the forced ones; nan if these are not known.
    verdict : Verdict
        The machine against the alternatives.
    plots : tuple of LinePlot
        Curves against the share rejected; empty without scores.
    listed : tuple of (name, true class, reason, choice, forced choice)
        Rejected rows, those closest to a decision first if there are scores, and novel ones last.
    novel : int
        The number of rows that a guard rejects as unlike its training rows.
    heading : str
        What the names of the rows are.
    """

    title: str
    question: str
    date: str
    kind: str
    costs: str
    choices: tuple[str, ...]
    classes: tuple[ClassNumbers, ...]
    table: Counts
    mean_cost: float
    forced_cost: float
    verdict: Verdict
    plots: tuple[LinePlot, ...]
    listed: tuple[tuple[str, str, str, str, str], ...]
    novel: int
    heading: str
    data_facts: Facts
    model_facts: Facts
    comparison: ComparedRules | None
    unseen: bool
    warnings: tuple[str, ...]

    @classmethod
    def of(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        costs: Any = None,
        *,
        forced: ArrayLike | None = None,
        score: ArrayLike | None = None,
        row_costs: Any = None,
        novel: ArrayLike | None = None,
        pos_label: Any = None,
        reject_label: Any = "auto",
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
        """Build a report from labelled rows with their predictions.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            True labels, and predictions: classes or rejects, or with `Actions` their names.
        costs : Costs or Actions, default=None
            The costs; not needed with `row_costs`.
        forced : array-like of shape (n_samples,), default=None
            Predictions without rejects, an alternative of the verdict.
        score : array-like of shape (n_samples, n_classes) or (n_samples,), default=None
            For the curves: a score for each of several classes. With `row_costs`, the log-odds of the class that sorts
            last, from which the row's own cut is subtracted. None for no curves; not used with `Actions`.
        novel : array-like of bool, shape (n_samples,), default=None
            The rows that are rejected as unlike the training rows, as in `Report.of`.
        row_costs, pos_label, reject_label
            As in `abstain.metrics.mean_cost`.
        classes : array-like, default=None
            The classes, sorted; those of `y_true` by default.
        title, question, data_facts, model_facts, comparison, row_names, date, unseen, warnings
            As in `Report.of`.

        Examples
        --------
        >>> from abstain import Costs
        >>> from abstain.report import TableReport
        >>> report = TableReport.of(["a", "b", "c"], ["a", "reject", "c"], Costs(reject=0.3))
        >>> report.mean_cost, report.choices
        (0.09999999999999999, ('a', 'b', 'c', 'reject'))
        """
        judge = judge_of(y_true, costs, row_costs, pos_label, classes=classes)
        names = index_of(y_true) if row_names is None else row_names
        check_consistent_length(judge.truth, y_pred, forced, score, names)
        every = np.arange(len(judge.truth))
        predicted, table = np.asarray(y_pred), judge.table(every, y_pred, reject_label)
        prices = judge.prices(every, y_pred, reject_label)
        without = None if forced is None else judge.prices(every, forced, reject_label)
        machines = {} if without is None else {FORCED: without}
        rate, largest = table.reject_rate, float(judge.costs.table().max())
        own = verdict_on("The machine", prices, judge.blind(every), machines, reject_rate=rate, largest=largest)
        verdict = verdict_shown(own, comparison)
        kind = "actions" if judge.choices.own_names else "rows" if judge.choices.by_row else "classes"
        unlike = novel_mask(novel, len(predicted))
        listed, heading = _listed(judge, predicted, forced, score, names, novel=unlike)
        return cls(
            title=plain(title, 160),
            question=plain(question, 2000) if question else "",
            date=(dt.datetime.now().astimezone().date() if date is None else date).isoformat(),
            kind=kind,
            costs=plain(stated_costs(judge.costs), 2000),
            choices=_choices(judge),
            classes=_numbers(judge, table, prices),
            table=table,
            mean_cost=float(prices.mean()),
            forced_cost=float("nan") if without is None else float(without.mean()),
            verdict=verdict,
            plots=() if score is None or kind == "actions" else plots_of(judge, score, table, unlike),
            listed=listed,
            novel=int(unlike.sum()),
            heading=heading,
            data_facts=facts_of(data_facts),
            model_facts=facts_of(model_facts),
            comparison=None if comparison is None else ComparedRules.of(comparison),
            unseen=unseen,
            warnings=tuple(plain(warning, 2000) for warning in (*verdict.warnings, *warnings)),
        )


def _choices(judge: Judge) -> tuple[str, ...]:
    """The names of the columns of a judge's table."""
    if judge.choices.own_names:
        return unique_names(judge.choices.actions)
    names = unique_names(judge.classes)
    return (names[0], "reject", names[1]) if judge.choices.pair else (*names, "reject")


def _numbers(judge: Judge, table: Counts, prices: NDArray[np.float64]) -> tuple[ClassNumbers, ...]:
    """The decisions on the rows of each true class."""
    counts = table.counts
    own = np.full(counts.shape, np.nan) if judge.choices.by_row else judge.choices.table()
    kinds = _kinds(judge, own)
    found = []
    for at, name in enumerate(unique_names(judge.classes)):
        right, reject = (np.array([one == word for one in kinds[at]]) for word in ("right", "reject"))
        rows, decided = counts[at].sum(), counts[at][~reject].sum()
        answers = sum(counts[:, column].sum() for column in np.flatnonzero(right & ~reject))
        wrong, correct = decided - counts[at][right].sum(), counts[at][right].sum()
        paid = prices[judge.truth == judge.classes[at]]
        found.append(
            ClassNumbers(
                name=name,
                rows=int(rows),
                counts=tuple(counts[at].astype(int).tolist()),
                kinds=kinds[at],
                prices=tuple(own[at].tolist()),
                coverage=_share(decided, rows),
                selective_error=_share(wrong, decided),
                predictivity=_share(correct, answers),
                mean_cost=float(paid.mean()) if paid.size else float("nan"),
            )
        )
    return tuple(found)


def _kinds(judge: Judge, own: NDArray[np.float64]) -> list[tuple[str, ...]]:
    """What each choice is for each true class: "right", "wrong" or "reject"; of actions, the cheapest is right."""
    choices = judge.choices
    right = own == own.min(axis=1, keepdims=True)
    if not choices.own_names:
        right = choices.answers == np.arange(len(choices.classes))[:, np.newaxis]
    return [tuple(np.where(choices.hands_on, "reject", np.where(row, "right", "wrong")).tolist()) for row in right]


def _listed(
    judge: Judge, predicted: NDArray[Any], forced: Any, score: Any, names: Any, *, novel: NDArray[np.bool_]
) -> tuple[tuple[tuple[str, str, str, str, str], ...], str]:
    """Rejected rows in words, and the heading of their names."""
    if judge.choices.own_names:
        handed = [name for name, on in zip(judge.choices.actions, judge.choices.hands_on, strict=True) if on]
        rejected = np.isin(predicted, np.array(handed, dtype=predicted.dtype))
    else:
        rejected = ~np.isin(predicted, np.array(judge.classes))
    rows = np.flatnonzero(rejected)
    if score is not None and np.ndim(score) == 2:
        second, first = np.partition(np.asarray(score, dtype=np.float64)[rows], -2, axis=1)[:, -2:].T
        rows = rows[np.argsort(second - first, kind="stable")]  # the largest lead first
    rows = np.concatenate([rows[~novel[rows]], rows[novel[rows]]])
    heading, known = getattr(names, "name", None), None if names is None else list(names)
    decided = [""] * len(predicted) if forced is None else np.asarray(forced).tolist()
    found = tuple(
        (
            str(row + 1) if known is None else plain(known[row], _NAME),
            plain(judge.truth[row], _NAME),
            "novel" if novel[row] else "ambiguous",
            plain(predicted[row], _NAME),
            plain(decided[row], _NAME),
        )
        for row in rows[:_LISTED].tolist()
    )
    return found, "row" if heading is None else plain(heading, _NAME)


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else float("nan")
