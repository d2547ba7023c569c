"""Costs of each row from the columns of a table: which column or number is which cost, and the costs of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, UsageError
from abstain.cli.input.classes import in_order
from abstain.cli.input.columns import features
from abstain.cli.input.costs import reject_price
from abstain.cli.tables.read_table import Batch, InputTable
from abstain.costs.row_costs import RowCosts
from abstain.preprocessing import CellPlan, CostPlan

__all__ = ["check_positive_stated", "cost_plan", "named_columns", "row_costs_of"]


def cost_plan(
    columns: Mapping[str, str | None],
    numbers: Mapping[str, float | None],
    reject: str | None,
    matrix: Path | None,
    *,
    decimal: str,
) -> CostPlan:
    """Say where each cost of a row is from; empty if no column is named.

    Parameters
    ----------
    columns : dict of str to (str or None)
        The columns of "false_positive", "false_negative" and "reject".
    numbers : dict of str to (float or None)
        The costs of the two errors that are the same for all rows; None is 1.
    reject : str or None
        The reject cost as stated, if it is the same for all rows.
    matrix : Path or None
        The cost matrix, which cannot be combined with columns.
    decimal : str
        The decimal sign of the table.
    """
    if not any(columns.values()):
        return ()
    if matrix is not None:
        raise UsageError("--cost-matrix gives the costs of all rows; leave it out, or the columns of costs.")
    stated: list[tuple[str, str | float]] = []
    for name, number in numbers.items():
        column, option = columns[name], f"--{name.replace('_', '-')}"
        if column is not None and number is not None:
            raise UsageError(f"{option} and {option}-column both give this cost; leave one of them out.")
        stated.append((name, column if column is not None else 1.0 if number is None else number))
    if columns["reject"] is not None:
        if reject is not None:
            raise UsageError("--reject and --reject-column both give this cost; leave one of them out.")
        return *stated, ("reject", columns["reject"])
    price = reject_price(reject, decimal)
    if isinstance(price, tuple):
        return *stated, ("reject_negative", price[0]), ("reject_positive", price[1])
    return *stated, ("reject", price)


def named_columns(plan: CostPlan) -> list[str]:
    """The columns that costs are read from, each once."""
    return list(dict.fromkeys(source for _, source in plan if isinstance(source, str)))


def check_positive_stated(classes: tuple[str, ...], pos_label: str | None) -> None:
    """Raise an error if only the sort order of two texts says which class is positive."""
    if pos_label is None and not in_order(classes):
        first, last = (name[:60] for name in classes)
        raise UsageError(
            f"--pos-label is missing, and the costs are read from columns: a false negative is {first!r} for a row of "
            f"{last!r} with --pos-label {last!r}, and the other way round with --pos-label {first!r}. Give one of them."
        )


def row_costs_of(plan: CellPlan, table: InputTable, batch: Batch) -> NDArray[np.float64] | None:
    """The costs of the rows of a batch, (n, 3) or (n, 4); None if the plan has none."""
    if not plan.costs:
        return None
    cells = features(table, batch, named_columns(plan.costs), [], CellPlan(missing=plan.missing))
    n = len(batch.places)
    columns = []
    for name, source in plan.costs:
        column = cells[source].to_numpy() if isinstance(source, str) else np.full(n, float(source))
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
