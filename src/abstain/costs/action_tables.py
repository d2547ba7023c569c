"""Actions as users give them: action -> cost, one number or one per class, read into pairs with sorted classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from abstain.arguments import real_number

__all__ = ["checked_name", "classes_named", "costs_of", "handed_on", "positions"]

EXAMPLE = 'Actions({"approve": {"good": 0, "bad": 5}, "decline": {"good": 1, "bad": 0}, "call": 0.3})'


def checked_name(action: Any) -> Any:
    """The name of an action as a plain Python value: a string or a number."""
    name = action.item() if isinstance(action, np.generic) else action
    if not isinstance(name, str | int | float):
        raise ValueError(f"table has the action {action!r} of type {type(action).__name__}; name it by a string.")  # noqa: TRY004
    return name


def classes_named(table: Mapping[Any, Any]) -> tuple[Any, Any]:
    """The two classes for which the actions state costs, sorted."""
    found: list[Any] = []
    for cost in table.values():
        for label in cost if isinstance(cost, Mapping) else ():
            name = label.item() if isinstance(label, np.generic) else label
            found += [] if name in found else [name]
    if len(found) != 2:
        what = f"the {len(found)} classes {found}" if found else "no class: all its costs are single numbers"
        raise ValueError(f"table={table!r} names {what}; it must name two, as in {EXAMPLE}.")
    if not any(all(isinstance(label, kind) for label in found) for kind in (str, bool | int | float)):
        raise ValueError(f"table={table!r} names the classes {found}; they must be two strings or two numbers.")
    first, last = sorted(found)
    return first, last


def costs_of(action: Any, cost: Any, labels: tuple[Any, Any]) -> tuple[float, float]:
    """The costs of an action if the first and if the last class is true."""
    if not isinstance(cost, Mapping):
        one = _cost(f"table[{action!r}]", cost)
        return one, one
    if missing := [label for label in labels if label not in cost]:
        raise ValueError(
            f"table[{action!r}]={dict(cost)!r} has no cost for the class {missing[0]!r}; add it, or give one number "
            "for both classes."
        )
    first, last = (_cost(f"table[{action!r}][{label!r}]", cost[label]) for label in labels)
    return first, last


def _cost(name: str, value: Any) -> float:
    number = real_number(name, value)
    if not 0.0 <= number < np.inf:
        raise ValueError(
            f"{name}={value!r} must be finite and >= 0; decisions stay the same if the same amount is added to the "
            "costs of all actions."
        )
    return number + 0.0  # -0.0 becomes 0.0


def handed_on(rejects: Any, names: tuple[Any, ...], labels: tuple[Any, Any]) -> tuple[Any, ...]:
    """The actions that count as rejects, in the order of the table."""
    if rejects is None:
        return tuple(name for name in names if name not in labels)
    if isinstance(rejects, str | bytes) or not isinstance(rejects, Iterable):
        raise ValueError(f"rejects={rejects!r} must be a sequence of actions; write rejects=({rejects!r},).")  # noqa: TRY004
    listed = list(rejects)
    if unknown := [name for name in listed if name not in names]:
        raise ValueError(f"rejects={rejects!r} names {unknown[0]!r}, which is not one of the actions {[*names]}.")
    return tuple(name for name in names if name in listed)


def positions(values: Any, known: tuple[Any, ...], argument: str, what: str) -> NDArray[np.int8]:
    """The position of each value in `known`; any other value is an error."""
    array = column_or_1d(np.asarray(values))
    if array.dtype.kind in "OT":
        distinct = list(dict.fromkeys(array.tolist()))
        inverse = np.array([distinct.index(value) for value in array.tolist()], dtype=np.intp)
    else:
        unique, inverse = np.unique(array, return_inverse=True)
        distinct = unique.tolist()
    if odd := [value for value in distinct if value not in known]:
        raise ValueError(f"{argument} contains {odd[0]!r}, which is not one of {what} {[*known]}.")
    codes = np.array([known.index(value) for value in distinct], dtype=np.int8)
    return codes[inverse]
