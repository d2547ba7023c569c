"""A model as the commands use it: the columns that it reads, and its decisions on batches of a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, UsageError
from abstain.cli.input.columns import features, for_sklearn
from abstain.cli.input.read_table import Batch, InputTable
from abstain.estimators.unwrap import FittedClassifier

if TYPE_CHECKING:
    import polars as pl

    from abstain.rules.rule import Decisions


@dataclass(frozen=True, eq=False)
class FittedModel(FittedClassifier):
    """A fitted Pipeline of `default_pipeline`, or a machine fitted to named columns of numbers.

    Attributes
    ----------
    numeric, categorical : list of str
        The columns that it reads.
    """

    numeric: list[str]
    categorical: list[str]

    @classmethod
    def of(cls, estimator: Any, pos_label: Any = None) -> Self:
        """Make the model from a fitted estimator."""
        from abstain.preprocessing import CATEGORICAL, NUMERIC, PREPROCESS

        fitted = FittedClassifier.of(estimator, pos_label)
        steps = getattr(estimator, "named_steps", None)
        if steps is None:
            names = [str(name) for name in getattr(estimator, "feature_names_in_", [])]
            if not names:
                raise DataError("the model has no column names; fit it with 'abstain fit' or to a data frame.")
            return cls(**vars(fitted), numeric=names, categorical=[])
        parts = {name: list(columns) for name, _, columns in steps[PREPROCESS].transformers_}
        return cls(**vars(fitted), numeric=parts.get(NUMERIC, []), categorical=parts.get(CATEGORICAL, []))

    def check(self, table: InputTable) -> None:
        """Raise an error if the table lacks a column."""
        table.check_has([*self.numeric, *self.categorical], "the model")

    @property
    def score_means(self) -> str:
        """What a high score means, with the name of the class; it is the class that sorts last."""
        unit = 0.0 if self.rule is None else self.rule.unit
        what = "log-odds of" if unit == 1.0 else "high for"
        return f"{what} {str(self.classes[1])!r}, the class that sorts last"

    def decide(self, table: InputTable, batch: Batch) -> Decisions:
        """Decide on the rows of a batch."""
        cells = features(table, batch, self.numeric, self.categorical)
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
