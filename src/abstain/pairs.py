"""True labels and decisions read together, for the metrics: codes of the truth, positions of the actions taken."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d

from abstain.labels import Labels, choice_of, classes_in, encoded, label_vector
from abstain.reject_labels import chosen_reject_label, free_label, is_auto, kind_of, position, some

UNDECIDED = object()  # in place of decisions, where only the true classes matter


@dataclass(frozen=True, eq=False)
class Pairs:
    """What was true and what was decided, row by row.

    Attributes
    ----------
    truth : ndarray of intp, shape (n,)
        Codes of the true classes.
    choice : ndarray of intp, shape (n,)
        Positions of the actions taken: in ``labels.answers``, or among the names of actions.
    labels : Labels
        The classes and the reject label.
    stand_in : label or None
        One of the two classes if no row has it and nobody named it, so that its name is made up.
    """

    truth: NDArray[np.intp]
    choice: NDArray[np.intp]
    labels: Labels
    stand_in: Any = None


def read_pairs(
    y_true: ArrayLike,
    y_pred: Any,
    pos_label: Any = None,
    reject_label: Any = "auto",
    *,
    known: tuple[Any, ...] | None = None,
    names: tuple[Any, ...] | None = None,
) -> Pairs:
    """Read true labels and decisions.

    The classes are `known`, those that costs name, or those of the `Decisions` given as `y_pred`, whose positive class
    and reject label are then the defaults, or else those of `y_true`. If it contains only one, the other may come from
    `y_pred` or from `pos_label`; if the positive class or the reject label is still undetermined, an error asks for it.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,), or Decisions for `y_pred`
        With `UNDECIDED` for `y_pred`, only the true classes matter.
    pos_label, reject_label : label
        As in the metrics.
    known : tuple or None
        The classes, if they are known.
    names : tuple or None
        The names of the actions, if decisions are among these.

    Examples
    --------
    >>> from abstain.pairs import read_pairs
    >>> pairs = read_pairs([0, 1, 1], [0, -1, 1])
    >>> pairs.truth, pairs.choice, pairs.labels.answers
    (array([0, 1, 1]), array([0, 1, 2]), (0, -1, 1))
    """
    own = getattr(y_pred, "labels", None)
    if isinstance(own, Labels):
        y_pred = y_pred.label
        known = tuple(own.classes.tolist()) if known is None else known
        pos_label = own.positive if pos_label is None and own.positive in known else pos_label
        if is_auto(reject_label):
            reject_label = free_label(own.classes) if own.reject_label is None else own.reject_label
    true = label_vector(y_true, "y_true")
    if y_pred is None:
        raise ValueError("y_pred=None has no decisions; pass an array of labels, or what decide returns.")
    if y_pred is UNDECIDED:
        y_pred = true if names is None else np.full(len(true), names[0])
        named = [*(known or ()), *([] if pos_label is None else [pos_label])]
        reject_label = free_label(np.array([*classes_in(true).tolist(), *named]))
    predicted = y_pred if names is not None else label_vector(y_pred, "y_pred")
    check_consistent_length(true, predicted)
    if true.size == 0:
        raise ValueError("y_true is empty; a metric needs at least one row.")
    if names is not None:
        labels = Labels(np.array(known), None, None, rejects=False)
        truth = positions(true, known or (), "y_true", "the classes of the costs")
        return Pairs(truth, positions(predicted, names, "y_pred", "the actions"), labels)
    labels, stand_in = _labels(true, predicted, pos_label, reject_label, known)
    truth = encoded(true, labels.classes, "y_true")
    nor = f" nor reject_label={labels.reject_label!r}; if it is the label of a reject, pass it as reject_label"
    choice = encoded(predicted, labels.classes, "y_pred", nor, reject=labels.reject_label)
    return Pairs(truth, choice_of(choice, labels.answers), labels, stand_in)


def _labels(
    true: NDArray[Any], predicted: NDArray[Any], pos_label: Any, reject_label: Any, known: tuple[Any, ...] | None
) -> tuple[Labels, Any]:
    """Return the labels, and the made-up class if there is one."""
    seen = classes_in(true)
    if known is None and len(seen) < 2 and is_auto(reject_label) and kind_of(seen) in ("integer", "float"):
        raise ValueError(
            f"y_true has only one class, {some(seen)}, which does not determine the reject label; "
            "pass the one in the predictions as reject_label (an estimator's reject_label_)."
        )
    classes, stand_in = seen if known is None else np.array(known, dtype=_dtype(seen)), None
    label = chosen_reject_label(classes, reject_label, rejects=True)
    if known is None:
        more = [value for value in np.unique(predicted).tolist() if value not in seen.tolist() and value != label]
        if len(seen) == 1 and not more and pos_label is not None and position(seen, pos_label) is None:
            more = [pos_label]
        if len(seen) == 1 and len(more) > 1:
            raise ValueError(
                f"y_pred contains {more}, more than one label besides the class {some(seen)} and "
                f"reject_label={label!r}; pass reject_label, or true labels of more classes."
            )
        if len(seen) == 1 and not more:
            if pos_label is None:
                raise ValueError(
                    f"y_true and y_pred contain only the class {some(seen)}; pass the positive one as pos_label."
                )
            more = [stand_in := free_label(np.concatenate([seen, np.array([label], dtype=_dtype(seen))]))]
        if len(seen) == 1 or (len(seen) > 2 and not is_auto(reject_label)):
            classes = np.unique(np.array([*seen.tolist(), *more], dtype=_dtype(seen)))
    classes = np.unique(classes)
    return Labels.made(classes, pos_label if len(classes) == 2 else None, label, rejects=True), stand_in


def _dtype(seen: NDArray[Any]) -> Any:
    return object if seen.dtype == object else None


def positions(values: Any, known: tuple[Any, ...], argument: str, what: str) -> NDArray[np.intp]:
    """Return the position of each value in `known`, strings and numbers alike; any other value is an error."""
    array, places = column_or_1d(np.asarray(values)).tolist(), {name: at for at, name in enumerate(known)}
    if odd := [value for value in array if value not in places]:
        raise ValueError(f"{argument} contains {odd[0]!r}, which is not one of {what} {[*known]}.")
    return np.array([places[value] for value in array], dtype=np.intp)
