"""Decisions of a model on the batches of a table, and what they show to be unlike the training rows."""

from __future__ import annotations

from typing import Any

from abstain.cli.exit_codes import DataError
from abstain.cli.input.columns import features
from abstain.cli.input.cost_columns import row_costs_of
from abstain.cli.input.models import FittedModel
from abstain.cli.input.outside_notes import OutsideTraining
from abstain.cli.tables.notation import Notation
from abstain.cli.tables.read_table import Batch, InputTable
from abstain.comparison.batch_counts import DriftCounts, guarded_rows
from abstain.comparison.drift import drift_of
from abstain.comparison.drift_result import Drift
from abstain.estimators.novelty.calibration import counted
from abstain.estimators.unwrap import decide

__all__ = ["Deciding", "drift_facts"]


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
            return self._decided(model.rows(cells), row_costs_of(model.plan, table, batch))
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
        known = now.calibration.choices is not None
        choices = counted(found.label, found.rejected, now.rule) if known else None
        new = DriftCounts.of_decided(guarded, X, unusual, choices)
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
