"""The evaluation of a model on labelled rows: the 2 x 3 table, its mean cost, and key points of the curves."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, Note
from abstain.cli.input.columns import labels, left_out_rows, row_names, unlabelled
from abstain.cli.input.models import FittedModel, Unseen
from abstain.cli.input.notation import Notation
from abstain.cli.input.read_table import PLAIN, Batch, InputTable, opened
from abstain.cli.output.printing import progress
from abstain.metrics import RejectTable, accuracy_reject_curve, augrc, aurc, cost_curve, e_aurc

REJECT_RATES = (0.0, 0.05, 0.1, 0.2, 0.3)


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
    score : ndarray of float64, shape (n,)
        The scores, oriented towards the second class.
    """

    model: FittedModel
    path: Path
    places: list[str]
    y_true: NDArray[Any]
    y_pred: NDArray[Any]
    score: NDArray[np.float64]

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
        truth, answers, scores, places = [], [], [], list[str]()
        model, unseen, empty = model.reading(notation), Unseen(), list[int]()
        with opened(path, notation) as table, progress("evaluate", path) as report:
            model.check(table)
            table.check_has([] if id is None else [id], "--id")
            for whole in table.batches:
                target = target or _target_of(model, table, whole)
                table.check_has([target], "--target")
                text = labels(table, whole, target, model.plan.missing)
                present = np.array([label is not None for label in text])
                batch = whole if present.all() else whole.only(present)
                empty.extend(np.asarray(whole.places)[~present].tolist())
                report(table.position())
                if not present.any():
                    continue
                truth.append(model.labels(text[present], table, batch, target))
                decided = model.decide(table, batch, unseen)
                answers.append(decided.label)
                scores.append(decided.score)
                lines = [f"{table.unit} {place}" for place in batch.places]
                places.extend(lines if id is None else row_names(table, batch, id, lines))
        if empty and not (drop_unlabelled and truth):
            raise unlabelled(table, str(target), len(empty), empty[0])
        for words in unseen.words() + [f"{left_out_rows(len(empty))}."] * bool(empty):
            warnings.warn(f"{path}: {words}", Note, stacklevel=2)
        return cls(model, path, places, np.concatenate(truth), np.concatenate(answers), np.concatenate(scores))

    @property
    def table(self) -> RejectTable:
        """The counts."""
        return RejectTable.of(
            self.y_true, self.y_pred, pos_label=self.model.positive, reject_label=self.model.reject_label
        )

    def facts(self) -> dict[str, Any]:
        """Counts, metrics and key points, as plain values."""
        counts, model, costs = self.table, self.model, self.model.costs
        facts: dict[str, Any] = {
            "rows": len(self.y_true),
            "classes": {"negative": model.negative, "positive": model.positive},
            "table": {
                name: dict(zip(("called negative", "rejected", "called positive"), row, strict=True))
                for name, row in zip(("negative", "positive"), counts.counts.tolist(), strict=True)
            },
            "reject rate": counts.reject_rate,
            "error rate": counts.error_rate,
            "error among the accepted": counts.selective_error,
            "sensitivity": counts.sensitivity,
            "positive predictivity": counts.positive_predictivity,
        }
        if costs is not None:
            facts["mean cost"] = counts.mean_cost(costs)
        return facts | self._curve_facts()

    def _curve_facts(self) -> dict[str, Any]:
        """Key points of the curves; a curve needs rows of both classes."""
        model, costs = self.model, self.model.costs
        if len(np.unique(self.y_true)) < 2:
            return {}
        score, cut = model.towards_positive(self.score, model.cut)
        shared: dict[str, Any] = {"cut": cut, "pos_label": model.positive}
        facts: dict[str, Any] = {}
        if costs is not None:
            curve = cost_curve(self.y_true, score, costs, **shared)
            best = curve.operating_point
            facts["mean cost without rejecting"] = float(curve.mean_cost[0])
            facts["mean cost of rejecting all"] = float(curve.mean_cost[-1])
            facts["least mean cost on the curve"] = best.mean_cost
            facts["reject rate there"] = best.reject_rate
        accuracy = accuracy_reject_curve(self.y_true, score, **shared).at(REJECT_RATES)
        facts["accuracy by reject rate"] = {
            f"{rate:.0%}": float(value) for rate, value in zip(REJECT_RATES, accuracy, strict=True)
        }
        areas = {"aurc": aurc, "e-aurc": e_aurc, "augrc": augrc}
        return facts | {name: area(self.y_true, score, **shared) for name, area in areas.items()}


def _target_of(model: FittedModel, table: InputTable, batch: Batch) -> str:
    """The only column not used by the model that contains only the model's classes."""
    classes = {str(label) for label in model.classes}
    read = {*model.numeric, *model.categorical}
    others = [name for name in table.columns if name not in read]
    found = [name for name in others if _holds_only(classes, table, batch, name, model.plan.missing)]
    if len(found) == 1:
        return found[0]
    raise DataError(f"{table.path}: {_why(found, others)}; specify the column of the labels with --target.")


def _holds_only(classes: set[str], table: InputTable, batch: Batch, name: str, missing: Sequence[str]) -> bool:
    """Whether a column contains no labels but these classes, and at least one of them."""
    try:
        return {None} < {None, *labels(table, batch, name, missing)} <= {None, *classes}
    except DataError:  # of another type
        return False


def _why(found: Sequence[str], others: Sequence[str]) -> str:
    if found:
        return f"columns {', '.join(repr(name) for name in found[:5])} could all be the labels"
    if others:
        return f"none of the columns {', '.join(repr(name) for name in others[:5])} contains only the model's classes"
    return "all columns are features of the model"
