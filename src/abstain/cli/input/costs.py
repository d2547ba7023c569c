"""Costs from the command line: what the options say, which exclude each other, and the costs of a table's classes."""

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from abstain.arguments import positive_number
from abstain.cli.exit_codes import UsageError, some
from abstain.cli.input.cost_sources import REJECT, TWO_ONLY, cost_matrix, in_order, named_columns, stated_actions
from abstain.cli.options import Given, option_name
from abstain.costs.costs import Costs
from abstain.costs.per_row import ERRORS, ONE_REJECT, TWO_REJECTS
from abstain.preprocessing import CostPlan
from abstain.reject_labels import chosen_reject_label

COLUMNS = ("false_positive_column", "false_negative_column", "reject_column")
COSTS = ("reject", "false_positive", "false_negative", "cost_matrix")
OTHERWISE = dict.fromkeys(ERRORS, 1.0) | dict.fromkeys(ONE_REJECT)  # costs that neither a column nor a number states
MISSING = "--reject is missing: give the cost of a reject, below that of an error, as in --reject 0.3."


class CostOptions:
    """The costs as stated; options that exclude each other are an error.

    Attributes
    ----------
    by_row : bool
        Whether rows have costs of their own.
    only_two : str or None
        An option that was given and takes two classes only.
    """

    def __init__(self, given: Given) -> None:
        self._given = given
        two = given.reject is not None and isinstance(_reject_cost(given.reject, given.decimal), tuple)
        by_row = given.stated(*COLUMNS, "row_costs")
        others = given.stated(*COSTS, "pos_label", *COLUMNS, "reject_label")
        if given.actions is None and given.reject_actions is not None:
            raise UsageError("--reject-actions names some of the actions in the file of --actions; give that too.")
        if given.actions is not None and others:
            first = next(iter(others))
            raise UsageError(f"--actions gives the costs and the names of all decisions; leave out {first}.")
        if given.row_costs is not None and len(by_row) > 1:
            raise UsageError(f"--row-costs and {next(iter(by_row))} both name columns of costs; leave one of them out.")
        self.by_row = bool(by_row)
        self._columns = _columns_of_two(given)
        limited = {*others, *(["two costs of --reject"] if two else [])}
        self.only_two = next((option for option in TWO_ONLY if option in limited), None)

    def of(self, classes: tuple[str, ...]) -> Any:
        """Return the costs for these classes; None if each row has its own and no action has a name."""
        given = self._given
        if given.actions is not None:
            return stated_actions(given.actions, classes, given.reject_actions)
        if self._columns:
            _check_positive_stated(classes, given.pos_label)
        return None if self.by_row else stated_costs(given, classes)

    def columns(self, table: Sequence[str]) -> list[str]:
        """Return the columns of a table that have costs."""
        return [*named_columns(self._columns), *self.not_features(table)]

    def not_features(self, table: Sequence[str]) -> list[str]:
        """Return the columns that are named as costs by their prefix, and are not features."""
        return [] if self._given.row_costs is None else _cell_columns(table, self._given.row_costs)

    def plan(self, table: Sequence[str], classes: tuple[str, ...]) -> CostPlan:
        """Say where the costs of each row are from, of a table with these columns; empty if they have none."""
        given = self._given
        if given.row_costs is None:
            return self._columns
        if given.actions is not None:
            stated = self.of(classes)
            actions, rows = stated.names, zip(stated.labels, stated.values.tolist(), strict=True)
            costs = {truth: dict(zip(actions, row, strict=True)) for truth, row in rows}
        else:
            check_reject_label(classes, given.reject_label)
            name, known = given.reject_label or REJECT, sorted(classes)
            errors, reject = _stated(given, classes)
            if not isinstance(reject, dict):
                each = reject if isinstance(reject, tuple) else [math.nan if reject is None else reject] * len(classes)
                reject = dict(zip(classes, each, strict=True))
            costs = {truth: errors[truth] | {name: reject[truth]} for truth in known}
            actions = (classes[0], name, classes[1]) if len(classes) == 2 else (*known, name)
        cells = {(truth, action): row[action] for truth, row in costs.items() for action in actions}
        return _cells_plan(table, given.row_costs, cells)


def stated_costs(given: Given, classes: tuple[str, ...]) -> Costs:
    """Return the costs given by the options, for the negative and the positive class, or for more than two.

    Without --pos-label it is an error if they depend on it and only the sort order decides.
    """
    errors, cost = _stated(given, classes)
    if cost is None:
        raise UsageError(MISSING)
    try:
        if len(classes) > 2:
            return Costs.from_table(errors, reject=cost)
        negative, positive = classes
        rejects = (cost[negative], cost[positive]) if isinstance(cost, dict) else cost
        costs = Costs(errors[negative][positive], errors[positive][negative], rejects)
    except ValueError as error:
        comma = given.reject is not None and re.fullmatch(r"\d+,\d+", given.reject.strip())
        raise UsageError(f"{error} {_point(given.reject)}" if comma else str(error)) from error
    by_name = given.cost_matrix is not None and (given.reject is None or not isinstance(costs.reject, tuple))
    if not (given.pos_label is not None or costs.symmetric or in_order(classes) or by_name):
        raise UsageError(_ask_for_positive(given, costs, *(name[:60] for name in classes)))
    return costs


def _stated(given: Given, classes: tuple[str, ...]) -> tuple[dict[str, dict[str, float]], Any]:
    """Return the costs as numbers, not yet checked, for the negative and the positive class, or for more than two.

    Returns
    -------
    errors : dict of str to dict of str to float
        By true class and answer.
    reject : float, (float, float), dict of str to float, or None
        The cost of a reject; by class if it differs; None if it is not stated.
    """
    reject = None if given.reject is None else _reject_cost(given.reject, given.decimal)
    if given.cost_matrix is None:
        errors = {truth: dict.fromkeys(classes, 1.0) | {truth: 0.0} for truth in classes}
        for option, truth, answer in (("false_positive", 0, -1), ("false_negative", -1, 0)):
            if (number := getattr(given, option)) is not None:
                errors[classes[truth]][classes[answer]] = number
        return errors, reject
    errors, own = cost_matrix(given.cost_matrix, classes)
    if given.stated("false_positive", "false_negative"):
        raise UsageError("--cost-matrix gives the costs of both errors; leave out --false-positive/--false-negative.")
    if own is not None and reject is not None:
        both = f"--reject and the column {REJECT!r} of {given.cost_matrix}"
        raise UsageError(f"{both} both give this cost; leave one of them out.")
    return errors, reject if own is None else own


def _ask_for_positive(given: Given, costs: Costs, first: str, last: str) -> str:
    """Return the error that asks for --pos-label, by one option that was given and depends on it."""
    if given.cost_matrix is not None or costs.false_positive == costs.false_negative:
        stated = f"--reject {costs.reject_negative:g},{costs.reject_positive:g}"
        one, other = f"the second cost is that of rejecting a row of {last!r}", f"that of rejecting a row of {first!r}"
    else:
        missed = given.false_negative is not None
        option, cost = ("negative", costs.false_negative) if missed else ("positive", costs.false_positive)
        stated, (wrong, right) = f"--false-{option} {cost:g}", (first, last) if missed else (last, first)
        one = f"it is the cost of deciding {wrong!r} for a row of {right!r}"
        other = f"that of deciding {right!r} for a row of {wrong!r}"
    means = f"with --pos-label {last!r} {one}, with --pos-label {first!r} {other}"
    return f"--pos-label is missing, and the costs differ by class ({stated}): {means}. Give one of the two."


def _reject_cost(reject: str, decimal: str) -> float | tuple[float, float]:
    """Return the reject cost as stated: one number, or two by class."""
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


def check_reject_label(classes: tuple[str, ...], label: str | None, *, rejects: bool = True) -> None:
    """Raise an error if the label of a reject, "reject" if None, is the name of a class."""
    try:
        chosen_reject_label(np.array(classes, dtype=object), "auto" if label is None else label, rejects=rejects)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _check_positive_stated(classes: tuple[str, ...], pos_label: str | None) -> None:
    """Raise an error if only the sort order of two texts says which class is positive."""
    if pos_label is None and not in_order(classes):
        first, last = (name[:60] for name in classes)
        means = f"a false negative is {first!r} for a row of {last!r} with --pos-label {last!r}"
        means += f", and the other way round with --pos-label {first!r}"
        raise UsageError(f"--pos-label is missing, and the costs are read from columns: {means}. Give one of them.")


def _columns_of_two(given: Given) -> CostPlan:
    """Say where each cost of a row of two classes is from, given the options; empty if no column is named."""
    if not given.stated(*COLUMNS):
        return ()
    if given.cost_matrix is not None:
        raise UsageError("--cost-matrix gives the costs of all rows; leave it out, or the columns of costs.")
    plan: list[tuple[str, str | float]] = []
    for name, otherwise in OTHERWISE.items():
        column, number, option = getattr(given, f"{name}_column"), getattr(given, name), option_name(name)
        if column is not None and number is not None:
            raise UsageError(f"{option} and {option}-column both give this cost; leave one of them out.")
        if column is not None:
            plan.append((name, column))
            continue
        cost: Any = _reject_cost(number, given.decimal) if isinstance(number, str) else number
        cost = otherwise if cost is None else cost
        if cost is None:
            raise UsageError(MISSING)
        pairs = zip(TWO_REJECTS, cost, strict=True) if isinstance(cost, tuple) else [(name, cost)]
        try:
            plan += [(key, positive_number(key, value)) for key, value in pairs]
        except ValueError as error:
            raise UsageError(str(error)) from error
    return tuple(plan)


def _cell_columns(columns: Sequence[str], prefix: str) -> list[str]:
    """Return the columns named PREFIX and CLASS:ACTION."""
    return [name for name in columns if name.startswith(prefix) and ":" in name.removeprefix(prefix)]


def _cells_plan(columns: Sequence[str], prefix: str, cells: dict[tuple[str, str], float]) -> CostPlan:
    """Say where the costs of all cells are from: a column of that name, or the number stated for all rows.

    Parameters
    ----------
    columns : sequence of str
        Of the table.
    prefix : str
        Of the columns of costs.
    cells : dict of (str, str) to float
        The cost of each action, by true class, as far as it is stated; nan otherwise.
    """
    found, names = _cell_columns(columns, prefix), [f"{label}:{action}" for label, action in cells]
    other = [name for name in found if name.removeprefix(prefix) not in names]
    if other or not found:
        wanted = some([prefix + name for name in names], 3)
        way = f"{other[0]!r} is none of them, so rename it" if other else "the table has none"
        raise UsageError(f"--row-costs {prefix!r} reads columns named by class and action, such as {wanted}; {way}.")
    if twice := [name for name in found if names.count(name.removeprefix(prefix)) > 1]:
        what = f"column {twice[0]!r} could be two pairs of a class and an action, because names have a colon"
        raise UsageError(f"--row-costs {prefix!r}: {what}; rename these classes or actions.")
    plan = []
    for name, number in zip(names, cells.values(), strict=True):
        if prefix + name not in found and np.isnan(number):
            raise UsageError(f"no option states the cost {name!r}; add a column {prefix + name!r}, or give --reject.")
        plan.append((name, prefix + name if prefix + name in found else float(number)))
    return tuple(plan)
