"""The classes of a column of labels: two with an order, or more, checked for what is probably meant otherwise."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import Any

from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, UsageError, meant
from abstain.cli.options import Given
from abstain.cli.tables.notation import number_of
from abstain.cli.tables.read_table import Batch, InputTable

UNLABELLED = ("na", "n/a", "null", "none", "unknown", "missing", "?", "-", ".", "99", "999", "-999", "-9999")
MOST = 100  # more labels are quantities or names
SURELY_FEW = 20  # this many labels may be classes, however few rows there are
BY_NAME = "state the costs of all classes by name with --cost-matrix"
# What takes two classes only, and what to do otherwise. To lift a limit, delete its line.
TWO_ONLY = {
    "--pos-label": f"leave it out, and {BY_NAME} if they differ",
    "--false-positive": BY_NAME,
    "--false-negative": BY_NAME,
    "two costs of --reject": "give one cost, or one per class in a column 'reject' of --cost-matrix",
    **dict.fromkeys(
        ("--false-positive-column", "--false-negative-column", "--reject-column"),
        "name the columns by class and action, and read them with --row-costs",
    ),
}


def checked_classes(
    table: InputTable, batch: Batch, y: NDArray[Any], given: Given, only_two: str | None = None
) -> tuple[str, ...]:
    """The classes of labels: two as (negative, positive), or more in order.

    Parameters
    ----------
    table, batch
        Where the labels are from, for messages.
    y : ndarray of str
        The labels.
    given : Given
        The options; without --pos-label the last of two classes is the positive one.
    only_two : str or None
        An option of `TWO_ONLY` that was given, so that a third class is an error.
    """
    target, pos_label = given.target, given.pos_label
    classes = _sorted({*y})
    if len(classes) == 1:
        raise DataError(f"{table.path}: column {target!r} contains only one class, {classes[0]!r}; two are needed.")
    _check_few(table, target, classes, len(y))
    if len(classes) > 2:
        if only_two is not None:
            raise _third(table, batch, target, y, only_two)
        _suspect(table, target, y, classes)
        return tuple(classes)
    if pos_label is None:
        return classes[0], classes[1]
    if pos_label not in classes:
        known = f"{classes[0]!r} and {classes[1]!r}{meant(pos_label, classes) or '.'}"
        raise UsageError(f"--pos-label {pos_label!r} is not one of the classes {known}")
    return next(label for label in classes if label != pos_label), pos_label


def in_order(classes: tuple[str, ...]) -> bool:
    """Whether the classes are numbers, the larger one positive, as in 0 and 1."""
    return number_of(classes[0]) < number_of(classes[1])


def _check_few(table: InputTable, target: str, classes: list[str], rows: int) -> None:
    """Raise an error for labels that are surely quantities or names of the rows."""
    if len(classes) <= MOST and (len(classes) <= SURELY_FEW or 2 * len(classes) <= rows):
        return
    some = ", ".join(repr(label[:40]) for label in classes[:3])
    way = (
        "if they are quantities, put them into ranges first, such as 'low' and 'high'"
        if _are_numbers(classes)
        else "if they name the rows, pass another --target"
    )
    raise DataError(
        f"{table.path}: column {target!r} has {len(classes)} different labels in {rows} rows, such as {some}, and a "
        f"model takes at most {MOST} classes, each with several rows; {way}."
    )


def _third(table: InputTable, batch: Batch, target: str, y: NDArray[Any], option: str) -> DataError:
    first = {label: at for at, label in reversed(list(enumerate(y)))}  # first row of each class
    # a label that looks missing comes last, so that it is the one named
    one, two, third = sorted(first, key=lambda label: (_looks_missing(label), first[label]))[:3]
    return DataError(
        f"{table.place(batch.places[first[third]])}, column {target!r}: {third[:60]!r} is a third class after "
        f"{one[:60]!r} and {two[:60]!r}, and with {option} there can be only two; "
        f"{TWO_ONLY[option]}{_missing_way(third)}."
    )


def _suspect(table: InputTable, target: str, y: NDArray[Any], classes: list[str]) -> None:
    """Warn of labels that may mean that there is none, and of many numbers."""
    counts = Counter(y)
    for label in [label for label in classes if _looks_missing(label)][:1]:
        rows = "1 row" if counts[label] == 1 else f"{counts[label]} rows"
        text = f"{table.path}: column {target!r} has {label!r} in {rows}, which is taken as a class"
        warnings.warn(f"{text}{_missing_way(label)}.", UserWarning, stacklevel=3)
    if len(classes) > SURELY_FEW and _are_numbers(classes):
        warnings.warn(
            f"{table.path}: column {target!r} has {len(classes)} different numbers, each taken as a class; if they are "
            "quantities, put them into ranges first.",
            UserWarning,
            stacklevel=3,
        )


def _looks_missing(label: str) -> bool:
    return label.strip().lower() in UNLABELLED


def _missing_way(label: str) -> str:
    if not _looks_missing(label):
        return ""
    return f"; if it means that the label is missing, pass --missing-value {label!r} --drop-unlabelled"


def _are_numbers(labels: Iterable[str]) -> bool:
    return not any(math.isnan(number_of(label)) for label in labels)


def _sorted(labels: set[str]) -> list[str]:
    """The labels in order, as numbers if all of them are."""
    return sorted(labels, key=lambda label: (number_of(label), label)) if _are_numbers(labels) else sorted(labels)
