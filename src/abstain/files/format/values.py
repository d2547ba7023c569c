"""Parameters as JSON, and back: plain values unchanged, others under a tag from a fixed list."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Tag:
    """A value that JSON does not have, stored under a tag as a list of values.

    Attributes
    ----------
    kind : type
        Exactly this one.
    listed : callable
        The list of the value's parts.
    made : callable
        The value, of its parts; its own checks and those here refuse what cannot be.
    count : int or None
        The number of parts; None if there may be any number.
    fits : callable
        Whether a value of this type has this tag.
    """

    kind: type
    listed: Callable[[Any], Any]
    made: Callable[..., Any]
    count: int | None
    fits: Callable[[Any], bool] = lambda _: True


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
    for tag, its in TAGS.items():
        if kind is its.kind and its.fits(value):
            return {tag: [to_json(name, one) for one in its.listed(value)]}
    what = "a function" if callable(value) else f"a {type(value).__name__}"
    raise ValueError(
        f"{name}={value!r} is {what}, but a model file can contain only numbers, strings and this library's own "
        f"values; give {name} in another form, or use pickle, for trusted files only."
    )


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
    refuse(tag not in TAGS, "a parameter has a type that this version does not support.")
    its = TAGS[tag]
    right = isinstance(content, list) and its.count in (None, len(content))
    refuse(not right, "a parameter has the wrong number of entries.")
    return its.made(*map(from_json, content))


def _dict(*pairs: Any) -> dict[Any, Any]:
    right = all(isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], LABEL) for pair in pairs)
    refuse(not right, "a parameter must be a list of pairs of a label and a value.")
    return dict(pairs)


def _array(dtype: Any, values: Any) -> NDArray[Any]:
    numbers = isinstance(values, list) and all(isinstance(one, int | float) for one in values)
    refuse(dtype not in DTYPES or not numbers, "a parameter is declared as an array of numbers but is not one.")
    return np.array(values, dtype=dtype)


def _named_costs(false_positive: Any, false_negative: Any, reject: Any, labels: Any) -> Costs:
    refuse(not isinstance(labels, list) or len(labels) != 2, "its costs do not name two classes.")
    return Costs(false_positive, false_negative, reject, labels=(labels[0], labels[1]))


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


def _splitter(kind: Any) -> Tag:
    def made(n_splits: Any, shuffle: Any, random_state: Any) -> Any:
        return kind(n_splits, shuffle=shuffle, random_state=random_state)

    return Tag(kind, lambda value: [value.n_splits, value.shuffle, value.random_state], made, 3)


def _costs(value: Costs) -> list[Any]:
    return [value.false_positive, value.false_negative, value.reject]


# the types that a parameter may have beside those of JSON
TAGS: dict[str, Tag] = {
    "tuple": Tag(tuple, list, lambda *parts: parts, None),
    "dict": Tag(dict, lambda value: [list(pair) for pair in value.items()], _dict, None),
    "array": Tag(
        np.ndarray,
        lambda value: [value.dtype.str, value.tolist()],
        _array,
        2,
        lambda value: value.dtype.str in DTYPES and value.ndim == 1,
    ),
    "Costs": Tag(Costs, _costs, Costs, 3, lambda value: value.labels is None),
    "NamedCosts": Tag(
        Costs, lambda value: [*_costs(value), list(value.labels)], _named_costs, 4, lambda value: value.n_classes == 2
    ),
    "Actions": Tag(
        Actions,
        lambda value: [
            list(value.labels),
            [[one, *costs] for one, costs in zip(value.names, value.costs, strict=True)],
            list(value.rejects),
        ],
        _actions,
        3,
    ),
    "ClassCosts": Tag(
        Costs,
        lambda value: [value.labels, tuple(map(tuple, value.errors.tolist())), value.reject],
        _class_costs,
        3,
    ),
    "Thresholds": Tag(Thresholds, lambda value: [value.lower, value.upper], Thresholds, 2),
    "BartlettWegkamp": Tag(BartlettWegkamp, lambda value: [value.delta], BartlettWegkamp, 1),
    **{kind.__name__: _splitter(kind) for kind in (KFold, StratifiedKFold, GroupKFold, StratifiedGroupKFold)},
}
