"""Checks of a part of the manifest: every field is taken once, is of its kind, and none is left over."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.values import from_json, to_json

Arrays = dict[str, NDArray[Any]]
Parts = tuple[dict[str, Any], Arrays]  # fields and arrays
# An array's dtypes, and its shape in numbers and letters; one letter stands for one number in all arrays of a part.
Shape = tuple[int | str, ...]
Spec = tuple[tuple[str, ...], Shape]
Layout = dict[str, Spec]


@dataclass(frozen=True)
class Kind:
    """What a field may contain.

    Attributes
    ----------
    allows : callable
        Whether a value of JSON is allowed, after `of`.
    rule : str
        The rule, after "must be".
    of : callable
        The value in Python; anything else is an error.
    to : callable
        The value in JSON.
    """

    allows: Callable[[Any], bool]
    rule: str
    of: Callable[[Any], Any] = lambda value: value
    to: Callable[[Any], Any] = lambda value: value


def of_type(*types: type) -> Kind:
    """Return the kind of exactly these types of JSON."""
    return Kind(lambda value: type(value) in types, " or ".join(_NAMES[one] for one in types))


def whole(least: int = 0) -> Kind:
    """Return the kind of integers from `least` up to the largest index."""
    return Kind(lambda value: type(value) is int and least <= value < 2**62, f"an integer >= {least}", to=int)


def one_of(allowed: Collection[str]) -> Kind:
    """Return the kind of these strings."""
    return Kind(lambda value: isinstance(value, str) and value in allowed, f"one of {', '.join(allowed)}"[:300])


def optional(kind: Kind) -> Kind:
    """Return the kind of null and another kind, whose conversions leave null as it is."""
    return replace(kind, allows=lambda value: value is None or kind.allows(value), rule=f"null, or {kind.rule}")


def real(least: float = -math.inf, most: float = math.inf, *, finite: bool = False) -> Kind:
    """Return the kind of floats in this range; infinity is one of them unless they are `finite`."""

    def allows(value: Any) -> bool:
        return type(value) is float and least <= value <= most and (math.isfinite(value) or not finite)

    rule = "a finite number" if finite else f"a number from {least:g} to {most:g}".replace(" from -inf to inf", "")
    return Kind(allows, rule, from_json, lambda value: to_json("", value))


_NAMES: dict[type, str] = {bool: "true or false", str: "text", list: "a list", dict: "named fields", type(None): "null"}
_NAMES |= {int: "an integer", float: "a number"}
FLAG, FINITE = of_type(bool), real(finite=True)
TEXTS = Kind(lambda value: type(value) is list and all(type(one) is str for one in value), "a list of strings")


class Fields:
    """The fields of one JSON object.

    A field that nothing takes is refused later, because the library would not write it again (`restored`).

    Parameters
    ----------
    given : object
        As read from the file; an error if it is not a JSON object.
    where : str
        What the object describes, for errors.
    """

    def __init__(self, given: Any, where: str) -> None:
        refuse(not isinstance(given, dict), f"its manifest does not describe the {where} with named fields.")
        self._given = given
        self._where = where

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def take(self, name: str, *kinds: Kind | type) -> Any:
        """Return a field of this kind, of one of these types of JSON, or of any if none is given."""
        refuse(name not in self, f"its manifest lacks the field {name!r} of the {self._where}.")
        value = self._given[name]
        if not kinds:
            return value
        kind = kinds[0] if isinstance(kinds[0], Kind) else of_type(*kinds)  # type: ignore[arg-type]
        found = kind.of(value)
        if not kind.allows(found):
            shown = f", not {value[:60]!r}" if isinstance(value, str) else ""
            raise ModelFileError(f"the field {name!r} of the {self._where} must be {kind.rule}{shown}.")
        return found

    def maybe(self, name: str, *kinds: Kind | type, default: Any = None) -> Any:
        """Return a field that may be missing."""
        return self.take(name, *kinds) if name in self else default

    def inner(self, name: str, where: str = "") -> Self:
        """Return a field that has named fields itself."""
        return type(self)(self.take(name, dict), where or name)

    def record(self, table: Mapping[str, Kind]) -> dict[str, Any]:
        """Return all fields of a table."""
        return {name: self.take(name, kind) for name, kind in table.items()}

    def only(self, *names: str) -> None:
        """Raise an error if there are other fields than these."""
        if unknown := self._given.keys() - {*names}:
            raise ModelFileError(f"the {self._where} has an unknown field {min(unknown)[:60]!r}.")


def record(value: Any, table: Mapping[str, Kind]) -> dict[str, Any]:
    """Return the attributes of a value that a table names, as JSON."""
    return {name: kind.to(getattr(value, name)) for name, kind in table.items()}


def spec(form: str) -> Spec:
    """Return the dtypes and the shape of an array, given in the form "f8|f4 n d": its dtypes, then its axes."""
    dtypes, *axes = form.split()
    stored = tuple(("|" if one == "i1" else "<") + one for one in dtypes.split("|"))
    return stored, tuple(int(axis) if axis.isdigit() else axis for axis in axes)


def layout(**arrays: str) -> Layout:
    """Return the dtypes and shapes of arrays, each given as for `spec`."""
    return {name: spec(form) for name, form in arrays.items()}


def fitting(arrays: Arrays, specs: Layout, where: str, letters: Mapping[str, int]) -> dict[str, int]:
    """Check that there are exactly these arrays, with these dtypes and shapes; return the values of the letters.

    Parameters
    ----------
    arrays : dict of ndarray
    specs : mapping of name to (dtypes, shape)
    where : str
        What the arrays belong to, for errors.
    letters : mapping of str to int
        Letters whose values are already known.
    """
    if arrays.keys() != specs.keys():
        name = min(arrays.keys() ^ specs.keys())
        raise ModelFileError(f"the {where} {'lacks the' if name in specs else 'has an unknown'} array {name!r}.")
    numbers = dict(letters)
    for name, (dtypes, shape) in specs.items():
        array = arrays[name]
        if array.dtype not in [np.dtype(dtype) for dtype in dtypes] or array.ndim != len(shape):
            raise ModelFileError(f"the array {name!r} of the {where} has the wrong dtype or number of axes.")
        for length, wanted in zip(array.shape, shape, strict=True):
            expected = numbers.setdefault(wanted, length) if isinstance(wanted, str) else wanted
            if length != expected:
                raise ModelFileError(
                    f"the array {name!r} of the {where} has shape {array.shape}, which does not match the other fields."
                )
    return numbers


def stored(given: Mapping[str, Any], specs: Layout) -> Arrays:
    """Return the arrays of a layout, in its order, with its dtypes, and with a first axis of 1 where one is missing."""
    found = {}
    for name, (dtypes, shape) in specs.items():
        array = np.asarray(given[name])
        array = array[np.newaxis] if array.ndim < len(shape) else array
        found[name] = array if array.dtype.newbyteorder("<").str in dtypes else array.astype(dtypes[0])
    return found


def within(arrays: Arrays, prefix: str) -> Arrays:
    """Return the arrays of a part, without the prefix in their names."""
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}


def beside(arrays: Arrays, prefix: str) -> Arrays:
    """Return the arrays that are not of a part."""
    return {name: array for name, array in arrays.items() if not name.startswith(prefix)}


def prefixed(arrays: Arrays, prefix: str) -> Arrays:
    """Return the arrays of a part, with the prefix before their names."""
    return {prefix + name: array for name, array in arrays.items()}
