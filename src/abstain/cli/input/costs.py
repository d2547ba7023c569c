"""Costs from the command line: what the options say, which exclude each other, and the costs of a table's classes."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from abstain.cli.commands.options import Given
from abstain.cli.exit_codes import UsageError
from abstain.cli.input.classes import TWO_ONLY, in_order
from abstain.cli.input.cost_files import REJECT, CostFile, stated_actions
from abstain.cli.training.budgets import stated_budget
from abstain.costs.class_costs import ClassCosts
from abstain.costs.cost_tables import CostTable
from abstain.costs.costs import Costs
from abstain.preprocessing import CostPlan

__all__ = ["CostOptions", "stated_costs"]


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
    cost: Any = named.reject if named is not None and named.reject is not None else _reject_cost(reject, decimal)
    errors = (1.0 if false_positive is None else false_positive, 1.0 if false_negative is None else false_negative)
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


def _reject_cost(reject: str | None, decimal: str) -> float | tuple[float, float]:
    """Return the reject cost as stated: one number, or two by class."""
    if reject is None:
        raise UsageError("--reject is missing: give the cost of a reject, below that of an error, as in --reject 0.3.")
    if decimal == "," and "," in reject:
        raise UsageError(f"--reject {reject!r} is ambiguous with --decimal ','. {_point(reject)}")
    with suppress(ValueError):
        first, *second = (float(part) for part in re.split("[,;/]", reject))
        if len(second) < 2:
            return (first, second[0]) if second else first
    raise UsageError(f"--reject {reject!r} must be one cost, or two as in 0.2/0.5 (negative, positive class).")


def _point(reject: str) -> str:
    """Say how to write a cost with decimals, and two costs."""
    text, one, two = reject.strip(), "0.4", "0.2/0.4"
    if text.count(",") == 1:
        one = text.partition(",")[0] if "." in text else text.replace(",", ".")  # 0.2,0.3 are two costs
        two = text.replace(",", "/")
    return f"Costs are written with a point, as in {one}; two costs with a slash, as in {two}."


COLUMNS = ("false_positive_column", "false_negative_column", "reject_column")
COSTS = ("reject", "false_positive", "false_negative", "cost_matrix")


class CostOptions:
    """The costs as stated; options that exclude each other are an error.

    Attributes
    ----------
    budget : Budget or None
        What is asked for instead of costs.
    by_row : CostPlan
        Where the costs of each row are from; empty if they are the same for all rows.
    only_two : str or None
        An option that was given and takes two classes only.
    """

    def __init__(self, given: Given) -> None:
        self._given = given
        two = given.reject is not None and isinstance(_reject_cost(given.reject, given.decimal), tuple)
        self.budget = stated_budget(given, given.stated(*COSTS, *COLUMNS, "actions"))
        others = given.stated(*COSTS, "pos_label", *COLUMNS, "reject_label")
        if given.actions is None and given.reject_actions is not None:
            raise UsageError("--reject-actions names some of the actions in the file of --actions; give that too.")
        if given.actions is not None and others:
            first = next(iter(others))
            raise UsageError(f"--actions gives the costs and the names of all decisions; leave out {first}.")
        self.by_row = _cost_plan(given)
        limited = {*others, *given.stated("actions"), *(["two costs of --reject"] if two else [])}
        self.only_two = next((option for option in TWO_ONLY if option in limited), None)

    def of(self, classes: tuple[str, ...]) -> Any:
        """Return the costs for these classes, or the budget; None if each row has its own."""
        given = self._given
        if given.actions is not None:
            return stated_actions(given.actions, classes, given.reject_actions)
        if self.by_row:
            _check_positive_stated(classes, given.pos_label)
        if self.by_row or self.budget is not None:
            return self.budget
        errors = (given.false_positive, given.false_negative)
        shared = {"pos_label": given.pos_label, "decimal": given.decimal}
        return stated_costs(*errors, given.reject, given.cost_matrix, classes, **shared)


def _check_positive_stated(classes: tuple[str, ...], pos_label: str | None) -> None:
    """Raise an error if only the sort order of two texts says which class is positive."""
    if pos_label is None and not in_order(classes):
        first, last = (name[:60] for name in classes)
        raise UsageError(
            f"--pos-label is missing, and the costs are read from columns: a false negative is {first!r} for a row of "
            f"{last!r} with --pos-label {last!r}, and the other way round with --pos-label {first!r}. Give one of them."
        )


def _cost_plan(given: Any) -> CostPlan:
    """Say where each cost of a row is from, given the options of a command; empty if no column is named."""
    names = ("false_positive", "false_negative", "reject")
    columns = {name: getattr(given, f"{name}_column", None) for name in names}
    if not any(columns.values()):
        return ()
    if given.cost_matrix is not None:
        raise UsageError("--cost-matrix gives the costs of all rows; leave it out, or the columns of costs.")
    plan: list[tuple[str, str | float]] = []
    for name, column in columns.items():
        number, option = getattr(given, name), f"--{name.replace('_', '-')}"
        if column is not None and number is not None:
            raise UsageError(f"{option} and {option}-column both give this cost; leave one of them out.")
        if column is not None or name != "reject":
            plan.append((name, column if column is not None else 1.0 if number is None else number))
            continue
        cost = _reject_cost(number, given.decimal)
        two = zip(("reject_negative", "reject_positive"), cost, strict=True) if isinstance(cost, tuple) else None
        plan += [("reject", cost)] if two is None else two  # type: ignore[list-item]
    return tuple(plan)
