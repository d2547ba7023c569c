"""Parameters as JSON, and back: plain values unchanged, others under a tag from a fixed list."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from abstain.costs.actions import Actions
from abstain.costs.costs import Costs
from abstain.costs.cuts import Thresholds
from abstain.files.format.errors import refuse
from abstain.losses.generalized_hinge import BartlettWegkamp

DTYPES = [order + kind for order in "<>" for kind in ("i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8")]
DTYPES += ["|b1", "|i1", "|u1"]
LABEL = (str, int, float)


def to_json(name: str, value: Any) -> Any:
    """Return the parameter's value as JSON; an error gives the reason if that is not possible."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, list):
        return [to_json(name, one) for one in value]
    kind = next((one for one in (tuple, dict, np.ndarray) if isinstance(value, one)), type(value))
    tag, *parts = LISTED[kind](value) if kind in LISTED else ("",)
    if tag:
        return {tag: [to_json(name, one) for one in parts]}
    what = "a function" if callable(value) else f"a {type(value).__name__}"
    allowed = "a model file can contain only numbers, strings and this library's own values"
    way = f"give {name} in another form, or use pickle, for trusted files only"
    raise ValueError(f"{name}={value!r} is {what}, but {allowed}; {way}.")


def from_json(value: Any) -> Any:
    """Return the value that `to_json` wrote; anything else is a ModelFileError, or an error of the value's own."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        outside = not abs(value) < 2**64 and not (isinstance(value, float) and math.isfinite(value))
        refuse(outside, "a parameter is a number outside the allowed range.")
        return value
    if isinstance(value, list):
        return [from_json(one) for one in value]
    content: Any
    tag, content = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else ("", None)
    if tag == "float":
        refuse(content not in ("nan", "inf", "-inf"), "a parameter is declared as a number but is not one.")
        return float(content)
    refuse(tag not in MADE, "a parameter has a type that this version does not support.")
    made, count = MADE[tag]
    right = isinstance(content, list) and count in (None, len(content))
    refuse(not right, "a parameter has the wrong number of entries.")
    return made(*map(from_json, content))


def _dict(*pairs: Any) -> dict[Any, Any]:
    right = all(isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], LABEL) for pair in pairs)
    refuse(not right, "a parameter must be a list of pairs of a label and a value.")
    return dict(pairs)


def _array(dtype: Any, values: Any) -> NDArray[Any]:
    numbers = isinstance(values, list) and all(isinstance(one, int | float) for one in values)
    refuse(dtype not in DTYPES or not numbers, "a parameter is declared as an array of numbers but is not one.")
    return np.array(values, dtype=dtype)


def _actions(labels: Any, rows: Any, rejects: Any) -> Actions:
    lists = all(isinstance(part, list) for part in (labels, rows, rejects))
    right = lists and len(labels) > 1 and all(isinstance(row, list) and len(row) == 1 + len(labels) for row in rows)
    refuse(not right, "its actions do not have a name and a cost for each of two classes or more.")
    known = all(isinstance(one, LABEL) for one in [*labels, *rejects, *(row[0] for row in rows)])
    refuse(not known, "its actions or their classes have names of a type that is not possible.")
    found = Actions({name: dict(zip(labels, costs, strict=True)) for name, *costs in rows}, rejects)
    refuse(len(found.names) != len(rows), "its actions have the same name.")
    return found


def _class_costs(labels: Any, errors: Any, reject: Any) -> Costs:
    square = isinstance(labels, tuple) and isinstance(errors, tuple) and len(errors) == len(labels) > 2
    square = square and all(isinstance(row, tuple) and len(row) == len(errors) for row in errors)
    refuse(not square, "its costs do not have a row and a column for each of their classes.")
    known = all(isinstance(one, LABEL) for one in labels) and tuple(sorted({*labels})) == labels
    refuse(not known, "its costs name classes that are not sorted, or not different.")
    table = {truth: dict(zip(labels, row, strict=True)) for truth, row in zip(labels, errors, strict=True)}
    rejects = dict(zip(labels, reject, strict=True)) if isinstance(reject, tuple) else reject
    return Costs.from_table(table, reject=rejects)


def _splitter(kind: Any, n_splits: Any, shuffle: Any, random_state: Any) -> Any:
    return kind(n_splits, shuffle=shuffle, random_state=random_state)


def _costs(value: Costs) -> list[Any]:
    if value.n_classes > 2:
        return ["ClassCosts", value.labels, tuple(map(tuple, value.errors.tolist())), value.reject]
    numbers = [value.false_positive, value.false_negative, value.reject]
    return ["Costs", *numbers] if value.labels is None else ["NamedCosts", *numbers, list(value.labels)]


def _named_actions(value: Actions) -> list[Any]:
    rows = [[name, *costs] for name, costs in zip(value.names, value.costs, strict=True)]
    return ["Actions", list(value.labels), rows, list(value.rejects)]


def _numbers(value: NDArray[Any]) -> list[Any]:
    return ["array", value.dtype.str, value.tolist()] if value.dtype.str in DTYPES and value.ndim == 1 else [""]


# The types that a parameter may have beside those of JSON: the tag of a value, and its parts ...
SPLITTERS = (KFold, StratifiedKFold, GroupKFold, StratifiedGroupKFold)
LISTED: dict[Any, Callable[[Any], list[Any]]] = {
    tuple: lambda value: ["tuple", *value],
    dict: lambda value: ["dict", *map(list, value.items())],
    np.ndarray: _numbers,
    Costs: _costs,
    Actions: _named_actions,
    Thresholds: lambda value: ["Thresholds", value.lower, value.upper],
    BartlettWegkamp: lambda value: ["BartlettWegkamp", value.delta],
    **dict.fromkeys(SPLITTERS, lambda value: [type(value).__name__, value.n_splits, value.shuffle, value.random_state]),
}
# ... and what makes the value of its parts, and how many there are; its own checks and those here refuse what cannot be
MADE: dict[str, tuple[Callable[..., Any], int | None]] = {
    "tuple": (lambda *parts: parts, None),
    "dict": (_dict, None),
    "array": (_array, 2),
    "Costs": (Costs, 3),
    "NamedCosts": (lambda *numbers: Costs(*numbers[:3], labels=tuple(numbers[3])), 4),
    "ClassCosts": (_class_costs, 3),
    "Actions": (_actions, 3),
    "Thresholds": (Thresholds, 2),
    "BartlettWegkamp": (BartlettWegkamp, 1),
    **{kind.__name__: (partial(_splitter, kind), 3) for kind in SPLITTERS},
}
