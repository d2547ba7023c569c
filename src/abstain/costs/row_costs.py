"""Costs that differ from row to row, as users give them, and Bayes' two thresholds of each row (docs/theory.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import warn_caller
from abstain.costs.cost_tables import in_own_unit
from abstain.costs.costs import Costs, warn_if_assumed

__all__ = ["RowCosts", "RowThresholds"]

ERRORS = ("false_positive", "false_negative")
ONE_REJECT, TWO_REJECTS = ("reject",), ("reject_negative", "reject_positive")
# As in `Costs`: if r_neg/c_fp + r_pos/c_fn is this close to 1, it counts as 1 and the row is never rejected.
_EQUALITY = 1e-12


@dataclass(frozen=True, eq=False)
class RowThresholds:
    """Two thresholds on the score of each row: -1 below the lower, +1 above the upper, reject in between.

    Attributes
    ----------
    lower, upper : float64 arrays of shape (n,)
        ``lower <= upper``; where the two are equal the row is never rejected.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    def decide(self, scores: ArrayLike) -> NDArray[np.int8]:
        """Return the choice for each score, -1, 0 (reject) or +1; the last axis of `scores` has the rows."""
        s = np.asarray(scores, dtype=np.float64)
        below = (s < self.lower) | (self.lower == self.upper)
        return np.where(s > self.upper, 1, np.where(below, -1, 0)).astype(np.int8)


@dataclass(frozen=True, eq=False)
class RowCosts:
    """The costs of the two errors and of a reject, one set per row; `of` checks that they are positive and finite.

    A row whose reject can never pay is always decided: its two thresholds are equal.

    Attributes
    ----------
    false_positive, false_negative, reject_negative, reject_positive : float64 arrays of shape (n,)
        c_fp, c_fn, r_neg and r_pos of each row, as in `Costs`.
    """

    false_positive: NDArray[np.float64]
    false_negative: NDArray[np.float64]
    reject_negative: NDArray[np.float64]
    reject_positive: NDArray[np.float64]

    @classmethod
    def of(cls, row_costs: Any, n: int | None = None) -> Self:
        """Read an array with 3 or 4 columns, or a frame with their names; with `n`, of that many rows.

        Three columns are false positive, false negative and reject, four have reject negative and reject positive.
        """
        if isinstance(row_costs, cls):
            costs = row_costs
        else:
            table, names = _table(row_costs)
            costs = cls(*(np.ascontiguousarray(table[:, at]) for at in (0, 1, 2, len(names) - 1)))
        if n is not None and len(costs) != n:
            raise ValueError(f"row_costs must have costs for each of the {n} rows of X; it has {len(costs)} rows.")
        return costs

    def __len__(self) -> int:
        return len(self.false_positive)

    def table(self) -> NDArray[np.float64]:
        """Return all costs, (n, 4): false positive, false negative, reject negative, reject positive."""
        return np.column_stack([*vars(self).values()])

    @property
    def stakes(self) -> NDArray[np.float64]:
        """c_fp + c_fn of each row: how much depends on its decision."""
        return np.asarray(self.false_positive + self.false_negative)

    @property
    def rejects(self) -> NDArray[np.bool_]:
        """Whether rejecting the row ever pays."""
        return np.asarray(self._shares < 1.0 - _EQUALITY)

    @property
    def cut(self) -> NDArray[np.float64]:
        """The score log(c_fp / c_fn) above which deciding +1 is cheaper than -1, if rejecting is not allowed."""
        own = self._unitless
        return _log_ratio(own[:, 0, 2], own[:, 1, 0])

    def score_thresholds(self) -> RowThresholds:
        """Return Bayes' thresholds on the log-odds of each row.

        ::

            delta_low = log(r_neg / (c_fn - r_pos))     delta_high = log((c_fp - r_neg) / r_pos)
        """
        pays, cut, own = self.rejects, self.cut, self._unitless
        r_neg, c_fp, c_fn, r_pos = own[:, 0, 1], own[:, 0, 2], own[:, 1, 0], own[:, 1, 1]
        with np.errstate(all="ignore"):  # of rows whose thresholds meet
            low, high = _log_ratio(r_neg, c_fn - r_pos), _log_ratio(c_fp - r_neg, r_pos)
        return RowThresholds(np.where(pays, low, cut), np.where(pays, high, cut))

    def prices(self, sign: ArrayLike, choice: ArrayLike) -> NDArray[np.float64]:
        """Return the cost of each choice (-1, 0, +1) given the true sign (-1, +1); the last axis has the rows."""
        positive, choice = np.asarray(sign) > 0, np.asarray(choice)
        error = np.where(positive, self.false_negative, self.false_positive)
        reject = np.where(positive, self.reject_positive, self.reject_negative)
        wrong = np.where(positive, choice < 0, choice > 0)
        return np.asarray(np.where(choice == 0, reject, np.where(wrong, error, 0.0)))

    def expected(self, probability: ArrayLike) -> NDArray[np.float64]:
        """Return the expected cost of deciding -1, rejecting and deciding +1, (n, 3), at each row's probability."""
        p = np.asarray(probability, dtype=np.float64)
        reject = (1.0 - p) * self.reject_negative + p * self.reject_positive
        return np.stack([p * self.false_negative, reject, (1.0 - p) * self.false_positive], axis=-1)

    def swapped(self) -> RowCosts:
        """Give the costs with the two classes exchanged: the other class becomes the positive one."""
        return RowCosts(self.false_negative, self.false_positive, self.reject_positive, self.reject_negative)

    def take(self, rows: Any) -> RowCosts:
        """Give the costs of these rows."""
        return RowCosts(*(column[rows] for column in vars(self).values()))

    def of_row(self, row: int) -> Costs:
        """Return the costs of one row; a reject cost that can never pay is lowered to the limit, so it is valid."""
        fp, fn, r_neg, r_pos = (float(column[row]) for column in vars(self).values())
        share = max(r_neg / fp + r_pos / fn, 1.0)
        return Costs(fp, fn, r_neg / share if r_neg == r_pos else (r_neg / share, r_pos / share))

    def warn_if_never(self) -> None:
        """Warn if no row is ever rejected because every reject costs more than it can save."""
        if len(self) and (self._shares > 1.0 + _EQUALITY).all():
            fp, fn, r_neg, r_pos = (f"{column[0]:g}" for column in vars(self).values())
            warn_caller(
                f"row_costs has no row whose reject can pay, so nothing is rejected: row 0 has r_neg/c_fp + "
                f"r_pos/c_fn = {r_neg}/{fp} + {r_pos}/{fn} = {self._shares[0]:g} > 1; lower the "
                "reject costs if rejects are wanted."
            )

    def warn_if_assumed(self, y: ArrayLike, pos_label: Any) -> None:
        """Warn as for `Costs` if the costs of a row differ by class, and only the sort order says which is positive."""
        same = (self.false_positive == self.false_negative) & (self.reject_negative == self.reject_positive)
        if not same.all():
            warn_if_assumed(self.of_row(int(np.argmin(same))), y, pos_label)

    @property
    def _unitless(self) -> NDArray[np.float64]:
        """The costs of each row in a unit of its own, in the layout of `Costs.table`, (n, 2, 3)."""
        none = np.zeros(len(self))
        negative = np.stack([none, self.reject_negative, self.false_positive], axis=-1)
        positive = np.stack([self.false_negative, self.reject_positive, none], axis=-1)
        return in_own_unit(np.stack([negative, positive], axis=1))

    @property
    def _shares(self) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):
            return np.asarray(self.reject_negative / self.false_positive + self.reject_positive / self.false_negative)


def _table(row_costs: Any) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """The checked costs, and the names of their columns; a frame is read by its names."""
    wanted = f"{', '.join((*ERRORS, *ONE_REJECT))} (or {', '.join(TWO_REJECTS)} in place of reject)"
    if hasattr(row_costs, "columns"):
        known = [str(name) for name in row_costs.columns]
        rejects = TWO_REJECTS if set(TWO_REJECTS) <= set(known) else ONE_REJECT
        names = (*ERRORS, *rejects)
        if sorted(known) != sorted(names):
            raise ValueError(f"row_costs must have the columns {wanted}; it has {known}. Rename or select them.")
        row_costs = np.column_stack([np.asarray(row_costs[name], dtype=object) for name in names])
    try:
        cells = np.asarray(row_costs)
    except ValueError:  # rows of different lengths
        cells = np.asarray(row_costs, dtype=object)
    if cells.ndim != 2 or cells.shape[1] not in (3, 4):
        shape = f"shape (n, 3) or (n, 4); its shape is {cells.shape}"
        raise ValueError(f"row_costs must have the columns {wanted}, {shape}.")
    names = (*ERRORS, *(ONE_REJECT if cells.shape[1] == 3 else TWO_REJECTS))
    return _numbers(cells, names), names


def _numbers(cells: NDArray[Any], names: tuple[str, ...]) -> NDArray[np.float64]:
    """The costs as positive and finite numbers; the error names the first row that has another."""
    try:
        table = np.asarray(cells, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.array([[_number(cell) for cell in row] for row in cells.tolist()])
    bad = ~(np.isfinite(table) & (table > 0.0))
    if bad.any():
        row, column = (int(at[0]) for at in np.nonzero(bad))
        found = cells[row, column] if np.isnan(table[row, column]) else f"{table[row, column]:g}"
        raise ValueError(
            f"row_costs must be positive and finite numbers, got {names[column]}={found} at row {row}; state what the "
            "row costs, or leave it out."
        )
    return table


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):  # a text, or pandas' NA
        return float("nan")


def _log_ratio(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute log(a / b), the larger over the smaller, so that exchanging the classes negates it to the last digit."""
    with np.errstate(over="ignore"):
        quotient = np.maximum(a, b) / np.minimum(a, b)
    size = np.where(np.isfinite(quotient), np.log(quotient), np.log(np.maximum(a, b)) - np.log(np.minimum(a, b)))
    return np.where(a < b, 0.0 - size, size)
