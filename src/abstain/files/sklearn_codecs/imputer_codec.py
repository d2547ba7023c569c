"""A fitted SimpleImputer as fields and arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.impute import SimpleImputer

from abstain.estimators.novelty.columns import objects
from abstain.files.format.errors import ModelFileError, refuse, unsupported
from abstain.files.format.pool import FLOAT, WHOLE, PoolReader, PoolWriter
from abstain.files.format.schema import Fields, one_of
from abstain.files.format.values import from_json, to_json
from abstain.files.sklearn_codecs.scaler_codec import StepCodec, fitted_quietly

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


IMPUTER = _ImputerCodec(
    SimpleImputer, ("add_indicator", "copy", "fill_value", "keep_empty_features", "missing_values", "strategy")
)


def _statistics(step: Any, fields: Fields, pool: PoolReader, n: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    given = fields.maybe("statistics")
    if "dropped" in fields:
        refuse(step.strategy != "constant", "its SimpleImputer does not fill in a constant, but lacks its statistics.")
        default = "missing_value" if dtype.kind == "O" else 0
        statistics = np.full(n, default if step.fill_value is None else step.fill_value, dtype=object)
        statistics[_indices(fields, "dropped", pool, n)] = np.nan
        return statistics
    if isinstance(given, list) and given[:1] in ([one] for one in FLOAT) and dtype.kind != "O":
        return pool.take(fields, "statistics", (n,), finite=False)
    values = [from_json(one) for one in fields.take("statistics", list)]
    plain = all(isinstance(value, PLAIN) for value in values)
    if dtype.kind != "O" or step.strategy != "most_frequent" or len(values) != n or not plain:
        raise ModelFileError("the statistics of its SimpleImputer do not match its columns, or are not plain.")
    return objects(values)


def _indices(fields: Fields, name: str, pool: PoolReader, n: int) -> NDArray[np.int64]:
    indices: NDArray[np.int64] = pool.take(fields, name, (None,), dtypes=WHOLE)
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
