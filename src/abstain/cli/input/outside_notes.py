"""Values in a table that the training rows did not have, as `predict` and `evaluate` name them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from abstain.estimators.novelty.column_range import SeenCategories, SeenColumn, SeenNumbers
from abstain.estimators.novelty.training_ranges import Outside, OutsideColumn, SeenColumns
from abstain.preprocessing import CATEGORICAL

NOTED = ("unseen categories", "outside the range", "newly missing")  # facts that notes give in words
CHANCE = 0.05  # of a note on any range of columns, if all rows are like the training rows


class OutsideTraining:
    """These values, counted over the batches of a table.

    Parameters
    ----------
    seen : SeenColumns
        What training had; categories alone if the model has no guard.
    dates : collection of str
        Columns of dates.
    """

    def __init__(self, seen: SeenColumns, dates: Collection[str] = ()) -> None:
        self._seen, self._dates = seen, dates
        self._found = Outside(0, ())

    def add(self, cells: pl.DataFrame) -> None:
        """Count those of a batch."""
        new = self._seen.outside(cells)
        self._found = self._found + new if self._found.columns else new

    def words(self) -> list[str]:
        """One sentence for each of the columns with the most such values, then how many more there are.

        A few numbers just outside the range are to be expected of rows like the training rows, and are left out.
        """
        tests = 2 * max(1, sum(isinstance(column.seen, SeenNumbers) for column in self._found.columns))
        said = tuple(column for column in self._found.columns if _surprising(column, CHANCE / tests))
        return Outside(self._found.rows, said).words(dates=self._dates)

    def facts(self) -> dict[str, list[dict[str, Any]]]:
        """Records by column; only of unseen categories if nothing else is known about training."""
        found = self._found.facts()
        return found if self._seen.rows else {"unseen categories": found["unseen categories"]}


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


def seen_of(estimator: Any, preprocess: Any, read: Collection[str]) -> SeenColumns:
    """What training had in the columns that a model reads: its own counts, or the categories of its preprocessing."""
    known, named = {} if preprocess is None else _categories(preprocess), {*read}
    own = getattr(estimator, "seen_", None)
    if own is None:
        return SeenColumns.of_categories(known)
    return SeenColumns(own.rows, tuple(_complete(column, known) for column in own if column.name in named))


def _complete(column: SeenColumn, known: dict[str, list[str]]) -> SeenColumn:
    """The column with all its categories, where it has more than are counted and the preprocessing has them."""
    if not isinstance(column, SeenCategories) or not column.rest or column.name not in known:
        return column
    return replace(column, counts=dict.fromkeys(known[str(column.name)], 0), rest=0)


def _categories(preprocess: Any) -> dict[str, list[str]]:
    """The categories of each categorical column of the default preprocessing."""
    parts = {name: list(columns) for name, _, columns in preprocess.transformers_}
    if CATEGORICAL not in parts:
        return {}
    known = preprocess.named_transformers_[CATEGORICAL]["encode"].categories_
    return {name: texts.tolist() for name, texts in zip(parts[CATEGORICAL], known, strict=True)}
