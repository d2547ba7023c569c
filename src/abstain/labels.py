"""Labels and their internal encoding: -1, 0, +1, where 0 is reject and +1 the class that sorts last.

The reject label has the type of the classes and is not one of them, so that predictions are a plain array.
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

# What to do if the classes named are not those of y because a tool of scikit-learn has replaced the labels by numbers.
ENCODED = (
    "If scikit-learn has encoded y as 0 and 1 (cross_val_predict for scores, bagging, voting and stacking do), wrap "
    "the classifier in abstain.Forced(classifier, classes=[...]) with the two names."
)
Kind = Literal["string", "bool", "integer", "float"]


@dataclass(frozen=True, eq=False)
class Labels:
    """The two classes of a problem, which of them is positive, and the reject label.

    Attributes
    ----------
    classes : ndarray of shape (2,)
        The true classes, sorted, in the dtype of the labels.
    positive, negative : scalar
        The class that "positive" means in costs and measures (``classes[1]`` unless ``pos_label`` says otherwise), and
        the other one. The codes do not depend on it.
    reject_label : scalar or None
        The label of a rejected row. None if none was requested and the default is one of the classes.
    rejects : bool
        Whether decisions may be rejects. If not, `decode` keeps the dtype of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> labels = Labels.of(np.array(["ill", "well", "ill"]), pos_label="ill", rejects=True)
    >>> labels.encode(np.array(["well", "ill"]))
    array([ 1, -1], dtype=int8)
    >>> labels.decode(np.array([-1, 0, 1], dtype=np.int8))
    array(['ill', 'reject', 'well'], dtype='<U6')
    >>> labels.positive, labels.orientation
    ('ill', -1)
    """

    classes: NDArray[Any]
    positive: Any
    negative: Any
    reject_label: Any
    rejects: bool

    @classmethod
    def of(cls, y: ArrayLike, *, pos_label: Any = None, reject_label: Any = "auto", rejects: bool) -> Labels:
        """Check the labels of a training set and store what decoding needs."""
        classes = _two_classes(label_vector(y, "y"))
        at = 1 if pos_label is None else position(classes, pos_label)
        if at is None:
            raise ValueError(
                f"pos_label={pos_label!r} is not one of the classes {classes.tolist()}; "
                "pass one of them, or None for the last. " + (ENCODED if classes.tolist() == [0, 1] else "")
            )
        reject_label = chosen_reject_label(classes, reject_label, rejects=rejects)
        if rejects:
            decoded_dtype(classes, reject_label)
        positive, negative = classes.tolist()[at], classes.tolist()[1 - at]
        return cls(classes, positive, negative, reject_label, rejects)

    @property
    def orientation(self) -> int:
        """+1 if the positive class is ``classes[1]``, as for scores in scikit-learn; -1 if it is ``classes[0]``."""
        return 1 if self.positive == self.classes[1] else -1

    def encode(self, y: ArrayLike) -> NDArray[np.int8]:
        """Signs of true labels: +1 for ``classes[1]``, -1 for ``classes[0]``; any other label is an error."""
        first, second = self.classes.tolist()
        return _codes(label_vector(y, "y"), {1: second, -1: first}, "y", f"the classes {[first, second]}")

    def decode(self, choice: NDArray[np.int8]) -> NDArray[Any]:
        """Labels of choices: a plain array with `reject_label` where the choice is 0."""
        dtype = decoded_dtype(self.classes, self.reject_label) if self.rejects else self.classes.dtype
        table = np.empty(3, dtype=dtype)
        first, second = self.classes.tolist()
        table[:] = first, self.reject_label if self.rejects else first, second
        return table[np.asarray(choice, dtype=np.intp) + 1]


def default_reject_label(classes: NDArray[Any]) -> str | int | float:
    """The default reject label of these classes.

    ``"reject"`` for strings, -1 for numbers >= 0 and for booleans, 0 for {-1, +1}, otherwise the least class minus 1.
    """
    kind = _kind(classes)
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
    if not (isinstance(reject_label, str) and reject_label == "auto"):
        return _checked_reject_label(classes, reject_label)
    try:
        return default_reject_label(classes)
    except ValueError:
        if rejects:
            raise
        return None


def free_label(y: NDArray[Any]) -> Any:
    """A label of the same type that is not in `y`."""
    if y.dtype.kind == "U":
        return "x" * (y.dtype.itemsize // 4 + 1)  # longer than any
    if y.dtype.kind in "iu" and y.size:
        return int(y.max()) + 1
    if y.dtype.kind == "f" and y.size:
        return float(np.nextafter(np.max(y), np.inf))
    if y.dtype.kind in "OT" and all(isinstance(label, str) for label in y):
        return "x" * (max((len(label) for label in y), default=0) + 1)
    return -1  # booleans; anything that is not a label is refused by the encoding


def classes_of(y: ArrayLike) -> list[Any]:
    """The classes of true labels, sorted."""
    return list(_classes(label_vector(y, "y_true")).tolist())


def known_positive(y_pred: Any) -> Any:
    """The positive class of the `Decisions` of an estimator; None for an array of labels."""
    labels = getattr(y_pred, "labels", None)
    return labels.positive if isinstance(labels, Labels) else None


def encode_pair(
    y_true: ArrayLike, y_pred: ArrayLike, pos_label: Any = None, reject_label: Any = "auto"
) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Signs of true labels and choices of predictions (0 = rejected), for the metrics.

    The classes are those of `y_true`. If it contains only one, the other may come from `y_pred` or from `pos_label`;
    if the positive class or the reject label is still undetermined, an error asks for it. `y_pred` may be the
    `Decisions` of an estimator, whose positive class and reject label are then the defaults.

    Examples
    --------
    >>> encode_pair([0, 1, 1], [0, -1, 1])
    (array([-1,  1,  1], dtype=int8), array([-1,  0,  1], dtype=int8))
    """
    return read_pair(y_true, y_pred, pos_label, reject_label)[:2]


def read_pair(
    y_true: ArrayLike, y_pred: ArrayLike, pos_label: Any = None, reject_label: Any = "auto"
) -> tuple[NDArray[np.int8], NDArray[np.int8], tuple[Any, Any]]:
    """As `encode_pair`, with the negative class, None if no row has it, and the positive class."""
    labels = getattr(y_pred, "labels", None)
    if isinstance(labels, Labels):
        y_pred, pos_label = y_pred.label, labels.positive if pos_label is None else pos_label  # type: ignore[union-attr]
        if isinstance(reject_label, str) and reject_label == "auto":
            reject_label = free_label(labels.classes) if labels.reject_label is None else labels.reject_label
    true, predicted = label_vector(y_true, "y_true"), label_vector(y_pred, "y_pred")
    check_consistent_length(true, predicted)
    if true.size == 0:
        raise ValueError("y_true is empty; a metric needs at least one row.")
    seen = _classes(true)
    if len(seen) > 2:
        raise ValueError(f"y_true has {len(seen)} classes, {some(seen)}; two classes are supported.")
    if isinstance(reject_label, str) and reject_label == "auto":
        reject_label = _reject_label_of(seen)
    else:
        reject_label = _checked_reject_label(seen, reject_label)
    positive, negative = _sides(seen, predicted, pos_label, reject_label)
    classes = {1: positive} if negative is None else {1: positive, -1: negative}
    sign = _codes(true, classes, "y_true", "a class")
    named = f"a class of y_true ({some(seen)}) nor reject_label={reject_label!r}"
    return sign, _codes(predicted, {**classes, 0: reject_label}, "y_pred", named), (negative, positive)


def label_vector(y: ArrayLike, name: str) -> NDArray[Any]:
    """The labels as a vector of strings, booleans or numbers; anything else is an error that names the argument."""
    values = np.asarray(y)
    if values.dtype.kind == "T":  # NumPy's StringDType, which scikit-learn's checks do not support
        values = np.array(values.tolist(), dtype=object)
    elif values.dtype.kind == "U" and not hasattr(y, "dtype"):  # NumPy turns the nan of a list into the text "nan"
        label_vector(np.asarray(y, dtype=object), name)
    values = column_or_1d(values)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"{name} contains NaN or infinity; every row needs a label, so drop the rows without one.")
    if values.dtype.kind not in "OUbiuf":
        raise ValueError(f"Unknown label type: {name} has dtype {values.dtype}; use strings, booleans or numbers.")
    if values.dtype == object and not all(isinstance(value, str) for value in values):
        if all(isinstance(value, bool | np.bool_) for value in values):
            return values.astype(bool)
        odd = next(value for value in values if not isinstance(value, str))
        raise ValueError(
            f"Unknown label type: {name} holds {odd!r} of type {type(odd).__name__} in an object array; "
            "labels must be all strings, all booleans or all numbers, with none missing, and numbers need an array of "
            f"numbers, as {name}.astype(int) gives it."
        )
    return values


def _classes(values: NDArray[Any]) -> NDArray[Any]:
    check_classification_targets(values)
    return np.array([False, True]) if values.dtype.kind == "b" else np.unique(values)


def _two_classes(y: NDArray[Any]) -> NDArray[Any]:
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) > 2:  # scikit-learn's checks look for the first sentence
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"y has {len(classes)} classes, {some(classes)}. RejectSVC and RejectSVCCV take any number."
        )
    if len(classes) < 2:
        raise ValueError(f"y has only one class, {some(classes)}; training needs two.")
    return classes


def _kind(classes: NDArray[Any]) -> Kind:
    kinds: dict[str, Kind] = {"U": "string", "O": "string", "b": "bool", "i": "integer", "u": "integer", "f": "float"}
    return kinds[classes.dtype.kind]


def position(classes: NDArray[Any], label: Any) -> int | None:
    """The position of a label among the classes, or None. Strings match only strings, numbers only numbers."""
    textual = _kind(classes) == "string"
    if isinstance(label, str) is not textual or not (textual or isinstance(label, numbers.Real | np.bool_)):
        return None
    return next((at for at, known in enumerate(classes.tolist()) if known == label), None)


def _checked_reject_label(classes: NDArray[Any], label: Any) -> Any:
    """The label, if it has the type of the classes and is not one of them. For booleans it must be an integer."""
    kind = _kind(classes)
    truth = isinstance(label, bool | np.bool_)
    fits = {
        "string": isinstance(label, str),
        "bool": isinstance(label, numbers.Integral) and not truth,
        "integer": isinstance(label, numbers.Integral) and not truth,
        "float": isinstance(label, numbers.Real) and not truth and bool(np.isfinite(float(label))),
    }[kind]
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


def _reject_label_of(seen: NDArray[Any]) -> Any:
    """The "auto" reject label of a y_true; a single class determines it only for strings and booleans."""
    if len(seen) < 2 and _kind(seen) in ("integer", "float"):
        raise ValueError(
            f"y_true has only one class, {some(seen)}, which does not determine the reject label; "
            "pass the one in the predictions as reject_label (an estimator's reject_label_)."
        )
    return default_reject_label(seen)


def _sides(seen: NDArray[Any], predicted: NDArray[Any], pos_label: Any, reject_label: Any) -> tuple[Any, Any]:
    """The positive and the negative class; the negative one may be None if no row has it."""
    known = seen.tolist()
    if len(known) == 1:
        known += [value for value in np.unique(predicted).tolist() if value not in (known[0], reject_label)]
        if len(known) == 1 and pos_label is not None and position(seen, pos_label) is None:
            known.append(pos_label)
    if len(known) == 2:
        classes = np.unique(np.array(known, dtype=seen.dtype if seen.dtype == object else None))
        at = 1 if pos_label is None else position(classes, pos_label)
        if at is None:
            raise ValueError(f"pos_label={pos_label!r} is not one of the classes {classes.tolist()}; pass one of them.")
        return classes[at], classes[1 - at]
    if len(known) == 1 and pos_label is not None:
        return pos_label, None
    if len(known) == 1:
        raise ValueError(f"y_true and y_pred contain only the class {some(seen)}; pass the positive one as pos_label.")
    raise ValueError(
        f"y_pred contains {known[1:]}, more than one label besides the class {some(seen)} and "
        f"reject_label={reject_label!r}; two classes are supported."
    )


def _codes(values: NDArray[Any], table: dict[int, Any], name: str, wanted: str) -> NDArray[np.int8]:
    codes = np.zeros(len(values), dtype=np.int8)
    known = np.zeros(len(values), dtype=bool)
    for code, label in table.items():
        found = np.asarray(values == label)
        codes[found] = code
        known |= found
    if not known.all():
        raise ValueError(f"{name} contains {some(np.unique(values[~known]))}, which is not {wanted}.")
    return codes


def some(values: NDArray[Any]) -> str:
    """The first values, for errors."""
    shown = values[:5].tolist()
    text = ", ".join(repr(value) for value in shown)
    return text + (", ..." if len(values) > 5 else "")
