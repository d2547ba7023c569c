"""Labelled rows, decided by a model: their true classes, the decisions, and what these cost."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, Note, listed, some
from abstain.cli.input.columns import features, labels, left_out_rows, row_names, unlabelled
from abstain.cli.input.deciding import Deciding
from abstain.cli.input.models import FittedModel
from abstain.cli.input.reviewed import is_review
from abstain.cli.options import Given
from abstain.cli.tables.notation import number_of
from abstain.cli.tables.read_table import Batch, InputTable, opened
from abstain.comparison.drift_result import Drift
from abstain.metrics.outcomes import Counts, Outcomes, read
from abstain.metrics.tables import counted
from abstain.report.rows import EXACT_ROWS
from abstain.rules.decisions import joined


@dataclass(frozen=True, eq=False)
class Judged:
    """Labelled rows and the predictions of a model.

    Attributes
    ----------
    model : FittedModel
        The model.
    path : Path
        The file with the rows.
    places : polars.Series
        The position of each row in the file.
    y_true : ndarray of shape (n,)
        The labels.
    decisions : Decisions
        What the model decides.
    row_costs : ndarray or None
        The costs of each row, if the model reads them from columns, in the form that it takes.
    outside : dict of str to list
        Records of the columns with values that training did not have.
    cells : polars.DataFrame or None
        The cells that the model reads, for a report on not too many rows.
    drift : Drift or None
        Whether the rows together are like the training rows, if the model has a guard.
    """

    model: FittedModel
    path: Path
    places: pl.Series
    y_true: NDArray[Any]
    decisions: Any
    row_costs: NDArray[np.float64] | None = None
    outside: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    drift: Drift | None = None
    cells: pl.DataFrame | None = None

    @classmethod
    def of(cls, model: FittedModel, given: Given) -> Self:
        """Read the labelled table of the options and decide its rows, one batch at a time."""
        path, target, notation = given.data, given.target, given.notation
        truths, parts, costs, places, empty = list[Any](), list[Any](), list[Any](), list[str](), list[int]()
        deciding, cells = Deciding(model, notation), list[pl.DataFrame]()
        model = deciding.model
        with opened(path, notation, "evaluate") as table:
            model.check(table)
            table.check_has([] if given.id is None else [given.id], "--id")
            if is_review(table):
                words = "a review file, whose rows are harder than new ones; 'abstain audit' reads verdicts"
                warnings.warn(f"{path} is {words}.", UserWarning, stacklevel=2)
            for whole in table.batches:
                target = target or _target_of(model, table, whole)
                table.check_has([target], "--target")
                text = labels(table, whole, target, model.plan.missing)
                present = np.array([label is not None for label in text])
                batch = whole.only(present)
                empty.extend(np.asarray(whole.places)[~present].tolist())
                if not present.any():
                    continue
                truths.append(model.labels(text[present], table, batch, target))
                parts.append(deciding.decide(table, batch))
                costs.append(model.row_costs(table, batch))
                if given.report is not None and len(places) < EXACT_ROWS:
                    cells.append(features(table, batch, model.numeric, model.categorical, model.plan))
                lines = [f"{table.unit} {place}" for place in batch.places]
                places.extend(lines if given.id is None else row_names(table, batch, given.id, lines))
        if empty and not (given.drop_unlabelled and parts):
            raise unlabelled(table, str(target), len(empty), empty[0])
        for words in deciding.words() + [f"{left_out_rows(len(empty))}."] * bool(empty):
            warnings.warn(f"{path}: {words}", Note, stacklevel=2)
        by_row = np.concatenate(costs) if model.plan.costs else None
        shown = pl.concat(cells) if len(cells) == len(parts) else None
        about = by_row, deciding.facts(), deciding.drift(), shown
        return cls(model, path, pl.Series(given.id or "row", places), np.concatenate(truths), joined(parts), *about)

    @property
    def novel(self) -> NDArray[np.bool_]:
        """The rows that are rejected as unlike the training rows."""
        return np.asarray(self.decisions.reason == "novel")

    @property
    def priced(self) -> bool:
        """Whether there are costs, of the rows or of the model."""
        return self.model.costs is not None or self.row_costs is not None

    @property
    def about(self) -> dict[str, Any]:
        """What says how to read the labels: costs of rows, and the classes."""
        return {"row_costs": self.row_costs, "pos_label": self.model.positive, "classes": self.model.classes}

    @property
    def class_scores(self) -> NDArray[np.float64]:
        """Scores of several classes, whose lead is the confidence by which the rule rejects."""
        rule = None if self.row_costs is None else self.model.rule_for(len(self.y_true), self.row_costs)
        return self.model.class_scores(self.decisions.score, rule)

    def outcomes_of(self, answers: NDArray[Any]) -> Outcomes:
        """Return what these answers do, and what they cost."""
        return read(self.y_true, answers, self.model.costs, reject_label=self.model.reject_label, **self.about)

    @cached_property
    def outcomes(self) -> Outcomes:
        """What the predictions do, and what they cost."""
        return self.outcomes_of(self.decisions.label)

    @property
    def counts(self) -> Counts:
        """The rows by true class and decision."""
        return counted(self.outcomes)


def _target_of(model: FittedModel, table: InputTable, batch: Batch) -> str:
    """The only column not used by the model that contains only the model's classes."""
    classes = {str(label) for label in model.classes}
    read = {*model.numeric, *model.categorical}
    others = [name for name in table.columns if name not in read]
    held = {name: _held(table, batch, name, model.plan.missing) for name in others}
    found = [name for name in others if held[name] and held[name] <= classes]
    if len(found) == 1:
        return found[0]
    way = "specify the column of the labels with --target"
    if found:
        why = f"columns {', '.join(repr(name) for name in found[:5])} could all be the labels"
    elif others:
        names = ", ".join(repr(name) for name in others[:5])
        shown = listed([str(label) for label in model.classes])
        why = f"none of the columns {names} contains only the model's classes, {shown}{_nearest(classes, held)}"
        way = f"write the labels in the same way, or {way}"
        if {*map(_plain, classes)}.isdisjoint(_plain(text) for name in others for text in held[name]):
            way = f"add the labels to the table, or {way}; 'abstain predict' needs none"
    else:
        why = "all columns are features of the model"
    raise DataError(f"{table.path}: {why}; {way}.")


def _held(table: InputTable, batch: Batch, name: str, missing: Sequence[str]) -> set[str]:
    """The labels in a column; none if it is of another type."""
    try:
        return {*labels(table, batch, name, missing)} - {None}
    except DataError:
        return set()


def _nearest(classes: set[str], held: dict[str, set[str]]) -> str:
    """Name the column whose labels are most like the classes: written in another way, as 0 for 0.0, or the fewest."""
    alike = {*map(_plain, classes)}
    found = [name for name in held if held[name]]
    if not found:
        return ""
    name = min(found, key=lambda name: (not {*map(_plain, held[name])} <= alike, len(held[name])))
    return f"; column {name!r} contains {some(sorted(held[name]), 3)}"


def _plain(label: str) -> str:
    """A label regardless of case and of how a number is written."""
    return label.strip().lower() if math.isnan(number_of(label)) else str(float(label))
