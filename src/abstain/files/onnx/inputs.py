"""The inputs of a Pipeline's graph: which columns it reads, whether they are numbers or text, and examples of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline

from abstain import preprocessing as tables
from abstain.files.format.errors import no_graph
from abstain.files.onnx.steps import NUMBER, TEXT, parts_of
from abstain.files.sklearn_codecs.steps_codec import active_steps

OUTPUTS, GUARDED = ("label", "score", "rejected"), ("novel", "p_value")
UNSEEN = "?"  # before the last category: a text that is not one of them


@dataclass(frozen=True)
class Inputs:
    """The columns that a Pipeline reads: NUMBER, TEXT, or None for those that nothing reads, and their names."""

    kinds: list[str | None]
    names: list[str]
    apart: bool  # one input per column
    framed: bool  # whether Python reads a data frame
    guarded: bool = False  # whether the graph has the outputs of a guard

    @classmethod
    def of(cls, pipeline: Pipeline, *, guarded: bool = False) -> Inputs:
        """The inputs of a fitted Pipeline: one per column if columns are chosen by name or one is text, else one."""
        first = active_steps(pipeline)[0]
        if type(first) is Pipeline:
            return cls.of(first, guarded=guarded)
        kinds: list[str | None] = [None] * int(first.n_features_in_)
        for steps, places in _first_steps(first, list(range(len(kinds)))):
            read = tables.columns_read(steps[0] if steps else None, [str(one) for one in range(len(places))])
            for place, what in zip(places, read.values(), strict=True):
                kind = NUMBER if what == tables.NUMBER else TEXT
                if kinds[place] not in (None, kind):
                    raise no_graph(f"reads column {place} both as text and as numbers", "")
                kinds[place] = kind
        names = getattr(first, "feature_names_in_", None)
        apart = TEXT in kinds or (names is not None and type(first) is ColumnTransformer)
        called = [f"x{at}" for at in range(len(kinds))] if names is None else [str(name) for name in names]
        return cls(kinds, called, apart, names is not None, guarded)

    @property
    def inputs(self) -> list[str]:
        """The name of each column's input: that of the column, unless the graph itself uses it."""
        taken = ("", *OUTPUTS, *(GUARDED if self.guarded else ()))
        prefixes = ("abstain/", "column:")
        return [f"column:{name}" if name in taken or name.startswith(prefixes) else name for name in self.names]

    def rows(self, pipeline: Pipeline, count: int) -> tuple[Any, dict[str, Any]]:
        """Rows like the training rows, as Python reads them and as the graph does."""
        rng = np.random.default_rng(0)
        cells: list[Any] = [np.zeros(count) for _ in self.kinds]
        for steps, places in _first_steps(pipeline, list(range(len(cells)))):
            for place, column in zip(places, _examples(steps, len(places), count, rng), strict=True):
                cells[place] = column
        if not self.apart:
            X = np.column_stack(cells).astype(np.float64)
            return tables.frame(dict(zip(self.names, X.T, strict=True))) if self.framed else X, {"X": X}
        feeds = {
            name: _fed(column, kind)
            for name, kind, column in zip(self.inputs, self.kinds, cells, strict=True)
            if kind is not None
        }
        if self.framed:  # a missing text stays what it is
            return tables.frame(dict(zip(self.names, cells, strict=True))), feeds
        X = np.empty((count, len(cells)), dtype=object)
        for place, column in enumerate(cells):
            X[:, place] = column
        return X, feeds


def _fed(column: NDArray[Any], kind: str) -> NDArray[Any]:
    if kind == NUMBER:
        return column.astype(np.float64)[:, np.newaxis]
    texts = ["" if not isinstance(one, str) else one for one in column.tolist()]
    return np.array(texts, dtype=object)[:, np.newaxis]


def _first_steps(step: Any, at: list[int]) -> list[tuple[Any, list[int]]]:
    """The transformers that read the columns at these places first, each with the steps that follow it."""
    if type(step) is ColumnTransformer:
        return [found for part, chosen in parts_of(step) for found in _first_steps(part, [at[one] for one in chosen])]
    if type(step) is Pipeline:
        steps = active_steps(step)
        if steps and type(steps[0]) in (Pipeline, ColumnTransformer):
            return _first_steps(steps[0], at)
        return [(steps, at)]
    return [([step], at)]


def _examples(steps: list[Any], count: int, rows: int, rng: np.random.Generator) -> list[NDArray[Any]]:
    """Columns that suit the first steps: around the centre of a scaler, among the categories of an encoder."""
    for step in steps:
        if hasattr(step, "categories_"):
            made = [_categories(step, known, rows, rng) for known in step.categories_]
            break
        if hasattr(step, "scale_") and step.n_features_in_ >= count:  # an imputer may have added columns
            made = [*step.inverse_transform(rng.standard_normal((rows, step.n_features_in_))).T[:count]]
            break
    else:
        made = [*rng.standard_normal((count, rows))]
    first = steps[0] if steps else None
    if isinstance(first, SimpleImputer):
        for column in made:
            column[rng.uniform(size=rows) < 0.1] = first.missing_values
    return made


def _categories(step: Any, known: NDArray[Any], rows: int, rng: np.random.Generator) -> NDArray[Any]:
    values = known.tolist()
    if step.handle_unknown != "error":
        texts = [one for one in values if isinstance(one, str)]
        values.append(UNSEEN + max(texts) if texts else -7.5)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    picked = column[rng.integers(0, len(values), rows)]
    return picked if known.dtype.kind in "OU" else picked.astype(np.float64)
