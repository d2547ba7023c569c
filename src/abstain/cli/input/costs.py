"""Costs from the command line: options, or a published cost matrix with classes by name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from abstain.cli.exit_codes import DataError, UsageError
from abstain.cli.input.read_table import opened

if TYPE_CHECKING:
    from abstain.costs import Costs


def stated_costs(
    false_positive: float | None,
    false_negative: float | None,
    reject: str | None,
    matrix: Path | None,
    classes: tuple[str, str],
    *,
    pos_label: str | None,
    decimal: str = ".",
) -> Costs:
    """The costs given by the options.

    Parameters
    ----------
    false_positive, false_negative : float or None
        Costs of the two errors; None is 1.
    reject : str or None
        One cost, or two as in "0.2,0.5" or "0.2/0.5", for rows of the negative and of the positive class.
    matrix : Path or None
        A cost matrix instead of the two error costs: rows actual, columns predicted.
    classes : (str, str)
        The negative and the positive class.
    pos_label : str or None
        The positive class as stated; None is an error if the costs depend on it and only the sort order decides.
    decimal : str
        The decimal sign of the table; if it is a comma, a comma in `reject` is ambiguous and an error.
    """
    from abstain.costs import Costs

    price = reject_price(reject, decimal)
    if matrix is None:
        errors = (1.0 if false_positive is None else false_positive, 1.0 if false_negative is None else false_negative)
    elif false_positive is None and false_negative is None:
        errors = _errors_of(matrix, classes)
    else:
        raise UsageError("--cost-matrix gives the costs of both errors; leave out --false-positive/--false-negative.")
    try:
        costs = Costs(*errors, price)
    except ValueError as error:
        hint = f" {_point(reject)}" if reject is not None and re.fullmatch(r"\d+,\d+", reject.strip()) else ""
        raise UsageError(f"{error}{hint}") from error
    known = pos_label is not None or costs.symmetric or in_order(classes)
    if not known and (matrix is None or isinstance(costs.reject, tuple)):
        given = "--false-positive" if false_negative is None else "--false-negative"
        if matrix is not None or costs.false_positive == costs.false_negative:
            given = "--reject"
        raise UsageError(_ask_for_positive(given, costs, *(name[:60] for name in classes)))
    return costs


def in_order(classes: tuple[str, str]) -> bool:
    """Whether the classes are numbers, the larger one positive, as in 0 and 1."""
    try:
        return float(classes[0]) < float(classes[1])
    except ValueError:
        return False


def _ask_for_positive(given: str, costs: Costs, first: str, last: str) -> str:
    """The error that asks for --pos-label, by one option that was given and depends on it."""
    if given == "--reject":
        stated, meaning = f"--reject {costs.reject_negative:g},{costs.reject_positive:g}", (
            f"the second cost is that of rejecting a row of {last!r}",
            f"that of rejecting a row of {first!r}",
        )  # fmt: skip
    else:
        missed = given == "--false-negative"
        stated = f"{given} {costs.false_negative if missed else costs.false_positive:g}"
        wrong, right = (first, last) if missed else (last, first)
        meaning = (
            f"it is the cost of deciding {wrong!r} for a row of {right!r}",
            f"that of deciding {right!r} for a row of {wrong!r}",
        )
    return (
        f"--pos-label is missing, and the costs differ by class ({stated}): with --pos-label {last!r} {meaning[0]}, "
        f"with --pos-label {first!r} {meaning[1]}. Give one of the two."
    )


def reject_price(reject: str | None, decimal: str) -> float | tuple[float, float]:
    """The reject cost as stated: one number, or two by class."""
    if reject is None:
        raise UsageError("--reject is missing: give the cost of a reject, below that of an error, as in --reject 0.3.")
    if decimal == "," and "," in reject:
        raise UsageError(f"--reject {reject!r} is ambiguous with --decimal ','. {_point(reject)}")
    try:
        prices = [float(part) for part in re.split("[,;/]", reject)]
    except ValueError:
        prices = []
    if len(prices) == 1:
        return prices[0]
    if len(prices) == 2:
        return prices[0], prices[1]
    raise UsageError(f"--reject {reject!r} must be one cost, or two as in 0.2/0.5 (negative, positive class).")


def _point(reject: str) -> str:
    """How to write a cost with decimals, and two costs."""
    text = reject.strip() if reject.count(",") == 1 else "0,4"
    one, two = text.replace(",", "."), text.replace(",", "/")
    return f"Costs are written with a point, as in {one}; two costs with a slash, as in {two}."


def _errors_of(path: Path, classes: tuple[str, str]) -> tuple[float, float]:
    """The costs of a false positive and a false negative in a cost matrix file."""
    with opened(path) as table:
        if len(table.columns) != 3:
            raise DataError(
                f"{path}: line 1 has {len(table.columns)} columns; a cost matrix has three: actual, and one "
                "predicted column per class."
            )
        rows = [row for batch in table.batches for row in batch.frame.iter_rows()]
        places = {_class_of(name, classes): at for at, name in enumerate(table.columns) if at > 0}
        by_class = {str(row[0]): row for row in rows}
        if set(places) != set(classes):
            raise DataError(
                f"{path}: line 1 must name a predicted column for each class, as in "
                f"actual,pred_{classes[0]},pred_{classes[1]}; it names {table.columns[1]!r} and {table.columns[2]!r}."
            )
        if len(rows) != 2 or set(by_class) != set(classes):
            raise DataError(
                f"{path}: column {table.columns[0]!r} must name each class once, {classes[0]!r} and {classes[1]!r}; "
                f"it names {', '.join(repr(row[0]) for row in rows[:5])}."
            )
    negative, positive = classes
    prices = {(a, p): _price(path, by_class[a][places[p]], a, p) for a in classes for p in classes}
    for name in classes:
        if prices[name, name] != 0:
            raise DataError(
                f"{path}: the cost of predicting {name!r} for {name!r} must be 0, not {prices[name, name]:g}; subtract "
                "it from its row."
            )
    return prices[negative, positive], prices[positive, negative]


def _class_of(column: str, classes: tuple[str, str]) -> str | None:
    """The class of a predicted column: CLASS, pred_CLASS, or pred_CLASS_and_words."""
    exact = [name for name in classes if column in (name, f"pred_{name}")]
    found = exact or [name for name in classes if column.startswith(f"pred_{name}_")]
    return found[0] if len(found) == 1 else None


def _price(path: Path, cell: object, actual: str, predicted: str) -> float:
    try:
        return float(str(cell))
    except ValueError:
        raise DataError(
            f"{path}: the cost of predicting {predicted!r} for {actual!r} is {cell!r}; it must be a number."
        ) from None
