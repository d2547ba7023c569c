"""Parameters as JSON, and back: plain values unchanged, others under a tag from a fixed list."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from abstain.costs.actions import Actions
from abstain.costs.class_costs import ClassCosts
from abstain.costs.costs import Costs
from abstain.costs.thresholds import Thresholds
from abstain.files.format.errors import ModelFileError, refuse
from abstain.losses.generalized_hinge import BartlettWegkamp

SPLITTERS = {kind.__name__: kind for kind in (KFold, StratifiedKFold, GroupKFold, StratifiedGroupKFold)}
DTYPES = [order + kind for order in "<>" for kind in ("i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8")]
DTYPES += ["|b1", "|i1", "|u1"]


def to_json(name: str, value: Any) -> Any:
    """The parameter's value as JSON; an error gives the reason if that is not possible."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, list | tuple):
        listed = [to_json(name, one) for one in value]
        return listed if isinstance(value, list) else {"tuple": listed}
    if isinstance(value, dict):
        return {"dict": [[to_json(name, key), to_json(name, one)] for key, one in value.items()]}
    if isinstance(value, np.ndarray) and value.dtype.str in DTYPES and value.ndim == 1:
        return {"array": [value.dtype.str, to_json(name, value.tolist())]}
    return _object_to_json(name, value)


def _object_to_json(name: str, value: Any) -> Any:
    """Values of this library and scikit-learn's plain splitters, by exact type: their constructors check them."""
    kind = type(value).__name__
    if type(value) is Costs:
        prices = [value.false_positive, value.false_negative, to_json(name, value.reject)]
        named = value.labels is not None
        return {"NamedCosts": [*prices, to_json(name, list(value.labels or ()))]} if named else {"Costs": prices}
    if type(value) is Actions:
        rows = [[to_json(name, one), *costs] for one, costs in zip(value.names, value.costs, strict=True)]
        return {"Actions": [to_json(name, list(value.labels)), rows, to_json(name, list(value.rejects))]}
    if type(value) is ClassCosts:
        return {"ClassCosts": [to_json(name, part) for part in (value.labels, value.errors, value.reject)]}
    if type(value) is Thresholds:
        return {"Thresholds": [to_json(name, value.lower), to_json(name, value.upper)]}
    if type(value) is BartlettWegkamp:
        return {"BartlettWegkamp": [value.delta]}
    if type(value) is SPLITTERS.get(kind):
        return {kind: [value.n_splits, value.shuffle, to_json(name, value.random_state)]}
    what = "a function" if callable(value) else f"a {kind}"
    raise ValueError(
        f"{name}={value!r} is {what}, but a model file can contain only numbers, strings and this library's own "
        f"values; give {name} in another form, or use pickle among people who trust each other."
    )


def from_json(value: Any) -> Any:
    """The value that `to_json` wrote; for anything else, a ModelFileError or the error of the value's own check."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        if not abs(value) < 2**64 and not (isinstance(value, float) and math.isfinite(value)):
            raise ModelFileError("a parameter is a number outside the allowed range.")
        return value
    if isinstance(value, list):
        return [from_json(one) for one in value]
    tag, content = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else ("", None)
    refuse(tag not in _TAGS, "a parameter has a type that this version does not support.")
    return _TAGS[tag](content)


def _entries(content: Any, count: int | None = None) -> list[Any]:
    if not isinstance(content, list) or count not in (None, len(content)):
        raise ModelFileError("a parameter has the wrong number of entries.")
    return [from_json(one) for one in content]


def _float(content: Any) -> float:
    refuse(content not in ("nan", "inf", "-inf"), "a parameter is declared as a number but is not one.")
    return float(content)


def _dict(content: Any) -> dict[Any, Any]:
    pairs = _entries(content)
    if not all(isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], int | float | str) for pair in pairs):
        raise ModelFileError("a parameter must be a list of pairs of a label and a value.")
    return dict(pairs)


def _array(content: Any) -> NDArray[Any]:
    dtype, values = _entries(content, 2)
    if dtype not in DTYPES or not isinstance(values, list) or not all(isinstance(one, int | float) for one in values):
        raise ModelFileError("a parameter is declared as an array of numbers but is not one.")
    return np.array(values, dtype=dtype)


def _named_costs(content: Any) -> Costs:
    *prices, labels = _entries(content, 4)
    refuse(not isinstance(labels, list) or len(labels) != 2, "its costs do not name two classes.")
    return Costs(*prices, labels=(labels[0], labels[1]))


def _actions(content: Any) -> Actions:
    labels, rows, rejects = _entries(content, 3)
    lists = all(isinstance(part, list) for part in (labels, rows, rejects))
    if not lists or len(labels) != 2 or not all(isinstance(row, list) and len(row) == 3 for row in rows):
        raise ModelFileError("its actions do not have two classes and a name and two costs each.")
    if not all(isinstance(one, str | int | float) for one in [*labels, *rejects, *(row[0] for row in rows)]):
        raise ModelFileError("its actions or their classes have names of a type that is not possible.")
    found = Actions({name: dict(zip(labels, costs, strict=True)) for name, *costs in rows}, rejects)
    refuse(len(found.names) != len(rows), "its actions have the same name.")
    return found


def _class_costs(content: Any) -> ClassCosts:
    labels, errors, reject = _entries(content, 3)
    square = isinstance(labels, tuple) and isinstance(errors, tuple) and len(errors) == len(labels) > 2
    if not square or not all(isinstance(row, tuple) and len(row) == len(errors) for row in errors):
        raise ModelFileError("its costs do not have a row and a column for each of their classes.")
    return ClassCosts(labels, errors, reject)


def _splitter(kind: Any) -> Callable[[Any], Any]:
    def made(content: Any) -> Any:
        n_splits, shuffle, random_state = _entries(content, 3)
        return kind(n_splits, shuffle=shuffle, random_state=random_state)

    return made


_TAGS: dict[str, Callable[[Any], Any]] = {
    "float": _float,
    "tuple": lambda content: tuple(_entries(content)),
    "dict": _dict,
    "array": _array,
    "Costs": lambda content: Costs(*_entries(content, 3)),
    "NamedCosts": _named_costs,
    "Actions": _actions,
    "ClassCosts": _class_costs,
    "Thresholds": lambda content: Thresholds(*_entries(content, 2)),
    "BartlettWegkamp": lambda content: BartlettWegkamp(*_entries(content, 1)),
    **{name: _splitter(kind) for name, kind in SPLITTERS.items()},
}
