"""The graph of a Pipeline's transformers: numbers in float64, text in columns of its own, "" for a missing text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from abstain.files.sklearn_codecs.encoder_codec import drops
from abstain.files.sklearn_codecs.imputer_codec import is_nan

if TYPE_CHECKING:
    from abstain.files.onnx.graph import Graph

NUMBER, TEXT = "f", "U"


@dataclass(frozen=True)
class Column:
    """One column of the table, shape (rows, 1); a missing text is `fill` if an imputer came before."""

    value: str
    kind: str = NUMBER
    fill: str | None = None


@dataclass(frozen=True)
class Table:
    """What a step reads: a matrix of numbers, or columns one by one, with None where nothing reads the column."""

    matrix: str | None = None
    columns: tuple[Column | None, ...] = ()

    def numbers(self, graph: Graph) -> str:
        """The table as one matrix of numbers; an error if a column is text."""
        if self.matrix is not None:
            return self.matrix
        if any(one is None or one.kind != NUMBER for one in self.columns):
            raise ValueError("estimator uses a column of text as numbers, which has no ONNX graph; encode it first.")
        return graph.joined([one.value for one in self.columns if one is not None])

    def at(self, graph: Graph, indices: list[int]) -> Table:
        """The columns at these indices."""
        if self.matrix is None:
            return Table(columns=tuple(self.columns[at] for at in indices))
        return Table(graph.apply("Gather", self.matrix, np.array(indices, dtype=np.int64), axis=1))

    def each(self, graph: Graph, count: int) -> list[Column]:
        """The columns one by one."""
        if self.matrix is None:
            return [one for one in self.columns if one is not None]
        return [Column(self.at(graph, [at]).numbers(graph)) for at in range(count)]


def graph_of(graph: Graph, step: Any, table: Table) -> Table:
    """Add a transformer to the graph."""
    if step is None or isinstance(step, str):
        return table
    if type(step) is Pipeline:
        for _, inner in step.steps:
            table = graph_of(graph, inner, table)
        return table
    if type(step) is ColumnTransformer:
        return _side_by_side(graph, step, table)
    kind = type(step).__name__
    if kind not in _GRAPHS:
        raise ValueError(
            f"estimator has a {kind}, which has no ONNX graph here; transform the rows before they reach the graph, or "
            "use abstain.save."
        )
    return _GRAPHS[kind](graph, step, table)


def parts_of(step: ColumnTransformer) -> list[tuple[Any, list[int]]]:
    """The fitted parts that are not dropped, and the indices of their columns."""
    asked = {name: part for name, part, _ in step.transformers} | {"remainder": step.remainder}
    found = []
    for name, part, _ in step.transformers_:
        indices = [int(at) for at in step._transformer_to_input_indices[name]]
        if indices and not (isinstance(asked[name], str) and asked[name] == "drop"):
            found.append((asked[name] if isinstance(asked[name], str) else part, indices))
    return found


def _side_by_side(graph: Graph, step: ColumnTransformer, table: Table) -> Table:
    made = [graph_of(graph, part, table.at(graph, at)).numbers(graph) for part, at in parts_of(step)]
    return Table(graph.joined(made))


def _wide(values: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)


def _scaler(graph: Graph, step: Any, table: Table) -> Table:
    """(x - centre) / scale, or x scale + least, and then clipped to the range."""
    X, ends = table.numbers(graph), getattr(step, "feature_range", (-1.0, 1.0))
    if hasattr(step, "min_"):
        X = graph.apply("Add", graph.apply("Mul", X, _wide(step.scale_)), _wide(step.min_))
    else:
        centre = getattr(step, "center_", None)
        if getattr(step, "with_mean", False):
            centre = step.mean_
        X = X if centre is None else graph.apply("Sub", X, _wide(centre))
        X = X if step.scale_ is None else graph.apply("Div", X, _wide(step.scale_))
    return Table(graph.apply("Clip", X, *map(_wide, ends)) if getattr(step, "clip", False) else X)


def _normalizer(graph: Graph, step: Any, table: Table) -> Table:
    """Compute x / |x|; as in scikit-learn, a norm of nearly 0 counts as 1."""
    X = table.numbers(graph)
    if step.norm == "l2":
        norm = graph.apply("Sqrt", graph.across("ReduceSumSquare", X))
    else:
        norm = graph.across("ReduceSum" if step.norm == "l1" else "ReduceMax", graph.apply("Abs", X))
    tiny = graph.apply("Less", norm, 10.0 * np.finfo(np.float64).eps)
    return Table(graph.apply("Div", X, graph.apply("Where", tiny, 1.0, norm)))


def _imputer(graph: Graph, step: Any, table: Table) -> Table:
    if any(one is not None and one.kind == TEXT for one in table.columns):
        return _text_imputer(graph, step, table)
    X, missing = table.numbers(graph), step.missing_values
    if not isinstance(missing, float | int):
        raise ValueError(  # noqa: TRY004 (one kind of error for every bad value, as in scikit-learn)
            f"estimator has SimpleImputer(missing_values={missing!r}) for numbers, which has no ONNX graph; use NaN."
        )
    absent = graph.apply("IsNaN", X) if missing != missing else graph.apply("Equal", X, _wide(missing))  # noqa: PLR0124
    filled = np.array(step.statistics_, dtype=step._fit_dtype).astype(np.float64)
    X = graph.apply("Where", absent, filled, X)
    if not step.keep_empty_features and (dropped := is_nan(step.statistics_)).any():
        X = Table(X).at(graph, np.flatnonzero(~dropped).tolist()).numbers(graph)
    if step.add_indicator and len(step.indicator_.features_):
        flags = Table(graph.cast(absent, NUMBER)).at(graph, step.indicator_.features_.tolist())
        X = graph.joined([X, flags.numbers(graph)])
    return Table(X)


def _text_imputer(graph: Graph, step: Any, table: Table) -> Table:
    missing, made = step.missing_values, []
    if step.add_indicator or (not step.keep_empty_features and is_nan(step.statistics_).any()):
        raise ValueError(
            "estimator has a SimpleImputer for text with add_indicator=True or with columns that are always missing, "
            "which has no ONNX graph."
        )
    for column, fill in zip(table.each(graph, len(table.columns)), step.statistics_.tolist(), strict=True):
        if not isinstance(missing, str):
            made.append(replace(column, fill=fill if column.fill is None else column.fill))
            continue
        same = graph.apply("Equal", column.value, np.array(missing, dtype=object))
        value = graph.apply("Where", same, np.array(fill, dtype=object), column.value)
        made.append(replace(column, value=value))
    return Table(columns=tuple(made))


def _check_plain(step: Any) -> None:
    """Raise an error for an encoder that joins infrequent categories, or drops categories by name."""
    kind = type(step).__name__
    for name in ("min_frequency", "max_categories"):
        if (value := getattr(step, name)) is not None:
            raise ValueError(
                f"estimator has {kind}({name}={value!r}), which has no ONNX graph; leave {name} at its default, or "
                "join infrequent categories before fitting."
            )
    if step.handle_unknown == "infrequent_if_exist":
        raise ValueError(
            f"estimator has {kind}(handle_unknown='infrequent_if_exist'), which has no ONNX graph; use 'ignore'."
        )
    if not isinstance(drop := getattr(step, "drop", None), str | None):
        raise ValueError(  # noqa: TRY004 (one kind of error for every bad value, as in scikit-learn)
            f"estimator has {kind}(drop={drop!r}), which has no ONNX graph; use None, 'first' or 'if_binary'."
        )


def _same(graph: Graph, column: Column, categories: list[Any]) -> str:
    """Whether each row is each category, shape (rows, categories)."""
    if column.kind == NUMBER:
        known = [one for one in categories if one == one]  # noqa: PLR0124 (NaN)
        if any(abs(one) > 2**53 for one in known):
            raise ValueError("estimator encodes integers beyond 2**53 as categories, which ONNX's float64 cannot hold.")
        same = [graph.apply("Equal", column.value, _wide([known]))] if known else []
        same += [graph.apply("IsNaN", column.value)] if len(known) < len(categories) else []
        return graph.joined(same)
    absent = [one for one in categories if not isinstance(one, str)]
    if len(absent) + ("" in categories) > 1:
        raise ValueError('estimator encodes two of None, NaN and "" as categories, which are the same text in ONNX.')
    text = column.value
    if column.fill is not None and "" not in categories:
        empty = graph.apply("Equal", text, np.array("", dtype=object))
        text = graph.apply("Where", empty, np.array(column.fill, dtype=object), text)
    named = [one if isinstance(one, str) else "" for one in categories]
    return graph.apply("Equal", text, np.array([named], dtype=object))


def _known(graph: Graph, step: Any, column: Column, categories: list[Any]) -> tuple[str, str]:
    """As `_same`, and whether each row has an unknown category, shape (rows, 1); it is refused if Python refuses it."""
    same = _same(graph, column, categories)
    unknown = graph.apply("Not", graph.any_of(same))
    if step.handle_unknown == "error":
        graph.refuse(unknown)
    return same, unknown


def _one_hot(graph: Graph, step: Any, table: Table) -> Table:
    _check_plain(step)
    made = []
    for column, known in zip(table.each(graph, len(step.categories_)), step.categories_, strict=True):
        same = graph.cast(_known(graph, step, column, known.tolist())[0], NUMBER)
        if kept := list(range(drops(step.drop, len(known)), len(known))):
            made.append(Table(same).at(graph, kept).numbers(graph) if len(kept) < len(known) else same)
    if not made:
        raise ValueError("estimator has a OneHotEncoder that makes no columns, which has no ONNX graph.")
    return Table(graph.joined(made))


def _ordinal(graph: Graph, step: Any, table: Table) -> Table:
    """The number of each row's category: the sum over all categories of its number where the row is that category."""
    _check_plain(step)
    made = []
    for column, known in zip(table.each(graph, len(step.categories_)), step.categories_, strict=True):
        categories = known.tolist()
        same, unknown = _known(graph, step, column, categories)
        codes = np.arange(len(categories), dtype=np.float64)
        codes[[one != one for one in categories]] = step.encoded_missing_value  # noqa: PLR0124 (NaN)
        code = graph.across("ReduceSum", graph.apply("Where", same, codes[np.newaxis], 0.0))
        if step.handle_unknown == "use_encoded_value":
            code = graph.apply("Where", unknown, float(step.unknown_value), code)
        made.append(code)
    return Table(graph.joined(made))


_GRAPHS: dict[str, Callable[[Any, Any, Table], Table]] = {
    **dict.fromkeys(("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"), _scaler),
    "Normalizer": _normalizer,
    "SimpleImputer": _imputer,
    "OneHotEncoder": _one_hot,
    "OrdinalEncoder": _ordinal,
}
