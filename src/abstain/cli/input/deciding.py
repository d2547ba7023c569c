"""Decisions of a model on the batches of a table, and what they show to be unlike the training rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from abstain.cli.exit_codes import DataError, listed, some
from abstain.cli.input.columns import features, labels
from abstain.cli.input.models import FittedModel
from abstain.cli.input.outside_notes import OutsideTraining
from abstain.cli.tables.notation import Notation, number_of
from abstain.cli.tables.read_table import Batch, InputTable
from abstain.comparison.batch_counts import DriftCounts, guarded_rows
from abstain.comparison.drift import drift_of
from abstain.comparison.drift_result import Drift
from abstain.estimators.unwrap import decide


class Deciding:
    """Decide the batches of a table, and count what the tests for drift need.

    Attributes
    ----------
    model : FittedModel
        With the notation of the table; without a guard there is nothing to compare rows with.
    outside : OutsideTraining
        Values that the training rows did not have.
    """

    def __init__(self, model: FittedModel, notation: Notation) -> None:
        self.model = model.reading(notation)
        self.outside = OutsideTraining(model.seen, model.plan.dates)
        self._counts: DriftCounts | None = None

    def decide(self, table: InputTable, batch: Batch) -> Any:
        """Decide on the rows of a batch, and count them."""
        model = self.model
        cells = features(table, batch, model.numeric, model.categorical, model.plan)
        self.outside.add(cells)
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
        new = DriftCounts.of_decided(guarded, X, unusual, found)
        self._counts = new if self._counts is None else self._counts + new
        return now.without(found, now.guard.novel(unusual))

    def drift(self) -> Drift | None:
        """Return the tests on all batches; None without a guard or rows."""
        return None if self._counts is None else drift_of(self.model.estimator, self._counts)


def _check_present(cells: Any, table: InputTable, batch: Batch) -> None:
    """Raise an error for missing numbers, which a machine without the default pipeline does not impute."""
    for column in cells.get_columns():
        absent = column.is_nan().arg_true()
        if len(absent) > 0:
            raise DataError(
                f"{table.place(batch.places[absent[0]])}, column {column.name!r}: a number is missing, and this model "
                "does not impute it; correct the row or remove it."
            )


def drift_facts(drift: Drift | None) -> dict[str, Any] | None:
    """The result as plain values, with the tests that find a difference."""
    if drift is None:
        return None
    names = {
        "what": "name", "here": "here", "before": "before", "difference": "difference", "p value": "corrected",
        "in words": "words",
    }  # fmt: skip
    return {
        "drifted": drift.drifted,
        "p value": drift.p_value,
        "effect": drift.effect,
        "differences": [{key: getattr(test, name) for key, name in names.items()} for test in drift.significant],
        "sentence": drift.sentence,
    }


def target_of(model: FittedModel, table: InputTable, batch: Batch) -> str:
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
