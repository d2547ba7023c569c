"""Costs of each row from the columns of a table: which column or number is which cost, and the costs of a batch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, UsageError
from abstain.cli.input.columns import features
from abstain.cli.tables.read_table import Batch, InputTable
from abstain.costs.row_costs import RowCosts
from abstain.preprocessing import CellPlan, CostPlan

__all__ = ["named_columns", "row_costs_of"]


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
