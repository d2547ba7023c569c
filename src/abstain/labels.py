"""Labels and their codes: 0 to n - 1 in sorted order. Decisions are positions among the actions of a table of costs.

::

    two classes    negative, reject, positive          more    0, ..., n - 1, reject

The reject label has the type of the classes and is not one of them, so that predictions are a plain array.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from abstain.arguments import refuse_lazy, warn_caller
from abstain.reject_labels import chosen_reject_label, decoded_dtype, is_auto, position, some

NO_CLASS = -1  # of an action that answers no class
# What to do if the classes named are not those of y because a tool of scikit-learn has replaced the labels by numbers.
ENCODED = (
    "If scikit-learn has encoded y as 0, 1, ... (cross_val_predict for scores, bagging, voting and stacking do), wrap "
    "the classifier in abstain.Forced(classifier, classes=[...]) with the names."
)


def layout(n_classes: int, positive: int = 1) -> tuple[int, ...]:
    """Return the class that each action answers, where the actions are the answers and a reject."""
    return (1 - positive, NO_CLASS, positive) if n_classes == 2 else (*range(n_classes), NO_CLASS)


@dataclass(frozen=True, eq=False)
class Labels:
    """The classes of a problem, which of two is positive, and the reject label.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The true classes, sorted, in the dtype of the labels.
    positive : scalar or None
        The class of two that "positive" means in costs and measures: ``classes[1]`` unless ``pos_label`` differs. None
        for more classes. The codes do not depend on it.
    reject_label : scalar or None
        The label of a rejected row. None if none was requested and the default is one of the classes.
    rejects : bool
        Whether decisions may be rejects. If not, `decode` keeps the dtype of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.labels import Labels
    >>> labels = Labels.of(np.array(["ill", "well", "ill"]), pos_label="ill", rejects=True)
    >>> labels.encode(np.array(["well", "ill"]))
    array([1, 0])
    >>> labels.answers, labels.decode(np.array([0, 1, 2]))
    ((1, -1, 0), array(['well', 'reject', 'ill'], dtype='<U6'))
    """

    classes: NDArray[Any]
    positive: Any
    reject_label: Any
    rejects: bool

    @classmethod
    def of(cls, y: ArrayLike, *, pos_label: Any = None, reject_label: Any = "auto", rejects: bool) -> "Labels":
        """Check the labels of a training set and store what decoding needs."""
        classes = distinct(label_vector(y, "y"))
        if len(classes) < 2:
            raise ValueError(f"y has only one class, {some(classes)}; training needs two.")
        return cls.made(classes, pos_label, reject_label, rejects=rejects)

    @classmethod
    def named(cls, classes: ArrayLike, *, pos_label: Any = None, reject_label: Any = "auto", rejects: bool) -> "Labels":
        """Make the labels from a list of the classes, which has each of them once."""
        # twice, because scikit-learn warns that labels of which most are different look like quantities
        twice = np.repeat(label_vector(classes, "classes"), 2)
        return cls.of(twice, pos_label=pos_label, reject_label=reject_label, rejects=rejects)

    @classmethod
    def made(cls, classes: NDArray[Any], pos_label: Any, reject_label: Any, *, rejects: bool) -> "Labels":
        """Make the labels of sorted classes."""
        at = 1 if pos_label is None else position(classes, pos_label)
        if pos_label is not None and len(classes) > 2:
            raise ValueError(
                f"pos_label={pos_label!r} is for two classes, and y has {len(classes)}; leave it out, and name the "
                "classes where they differ, as in Costs.from_table({truth: {answer: cost}}, reject=...). Only binary "
                "classification is supported with a pos_label."
            )
        if at is None:
            raise ValueError(
                f"pos_label={pos_label!r} is not one of the classes {classes.tolist()}; "
                "pass one of them, or None for the last. " + (ENCODED if classes.tolist() == [0, 1] else "")
            )
        label = chosen_reject_label(classes, reject_label, rejects=rejects)
        if rejects:
            decoded_dtype(classes, label)
        return cls(classes, classes.tolist()[at] if len(classes) == 2 else None, label, rejects)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.classes)

    @property
    def negative(self) -> Any:
        """The class of two that is not positive; None for more classes."""
        return None if self.positive is None else self.classes.tolist()[self.orientation < 0]

    @property
    def orientation(self) -> int:
        """+1 if the positive class is the last one, as for scores in scikit-learn; -1 if it is the first of two."""
        return -1 if self.positive is not None and self.positive == self.classes[0] else 1

    @property
    def answers(self) -> tuple[int, ...]:
        """The class that each action answers, where the actions are the answers and a reject."""
        return layout(self.n_classes, int(self.positive != self.classes[0]))

    @property
    def hands_on(self) -> tuple[bool, ...]:
        """Whether each action hands the case on."""
        return tuple(answer == NO_CLASS for answer in self.answers)

    @property
    def titles(self) -> list[str]:
        """The names of the actions in tables: the classes, and "reject" unless a class has this name."""
        known = [str(label) for label in self.classes.tolist()]
        reject = str(self.reject_label) if "reject" in known else "reject"
        return [reject if answer == NO_CLASS else known[answer] for answer in self.answers]

    @property
    def sides(self) -> dict[str, Any]:
        """The class of two that each of the titles negative and positive means."""
        return {} if self.positive is None else {"negative": self.negative, "positive": self.positive}

    def encode(self, y: ArrayLike) -> NDArray[np.intp]:
        """Return the codes of true labels, 0 to n - 1; any other label is an error."""
        return encoded(label_vector(y, "y"), self.classes, "y")

    @property
    def actions(self) -> NDArray[Any]:
        """The labels that decisions decode to, one for each action, in the smallest dtype that holds them."""
        dtype = decoded_dtype(self.classes, self.reject_label) if self.rejects else self.classes.dtype
        known = self.classes.tolist()
        rejected = self.reject_label if self.rejects else known[0]
        return np.array([rejected if at == NO_CLASS else known[at] for at in self.answers], dtype=dtype)

    def decode(self, choice: NDArray[np.intp]) -> NDArray[Any]:
        """Return the labels of choices: a plain array with `reject_label` where the choice is a reject."""
        return self.actions[choice]

    def forced(self, choice: NDArray[np.intp]) -> NDArray[Any]:
        """Return the labels of choices that are never a reject, in the dtype of the classes."""
        return np.asarray(self.classes[np.array(self.answers)[choice]])

    @property
    def counted(self) -> tuple[tuple[Any, ...], tuple[bool, ...]]:
        """What `count` counts, each class and then the rejects, and whether each of them is a reject."""
        return (*self.classes.tolist(), "reject"), (*[False] * self.n_classes, True)

    def count(self, choice: NDArray[np.intp]) -> NDArray[np.int64]:
        """Count choices, in the order of `counted`."""
        n = self.n_classes + 1
        return np.bincount(np.array(self.answers)[choice] % n, minlength=n).astype(np.int64)  # a reject is last

    def rejecting(self, reject_label: Any) -> "Labels":
        """Return the labels with a reject label: as asked for, else their own, else the default."""
        if is_auto(reject_label) and self.reject_label is not None:
            return replace(self, rejects=True)
        label = chosen_reject_label(self.classes, reject_label, rejects=True)
        decoded_dtype(self.classes, label)
        return replace(self, reject_label=label, rejects=True)

    def refuse_actions(self, why: str) -> None:
        """Raise an error if decisions are named actions, not classes."""

    def choices(self, labels: ArrayLike) -> NDArray[np.intp]:
        """Return the choices of labels as `decode` gives them."""
        nor = f" nor reject_label={self.reject_label!r}"
        found = encoded(label_vector(labels, "labels"), self.classes, "labels", nor, reject=self.reject_label)
        return choice_of(found, self.answers)


def two_classes(labels: "Labels") -> "Labels":
    """Return the labels if they are of two classes; otherwise the error that scikit-learn's checks look for."""
    if labels.n_classes > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"y has {labels.n_classes} classes, {some(labels.classes)}."
        )
    return labels


def choice_of(code: NDArray[np.intp], answers: tuple[int, ...]) -> NDArray[np.intp]:
    """Return the action that answers each class; the code -1 is the reject."""
    order = np.argsort(answers)  # the reject first, then the classes in order
    return np.asarray(order[code + 1])


def classes_of(y: ArrayLike) -> list[Any]:
    """The classes of true labels, sorted."""
    return list(classes_in(label_vector(y, "y_true")).tolist())


def label_vector(y: ArrayLike, name: str) -> NDArray[Any]:
    """The labels as a vector of strings, booleans or numbers; anything else is an error that names the argument."""
    refuse_lazy(y, name)
    values = np.asarray(y)
    if values.dtype.kind == "T":  # NumPy's StringDType, which scikit-learn's checks do not support
        values = np.array(values.tolist(), dtype=object)
    elif values.dtype.kind == "U" and not hasattr(y, "dtype"):  # NumPy turns the nan of a list into the text "nan"
        label_vector(np.asarray(y, dtype=object), name)
    values = values if values.ndim == 1 and values.dtype.kind != "c" else column_or_1d(values)
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


def classes_in(values: NDArray[Any]) -> NDArray[Any]:
    """Return the classes of true labels, sorted; of booleans both, also if only one is there."""
    return np.array([False, True]) if values.dtype.kind == "b" else distinct(values)


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the different labels, sorted; scikit-learn's error for quantities, and its warning for very many."""
    found = np.unique(values)
    if values.dtype.kind == "f" or 2 * len(found) > len(values):
        check_classification_targets(values)
    return found


def encoded(
    values: NDArray[Any], classes: NDArray[Any], name: str, nor: str = "", *, reject: Any = None
) -> NDArray[np.intp]:
    """Return the positions of values among sorted classes, and -1 for the reject label; others are an error."""
    codes = np.full(len(values), len(classes), dtype=np.intp)
    if (values.dtype.kind in "UO") is (classes.dtype.kind in "UO"):
        at = np.minimum(classes.searchsorted(values), len(classes) - 1)
        known = classes[at] == values
        if known.all():
            return at
        codes = np.where(known, at, len(classes))
    if reject is not None:
        # a class of float32 may equal a reject label that only float64 can hold
        codes[(codes == len(classes)) & np.asarray(values == reject)] = NO_CLASS
    if (codes == len(classes)).any():
        odd, wanted = some(np.unique(values[codes == len(classes)])), f"one of the classes {some(classes)}{nor}"
        raise ValueError(f"{name} contains {odd}, which is not {wanted}.")
    return codes


def warn_if_assumed(costs: Any, y: ArrayLike, pos_label: Any) -> None:
    """Warn if the costs differ by class, and only the sort order of two strings says which one is positive."""
    if costs.labels is not None or costs.symmetric or pos_label is not None:
        return
    classes = classes_of(y)
    if len(classes) == 1 and isinstance(classes[0], str):
        warn_caller(
            f"pos_label is not given, and the costs differ by class: which class is positive is taken from the sort "
            f"order of the labels, of which y has only {classes[0]!r}. Pass pos_label, or name the classes with "
            "Costs.from_table."
        )
    elif len(classes) == 2 and isinstance(classes[0], str):
        negative, positive = classes
        table = costs.values.reshape(-1, *costs.values.shape[-2:])
        row = table[int((table[:, 1, 0] != table[:, 0, 2]).argmax())]  # the first whose errors differ
        warn_caller(
            f"pos_label is not given, and the costs differ by class: {positive!r} is taken as the positive class "
            f"because it sorts last, so false_negative={row[1, 0]:g} is the cost of deciding {negative!r} "
            f"when {positive!r} is true. Pass pos_label={positive!r} or pos_label={negative!r}, or name the classes "
            "with Costs.from_table."
        )
