"""Checks of a part of the manifest: every field is taken once, with its type, and none is left over."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from abstain.files.format.arrays import Arrays
from abstain.files.format.errors import ModelFileError

# An array's dtypes, and its shape in numbers and letters; one letter stands for one number in all arrays of a part.
Shape = tuple[int | str, ...]
Spec = tuple[tuple[str, ...], Shape]


class Fields:
    """The fields of one JSON object, taken one by one.

    Parameters
    ----------
    given : object
        As read from the file; an error if it is not a JSON object.
    where : str
        What the object describes, for errors.
    """

    def __init__(self, given: Any, where: str) -> None:
        if not isinstance(given, dict):
            raise ModelFileError(f"its manifest does not describe the {where} with named fields.")
        self._left = dict(given)
        self._where = where

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def take(self, name: str, *kinds: type) -> Any:
        """Take a field of exactly one of these types, or of any type if none is given."""
        if name not in self._left:
            raise ModelFileError(f"its manifest lacks the field {name!r} of the {self._where}.")
        value = self._left.pop(name)
        if kinds and type(value) not in kinds:
            raise ModelFileError(f"the field {name!r} of the {self._where} has the wrong type.")
        return value

    def peek(self, name: str) -> Any:
        """Give a field that will be taken later; None if it is missing."""
        return self._left.get(name)

    def whole(self, name: str, least: int = 0) -> int:
        """Take an integer from `least` up to the largest index."""
        value: int = self.take(name, int)
        if not least <= value < 2**62:
            raise ModelFileError(f"the field {name!r} of the {self._where} must be an integer >= {least}.")
        return value

    def number(self, name: str) -> float:
        """Take a finite number."""
        value = float(self.take(name, int, float))
        if not math.isfinite(value):
            raise ModelFileError(f"the field {name!r} of the {self._where} must be a finite number.")
        return value

    def texts(self, name: str) -> list[str]:
        """Take a list of strings."""
        value: list[str] = self.take(name, list)
        if not all(isinstance(text, str) for text in value):
            raise ModelFileError(f"the field {name!r} of the {self._where} must be a list of strings.")
        return value

    def one_of(self, name: str, allowed: Any) -> str:
        """Take one of the allowed strings."""
        value: str = self.take(name, str)
        if value not in allowed:
            raise ModelFileError(f"the field {name!r} of the {self._where} is {value[:60]!r}, which is not allowed.")
        return value

    def end(self) -> None:
        """Raise an error if a field is left: a field unknown to this version must not be ignored silently."""
        if self._left:
            raise ModelFileError(f"the {self._where} has an unknown field {min(self._left)[:60]!r}.")


def fitting(arrays: Arrays, specs: Mapping[str, Spec], where: str, letters: Mapping[str, int]) -> dict[str, int]:
    """Check that there are exactly these arrays, with these dtypes and shapes; give the values of the letters.

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


def within(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays of a part, without the prefix in their names."""
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}


def prefixed(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays of a part, with the prefix before their names."""
    return {prefix + name: array for name, array in arrays.items()}
