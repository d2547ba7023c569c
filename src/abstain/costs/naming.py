"""Whether costs were given, and whether anything but the sort order says which class is positive."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils._param_validation import InvalidParameterError

from abstain.arguments import warn_caller
from abstain.costs.table import CostTable
from abstain.labels import classes_of

__all__ = ["checked_costs", "warn_if_assumed"]


def checked_costs(costs: object, call: str = "{}") -> CostTable:
    """Return the costs, or raise an error that shows how to state them in `call`."""
    if isinstance(costs, CostTable):
        return costs
    stated = call.format("Costs(false_positive=1, false_negative=5, reject=0.3)")
    # a ValueError and a TypeError, as for scikit-learn's own parameters
    raise InvalidParameterError(f"costs={costs!r} must be a Costs, not a {type(costs).__name__}; write {stated}.")


def warn_if_assumed(costs: CostTable, y: ArrayLike, pos_label: Any) -> None:
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
