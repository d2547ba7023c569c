"""Columns that are readable and probably not what they seem: numbers for missing values, and names of rows.

A number is suspected to stand for a missing value if at least three rows have it and it lies far outside the others:
ten times the range of the others away, or, for 99, -999 and other rows of nines, half of that range.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from abstain.cli.exit_codes import Note

if TYPE_CHECKING:
    import polars as pl

FEW = 3  # rows with the same number
FAR, NINES_FAR = 10.0, 0.5
NUMBERED, NAMED = 50, 20  # fewer numbers or texts may all differ by chance


def suspect(X: pl.DataFrame, numeric: list[str], dates: Sequence[str], categorical: list[str]) -> None:
    """Warn of numbers and dates that may stand for missing values, and of columns that may name the rows."""
    for name in dates:
        values = X[name].to_numpy()
        for value, count, *_ in stand_ins(values[~np.isnan(values)]):
            date = np.datetime64(int(value), "D")
            _warn(
                f"column {name!r}: {date} occurs in {count} rows, far from the other dates; if it stands for a missing "
                f"value, pass --missing-value {date}"
            )
    for name in numeric:
        values = X[name].to_numpy()
        values = values[~np.isnan(values)]
        for value, count, low, high in stand_ins(values):
            _warn(
                f"column {name!r}: {value:g} occurs in {count} rows, far outside the other numbers ({low:g} to "
                f"{high:g}); if it stands for a missing value, pass --missing-value {value:g}"
            )
        whole = len(values) == X.height >= NUMBERED and (values == np.round(values)).all()
        if whole and len(np.unique(values)) == X.height:
            text = f"column {name!r} has a different whole number in each row; if it names the row, pass --ignore"
            warnings.warn(f"{text} {name!r}.", Note, stacklevel=2)
    for name in categorical:
        count = X[name].n_unique()
        if count >= NAMED and count > 0.9 * X.height:
            _warn(
                f"column {name!r} has {count} different texts in {X.height} rows; if it is an identifier of the "
                f"row, pass --ignore {name!r}."
            )


def stand_ins(values: NDArray[np.float64]) -> list[tuple[float, int, float, float]]:
    """Suspected numbers, with how often each occurs, and the range of the others."""
    if len(values) == 0 or max(np.sum(values == values.min()), np.sum(values == values.max())) < FEW:
        return []
    found, (numbers, counts) = [], np.unique(values, return_counts=True)
    while len(numbers) >= 3:
        ends = [(at, numbers[1:] if at == 0 else numbers[:-1]) for at in (0, -1)]
        suspected = [
            (at, rest) for at, rest in ends if counts[at] >= FEW and _gap(numbers[at], rest) > _limit(numbers[at], rest)
        ]
        if not suspected:
            break
        at, numbers_left = suspected[0]
        found.append((float(numbers[at]), int(counts[at])))
        numbers, counts = numbers_left, counts[1:] if at == 0 else counts[:-1]
    return [(*one, float(numbers[0]), float(numbers[-1])) for one in found]


def _gap(value: float, rest: NDArray[np.float64]) -> float:
    return float(max(rest[0] - value, value - rest[-1]))


def _limit(value: float, rest: NDArray[np.float64]) -> float:
    nines = re.fullmatch(r"-?9{2,}(\.0)?", str(float(value))) is not None
    return (NINES_FAR if nines else FAR) * float(rest[-1] - rest[0])


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=3)
