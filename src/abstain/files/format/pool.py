"""The arrays of a Pipeline's steps, joined into three arrays: a file has few members, however many steps there are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.files.format.errors import ModelFileError, refuse, unsupported
from abstain.files.format.schema import Arrays, Spec, fitting, spec

# The name of the joined array of each dtype.
JOINED = {"<f8": "double", "<f4": "single", "<i8": "whole"}
FLOAT = ("<f8", "<f4")
# Of all Pipelines and ColumnTransformers of a model. Reading takes scikit-learn about a millisecond for a step, up to
# ten microseconds for a column, and a quarter of a millisecond for a column that is encoded.
MOST_STEPS, MOST_COLUMNS, MOST_ENCODED = 1000, 2**20, 10_000


class _Work:
    """What the steps of a model read in all: reading a file takes no longer than these bounds allow."""

    def __init__(self) -> None:
        self._steps = self._columns = self._encoded = 0

    def count(self, columns: int, *, encoded: bool = False) -> None:
        """Count one more step that reads so many columns; an error if the model has too many in all."""
        self._steps += 1
        self._columns += columns
        self._encoded += columns if encoded else 0
        for what, count, most in (
            ("steps", self._steps, MOST_STEPS),
            ("columns over all its steps", self._columns, MOST_COLUMNS),
            ("encoded columns", self._encoded, MOST_ENCODED),
        ):
            if count > most:
                raise self._excess(f"it has more than {most:,} {what}.")

    def _excess(self, reason: str) -> ValueError:
        return ModelFileError(reason)


class PoolWriter(_Work):
    """Takes the arrays of the steps in the order in which they will be read."""

    def __init__(self) -> None:
        super().__init__()
        self._taken: dict[str, list[NDArray[Any]]] = {dtype: [] for dtype in JOINED}

    def _excess(self, reason: str) -> ValueError:
        return ValueError(f"estimator cannot be saved: {reason} Use fewer, or skops.")

    def put(self, values: Any) -> list[Any]:
        """Add an array; the result describes it in the manifest: its dtype, then its shape."""
        array = np.asarray(values)
        dtype = array.dtype.newbyteorder("<").str
        if dtype not in JOINED:
            raise unsupported(f"has a step with an array of dtype {array.dtype}", "fit it to float64")
        self._taken[dtype].append(array.ravel())
        return [dtype, *array.shape]

    @property
    def arrays(self) -> Arrays:
        """The joined arrays."""
        return {
            name: np.concatenate([np.empty(0, dtype), *self._taken[dtype]], dtype=np.dtype(dtype))
            for dtype, name in JOINED.items()
        }


class PoolReader(_Work):
    """Returns the arrays of the steps, in order."""

    def __init__(self, arrays: Arrays) -> None:
        super().__init__()
        fitting(arrays, {name: ((dtype,), (name,)) for dtype, name in JOINED.items()}, "preprocessing", {})
        self._left = {dtype: arrays[name] for dtype, name in JOINED.items()}

    def take(self, name: str, entry: Any, form: str, n: int = 0, *, finite: bool = True) -> NDArray[Any]:
        """Take the array that an entry of the manifest describes.

        Parameters
        ----------
        name : str
            For errors.
        entry : object
            The dtype and the shape, as in the manifest.
        form : str
            The dtypes and the axes that it may have, as in `layout`, in several ways after commas; n is the number of
            columns, any other letter any number.
        n : int
        finite : bool, default=True
            Whether NaN is refused too; infinity always is.
        """
        listed = isinstance(entry, list) and len(entry) > 0
        if not listed or not any(_fits(entry, spec(one), n) for one in form.split(",")):
            raise ModelFileError(f"the array {name!r} of its preprocessing has the wrong dtype or shape.")
        dtype, *shape = entry
        size, left = int(np.prod(np.array(shape, dtype=object))), self._left[dtype]
        refuse(size > len(left), f"the array {name!r} of its preprocessing is longer than the file's.")
        self._left[dtype] = left[size:]
        array = left[:size].reshape(shape).copy()
        if not (np.isfinite(array) if finite else ~np.isinf(array)).all():
            what = "NaN or infinity" if finite else "infinity"
            raise ModelFileError(f"the array {name!r} of its preprocessing contains {what}.")
        return array

    def end(self) -> None:
        """Raise an error if numbers are left."""
        refuse(any(len(left) for left in self._left.values()), "its preprocessing has numbers that no step uses.")


def _fits(entry: list[Any], spec: Spec, n: int) -> bool:
    """Return whether an entry has one of these dtypes, and this shape."""
    (dtypes, shape), lengths = spec, entry[1:]
    whole = all(type(length) is int and 0 <= length < 2**40 for length in lengths)
    right = whole and entry[0] in dtypes and len(lengths) == len(shape)
    return right and all(wanted != "n" or length == n for length, wanted in zip(lengths, shape, strict=True))
