"""The evaluation of a model on labelled rows: the table of decisions, its mean cost, and key points of the curves."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.cli.commands.class_evaluation import IF_NEW, REJECT_RATES, action_facts, class_facts
from abstain.cli.exit_codes import Note
from abstain.cli.input.columns import labels, left_out_rows, row_names, unlabelled
from abstain.cli.input.cost_columns import row_costs_of
from abstain.cli.input.drifting import DriftOfTable
from abstain.cli.input.models import FittedModel
from abstain.cli.input.outside_notes import OutsideTraining
from abstain.cli.input.target_column import target_of
from abstain.cli.output.printing import progress
from abstain.cli.tables.notation import Notation
from abstain.cli.tables.read_table import PLAIN, opened
from abstain.comparison.drift_result import Drift
from abstain.comparison.judges import Judge, judge_of
from abstain.comparison.verdict import FORCED, verdict_on
from abstain.costs.costs import Costs
from abstain.costs.row_costs import RowCosts
from abstain.metrics import RejectTable, accuracy_reject_curve, augrc, aurc, cost_curve, e_aurc
from abstain.report.curves import are_bayes, price_confidence, rejected_first
from abstain.rules.tuning.empirical_cost import roc_thresholds
from abstain.rules.tuning.scored_rows import ScoredRows

NOVEL = "novel"


@dataclass(frozen=True, eq=False)
class Judged:
    """Labelled rows and the predictions of a model.

    Attributes
    ----------
    model : FittedModel
        The model.
    path : Path
        The file with the rows.
    places : list of str
        The position of each row in the file.
    y_true, y_pred : ndarray of shape (n,)
        The labels and the predictions, rejects included.
    score : ndarray of float64, shape (n,) or (n, n_classes)
        The scores, oriented towards the second of two classes.
    forced : ndarray of shape (n,)
        The predictions if no row may be rejected.
    row_costs : RowCosts or None
        The costs of each row, if the model reads them from columns.
    outside : dict of str to list
        Records of the columns with values that training did not have.
    novel : ndarray of bool, shape (n,)
        The rows that are rejected as unlike the training rows.
    drift : Drift or None
        Whether the rows together are like the training rows, if the model has a guard.
    """

    model: FittedModel
    path: Path
    places: list[str]
    y_true: NDArray[Any]
    y_pred: NDArray[Any]
    score: NDArray[np.float64]
    forced: NDArray[Any]
    row_costs: RowCosts | None = None
    outside: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    novel: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    drift: Drift | None = None

    @classmethod
    def of(
        cls,
        model: FittedModel,
        path: Path,
        target: str | None = None,
        *,
        id: str | None = None,  # noqa: A002 (the name of the option)
        notation: Notation = PLAIN,
        drop_unlabelled: bool = False,
    ) -> Self:
        """Read a labelled table and decide its rows, one batch at a time; `id` is the column that names them."""
        truth, answers, scores, forced, novel, costs, places = [], [], [], [], [], [], list[str]()
        model, empty = model.reading(notation), list[int]()
        outside, drift = OutsideTraining(model.seen, model.plan.dates), DriftOfTable(model.estimator)
        with opened(path, notation) as table, progress("evaluate", path) as report:
            model.check(table)
            table.check_has([] if id is None else [id], "--id")
            for whole in table.batches:
                target = target or target_of(model, table, whole)
                table.check_has([target], "--target")
                text = labels(table, whole, target, model.plan.missing)
                present = np.array([label is not None for label in text])
                batch = whole if present.all() else whole.only(present)
                empty.extend(np.asarray(whole.places)[~present].tolist())
                report(table.position())
                if not present.any():
                    continue
                truth.append(model.labels(text[present], table, batch, target))
                decided = model.decide(table, batch, outside, drift)
                answers.append(decided.label)
                scores.append(decided.score)
                forced.append(decided.forced)
                novel.append(decided.reason == NOVEL)
                costs.append(row_costs_of(model.plan, table, batch))
                lines = [f"{table.unit} {place}" for place in batch.places]
                places.extend(lines if id is None else row_names(table, batch, id, lines))
        if empty and not (drop_unlabelled and truth):
            raise unlabelled(table, str(target), len(empty), empty[0])
        for words in outside.words() + [f"{left_out_rows(len(empty))}."] * bool(empty):
            warnings.warn(f"{path}: {words}", Note, stacklevel=2)
        known = [rows for rows in costs if rows is not None]
        by_row = RowCosts.of(np.concatenate(known)) if known else None
        y_true, y_pred, score, without, unlike = map(np.concatenate, (truth, answers, scores, forced, novel))
        about = (by_row, outside.facts(), unlike, drift.result())
        return cls(model, path, places, y_true, y_pred, score, without, *about)

    @property
    def table(self) -> RejectTable:
        """The counts."""
        return RejectTable.of(
            self.y_true, self.y_pred, pos_label=self.model.positive, reject_label=self.model.reject_label
        )

    @property
    def costs(self) -> Costs | RowCosts | None:
        """The costs of the rows, or of the model."""
        return self.model.costs if self.row_costs is None else self.row_costs

    def novel_of(self, label: Any) -> int:
        """The number of novel rows of a class."""
        return int(np.sum(self.novel & (self.y_true == label)))

    @property
    def reasons(self) -> dict[str, int]:
        """The number of rejects by their reason."""
        if self.model.actions is not None:
            rejected = np.isin(self.y_pred, np.array(self.model.actions.rejects, dtype=self.y_pred.dtype))
        else:
            rejected = self.y_pred == self.model.reject_label
        return {"ambiguous": int(np.sum(rejected & ~self.novel)), "novel": int(np.sum(self.novel))}

    @property
    def judge(self) -> Judge:
        """What decisions on these rows cost."""
        model, by_row = self.model, self.row_costs
        one = None if model.several or model.actions is not None else model.positive
        costs, own = (model.costs, None) if by_row is None else (None, by_row.table())
        return judge_of(self.y_true, costs, own, one, classes=np.asarray(model.classes))

    def paid(self, answers: NDArray[Any]) -> NDArray[np.float64]:
        """The cost of each of these answers."""
        return self.judge.prices(np.arange(len(answers)), answers, self.model.reject_label)

    def verdict(self, reject_rate: float) -> dict[str, Any]:
        """The verdict against the alternatives on these rows, and the warnings; both need costs and two classes."""
        if self.costs is None or len(np.unique(self.y_true)) < 2:
            return {"verdict": {"sentence": IF_NEW}, "warnings": []}
        judge = self.judge
        found = verdict_on(
            "The machine",
            self.paid(self.y_pred),
            judge.blind(np.arange(len(self.y_true))),
            {FORCED: self.paid(self.forced)},
            reject_rate=reject_rate,
            largest=float(judge.costs.table().max()),
        )
        facts = found.facts()
        return {"verdict": facts | {"sentence": f"{found.sentence} {IF_NEW}"}, "warnings": list(found.warnings)}

    def facts(self) -> dict[str, Any]:
        """Counts, metrics and key points, as plain values."""
        if self.model.several:
            return class_facts(self)
        if self.model.actions is not None:
            return action_facts(self, self.model.actions)
        counts, model, costs = self.table, self.model, self.costs
        facts: dict[str, Any] = {
            "rows": len(self.y_true),
            "classes": {"negative": model.negative, "positive": model.positive},
            "table": {
                name: dict(zip(("called negative", "rejected", "called positive"), row, strict=True))
                | {"novel": self.novel_of(label)}
                for name, label, row in zip(
                    ("negative", "positive"), (model.negative, model.positive), counts.counts.tolist(), strict=True
                )
            },
            "reject rate": counts.reject_rate,
            **self.reasons,
            "error rate": counts.error_rate,
            "error among the accepted": counts.selective_error,
            "sensitivity": counts.sensitivity,
            "positive predictivity": counts.positive_predictivity,
        }
        if costs is not None:
            facts["mean cost"] = float(self.paid(self.y_pred).mean())
        return facts | self._curve_facts() | self.verdict(counts.reject_rate)

    def _curve_facts(self) -> dict[str, Any]:
        """Key points of the curves; a curve needs rows of both classes."""
        model, costs = self.model, self.model.costs
        if len(np.unique(self.y_true)) < 2:
            return {}
        score, cut = model.towards_positive(*self._ranked())
        shared: dict[str, Any] = {"cut": cut, "pos_label": model.positive}
        facts: dict[str, Any] = {}
        if costs is not None:
            curve, least = cost_curve(self.y_true, score, costs, **shared), self._least(costs)
            facts["mean cost without rejecting"] = float(curve.mean_cost[0])
            facts["mean cost of rejecting all"] = float(curve.mean_cost[-1])
            facts["least mean cost of any two thresholds"] = least.mean_cost(costs)
            facts["reject rate there"] = least.reject_rate
        accuracy = accuracy_reject_curve(self.y_true, score, **shared).at(REJECT_RATES)
        facts["accuracy by reject rate"] = {
            f"{rate:.0%}": float(value) for rate, value in zip(REJECT_RATES, accuracy, strict=True)
        }
        areas = {"aurc": aurc, "e-aurc": e_aurc, "augrc": augrc}
        return facts | {name: area(self.y_true, score, **shared) for name, area in areas.items()}

    def _least(self, costs: Costs) -> RejectTable:
        """The counts with the two thresholds that cost least on these rows: never more than the model's own two.

        The points of the cost curve reject in one order only, so other thresholds may cost less than all of them. Novel
        rows stay rejected.
        """
        model, largest = self.model, np.finfo(np.float64).max
        turned = costs if model.orientation > 0 else costs.swapped()
        score, sign = np.clip(self.score, -largest, largest), np.where(self.y_true == model.classes[1], 1, -1)
        choice, known = np.zeros(len(sign), dtype=np.int8), ~self.novel
        if len(np.unique(sign[known])) < 2:  # one class for all
            choice[known] = sign[known]
        else:
            rows = ScoredRows.of(score[known], sign[known], cut=model.cut)
            choice[known] = roc_thresholds(rows, turned).decide(score[known])
        return RejectTable.of(model.orientation * sign, model.orientation * choice, pos_label=1, reject_label=0)

    def _ranked(self) -> tuple[NDArray[np.float64], float]:
        """The scores in the order in which the report rejects them, and their cut: the curves of both are the same."""
        score, cut = self._by_score()
        return rejected_first(score, self.novel, cut), cut

    def _by_score(self) -> tuple[NDArray[np.float64], float]:
        model, costs = self.model, self.model.costs
        if self.row_costs is not None and model.rule is not None:  # no thresholds for all rows: by probability
            return self.score, 0.0
        if costs is not None:
            turned = costs if model.orientation > 0 else costs.swapped()
            if are_bayes(model.thresholds, turned):
                return price_confidence(turned, self.score), 0.0
        return self.score, model.cut
