"""Fitted encoders of scikit-learn as fields and arrays, and back."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import preprocessing as sk

from abstain.estimators.novelty.column_range import objects
from abstain.files.format.errors import ModelFileError, refuse, unsupported
from abstain.files.format.pool import FLOAT, WHOLE, PoolReader, PoolWriter
from abstain.files.format.schema import Fields
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


_SHARED = ("categories", "dtype", "handle_unknown")
ENCODERS = (
    _EncoderCodec(sk.OneHotEncoder, (*_SHARED, "drop", "feature_name_combiner", "sparse_output")),
    _EncoderCodec(sk.OrdinalEncoder, (*_SHARED, "encoded_missing_value", "unknown_value")),
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
    entry = Fields({"categories": values}, "encoder")
    stored = pool.take(entry, "categories", (None,), dtypes=(dtype,) if dtype in FLOAT else WHOLE, finite=False)
    column = stored.astype(dtype)
    numbers = column[:-1] if len(column) and _is_missing(column[-1].item()) else column
    rising = bool(len(column)) and bool((numbers[1:] > numbers[:-1]).all()) and not np.isnan(numbers).any()
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

