"""Decisions of a model on the batches of a table, and what they show to be unlike the training rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError
from abstain.cli.input.columns import features
from abstain.cli.input.models import FittedModel
from abstain.cli.tables.notation import Notation, format_of
from abstain.cli.tables.read_table import Batch, InputTable, opened
from abstain.comparison.batch_counts import DriftCounts, guarded_rows
from abstain.comparison.drift import drift_of
from abstain.comparison.drift_result import Drift
from abstain.estimators.novelty.column_range import SeenNumbers
from abstain.estimators.novelty.training_ranges import Outside, OutsideColumn
from abstain.estimators.unwrap import decide

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
