"""A model as the commands use it: the columns that it reads, and its decisions on batches of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, UsageError
from abstain.cli.input.columns import features, for_sklearn
from abstain.cli.input.notation import Notation
from abstain.cli.input.read_table import Batch, InputTable
from abstain.estimators.unwrap import FittedClassifier
from abstain.preprocessing import CATEGORICAL, NUMERIC, PREPROCESS, CellPlan, plan_of

if TYPE_CHECKING:
    import polars as pl

    from abstain.rules.rule import Decisions

SHOWN = 5  # names in a message


class Unseen:
    """Categories that did not occur in training, counted over the batches of a table."""

    def __init__(self) -> None:
        self._rows: dict[str, Counter[str]] = {}

    def add(self, cells: pl.DataFrame, seen: Mapping[str, frozenset[str]]) -> None:
        """Count those of a batch."""
        for name, known in seen.items():
            column = cells[name].drop_nulls()
            new = {text for text in column.unique().to_list() if text not in known}
            if new:
                counts = self._rows.setdefault(name, Counter())
                counts.update(column.filter(column.is_in([*new])).to_list())

    def facts(self) -> list[dict[str, Any]]:
        """One record per column, with the most frequent of its new categories."""
        return [
            {
                "column": name,
                "rows": counts.total(),
                "categories": len(counts),
                "such as": [text for text, _ in sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:SHOWN]],
            }
            for name, counts in self._rows.items()
        ]

    def words(self) -> list[str]:
        """One sentence per column."""
        found = []
        for fact in self.facts():
            some = ", ".join(repr(text[:60]) for text in fact["such as"])
            rows = "1 row has" if fact["rows"] == 1 else f"{fact['rows']} rows have"
            new = f"a category that did not occur in training: {some}"
            if fact["categories"] > 1:
                new = f"{fact['categories']} categories that did not occur in training, such as {some}"
            found.append(f"column {fact['column']!r}: {rows} {new}; none of the known categories is set for them.")
        return found


@dataclass(frozen=True, eq=False)
class FittedModel(FittedClassifier):
    """A fitted Pipeline of `default_pipeline`, or a machine fitted to named columns of numbers.

    Attributes
    ----------
    numeric, categorical : list of str
        The columns that it reads.
    plan : CellPlan
        Which numeric columns are dates, and what stands for missing values.
    seen : dict of str to set of str
        The categories of each categorical column in training.
    """

    numeric: list[str]
    categorical: list[str]
    plan: CellPlan
    seen: dict[str, frozenset[str]]

    @classmethod
    def of(cls, estimator: Any, pos_label: Any = None) -> Self:
        """Make the model from a fitted estimator."""
        fitted = FittedClassifier.of(estimator, pos_label)
        steps = getattr(estimator, "named_steps", None)
        if steps is None:
            names = [str(name) for name in getattr(estimator, "feature_names_in_", [])]
            if not names:
                raise DataError("the model has no column names; fit it with 'abstain fit' or to a data frame.")
            return cls(**vars(fitted), numeric=names, categorical=[], plan=CellPlan(), seen={})
        preprocess = steps[PREPROCESS]
        parts = {name: list(columns) for name, _, columns in preprocess.transformers_}
        numeric, categorical, seen = parts.get(NUMERIC, []), parts.get(CATEGORICAL, []), dict[str, frozenset[str]]()
        if categorical:
            known = preprocess.named_transformers_[CATEGORICAL]["encode"].categories_
            seen = {name: frozenset(texts.tolist()) for name, texts in zip(categorical, known, strict=True)}
        plan = plan_of(preprocess)
        return cls(**vars(fitted), numeric=numeric, categorical=categorical, plan=plan, seen=seen)

    def reading(self, notation: Notation) -> Self:
        """The model for a table in this notation: its own plan, with what the options add."""
        first = self.plan.day_first if notation.day_first is None else notation.day_first
        missing = tuple(dict.fromkeys((*self.plan.missing, *notation.missing)))
        return replace(self, plan=replace(self.plan, day_first=first, missing=missing))

    def check(self, table: InputTable) -> None:
        """Raise an error if the table lacks a column."""
        table.check_has([*self.numeric, *self.categorical], "the model")

    @property
    def score_means(self) -> str:
        """What a high score means, with the name of the class; it is the class that sorts last."""
        unit = 0.0 if self.rule is None else self.rule.unit
        what = "log-odds of" if unit == 1.0 else "high for"
        return f"{what} {str(self.classes[1])!r}, the class that sorts last"

    def decide(self, table: InputTable, batch: Batch, unseen: Unseen | None = None) -> Decisions:
        """Decide on the rows of a batch; categories not seen in training are added to `unseen`."""
        cells = features(table, batch, self.numeric, self.categorical, self.plan)
        if unseen is not None:
            unseen.add(cells, self.seen)
        if self.final is self.estimator:
            _check_present(cells, table, batch)
        rows = for_sklearn(cells)
        if self.final is not self.estimator:
            rows = self.estimator[:-1].transform(rows)
        try:
            return self.final.decide(rows)
        except ValueError as error:  # numbers so far from the training data that scores overflow
            last = batch.places[-1]
            raise DataError(f"{table.place(batch.places[0])} to {last} cannot be decided: {error}") from error

    def labels(self, text: NDArray[Any], table: InputTable, batch: Batch, target: str) -> Any:
        """Convert labels from text to the type of the classes; an unknown label is an error."""
        known = {str(label): label for label in self.classes}
        for at, label in enumerate(text):
            if label not in known:
                raise DataError(
                    f"{table.place(batch.places[at])}, column {target!r}: {label!r} is not one of the model's classes, "
                    f"{self.classes[0]!r} and {self.classes[1]!r}; correct it or remove the row."
                )
        return np.array([known[label] for label in text], dtype=self.final.classes_.dtype)


def _check_present(cells: pl.DataFrame, table: InputTable, batch: Batch) -> None:
    """Raise an error for missing numbers, which a machine without the default pipeline does not impute."""
    for column in cells.get_columns():
        absent = column.is_nan().arg_true()
        if len(absent) > 0:
            raise DataError(
                f"{table.place(batch.places[absent[0]])}, column {column.name!r}: a number is missing, and this model "
                "does not impute it; correct the row or remove it."
            )


def load_model(path: Path) -> FittedModel:
    """Read a model file; any error in it is a DataError."""
    from abstain.files.errors import ModelFileError
    from abstain.files.load import load

    try:
        estimator = load(path)
    except ModelFileError as error:
        raise DataError(str(error)) from error
    except ImportError as error:
        raise UsageError(str(error)) from error
    except (ValueError, OSError) as error:
        raise DataError(f"{path} cannot be read as a model file: {error}") from error
    return FittedModel.of(estimator)
