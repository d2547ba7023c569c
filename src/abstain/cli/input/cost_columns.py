"""Costs of each row from the columns of a table: which column or number is which cost, and the costs of a batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, UsageError, some
from abstain.cli.input.columns import features
from abstain.cli.tables.read_table import Batch, InputTable
from abstain.costs.per_row import ERRORS
from abstain.preprocessing import CellPlan, CostPlan


def named_columns(plan: CostPlan) -> list[str]:
    """Return the columns that costs are read from, each once."""
    return list(dict.fromkeys(source for _, source in plan if isinstance(source, str)))


def cell_columns(columns: Sequence[str], prefix: str) -> list[str]:
    """Return the columns named PREFIX and CLASS:ACTION."""
    return [name for name in columns if name.startswith(prefix) and ":" in name.removeprefix(prefix)]


def cells_plan(columns: Sequence[str], prefix: str, cells: dict[tuple[str, str], float]) -> CostPlan:
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
    found, names = cell_columns(columns, prefix), [f"{label}:{action}" for label, action in cells]
    other = [name for name in found if name.removeprefix(prefix) not in names]
    if other or not found:
        wanted = some([prefix + name for name in names], 3)
        raise UsageError(
            f"--row-costs {prefix!r} reads columns named by class and action, such as {wanted}; "
            + (f"{other[0]!r} is none of them, so rename it." if other else "the table has none.")
        )
    if twice := [name for name in found if names.count(name.removeprefix(prefix)) > 1]:
        raise UsageError(
            f"--row-costs {prefix!r}: column {twice[0]!r} could be two pairs of a class and an action, because names "
            "have a colon; rename these classes or actions."
        )
    plan = []
    for name, number in zip(names, cells.values(), strict=True):
        if prefix + name not in found and np.isnan(number):
            raise UsageError(f"no option states the cost {name!r}; add a column {prefix + name!r}, or give --reject.")
        plan.append((name, prefix + name if prefix + name in found else float(number)))
    return tuple(plan)


def row_costs_of(plan: CellPlan, table: InputTable, batch: Batch, n_classes: int) -> NDArray[np.float64] | None:
    """Return the costs of the rows of a batch, (n, 3), (n, 4) or (n, n_classes, n_actions); None without a plan."""
    if not plan.costs:
        return None
    cells = features(table, batch, named_columns(plan.costs), [], CellPlan(missing=plan.missing))
    of_two, columns = plan.costs[0][0] == ERRORS[0], []
    for name, source in plan.costs:
        column = cells[source].to_numpy() if isinstance(source, str) else np.full(len(batch.places), float(source))
        bad = np.flatnonzero(~(np.isfinite(column) & (column > 0.0 if of_two else column >= 0.0)))
        if len(bad) > 0:
            found = "is missing" if np.isnan(column[bad[0]]) else f"is {column[bad[0]]:g}"
            what = f"a {name.replace('_', ' ')}" if of_two else repr(name)
            wanted = "positive" if of_two else "0 or more"
            raise DataError(
                f"{table.place(batch.places[bad[0]])}, column {source!r}: the cost of {what} "
                f"{found}; it must be {wanted}. Correct it or remove the row."
            )
        columns.append(column)
    costs = np.column_stack(columns)
    return costs if of_two else costs.reshape(len(costs), n_classes, -1)
