"""Costs from the command line: options, or a published cost matrix with classes by name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from abstain.cli.exit_codes import DataError, UsageError
from abstain.cli.input.classes import in_order
from abstain.cli.input.columns import listed
from abstain.cli.tables.read_table import opened

if TYPE_CHECKING:
    from abstain.costs.class_costs import ClassCosts
    from abstain.costs.costs import Costs

REJECT = "reject"  # the column of reject costs in a cost matrix


def stated_costs(
    false_positive: float | None,
    false_negative: float | None,
    reject: str | None,
    matrix: Path | None,
    classes: tuple[str, ...],
    *,
    pos_label: str | None,
    decimal: str = ".",
) -> Costs | ClassCosts:
    """The costs given by the options.

    Parameters
    ----------
    false_positive, false_negative : float or None
        Costs of the two errors; None is 1.
    reject : str or None
        One cost, or two as in "0.2,0.5" or "0.2/0.5", for rows of the negative and of the positive class.
    matrix : Path or None
        A cost matrix instead of the two error costs: rows actual, columns predicted, and reject costs if it has them.
    classes : tuple of str
        The negative and the positive class, or more than two.
    pos_label : str or None
        The positive class as stated; None is an error if the costs depend on it and only the sort order decides.
    decimal : str
        The decimal sign of the table; if it is a comma, a comma in `reject` is ambiguous and an error.
    """
    named = None if matrix is None else CostFile.of(matrix, classes)
    if named is not None and not (false_positive is None and false_negative is None):
        raise UsageError("--cost-matrix gives the costs of both errors; leave out --false-positive/--false-negative.")
    if named is not None and named.reject is not None and reject is not None:
        raise UsageError(f"--reject and the column {REJECT!r} of {matrix} both give this cost; leave one of them out.")
    if len(classes) > 2:
        return _class_costs(named, reject, classes, decimal)
    costs = _two_class_costs(false_positive, false_negative, reject, named, classes, decimal=decimal)
    by_name = named is not None and (reject is None or not isinstance(costs.reject, tuple))
    if not (pos_label is not None or costs.symmetric or in_order(classes) or by_name):
        given = "--false-positive" if false_negative is None else "--false-negative"
        if named is not None or costs.false_positive == costs.false_negative:
            given = "--reject"
        raise UsageError(_ask_for_positive(given, costs, *(name[:60] for name in classes)))
    return costs


def _class_costs(named: CostFile | None, reject: str | None, classes: tuple[str, ...], decimal: str) -> ClassCosts:
    """The costs of more than two classes; without a matrix every error costs 1."""
    from abstain.costs.class_costs import ClassCosts
    from abstain.costs.cost_tables import CostTable

    price: object = named.reject if named is not None and named.reject is not None else reject_price(reject, decimal)
    try:
        if named is not None:
            return ClassCosts.of(CostTable.of(named.errors), price)
        return ClassCosts.even(tuple(sorted(classes)), 1.0, float(str(price)))
    except ValueError as error:
        raise UsageError(str(error)) from error


def _two_class_costs(
    false_positive: float | None,
    false_negative: float | None,
    reject: str | None,
    named: CostFile | None,
    classes: tuple[str, ...],
    *,
    decimal: str,
) -> Costs:
    from abstain.costs.costs import Costs

    negative, positive = classes
    errors = (1.0 if false_positive is None else false_positive, 1.0 if false_negative is None else false_negative)
    if named is not None:
        errors = named.errors[negative][positive], named.errors[positive][negative]
    if named is not None and named.reject is not None:
        price: float | tuple[float, float] = (named.reject[negative], named.reject[positive])
    else:
        price = reject_price(reject, decimal)
    try:
        return Costs(*errors, price)
    except ValueError as error:
        hint = f" {_point(reject)}" if reject is not None and re.fullmatch(r"\d+,\d+", reject.strip()) else ""
        raise UsageError(f"{error}{hint}") from error


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


def two_prices(reject: str | None, decimal: str) -> bool:
    """Whether two reject costs are stated, for the negative and the positive class."""
    return reject is not None and isinstance(reject_price(reject, decimal), tuple)


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
    text, one, two = reject.strip(), "0.4", "0.2/0.4"
    if text.count(",") == 1:
        one = text.partition(",")[0] if "." in text else text.replace(",", ".")  # 0.2,0.3 are two costs
        two = text.replace(",", "/")
    return f"Costs are written with a point, as in {one}; two costs with a slash, as in {two}."


@dataclass(frozen=True)
class CostFile:
    """A cost matrix as a file has it.

    Attributes
    ----------
    errors : dict of str to dict
        The cost of each answer, by true class.
    reject : dict of str to float, or None
        The cost of a reject by true class; None if the file has no such column.
    """

    errors: dict[str, dict[str, float]]
    reject: dict[str, float] | None

    @classmethod
    def of(cls, path: Path, classes: tuple[str, ...]) -> Self:
        """Read a CSV: the actual class, one predicted column per class, and perhaps reject costs."""
        with opened(path) as table:
            columns = list(table.columns)
            rows = [row for batch in table.batches for row in batch.frame.iter_rows()]
        rejecting = columns.index(REJECT) if REJECT in columns and REJECT not in classes else None
        width = 1 + len(classes) + (rejecting is not None)
        if len(columns) != width:
            wanted = "three" if len(classes) == 2 else str(1 + len(classes))
            raise DataError(
                f"{path}: line 1 has {len(columns)} columns; a cost matrix has {wanted}: actual, and one predicted "
                f"column per class, {listed(classes)}; one more may be {REJECT!r}."
            )
        places = {_class_of(name, classes): at for at, name in enumerate(columns) if at not in (0, rejecting)}
        if missing := [name for name in classes if name not in places]:
            as_in = ",".join(f"pred_{name}" for name in classes[:3]) + (",..." if len(classes) > 3 else "")
            found = listed([name for name in columns[1:] if _class_of(name, classes) is None] or columns[1:])
            raise DataError(
                f"{path}: line 1 must name a predicted column for each class, as in actual,{as_in}; it has none for "
                f"{missing[0]!r}, but {found}."
            )
        by_class = {str(row[0]): row for row in rows}
        if len(rows) != len(classes) or set(by_class) != set(classes):
            raise DataError(
                f"{path}: column {columns[0]!r} must name each class once, {listed(classes)}; it names "
                f"{', '.join(repr(row[0]) for row in rows[:5])}."
            )
        errors = {a: {p: _price(path, by_class[a][places[p]], a, p) for p in classes} for a in classes}
        for name in classes:
            if errors[name][name] != 0:
                raise DataError(
                    f"{path}: the cost of predicting {name!r} for {name!r} must be 0, not {errors[name][name]:g}; "
                    "subtract it from its row."
                )
        reject = None if rejecting is None else {a: _price(path, by_class[a][rejecting], a, REJECT) for a in classes}
        return cls(errors, reject)


def _class_of(column: str, classes: tuple[str, ...]) -> str | None:
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
