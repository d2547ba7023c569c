"""The fitted part of a rule as JSON, and back: its classes, and cuts that do not follow from its parameters."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields as fields_of
from dataclasses import is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.schema import Fields
from abstain.files.format.values import DTYPES, from_json, to_json

WIDEST = 1024  # characters of a string dtype, unless a class itself is longer


def rule_state(rule: Any, cuts: tuple[float, ...] = ()) -> dict[str, Any]:
    """Return the classes of a rule and the cuts; costs and labels follow from the estimator's parameters."""
    classes = rule.labels.classes
    if classes.dtype.str not in DTYPES and classes.dtype.kind not in "UO":
        raise ValueError(f"a model file cannot contain classes of dtype {classes.dtype}; use plain numbers.")
    return {
        "dtype": classes.dtype.str,
        "classes": to_json("classes_", classes.tolist()),
        "cuts": [to_json("cuts", float(cut)) for cut in cuts],
    }


def rule_from(given: Any, cuts: Callable[[int], tuple[int, ...]]) -> tuple[NDArray[Any], tuple[float, ...]]:
    """Return the classes and the cuts, of which there may be so many for this number of classes."""
    fields = Fields(given, "rule")
    classes, found = _classes(fields), tuple(from_json(cut) for cut in fields.take("cuts", list))
    if len(classes) < 2 or not np.array_equal(np.unique(classes), classes):
        raise ModelFileError("its classes are not two or more, different and sorted.")
    allowed = cuts(len(classes))
    if len(found) not in allowed or not all(isinstance(cut, float) for cut in found):
        raise ModelFileError(f"its rule does not have {' or '.join(map(str, allowed))} cuts, each a number.")
    return classes, found


def check_same(rule: Any, fitted: Any) -> None:
    """Compare the rule that the parameters imply with the fitted one."""
    refuse(not _same(rule, fitted), "its costs, thresholds or labels do not match its parameters.")


def _same(first: Any, second: Any) -> bool:
    """Return whether two values have the same type and, however deep, the same fields; NaN equals NaN."""
    if type(first) is not type(second):
        return False
    if is_dataclass(first):
        return all(_same(getattr(first, one.name), getattr(second, one.name)) for one in fields_of(first))
    if isinstance(first, np.ndarray):
        return (first.dtype, first.shape, first.tolist()) == (second.dtype, second.shape, second.tolist()) or (
            first.dtype.kind == "f" and np.array_equal(first, second, equal_nan=True)
        )
    if isinstance(first, tuple | list):
        return len(first) == len(second) and all(map(_same, first, second))
    return bool(first == second) or repr(first) == repr(second)


def _classes(fields: Fields) -> NDArray[Any]:
    dtype, values = fields.take("dtype", str), from_json(fields.take("classes", list))
    texts = all(isinstance(value, str) for value in values)
    if dtype in DTYPES and not any(isinstance(value, str) for value in values):
        return np.array(values, dtype=dtype)
    if texts and dtype == "|O":
        return np.array(values, dtype=object)
    width = re.fullmatch(r"[<>]U([1-9][0-9]{0,8})", dtype)
    if not texts or width is None or int(width[1]) > max(WIDEST, *map(len, values), 1):
        raise ModelFileError("its classes do not have the type given in its manifest.")
    return np.array(values, dtype=dtype)
