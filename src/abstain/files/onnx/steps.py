"""The graph of a Pipeline's transformers: numbers in float64, text in columns of its own, "" for a missing text."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from abstain.files.format.errors import no_graph
from abstain.files.sklearn_codecs.cells_codec import drops, is_nan

if TYPE_CHECKING:
    from abstain.files.onnx.graph import Value

NUMBER, TEXT = "f", "U"
OUTSIDE = "transform the rows before they reach the graph, or use abstain.save"
JOIN = "at its default, or join infrequent categories before fitting"
# the settings of an encoder that have a graph, and the way out
PLAIN: dict[str, tuple[Callable[[Any], bool], str]] = {
    "min_frequency": (lambda value: value is None, f"leave min_frequency {JOIN}"),
    "max_categories": (lambda value: value is None, f"leave max_categories {JOIN}"),
    "handle_unknown": (lambda value: value != "infrequent_if_exist", "use 'ignore'"),
    "drop": (lambda value: isinstance(value, str | None), "use None, 'first' or 'if_binary'"),
}


@dataclass(frozen=True)
class Column:
    """One column of the table, shape (rows, 1); a missing text is `fill` if an imputer came before."""

    value: "Value"
    kind: str = NUMBER
    fill: str | None = None


@dataclass(frozen=True)
class Table:
    """What a step reads: a matrix of numbers, or columns one by one, with None where nothing reads the column."""

    matrix: "Value | None" = None
    columns: tuple[Column | None, ...] = ()

    def numbers(self) -> "Value":
        """The table as one matrix of numbers; an error if a column is text."""
        if self.matrix is not None:
            return self.matrix
        if any(one is None or one.kind != NUMBER for one in self.columns):
            raise no_graph("uses a column of text as numbers", "; encode it first")
        return _joined([one.value for one in self.columns if one is not None])

    def at(self, indices: list[int]) -> "Table":
        """The columns at these indices."""
        if self.matrix is None:
            return Table(columns=tuple(self.columns[at] for at in indices))
        return Table(self.matrix.columns(indices))

    def each(self, count: int) -> list[Column]:
        """The columns one by one."""
        if self.matrix is None:
            return [one for one in self.columns if one is not None]
        return [Column(self.matrix.columns([at])) for at in range(count)]


def _joined(parts: "list[Value]") -> "Value":
    return parts[0].beside(*parts[1:])


def through(steps: Iterable[Any], table: "Table") -> "Table":
    """Add transformers to the graph, one after the other."""
    for step in steps:
        if type(step) is Pipeline:
            table = through([inner for _, inner in step.steps], table)
        elif type(step) is ColumnTransformer:
            table = Table(_joined([through([part], table.at(at)).numbers() for part, at in parts_of(step)]))
        elif step is not None and not isinstance(step, str):
            kind = type(step).__name__
            if kind not in _GRAPHS:
                raise no_graph(f"has a {kind}", f" here; {OUTSIDE}")
            table = _GRAPHS[kind](step, table)
    return table


def parts_of(step: ColumnTransformer) -> list[tuple[Any, list[int]]]:
    """The fitted parts that are not dropped, and the indices of their columns."""
    asked = {name: part for name, part, _ in step.transformers} | {"remainder": step.remainder}
    found = []
    for name, part, _ in step.transformers_:
        indices = [int(at) for at in step._transformer_to_input_indices[name]]
        if indices and not (isinstance(asked[name], str) and asked[name] == "drop"):
            found.append((asked[name] if isinstance(asked[name], str) else part, indices))
    return found


def transformers_in(step: Any) -> list[Any]:
    """The transformers inside a step, however deep; of any but a Pipeline or a ColumnTransformer, the step itself."""
    if type(step) is Pipeline:
        inner = [one for _, one in step.steps]
    elif type(step) is ColumnTransformer:
        inner = [part for part, _ in parts_of(step)]
    else:
        return [step]
    return [found for one in inner for found in transformers_in(one)]


def _wide(values: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)


def _scaler(step: Any, table: "Table") -> "Table":
    """(x - centre) / scale, or x scale + least, and then clipped to the range."""
    X, ends = table.numbers(), getattr(step, "feature_range", (-1.0, 1.0))
    if hasattr(step, "min_"):
        X = X * _wide(step.scale_) + _wide(step.min_)
    else:
        centre = step.mean_ if getattr(step, "with_mean", False) else getattr(step, "center_", None)
        X = X if centre is None else X - _wide(centre)
        X = X if step.scale_ is None else X / _wide(step.scale_)
    return Table(X.apply("Clip", *map(_wide, ends)) if getattr(step, "clip", False) else X)


def _normalizer(step: Any, table: "Table") -> "Table":
    """Compute x / |x|; as in scikit-learn, a norm of nearly 0 counts as 1."""
    X = table.numbers()
    if step.norm == "l2":
        norm = X.across("ReduceSumSquare").apply("Sqrt")
    else:
        norm = abs(X).across("ReduceSum" if step.norm == "l1" else "ReduceMax")
    return Table(X / (norm < 10.0 * np.finfo(np.float64).eps).where(1.0, norm))


def _imputer(step: Any, table: "Table") -> "Table":
    if any(one is not None and one.kind == TEXT for one in table.columns):
        return _text_imputer(step, table)
    X, missing = table.numbers(), step.missing_values
    if not isinstance(missing, float | int):
        raise no_graph(f"has SimpleImputer(missing_values={missing!r}) for numbers", "; use NaN")
    absent = X.apply("IsNaN") if missing != missing else X.equals(_wide(missing))  # noqa: PLR0124
    X = absent.where(np.array(step.statistics_, dtype=step._fit_dtype).astype(np.float64), X)
    if not step.keep_empty_features and (dropped := is_nan(step.statistics_)).any():
        X = X.columns(np.flatnonzero(~dropped).tolist())
    if step.add_indicator and len(step.indicator_.features_):
        X = X.beside(absent.cast(NUMBER).columns(step.indicator_.features_.tolist()))
    return Table(X)


def _text_imputer(step: Any, table: "Table") -> "Table":
    missing, made = step.missing_values, []
    if step.add_indicator or (not step.keep_empty_features and is_nan(step.statistics_).any()):
        what = "has a SimpleImputer for text with add_indicator=True or with columns that are always missing"
        raise no_graph(what, "")
    for column, fill in zip(table.each(len(table.columns)), step.statistics_.tolist(), strict=True):
        if isinstance(missing, str):
            value = column.value.equals(_text(missing)).where(_text(fill), column.value)
            made.append(replace(column, value=value))
        else:
            made.append(replace(column, fill=fill if column.fill is None else column.fill))
    return Table(columns=tuple(made))


def _text(values: Any) -> NDArray[Any]:
    return np.array(values, dtype=object)


def _check_plain(step: Any) -> None:
    """Raise an error for an encoder that joins infrequent categories, or drops categories by name."""
    for name, (allows, way_out) in PLAIN.items():
        if not allows(value := getattr(step, name, None)):
            raise no_graph(f"has {type(step).__name__}({name}={value!r})", f"; {way_out}")


def _same(column: Column, categories: list[Any]) -> "Value":
    """Whether each row is each category, shape (rows, categories)."""
    text = column.value
    if column.kind == NUMBER:
        known = [one for one in categories if one == one]  # noqa: PLR0124 (NaN)
        if any(abs(one) > 2**53 for one in known):
            raise ValueError("estimator encodes integers beyond 2**53 as categories, which ONNX's float64 cannot hold.")
        same = [text.equals(_wide([known]))] if known else []
        return _joined(same + ([text.apply("IsNaN")] if len(known) < len(categories) else []))
    absent = [one for one in categories if not isinstance(one, str)]
    if len(absent) + ("" in categories) > 1:
        raise ValueError('estimator encodes two of None, NaN and "" as categories, which are the same text in ONNX.')
    if column.fill is not None and "" not in categories:
        text = text.equals(_text("")).where(_text(column.fill), text)
    return text.equals(_text([[one if isinstance(one, str) else "" for one in categories]]))


def _encoder(step: Any, table: "Table") -> "Table":
    """The columns of each encoded one; a row with an unknown category is refused if Python refuses it."""
    _check_plain(step)
    encoded, made = _hot if hasattr(step, "sparse_output") else _code, []
    for column, known in zip(table.each(len(step.categories_)), step.categories_, strict=True):
        same = _same(column, known.tolist())
        unknown = ~same.any()
        if step.handle_unknown == "error":
            unknown.graph.refuse(unknown)
        made += encoded(step, same, unknown, known.tolist())
    if not made:
        raise no_graph("has a OneHotEncoder that makes no columns", "")
    return Table(_joined(made))


def _hot(step: Any, same: "Value", unknown: "Value", categories: list[Any]) -> "list[Value]":
    """A column for each category, 1 where the row is that category."""
    del unknown
    flags, kept = same.cast(NUMBER), list(range(drops(step.drop, len(categories)), len(categories)))
    return [flags.columns(kept) if len(kept) < len(categories) else flags] if kept else []


def _code(step: Any, same: "Value", unknown: "Value", categories: list[Any]) -> "list[Value]":
    """The number of each row's category: the sum over all categories of its number where the row is that category."""
    codes = np.arange(len(categories), dtype=np.float64)
    codes[[one != one for one in categories]] = step.encoded_missing_value  # noqa: PLR0124 (NaN)
    code = same.where(codes[np.newaxis], 0.0).across("ReduceSum")
    chosen = step.handle_unknown == "use_encoded_value"
    return [unknown.where(float(step.unknown_value), code) if chosen else code]


_GRAPHS: "dict[str, Callable[[Any, Table], Table]]" = {
    **dict.fromkeys(("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"), _scaler),
    "Normalizer": _normalizer,
    "SimpleImputer": _imputer,
    **dict.fromkeys(("OneHotEncoder", "OrdinalEncoder"), _encoder),
}
