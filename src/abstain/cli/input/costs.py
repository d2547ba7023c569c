"""Costs from the command line: options, or a published cost matrix with classes by name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from abstain.cli.exit_codes import UsageError
from abstain.cli.input.classes import in_order
from abstain.cli.input.cost_files import REJECT, CostFile
from abstain.costs.class_costs import ClassCosts
from abstain.costs.cost_tables import CostTable
from abstain.costs.costs import Costs

__all__ = ["reject_cost", "stated_costs"]


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
    """Return the costs given by the options.

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
    cost: Any = named.reject if named is not None and named.reject is not None else reject_cost(reject, decimal)
    errors = tuple(1.0 if stated is None else stated for stated in (false_positive, false_negative))
    try:
        if len(classes) > 2:
            if named is not None:
                return ClassCosts.of(CostTable.of(named.errors), cost)
            return ClassCosts.even(tuple(sorted(classes)), 1.0, float(str(cost)))
        negative, positive = classes
        if named is not None:
            errors = named.errors[negative][positive], named.errors[positive][negative]
        costs = Costs(*errors, (cost[negative], cost[positive]) if isinstance(cost, dict) else cost)
    except ValueError as error:
        hint = f" {_point(reject)}" if reject is not None and re.fullmatch(r"\d+,\d+", reject.strip()) else ""
        raise UsageError(f"{error}{hint}") from error
    by_name = named is not None and (reject is None or not isinstance(costs.reject, tuple))
    if not (pos_label is not None or costs.symmetric or in_order(classes) or by_name):
        given = "--false-positive" if false_negative is None else "--false-negative"
        if named is not None or costs.false_positive == costs.false_negative:
            given = "--reject"
        raise UsageError(_ask_for_positive(given, costs, *(name[:60] for name in classes)))
    return costs


def _ask_for_positive(given: str, costs: Costs, first: str, last: str) -> str:
    """Return the error that asks for --pos-label, by one option that was given and depends on it."""
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


def reject_cost(reject: str | None, decimal: str) -> float | tuple[float, float]:
    """Return the reject cost as stated: one number, or two by class."""
    if reject is None:
        raise UsageError("--reject is missing: give the cost of a reject, below that of an error, as in --reject 0.3.")
    if decimal == "," and "," in reject:
        raise UsageError(f"--reject {reject!r} is ambiguous with --decimal ','. {_point(reject)}")
    try:
        costs = [float(part) for part in re.split("[,;/]", reject)]
    except ValueError:
        costs = []
    if len(costs) == 1:
        return costs[0]
    if len(costs) == 2:
        return costs[0], costs[1]
    raise UsageError(f"--reject {reject!r} must be one cost, or two as in 0.2/0.5 (negative, positive class).")


def _point(reject: str) -> str:
    """Say how to write a cost with decimals, and two costs."""
    text, one, two = reject.strip(), "0.4", "0.2/0.4"
    if text.count(",") == 1:
        one = text.partition(",")[0] if "." in text else text.replace(",", ".")  # 0.2,0.3 are two costs
        two = text.replace(",", "/")
    return f"Costs are written with a point, as in {one}; two costs with a slash, as in {two}."
