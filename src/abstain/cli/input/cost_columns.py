"""Costs of each row from the columns of a table: which column or number is which cost, and the costs of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, UsageError
from abstain.cli.input.columns import features
from abstain.cli.input.costs import reject_cost
from abstain.cli.tables.read_table import Batch, InputTable
from abstain.costs.row_costs import RowCosts
from abstain.preprocessing import CellPlan, CostPlan

__all__ = ["cost_plan", "named_columns", "row_costs_of"]


def cost_plan(given: Any) -> CostPlan:
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
        cost = reject_cost(number, given.decimal)
        two = zip(("reject_negative", "reject_positive"), cost, strict=True) if isinstance(cost, tuple) else None
        plan += [("reject", cost)] if two is None else two  # type: ignore[list-item]
    return tuple(plan)


def named_columns(plan: CostPlan) -> list[str]:
    """Return the columns that costs are read from, each once."""
    return list(dict.fromkeys(source for _, source in plan if isinstance(source, str)))


def row_costs_of(plan: CellPlan, table: InputTable, batch: Batch) -> NDArray[np.float64] | None:
    """Return the costs of the rows of a batch, (n, 3) or (n, 4); None if the plan has none."""
    if not plan.costs:
        return None
    cells = features(table, batch, named_columns(plan.costs), [], CellPlan(missing=plan.missing))
    columns = []
    for name, source in plan.costs:
        column = cells[source].to_numpy() if isinstance(source, str) else np.full(len(batch.places), float(source))
        bad = np.flatnonzero(~(np.isfinite(column) & (column > 0.0)))
        if len(bad) > 0 and isinstance(source, str):
            found = "is missing" if np.isnan(column[bad[0]]) else f"is {column[bad[0]]:g}"
            raise DataError(
                f"{table.place(batch.places[bad[0]])}, column {source!r}: the cost of a {name.replace('_', ' ')} "
                f"{found}; it must be positive. Correct it or remove the row."
            )
        columns.append(column)
    costs = np.column_stack(columns)
    try:
        RowCosts.of(costs)
    except ValueError as error:  # a number given as an option
        raise UsageError(str(error)) from error
    return costs
