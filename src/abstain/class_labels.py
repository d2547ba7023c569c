"""Labels of any number of classes and their internal encoding: 1, ..., n in sorted order, where 0 is reject."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from abstain.labels import chosen_reject_label, decoded_dtype, label_vector, some

__all__ = ["ClassLabels", "has_several_classes", "read_classes"]


@dataclass(frozen=True, eq=False)
class ClassLabels:
    """The classes of a problem and the reject label.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The true classes, sorted, in the dtype of the labels.
    reject_label : scalar or None
        The label of a rejected row. None if none was requested and the default is one of the classes.
    rejects : bool
        Whether decisions may be rejects. If not, `decode` keeps the dtype of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.class_labels import ClassLabels
    >>> labels = ClassLabels.of(["fox", "cat", "dog"], rejects=True)
    >>> labels.encode(["dog", "cat"])
    array([2, 1])
    >>> labels.decode(np.array([1, 0, 3]))
    array(['cat', 'reject', 'fox'], dtype='<U6')
    """

    classes: NDArray[Any]
    reject_label: Any
    rejects: bool

    @classmethod
    def of(cls, y: ArrayLike, *, reject_label: Any = "auto", rejects: bool) -> ClassLabels:
        """Check the labels of a training set and store what decoding needs."""
        values = label_vector(y, "y")
        check_classification_targets(values)
        classes = np.unique(values)
        label = chosen_reject_label(classes, reject_label, rejects=rejects)
        if rejects:
            decoded_dtype(classes, label)
        return cls(classes, label, rejects)

    @classmethod
    def named(cls, classes: ArrayLike, *, reject_label: Any = "auto", rejects: bool) -> ClassLabels:
        """Make the labels from a list of the classes, which has each of them once."""
        # twice, because scikit-learn warns that labels of which most are different look like quantities
        return cls.of(np.repeat(label_vector(classes, "classes"), 2), reject_label=reject_label, rejects=rejects)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.classes)

    def encode(self, y: ArrayLike) -> NDArray[np.intp]:
        """Codes of true labels, 1 to n; any other label is an error."""
        return _codes(label_vector(y, "y"), self.classes, "y", f"one of the classes {some(self.classes)}")

    def codes(self, labels: ArrayLike) -> NDArray[np.intp]:
        """Codes of labels as `decode` gives them: 1 to n, and 0 for the reject label."""
        named = f"one of the classes {some(self.classes)} nor reject_label={self.reject_label!r}"
        return _codes(label_vector(labels, "labels"), self.classes, "labels", named, reject=self.reject_label)

    def decode(self, choice: NDArray[np.intp]) -> NDArray[Any]:
        """Labels of choices: a plain array with `reject_label` where the choice is 0."""
        dtype = decoded_dtype(self.classes, self.reject_label) if self.rejects else self.classes.dtype
        table = np.empty(1 + self.n_classes, dtype=dtype)
        table[0] = self.reject_label if self.rejects else self.classes[0]
        table[1:] = self.classes
        return table[choice]


def has_several_classes(y: Any) -> bool:
    """Whether y has more than two classes; False for anything that cannot be read as labels."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return str(type_of_target(y)) == "multiclass"
    except (ValueError, TypeError):
        return False


def read_classes(
    y_true: ArrayLike, y_pred: Any, reject_label: Any = "auto", known: tuple[Any, ...] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[Any]]:
    """Codes of true labels and of predictions (0 = rejected), and the classes, for the metrics.

    The classes are `known`, or those of the `Decisions` given as `y_pred`, or else those of `y_true` and `y_pred`.
    """
    labels = getattr(y_pred, "labels", None)
    auto = isinstance(reject_label, str) and reject_label == "auto"
    if isinstance(labels, ClassLabels):
        y_pred, known = y_pred.label, tuple(labels.classes.tolist()) if known is None else known
        if auto and labels.reject_label is not None:
            reject_label, auto = labels.reject_label, False
    true, predicted = label_vector(y_true, "y_true"), label_vector(y_pred, "y_pred")
    check_consistent_length(true, predicted)
    if true.size == 0:
        raise ValueError("y_true is empty; a metric needs at least one row.")
    seen = np.unique(true)
    if known is None:
        known = tuple(seen.tolist())
        if not auto:  # with "auto" other predictions may be the rejects
            label = chosen_reject_label(seen, reject_label, rejects=True)
            known += tuple(value for value in np.unique(predicted).tolist() if value != label)
    classes = np.unique(np.array(known, dtype=object if seen.dtype.kind == "O" else None))
    label = chosen_reject_label(classes, reject_label, rejects=True)
    named = f"one of the classes {some(classes)}"
    choice = _codes(predicted, classes, "y_pred", f"{named} nor reject_label={label!r}", reject=label)
    return _codes(true, classes, "y_true", named), choice, classes


def _codes(
    values: NDArray[Any], classes: NDArray[Any], name: str, wanted: str, *, reject: Any = None
) -> NDArray[np.intp]:
    codes = np.full(len(values), -1, dtype=np.intp)
    if (values.dtype.kind in "UO") is (classes.dtype.kind in "UO"):
        at = np.minimum(np.searchsorted(classes, values), len(classes) - 1)
        codes = np.where(classes[at] == values, at + 1, -1)
    if reject is not None:
        codes[np.asarray(values == reject)] = 0
    if (codes < 0).any():
        raise ValueError(f"{name} contains {some(np.unique(values[codes < 0]))}, which is not {wanted}.")
    return codes
