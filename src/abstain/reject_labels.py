"""The label of a reject: of the type of the classes, and not one of them."""

import numbers
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["string", "bool", "integer", "float"]


def kind_of(classes: NDArray[Any]) -> Kind:
    """Return the kind of the labels."""
    kinds: dict[str, Kind] = {"U": "string", "O": "string", "b": "bool", "i": "integer", "u": "integer", "f": "float"}
    return kinds[classes.dtype.kind]


def position(classes: NDArray[Any], label: Any) -> int | None:
    """The position of a label among the classes, or None. Strings match only strings, numbers only numbers."""
    textual = kind_of(classes) == "string"
    if isinstance(label, str) is not textual or not (textual or isinstance(label, numbers.Real | np.bool_)):
        return None
    return next((at for at, known in enumerate(classes.tolist()) if known == label), None)


def default_reject_label(classes: NDArray[Any]) -> str | int | float:
    """The default reject label of these classes.

    ``"reject"`` for strings, -1 for numbers >= 0 and for booleans, 0 for {-1, +1}, otherwise the least class minus 1.
    """
    kind = kind_of(classes)
    if kind == "string":
        label: str | int | float = "reject"
    elif kind == "bool":
        label = -1
    else:
        low = classes.min().item()
        label = type(low)(-1 if low >= 0 else 0 if classes.tolist() == [-1, 1] else low - 1)
    if position(classes, label) is not None:  # "reject" is a class, or low - 1 == low in floating point
        raise ValueError(
            f"the default reject label {label!r} is one of the classes {classes.tolist()}; "
            f"pass a {kind} that is not a class as reject_label."
        )
    return label


def chosen_reject_label(classes: NDArray[Any], reject_label: Any, *, rejects: bool) -> Any:
    """The reject label as asked for; None if it is "auto", is not needed, and the default is one of the classes."""
    if not is_auto(reject_label):
        return checked_reject_label(classes, reject_label)
    try:
        return default_reject_label(classes)
    except ValueError:
        if rejects:
            raise
        return None


def is_auto(reject_label: Any) -> bool:
    """Whether the label is left to us; it may be anything that a user passes, such as an array."""
    return isinstance(reject_label, str) and reject_label == "auto"


def checked_reject_label(classes: NDArray[Any], label: Any) -> Any:
    """The label, if it has the type of the classes and is not one of them. For booleans it must be an integer."""
    kind = kind_of(classes)
    kinds: dict[str, Any] = {"string": str, "float": numbers.Real}
    fits = isinstance(label, kinds.get(kind, numbers.Integral)) and not isinstance(label, bool | np.bool_)
    if kind == "float":
        fits = fits and bool(np.isfinite(float(label)))
    if not fits:
        wanted = {"string": "a string", "float": "a finite number"}.get(kind, "an integer")
        raise ValueError(
            f"reject_label={label!r} does not have the type of the classes {classes.tolist()}; "
            f'pass {wanted} that is not a class, or "auto".'
        )
    if position(classes, label) is not None:
        raise ValueError(
            f"reject_label={label!r} is one of the classes {classes.tolist()}; choose a label outside them."
        )
    return float(label) if kind == "float" else str(label) if kind == "string" else int(label)


def free_label(y: NDArray[Any]) -> Any:
    """A label of the same type that is not in `y`."""
    if all(isinstance(label, str) for label in y.tolist()):
        return "x" * (max(map(len, y.tolist()), default=0) + 1)  # longer than any
    if y.dtype.kind in "iu":
        return int(y.max()) + 1
    if y.dtype.kind == "f":
        return float(np.nextafter(np.max(y), np.inf))
    return -1  # booleans; anything that is not a label is refused by the encoding


def decoded_dtype(classes: NDArray[Any], reject_label: Any) -> np.dtype[Any]:
    """The dtype of the labels if it can represent the reject label, else the smallest of its kind that can."""
    own = classes.dtype
    if own.kind == "O":
        return own
    if own.kind == "U":
        return np.promote_types(own, np.array(reject_label).dtype)
    if own.kind == "f":
        return own if float(own.type(reject_label)) == reject_label else np.dtype(np.float64)
    if own.kind == "b":
        return np.min_scalar_type(min(reject_label, ~reject_label))
    low, high = min(int(classes.min()), reject_label), max(int(classes.max()), reject_label)
    signed = (np.dtype(f"i{size}") for size in (1, 2, 4, 8) if size >= own.itemsize)
    for dtype in (own, *signed):  # chosen by value, because promoting uint64 with a negative number would give floats
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return dtype
    raise ValueError(
        f"no integer type can hold both the classes {classes.tolist()} and reject_label={reject_label}; "
        "pass a reject_label closer to them."
    )


def some(values: NDArray[Any]) -> str:
    """The first values, for errors."""
    shown = values[:5].tolist()
    text = ", ".join(repr(value) for value in shown)
    return text + (", ..." if len(values) > 5 else "")
