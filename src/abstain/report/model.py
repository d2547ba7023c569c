"""Report: the contents of a page as data, computed from arrays, without HTML or estimators.

A page has a table of the true classes and the choices. If one score of two classes decides by two thresholds, it also
has a slider over the reject cost.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from abstain.arguments import checked_costs
from abstain.comparison.result import Comparison
from abstain.comparison.verdict import FORCED, Verdict, judge_of, verdict_on
from abstain.costs.costs import Costs
from abstain.costs.cuts import Thresholds
from abstain.labels import Labels, warn_if_assumed
from abstain.metrics.outcomes import Counts, are_decisions
from abstain.metrics.tables import OF_POSITIVE, counted
from abstain.reject_labels import free_label
from abstain.report.compared import ComparedRules
from abstain.report.curves import LinePlot, plots_of
from abstain.report.review import Review
from abstain.report.rows import LISTED, ClassNumbers, ListedRow, heading_of, index_of, listed_rows, novel_mask
from abstain.report.slider import Slider
from abstain.report.text import Facts, facts_of, plain, today, unique_names
from abstain.rules.decisions import Decisions

_OF_ANSWERS = ("error_rate", "selective_error", "selective_accuracy")


@dataclass(frozen=True, eq=False)
class Report:
    """The decisions of one trained machine on a set of labelled rows, counted by true class and choice.

    Attributes
    ----------
    title, question, date : str
        Heading, the question being decided, which may be empty, and the day, as in 2026-01-31.
    kind : {"classes", "actions"}
        What is chosen from: the classes and a reject, or named actions.
    by_row : bool
        Whether each row has its own costs.
    costs : str
        The costs in words.
    choices : tuple of str
        The columns of the table; the last, or for two classes the middle one, is the reject.
    classes : tuple of ClassNumbers
        The rows of the table.
    table : RejectTable, ClassTable or ActionTable
        The counts; of two classes the positive one is the second.
    mean_cost, forced_cost : float
        Of the decisions, and of the forced ones; nan if these are not known.
    verdict : Verdict
        The machine against the alternatives; that of `comparison` if it is on the same decisions.
    plots : tuple of LinePlot
        Curves against the share rejected, in the order of review; none with a slider, which has its own.
    review : Review or None
        What reviewing any number of rows costs; None if no order of review is known.
    listed : tuple of ListedRow
        The first rejected rows, in the order of review of `Decisions.queue`; as they come if it is not known.
    novel : int
        The number of rows that a guard rejects as unlike its training rows.
    heading : str
        What the names of the rows are.
    data_facts, model_facts : tuple of (str, str)
        Names and values.
    comparison : ComparedRules or None
        Several rules on the same rows.
    unseen, warnings
        As in `of_decisions`.
    slider : Slider or None
        Of two classes the score and its thresholds, if these decide.
    """

    title: str
    question: str
    date: str
    kind: str
    by_row: bool
    costs: str
    choices: tuple[str, ...]
    classes: tuple[ClassNumbers, ...]
    table: Counts
    mean_cost: float
    forced_cost: float
    verdict: Verdict
    plots: tuple[LinePlot, ...]
    review: Review | None
    listed: tuple[ListedRow, ...]
    novel: int
    heading: str
    data_facts: Facts
    model_facts: Facts
    comparison: ComparedRules | None
    unseen: bool
    warnings: tuple[str, ...]
    slider: Slider | None = None

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
        decisions: Decisions | None = None,
        pos_label: Any = None,
        classes: ArrayLike | None = None,
        **page: Any,
    ) -> Self:
        """Build a report from labelled rows of two classes with their scores.

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
            The rows that a `NoveltyRejector` rejects, at any score and reject cost; by default those of `decisions`.
        decisions : Decisions, default=None
            The same decisions with the machine's expected costs; by default made of the other arguments.
        pos_label : label, default=None
            The positive class; ``classes[1]`` by default.
        classes : array-like of shape (2,), default=None
            The two classes, sorted; those of `y_true` by default.
        **page
            As in `of_decisions`: `row_names`, `rows`, `title`, `question`, `data_facts`, `model_facts`, `comparison`,
            `date`, `unseen`, `warnings`.

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
        warn_if_assumed(checked_costs(costs), labels.classes, pos_label)
        table = costs.named(labels)
        own: Any = table.plain()
        novel = decisions.novel if novel is None and decisions is not None else novel
        slider = Slider.of(y_true, score, own, thresholds, labels=labels, cut=cut, novel=novel)
        if decisions is None:
            reject = free_label(labels.classes) if labels.reject_label is None else labels.reject_label
            decisions = slider.decisions(score, table, replace(labels, reject_label=reject, rejects=True), novel)
        page |= {"pos_label": labels.positive, "classes": labels.classes}
        report = cls.of_decisions(y_true, decisions, own, **page)
        return replace(report, slider=slider, plots=())

    @classmethod
    def of_decisions(
        cls,
        y_true: ArrayLike,
        y_pred: Any,
        costs: Any = None,
        *,
        forced: ArrayLike | None = None,
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
        rows: Any = None,
        sentences: Mapping[int, str] | None = None,
        date: dt.date | None = None,
        unseen: bool = False,
        warnings: Sequence[str] = (),
    ) -> Self:
        """Build a report from labelled rows with their predictions: any number of classes, actions, costs per row.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_pred : Decisions, or array-like of shape (n_samples,)
            What `decide` returns; or labels, with `Actions` names. Of labels alone no order of review is known.
        costs : Costs or Actions, default=None
            The costs; not needed with `row_costs`.
        forced : array-like of shape (n_samples,), default=None
            Predictions without rejects, an alternative of the verdict; by default those of `Decisions`.
        novel : array-like of bool, shape (n_samples,), default=None
            The rows unlike the training rows; by default those of `Decisions`.
        row_costs, pos_label, reject_label
            As in `abstain.metrics.mean_cost`.
        classes : array-like, default=None
            The classes, sorted; those of `y_true` by default.
        title, question : str
            Heading, and the question being decided.
        data_facts, model_facts : mapping, default=None
            Facts about the rows and the machine, as names and values.
        comparison : Comparison, default=None
            The result of `abstain.compare` on these rows, to be shown as a chart.
        row_names : sequence, default=None
            Names of the rows; the name of a pandas Series heads them. By default the index of `y_true`, or numbers.
        rows : data frame or array-like of shape (n_samples, n_features), default=None
            The rows as a reader knows them; the values of the rejected ones are shown.
        sentences : mapping of int to str, default=None
            Why rows are rejected, by position.
        date : datetime.date, default=None
            Day of the report; today by default.
        unseen : bool, default=False
            Whether no row was used to train the machine that decides it. If False, the page states this condition.
        warnings : sequence of str, default=()
            Shown at the top, after those that the numbers call for.

        Examples
        --------
        >>> from abstain import Costs
        >>> from abstain.report import Report
        >>> report = Report.of_decisions(["a", "b", "c"], ["a", "reject", "c"], Costs(reject=0.3))
        >>> report.mean_cost, report.choices
        (0.09999999999999999, ('a', 'b', 'c', 'reject'))
        """
        judge, found = judge_of(y_true, costs, row_costs, pos_label, classes=classes), None
        if are_decisions(y_pred):
            found, y_pred = y_pred, y_pred.label
            forced, novel = (found.forced if forced is None else forced), (found.novel if novel is None else novel)
            reject_label = "auto" if found.names else found.labels.reject_label
        names = index_of(y_true) if row_names is None else row_names
        check_consistent_length(judge.truth, y_pred, forced, names, rows)
        outcomes, predicted = judge.outcomes(y_pred, reject_label), np.asarray(y_pred)
        table, paid = counted(outcomes), outcomes.cost
        without = {} if forced is None else {FORCED: judge.outcomes(forced, reject_label).cost}
        rate, largest = table.reject_rate, float(judge.costs.values.max())
        own = verdict_on("The machine", paid, judge.blind(), without, reject_rate=rate, largest=largest)
        verdict, mean_cost = own, float(paid.mean())
        if comparison is not None and (judged := comparison.verdict) is not None:
            same = np.allclose([judged.cost, judged.reject_rate], [own.cost, own.reject_rate], rtol=1e-9)
            verdict = judged if same else own
        unlike, review = novel_mask(novel, len(predicted)), None
        shown = {"truth": judge.truth, "choice": predicted, "novel": unlike, "names": names}
        shown |= {"forced": None if forced is None else np.asarray(forced), "table": rows, "sentences": sentences}
        if found is None:
            queue = np.flatnonzero(judge.costs.rejecting[outcomes.taken])
            queue = queue[np.argsort(~unlike[queue], kind="stable")]
        else:
            queue, review = found.queue, Review.of(found, judge, reject_label)
        return cls(
            title=plain(title, 160),
            question=plain(question, 2000) if question else "",
            date=today() if date is None else date.isoformat(),
            kind=table.kind,
            by_row=judge.costs.per_row,
            costs=plain(judge.costs.in_words(), 2000),
            choices=unique_names(judge.costs.titles(unique_names(judge.classes))),
            classes=ClassNumbers.all_of(outcomes),
            table=table,
            mean_cost=mean_cost,
            forced_cost=float(without[FORCED].mean()) if without else float("nan"),
            verdict=verdict,
            plots=() if review is None else plots_of(judge, review),
            review=review,
            listed=listed_rows(queue[:LISTED], found, **shown),
            novel=int(unlike.sum()),
            heading=heading_of(names),
            data_facts=facts_of(data_facts),
            model_facts=facts_of(model_facts),
            comparison=None if comparison is None else ComparedRules.of(comparison),
            unseen=unseen,
            warnings=tuple(plain(warning, 2000) for warning in (*verdict.warnings, *warnings)),
        )

    def measures(self) -> dict[str, float]:
        """All metrics at the stated costs, by name."""
        found = {"mean_cost": self.mean_cost, "forced_cost": self.forced_cost}
        if self.slider is not None:
            costs, truth = self.slider.costs, self.slider.upwards(self.table.counts).sum(axis=1) / self.table.total
            found["rejecting_cost"] = float(truth @ [costs.reject_negative, costs.reject_positive])
        judged = (self.table.choices.rejecting | (np.array(self.table.choices.answers) >= 0)).all()
        positive = [name for name in OF_POSITIVE if name in self.table.rates]
        names = ("reject_rate", "coverage", *_OF_ANSWERS * bool(judged), *positive)
        return found | {name: getattr(self.table, name) for name in names}
