"""A model as the commands use it: the columns that it reads, and its decisions on batches of a table."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, UsageError, listed, meant
from abstain.cli.input.columns import for_sklearn
from abstain.cli.input.cost_sources import named_columns, row_costs_of
from abstain.cli.tables.csv_records import ZIP
from abstain.cli.tables.notation import Notation
from abstain.cli.tables.read_table import Batch, InputTable
from abstain.costs.action_labels import ActionLabels
from abstain.estimators.novelty.column_range import SeenCategories, SeenColumn
from abstain.estimators.novelty.training_ranges import SeenColumns
from abstain.estimators.unwrap import FittedClassifier, final_estimator, unguarded
from abstain.files.format.errors import ModelFileError
from abstain.files.model_file import load
from abstain.files.sklearn_codecs.preprocessing_codec import is_default
from abstain.preprocessing import CATEGORICAL, NAN_TEXT, NUMBER, TEXT, CellPlan, columns_read, frame, plan_of


@dataclass(frozen=True, eq=False)
class FittedModel(FittedClassifier):
    """A fitted Pipeline or machine that reads named columns.

    Attributes
    ----------
    numeric, categorical : list of str
        The columns that it reads.
    plan : CellPlan
        Which numeric columns are dates, and what stands for missing values.
    seen : SeenColumns
        What training had in these columns, as far as it is known.
    nan_texts : list of str
        Categorical columns whose missing cells must be NaN, as in pandas.
    """

    numeric: list[str]
    categorical: list[str]
    plan: CellPlan
    seen: SeenColumns
    nan_texts: list[str]

    @classmethod
    def of(cls, estimator: Any, pos_label: Any = None) -> Self:
        """Make the model from a fitted estimator."""
        names = [str(name) for name in getattr(estimator, "feature_names_in_", [])]
        if not names:
            raise DataError("the model has no column names; fit it with 'abstain fit' or to a data frame.")
        pipeline = _pipeline(estimator)
        kinds = dict.fromkeys(names, NUMBER) if pipeline is None else columns_read(pipeline[:-1], names)
        numeric = [name for name in names if kinds.get(name) == NUMBER]
        categorical = [name for name in names if kinds.get(name) in (TEXT, NAN_TEXT)]
        preprocess = pipeline[0] if pipeline is not None and is_default(pipeline) else None
        found = vars(FittedClassifier.of(estimator, pos_label)) | {"numeric": numeric, "categorical": categorical}
        found |= {"plan": plan_of(preprocess), "seen": seen_of(estimator, preprocess, [*numeric, *categorical])}
        return cls(**found, nan_texts=[name for name in categorical if kinds[name] == NAN_TEXT])

    def reading(self, notation: Notation) -> Self:
        """The model for a table in this notation: its own plan, with what the options add."""
        first = self.plan.day_first if notation.day_first is None else notation.day_first
        missing = tuple(dict.fromkeys((*self.plan.missing, *notation.missing)))
        return replace(self, plan=replace(self.plan, day_first=first, missing=missing))

    def check(self, table: InputTable) -> None:
        """Raise an error if the table lacks a column."""
        table.check_has([*self.numeric, *self.categorical, *named_columns(self.plan.costs)], "the model")

    def row_costs(self, table: InputTable, batch: Batch) -> NDArray[np.float64] | None:
        """Return the costs of the rows of a batch, if the model reads them from columns."""
        return row_costs_of(self.plan, table, batch, len(self.classes))

    @property
    def actions(self) -> list[str]:
        """The actions, if they have names of their own; none for answers and a reject."""
        labels = None if self.rule is None else self.rule.labels
        return labels.titles if isinstance(labels, ActionLabels) else []

    @property
    def named(self) -> dict[str, Any]:
        """What the score means, the classes and the actions, for the facts that commands print."""
        if self.positive is not None and not self.actions:
            classes = {"negative class": self.negative, "positive class": self.positive}
            missed = f"deciding {str(self.negative)!r} for a row of {str(self.positive)!r}"
            return {"score": self.score_means, **classes, "a false negative is": missed}
        found: dict[str, Any] = {"classes": [str(label) for label in self.classes], "score": self.score_means}
        return found | ({"actions": self.actions} if self.actions else {})

    @property
    def score_means(self) -> str:
        """What a high score means, with the name of the class; of two classes it is the one that sorts last."""
        if len(self.classes) > 2:
            return "one for each class, high for that class"
        what = "log-odds of" if self.rule is not None and self.rule.readout.unit == 1.0 else "high for"
        return f"{what} {str(self.classes[1])!r}, the class that sorts last"

    @property
    def imputes(self) -> bool:
        """Whether a step before the machine takes missing cells."""
        return _pipeline(self.estimator) is not None

    @property
    def guarded(self) -> bool:
        """Whether it rejects novel rows."""
        return hasattr(self.final, "guard_")

    @property
    def promise(self) -> Any:
        """The bound of a ceiling on errors, if the model was fitted for one."""
        final = final_estimator(unguarded(self.estimator))
        while hasattr(final, "estimator") and not hasattr(final, "certificate_"):
            final = final_estimator(final.estimator)  # a frozen one
        return getattr(final, "certificate_", None)

    def rows(self, cells: pl.DataFrame) -> Any:
        """The cells in the form that the model takes."""
        if all(cells[name].null_count() == 0 for name in self.nan_texts):
            return for_sklearn(cells)
        if find_spec("pandas") is None:
            raise UsageError("the model needs pandas to read missing text; install it.")
        columns = {column.name: column.to_numpy(allow_copy=True) for column in cells.get_columns()}
        for name in self.nan_texts:
            columns[name] = np.array([np.nan if cell is None else cell for cell in columns[name]], dtype=object)
        return frame(columns)

    def labels(self, text: NDArray[Any], table: InputTable, batch: Batch, target: str) -> Any:
        """Convert labels from text to the type of the classes; an unknown label is an error."""
        known = {str(label): label for label in self.classes}
        for at, label in enumerate(text):
            if label not in known:
                what = f"{label!r} is not one of the model's classes, {listed(self.classes)}"
                way = f"correct it or remove the row{meant(str(label), known) or '.'}"
                raise DataError(f"{table.cell(batch, at, target)}: {what}; {way}")
        return np.array([known[label] for label in text], dtype=self.final.classes_.dtype)


def _pipeline(estimator: Any) -> Any:
    """The Pipeline that reads the columns: the model, or what is inside a guard or rejector; None without one."""
    while not hasattr(estimator, "steps") and hasattr(estimator, "estimator_"):
        estimator = estimator.estimator_
    return estimator if hasattr(estimator, "steps") else None


def load_model(path: Path) -> FittedModel:
    """Read a model file and the columns that its model reads; any error in it is a DataError."""
    return FittedModel.of(load_estimator(path))


def load_estimator(path: Path) -> Any:
    """Read a model file; any error in it is a DataError."""
    try:
        return load(path)
    except ModelFileError as error:
        with path.open("rb") as file:
            packed = file.read(len(ZIP)) == ZIP and path.suffix.lower() != ".xlsx"
        raise DataError(str(error) if packed else f"{error} The model is given first, then the table.") from error
    except ImportError as error:
        raise UsageError(str(error)) from error
    except (ValueError, OSError) as error:
        raise DataError(f"{path} cannot be read as a model file: {error}") from error


def seen_of(estimator: Any, preprocess: Any, read: Collection[str]) -> SeenColumns:
    """What training had in the columns that a model reads: its own counts, or the categories of its preprocessing."""
    known, named = {} if preprocess is None else _categories(preprocess), {*read}
    own = getattr(estimator, "seen_", None)
    if own is None:
        return SeenColumns.of_categories(known)
    columns: list[SeenColumn] = []
    for column in (one for one in own if one.name in named):
        # all categories, where it has more than are counted and the preprocessing has them
        more = isinstance(column, SeenCategories) and column.rest and column.name in known
        columns.append(replace(column, counts=dict.fromkeys(known[column.name], 0), rest=0) if more else column)
    return SeenColumns(own.rows, tuple(columns))


def _categories(preprocess: Any) -> dict[str, list[str]]:
    """The categories of each categorical column of the default preprocessing."""
    parts = {name: list(columns) for name, _, columns in preprocess.transformers}
    if CATEGORICAL not in parts:
        return {}
    known = preprocess.named_transformers_[CATEGORICAL]["encode"].categories_
    return {name: texts.tolist() for name, texts in zip(parts[CATEGORICAL], known, strict=True)}
