"""Fitted encoders and a fitted SimpleImputer of scikit-learn as fields and arrays, and back."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import preprocessing as sk
from sklearn.base import clone
from sklearn.impute import SimpleImputer

from abstain.estimators.novelty.column_range import objects
from abstain.files.format.errors import ModelFileError, refuse, unsupported
from abstain.files.format.manifest import FLOAT, PoolReader, PoolWriter
from abstain.files.format.schema import Fields, one_of
from abstain.files.format.values import from_json, to_json
from abstain.files.sklearn_codecs.scaler_codec import StepCodec, fitted_quietly

TEXT = "|O"
INTEGERS = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8")
DROPS = (None, "first", "if_binary")


class _EncoderCodec(StepCodec):
    """The categories of each column: text in the manifest, numbers among the arrays."""

    def parts(self, step: Any, pool: PoolWriter) -> dict[str, Any]:
        return {"categories": [_column_parts(column, pool) for column in step.categories_]}

    def fitted(self, step: Any, fields: Fields, pool: PoolReader, n: int) -> None:
        given = fields.take("categories", list)
        refuse(len(given) != n, "its encoder does not have one list of categories per column.")
        if getattr(step, "drop", None) not in DROPS:
            raise ModelFileError("its encoder drops categories in a way that is not allowed in a model file.")
        chosen = step.categories != "auto"
        categories = [_column_from(one, pool, ordered=not chosen) for one in given]
        plain = [objects(column.tolist()) for column in categories]
        rows = objects([column[0] for column in plain])[np.newaxis]
        step.categories = plain
        fitted_quietly(step, rows)
        step.categories = [column.tolist() for column in categories] if chosen else "auto"
        step.categories_ = categories

    def width(self, step: Any) -> int:
        if not hasattr(step, "drop"):
            return super().width(step)
        return sum(len(column) - drops(step.drop, len(column)) for column in step.categories_)


ENCODERS = (
    _EncoderCodec(sk.OneHotEncoder, "categories dtype handle_unknown drop feature_name_combiner sparse_output"),
    _EncoderCodec(sk.OrdinalEncoder, "categories dtype handle_unknown encoded_missing_value unknown_value"),
)


def _column_parts(column: NDArray[Any], pool: PoolWriter) -> list[Any]:
    dtype = column.dtype.newbyteorder("<").str
    if dtype in FLOAT:
        return [dtype, pool.put(column)]
    if dtype in INTEGERS:
        return [dtype, pool.put(column.astype(np.int64))]
    values = column.tolist()
    if column.dtype.kind not in "OU" or not all(isinstance(one, str) or _is_missing(one) for one in values):
        what = "encodes categories that are neither text nor numbers of one dtype"
        raise unsupported(what, "convert the column before fitting")
    return [TEXT, [to_json("categories_", one) for one in values]]


def drops(drop: str | None, count: int) -> bool:
    """Return whether a OneHotEncoder leaves out the first of `count` categories."""
    return drop == "first" or (drop == "if_binary" and count == 2)


def _column_from(given: Any, pool: PoolReader, *, ordered: bool) -> NDArray[Any]:
    if not isinstance(given, list) or len(given) != 2 or given[0] not in (TEXT, *FLOAT, *INTEGERS):
        raise ModelFileError("the categories of a column are not described by their dtype and values.")
    dtype, values = given
    if dtype == TEXT:
        return _texts(values, ordered=ordered)
    stored = pool.take("categories", values, f"{dtype[1:] if dtype in FLOAT else 'i8'} k", finite=False)
    column = stored.astype(dtype)
    rising = len(column) > 0 and np.array_equal(np.unique(column), column, equal_nan=True)
    if not rising or not np.array_equal(column.astype(stored.dtype), stored, equal_nan=True):
        raise ModelFileError("the categories of a column are not numbers of its dtype in increasing order.")
    return column


def _texts(values: Any, *, ordered: bool) -> NDArray[Any]:
    """Text, in increasing order unless the parameters give another one, then None, then NaN."""
    found = [from_json(one) for one in values] if isinstance(values, list) else []
    texts = [one for one in found if isinstance(one, str)]
    others = found[len(texts) :]
    right = bool(found) and found[: len(texts)] == texts and all(map(_is_missing, others))
    right &= [one is None for one in others] in ([], [True], [False], [True, False])
    right &= all(first < second for first, second in pairwise(texts)) if ordered else len({*texts}) == len(texts)
    refuse(not right, "the categories of a column are not different strings in increasing order.")
    return objects(found)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)  # noqa: PLR0124 (NaN)


DTYPES = ("<f8", "<f4", "<i8", "<i4", "|O")  # of the training rows
PLAIN = (str, int, float, bool, type(None))


class _ImputerCodec(StepCodec):
    """Missing values replaced by one value per column, with flags appended where `add_indicator` asks for them."""

    def parts(self, step: Any, pool: PoolWriter) -> dict[str, Any]:
        dtype, statistics = step._fit_dtype.newbyteorder("<").str, step.statistics_
        if dtype not in DTYPES or callable(step.strategy):
            what = "has a SimpleImputer of values that are not numbers or text, or with a function as its strategy"
            raise unsupported(what, "convert the columns to float64 or to text")
        state: dict[str, Any] = {"dtype": dtype}
        if statistics.dtype != object:
            state["statistics"] = pool.put(statistics)
        elif step.strategy == "constant":
            state["dropped"] = pool.put(np.flatnonzero(is_nan(statistics)).astype(np.int64))
        else:
            state["statistics"] = [to_json("statistics_", value) for value in statistics.tolist()]
        if step.add_indicator:
            state["indicators"] = pool.put(step.indicator_.features_.astype(np.int64))
        return state

    def fitted(self, step: Any, fields: Fields, pool: PoolReader, n: int) -> None:
        dtype = np.dtype(fields.take("dtype", one_of(DTYPES)))
        if not isinstance(step.fill_value, PLAIN) or not isinstance(step.missing_values, PLAIN):
            raise ModelFileError("its SimpleImputer replaces or fills in values that are not numbers or text.")
        present = _present(step.missing_values, dtype)
        fitted_quietly(clone(step), np.full((1, 1), present, dtype))  # refuses parameters that do not fit the dtype
        statistics = _statistics(step, fields, pool, n, dtype)
        if step.keep_empty_features and is_nan(statistics).any() and step.strategy != "constant":
            raise ModelFileError("its SimpleImputer has columns without a value, although it keeps all columns.")
        indicators = _indices(fields, "indicators", pool, n) if step.add_indicator else np.empty(0, np.int64)
        rows = np.full((2, n), present, dtype)
        if len(indicators):  # integers cannot be NaN
            rows[0, indicators] = step.missing_values
        chosen = {"missing_values": step.missing_values, "add_indicator": step.add_indicator}
        stand_in = SimpleImputer(strategy="constant", keep_empty_features=True, **chosen)
        found = vars(fitted_quietly(stand_in, rows))
        step.__dict__.update({name: value for name, value in found.items() if name not in step.get_params()})
        step.statistics_ = statistics

    def width(self, step: Any) -> int:
        """Return the number of columns: those with a value, then the flags."""
        dropped = 0 if step.keep_empty_features else int(is_nan(step.statistics_).sum())
        return len(step.statistics_) - dropped + (len(step.indicator_.features_) if step.add_indicator else 0)


IMPUTER = _ImputerCodec(SimpleImputer, "add_indicator copy fill_value keep_empty_features missing_values strategy")


def _statistics(step: Any, fields: Fields, pool: PoolReader, n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    given = fields.maybe("statistics")
    if "dropped" in fields:
        refuse(step.strategy != "constant", "its SimpleImputer does not fill in a constant, but lacks its statistics.")
        default = "missing_value" if dtype.kind == "O" else 0
        statistics = np.full(n, default if step.fill_value is None else step.fill_value, dtype=object)
        statistics[_indices(fields, "dropped", pool, n)] = np.nan
        return statistics
    if isinstance(given, list) and given[:1] in ([one] for one in FLOAT) and dtype.kind != "O":
        return pool.take("statistics", given, "f8|f4 n", n, finite=False)
    values = [from_json(one) for one in fields.take("statistics", list)]
    plain = all(isinstance(value, PLAIN) for value in values)
    if dtype.kind != "O" or step.strategy != "most_frequent" or len(values) != n or not plain:
        raise ModelFileError("the statistics of its SimpleImputer do not match its columns, or are not plain.")
    return objects(values)


def _indices(fields: Fields, name: str, pool: PoolReader, n: int) -> NDArray[np.int64]:
    indices: NDArray[np.int64] = pool.take(name, fields.take(name), "i8 k")
    if len(indices) and not (indices[0] >= 0 and indices[-1] < n and (np.diff(indices) > 0).all()):
        raise ModelFileError("its SimpleImputer has indices that are not increasing indices of columns.")
    return indices


def is_nan(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where an array of numbers or objects contains NaN."""
    return np.asarray(values != values, dtype=bool)  # noqa: PLR0124 (also for objects)


def _present(missing: Any, dtype: np.dtype[Any]) -> Any:
    """Return a value that is not missing."""
    if dtype.kind == "O":
        return "x" if missing == "" else ""
    return 1 if missing == 0 else 0
