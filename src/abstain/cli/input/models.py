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
from abstain.estimators.unwrap import FittedClassifier, decide

if TYPE_CHECKING:
    import polars as pl

    from abstain.rules.rule import Decisions


@dataclass(frozen=True, eq=False)
class FittedModel(FittedClassifier):
    """A fitted Pipeline or machine that reads named columns.

    Attributes
    ----------
    numeric, categorical : list of str
        The columns that it reads.
    nan_texts : list of str
        Categorical columns whose missing cells must be NaN, as in pandas.
    """

    numeric: list[str]
    categorical: list[str]
    nan_texts: list[str]

    @classmethod
    def of(cls, estimator: Any, pos_label: Any = None) -> Self:
        """Make the model from a fitted estimator."""
        from abstain.files.onnx_inputs import Inputs
        from abstain.files.onnx_steps import NUMBER, TEXT
        from abstain.files.preprocessing_codec import is_default

        names = [str(name) for name in getattr(estimator, "feature_names_in_", [])]
        if not names:
            raise DataError("the model has no column names; fit it with 'abstain fit' or to a data frame.")
        kinds = Inputs.of(estimator).kinds if hasattr(estimator, "steps") else [NUMBER] * len(names)
        read = {kind: [name for name, its in zip(names, kinds, strict=True) if its == kind] for kind in (NUMBER, TEXT)}
        fitted = FittedClassifier.of(estimator, pos_label)
        default = not read[TEXT] or is_default(estimator)  # it takes both
        odd = {names[at] for at in ([] if default else Inputs.nan_texts(estimator))}
        nan_texts = [name for name in read[TEXT] if name in odd]
        return cls(**vars(fitted), numeric=read[NUMBER], categorical=read[TEXT], nan_texts=nan_texts)

    def check(self, table: InputTable) -> None:
        """Raise an error if the table lacks a column."""
        table.check_has([*self.numeric, *self.categorical], "the model")

    def decide(self, table: InputTable, batch: Batch) -> Decisions:
        """Decide on the rows of a batch."""
        cells = features(table, batch, self.numeric, self.categorical)
        if self.final is self.estimator:
            _check_present(cells, table, batch)
        try:
            return decide(self.estimator, self._rows(cells))
        except ValueError as error:  # numbers so far from the training data that scores overflow
            last = batch.places[-1]
            raise DataError(f"{table.place(batch.places[0])} to {last} cannot be decided: {error}") from error

    def _rows(self, cells: pl.DataFrame) -> Any:
        """The cells in the form that the model takes."""
        if all(cells[name].null_count() == 0 for name in self.nan_texts):
            return for_sklearn(cells)
        try:
            import pandas as pd
        except ImportError as error:
            raise UsageError("the model needs pandas to read missing text; install it.") from error
        columns = {column.name: column.to_numpy(allow_copy=True) for column in cells.get_columns()}
        for name in self.nan_texts:
            columns[name] = np.array([np.nan if cell is None else cell for cell in columns[name]], dtype=object)
        return pd.DataFrame(columns)

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
    """Read a model file and the columns that its model reads; any error in it is a DataError."""
    return FittedModel.of(load_estimator(path))


def load_estimator(path: Path) -> Any:
    """Read a model file; any error in it is a DataError."""
    from abstain.files.errors import ModelFileError
    from abstain.files.load import load

    try:
        return load(path)
    except ModelFileError as error:
        raise DataError(str(error)) from error
    except ImportError as error:
        raise UsageError(str(error)) from error
    except (ValueError, OSError) as error:
        raise DataError(f"{path} cannot be read as a model file: {error}") from error
