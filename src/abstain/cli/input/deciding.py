"""Decisions of a model on the rows of a table, labelled or not, and what they show to be unlike the training rows."""

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
from abstain.cli.input.models import FittedModel
from abstain.cli.options import Given
from abstain.cli.tables.notation import Notation, format_of, number_of
from abstain.cli.tables.read_table import Batch, InputTable, opened
from abstain.comparison.batch_counts import DriftCounts, guarded_rows
from abstain.comparison.drift import drift_of
from abstain.comparison.drift_result import Drift
from abstain.estimators.novelty.column_range import SeenNumbers
from abstain.estimators.novelty.training_ranges import Outside, OutsideColumn
from abstain.estimators.unwrap import decide
from abstain.metrics.outcomes import Counts, Outcomes, read
from abstain.metrics.tables import counted
from abstain.report.rows import EXACT_ROWS
from abstain.rules.decisions import joined

NOTED = ("unseen categories", "outside the range", "newly missing")  # facts that notes give in words
CHANCE = 0.05  # of a note on any range of columns, if all rows are like the training rows


class Deciding:
    """Decide the batches of a table, and count what the tests for drift need.

    Attributes
    ----------
    model : FittedModel
        With the notation of the table; without a guard there is nothing to compare rows with.
    outside : Outside
        Values that the training rows did not have; only categories are known if the model has no guard.
    """

    def __init__(self, model: FittedModel, notation: Notation) -> None:
        self.model = model.reading(notation)
        self.outside: Any = 0  # the start of a sum over batches
        self._counts: Any = 0

    def decide(self, table: InputTable, batch: Batch) -> Any:
        """Decide on the rows of a batch, and count them."""
        model = self.model
        cells = features(table, batch, model.numeric, model.categorical, model.plan)
        self.outside += model.seen.outside(cells)
        if not model.imputes:
            _check_present(cells, table, batch)
        try:
            return self._decided(model.rows(cells), model.row_costs(table, batch))
        except ValueError as error:  # numbers so far from the training data that scores overflow
            last = batch.places[-1]
            raise DataError(f"{table.place(batch.places[0])} to {last} cannot be decided: {error}") from error

    def _decided(self, rows: Any, row_costs: Any) -> Any:
        """Decide on rows; the classifier and the detector score each of them once."""
        if not self.model.guarded:
            return decide(self.model.estimator, rows, row_costs)
        guarded, X = guarded_rows(self.model.estimator, rows)
        now = guarded._fitted_
        found, unusual = now.decided(X, row_costs), now.guard.unusual(X)
        self._counts += DriftCounts.of_decided(guarded, X, unusual, found)
        return now.without(found, now.guard.novel(unusual), now.guard.p_value(unusual) if now.guard.acts else None)

    def read(self, path: Path, notation: Notation) -> Self:
        """Decide all rows of a table, only to count them."""
        with opened(path, notation, "drift") as table:
            self.model.check(table)
            for batch in table.batches:
                self.decide(table, batch)
        return self

    def drift(self) -> Drift | None:
        """Return the tests on all batches; None without a guard."""
        return drift_of(self.model.estimator, self._counts) if self.model.guarded else None

    def words(self) -> list[str]:
        """One sentence for each of the columns with the most values outside, then how many more there are.

        A few numbers just outside the range are to be expected of rows like the training rows, and are left out.
        """
        columns = self.outside.columns
        tests = 2 * max(1, sum(isinstance(column.seen, SeenNumbers) for column in columns))
        said = tuple(column for column in columns if _surprising(column, CHANCE / tests))
        return Outside(self.outside.rows, said).words(dates=self.model.plan.dates)

    def facts(self) -> dict[str, list[dict[str, Any]]]:
        """Records of values outside by column; only of unseen categories if nothing else is known about training."""
        found = self.outside.facts()
        return found if self.model.seen.rows else {"unseen categories": found["unseen categories"]}


def reasons(model: FittedModel, table: InputTable, batch: Batch, decisions: Any, rows: NDArray[np.intp]) -> list[str]:
    """Return a sentence on each of these rows of a batch: why it is decided so, and what would change that."""
    from abstain.reasons.explain import explain

    if not len(rows):
        return []
    X, dates = model.rows(features(table, batch, model.numeric, model.categorical, model.plan)), model.plan.dates
    how: dict[str, Any] = {"row_costs": model.row_costs(table, batch), "decisions": decisions, "rows": rows}
    how["decimal"] = table.notation.decimal
    if dates:
        how["date_format"] = format_of(batch.frame[dates[0]], model.plan.day_first)
    return list(explain(model.estimator, X, **how).sentence.tolist())


def _surprising(column: OutsideColumn, level: float) -> bool:
    """Whether cells are outside for another reason than chance, by far more than the range, or not in a range.

    Of n + N rows alike, k of the N new ones are the k largest with the probability C(N, k) / C(n + N, k).
    """
    seen = column.seen
    if not isinstance(seen, SeenNumbers) or not seen.present or column.unseen_rows or column.newly_missing:
        return True
    width, new = seen.largest - seen.smallest, column.rows - column.missing
    if column.smallest < seen.smallest - width or column.largest > seen.largest + width:
        return True
    k = np.arange(max(column.below, column.above))
    chance = np.log(np.maximum(new - k, 1)) - np.log(seen.present + new - k)
    return bool(chance.sum() <= np.log(level))


def _check_present(cells: pl.DataFrame, table: InputTable, batch: Batch) -> None:
    """Raise an error for missing numbers, which a machine without the default pipeline does not impute."""
    for column in cells.get_columns():
        absent = column.is_nan().arg_true()
        if len(absent) > 0:
            what = "a number is missing, and this model does not impute it; correct the row or remove it"
            raise DataError(f"{table.cell(batch, absent[0], column.name)}: {what}.")


@dataclass(frozen=True, eq=False)
class Judged:
    """Labelled rows and the predictions of a model.

    Attributes
    ----------
    places : polars.Series
        The position of each row in the file.
    row_costs : ndarray or None
        The costs of each row, if the model reads them from columns, in the form that it takes.
    outside : dict of str to list
        Records of the columns with values that training did not have.
    drift : Drift or None
        Whether the rows together are like the training rows, if the model has a guard.
    cells : polars.DataFrame or None
        The cells that the model reads, for a report on not too many rows.
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
            if table.is_review:
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
