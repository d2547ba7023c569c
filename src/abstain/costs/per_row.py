"""Costs that differ from row to row, as users state them: a table of costs for each row (docs/theory.md)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.arguments import warn_caller
from abstain.costs.costs import Costs
from abstain.costs.table import CostTable
from abstain.labels import Labels

ERRORS = ("false_positive", "false_negative")
ONE_REJECT, TWO_REJECTS = ("reject",), ("reject_negative", "reject_positive")
WANTED = f"{', '.join((*ERRORS, *ONE_REJECT))} (or {', '.join(TWO_REJECTS)} in place of reject)"


def row_table(row_costs: Any, labels: Labels, costs: CostTable | None = None, n: int | None = None) -> CostTable:
    """Read the costs of n rows, with the actions of `costs`, or with the answers and a reject if there are none.

    Two classes: an array with 3 or 4 columns, or a frame with their names: false positive, false negative, and reject
    or reject negative and reject positive. Any number of classes and actions: an array of shape (n, n_classes,
    n_actions), or a frame with a column for each class and action, named by the pair or by "class:action".
    """
    if isinstance(row_costs, CostTable):
        table = row_costs
    else:
        like = Costs.blank(labels) if costs is None else costs
        known, actions = labels.classes.tolist(), _actions(like, labels)
        if like.pair and not _by_action(row_costs, known, actions):
            values = _of_two(row_costs, like)
        else:
            values = _of_actions(row_costs, known, actions)
            like.check_rows(values, known, actions)
        table = like.with_values(values)
    if n is not None and len(table.values) != n:
        raise ValueError(f"row_costs must have costs for each of the {n} rows of X; it has {len(table.values)} rows.")
    return table


def mean_costs(table: CostTable) -> CostTable:
    """Return the mean of each cost over the rows; rejects that could never pay cost the most that can."""
    mean: Any = table.with_values(table.values.mean(axis=0))
    return mean.scaled(min(mean.largest_scale, 1.0)) if mean.answering else mean


def sample_costs(labels: Labels, costs: CostTable | None = None) -> NDArray[np.float64]:
    """Return possible costs of one row, in the form that `row_table` reads."""
    like = Costs.blank(labels) if costs is None else costs
    wrong = np.array(like.answers) != np.arange(labels.n_classes)[:, np.newaxis]
    return np.where(like.rejecting, 0.25, 1.0 * wrong)[np.newaxis]


def warn_if_never(table: CostTable) -> None:
    """Warn if no row is ever rejected because every reject costs more than it can save."""
    if not table.pair or not len(table.values) or np.any(table.can_hand_on):
        return
    c_fp, c_fn, r_neg, r_pos = table.as_rows().T
    shares = r_neg / c_fp + r_pos / c_fn
    if (shares > 1.0).all():  # a reject at the limit was stated on purpose
        warn_caller(
            f"row_costs has no row whose reject can pay, so nothing is rejected: row 0 has r_neg/c_fp + "
            f"r_pos/c_fn = {r_neg[0]:g}/{c_fp[0]:g} + {r_pos[0]:g}/{c_fn[0]:g} = {shares[0]:g} > 1; lower the "
            "reject costs if rejects are wanted."
        )


def _actions(like: CostTable, labels: Labels) -> list[Any]:
    reject = "reject" if labels.reject_label is None else labels.reject_label
    return list(like.titles(labels.classes.tolist(), reject))


def _by_action(row_costs: Any, known: list[Any], actions: list[Any]) -> bool:
    """Whether the costs are stated by class and action, not as errors and a reject."""
    if hasattr(row_costs, "columns"):
        return set(map(str, row_costs.columns)) == {str(name) for name in _pairs(row_costs, known, actions)}
    return _cells(row_costs).ndim == 3


def _pairs(frame: Any, known: list[Any], actions: list[Any]) -> list[Any]:
    """The columns of a frame by class and action: pairs, or texts."""
    pairs = any(isinstance(name, tuple) for name in frame.columns)
    return [(label, action) if pairs else f"{label}:{action}" for label in known for action in actions]


def _of_actions(row_costs: Any, known: list[Any], actions: list[Any]) -> NDArray[np.float64]:
    shape = (len(known), len(actions))
    wanted = f"the classes {known} and the actions {actions}"
    if hasattr(row_costs, "columns"):
        names = _pairs(row_costs, known, actions)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(
                f"row_costs has columns named by class and action, and {twice!r} could be two of {wanted}; name the "
                "columns by pairs (class, action), or pass an array."
            )
        if len(row_costs.columns) != len(names) or set(row_costs.columns) != set(names):
            raise ValueError(
                f"row_costs must have a column for each of {wanted}, {names[0]!r} and so on; it has "
                f"{[*row_costs.columns][:6]}. Rename or select them."
            )
        row_costs = np.column_stack([np.asarray(row_costs[name], dtype=object) for name in names])
        row_costs = row_costs.reshape(-1, *shape)
    cells = _cells(row_costs)
    if cells.ndim != 3 or cells.shape[1:] != shape:
        raise ValueError(
            f"row_costs must have shape (n, {shape[0]}, {shape[1]}), for {wanted} in this order; its shape is "
            f"{cells.shape}."
        )
    names = [f"the cost of {action!r} when {label!r} is true" for label in known for action in actions]
    return _numbers(cells.reshape(len(cells), -1), names, least=0.0).reshape(cells.shape)


def _of_two(row_costs: Any, like: CostTable) -> NDArray[np.float64]:
    cells = row_cells(row_costs)
    if cells.ndim != 2 or cells.shape[1] not in (3, 4):
        shape = f"shape (n, 3) or (n, 4); its shape is {cells.shape}"
        raise ValueError(f"row_costs must have the columns {WANTED}, {shape}.")
    numbers = _numbers(cells, (*ERRORS, *(ONE_REJECT if cells.shape[1] == 3 else TWO_REJECTS)))
    values = np.zeros((len(numbers), 2, 3))
    negative, _, positive = like.answers
    values[:, negative, 2], values[:, positive, 0] = numbers[:, 0], numbers[:, 1]
    values[:, negative, 1], values[:, positive, 1] = numbers[:, 2], numbers[:, -1]
    return values


def row_cells(row_costs: Any) -> NDArray[Any]:
    """Return the costs of rows as an array; a frame must have the columns of two classes."""
    if not hasattr(row_costs, "columns"):
        return _cells(row_costs)
    known = [str(name) for name in row_costs.columns]
    names = (*ERRORS, *(TWO_REJECTS if set(TWO_REJECTS) <= set(known) else ONE_REJECT))
    if sorted(known) != sorted(names):
        raise ValueError(f"row_costs must have the columns {WANTED}; it has {known}. Rename or select them.")
    return np.column_stack([np.asarray(row_costs[name], dtype=object) for name in names])


def _cells(row_costs: Any) -> NDArray[Any]:
    if isinstance(row_costs, np.ma.MaskedArray):
        row_costs = np.ma.filled(row_costs.astype(np.float64), np.nan)  # a masked cost is not known
    try:
        return np.asarray(row_costs)
    except ValueError:  # rows of different lengths
        return np.asarray(row_costs, dtype=object)


def _numbers(cells: NDArray[Any], names: Sequence[str], *, least: float | None = None) -> NDArray[np.float64]:
    """The costs as finite numbers, positive or at least `least`; the error names the first row that has another."""
    try:
        table = np.asarray(cells.astype(object) if np.iscomplexobj(cells) else cells, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.array([[_number(cell) for cell in row] for row in cells.tolist()])
    bad = ~(np.isfinite(table) & (table > 0.0 if least is None else table >= least))
    kind = "positive and finite numbers" if least is None else "finite numbers >= 0"
    if bad.any():
        row, column = (int(at[0]) for at in np.nonzero(bad))
        found = cells[row, column] if np.isnan(table[row, column]) else f"{table[row, column]:g}"
        raise ValueError(
            f"row_costs must be {kind}, got {names[column]}={found} at row {row}; state what the "
            "row costs, or leave it out."
        )
    return table


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):  # a text, or pandas' NA
        return float("nan")
