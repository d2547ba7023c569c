"""Which rows calibrate a guard, which its detector learns from, and which the classifier learns from without them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.estimators.fitting.splitting import Groups
from abstain.rules.tuning.class_error import rows_needed

__all__ = ["GuardRows"]

MOST_DETECTED = 2_000  # rows that the detector learns from: twice as many found no more on three sets, half found less
ENOUGH = 1_000  # calibration rows, or ten for each that may be rejected if that is more
RARE = 10  # a class that would keep fewer rows than this in training keeps all


@dataclass(frozen=True, eq=False)
class GuardRows:
    """Indices of rows, increasing.

    Attributes
    ----------
    calibration, detector : ndarray of intp
        Disjoint.
    training : ndarray of intp
        For a classifier that does not see the calibration rows, except those of rare classes.
    held_out : ndarray of intp
        The calibration rows that are not in `training`.
    """

    calibration: NDArray[np.intp]
    detector: NDArray[np.intp]
    training: NDArray[np.intp]
    held_out: NDArray[np.intp]

    @classmethod
    def drawn(
        cls, y: NDArray[Any], present: NDArray[np.intp], groups: Groups | None, size: int, state: Any
    ) -> GuardRows:
        """Draw about `size` calibration rows among the rows `present`, whole groups if there are groups.

        They are drawn whatever their class, so that they are exchangeable with new rows.
        """
        order = state.permutation(present)
        if groups is None:
            calibration, rest = order[:size], order[size:]
        else:
            chosen = _whole_groups(groups[present], size, state)
            is_chosen = np.isin(groups[order], chosen)
            calibration, rest = order[is_chosen], order[~is_chosen]
        back = _needed_back(y, calibration, rest, groups)
        training, held_out = np.concatenate([rest, calibration[back]]), calibration[~back]
        return cls(*map(np.sort, (calibration, rest[:MOST_DETECTED], training, held_out)))


def calibration_size(n: int, rate: float, size: Any) -> int:
    """Give the number m of calibration rows among n, so that a row is novel if fewer than k of them are as unusual.

    ::

        m = k / rate - 1,  k the least with m + 1 >= n / 5 and k >= 2;  m at most max(1,000, 10 / rate)

    With k = 2 one odd calibration row cannot hide all novel rows, which is worth up to three quarters of the rows;
    otherwise m is at most n / 2.
    """
    if size is None:
        most = max(ENOUGH, math.ceil(10.0 / rate))
        k = 1
        while k == 1 or rows_needed(rate, k) + 1 < n / 5:
            if rows_needed(rate, k + 1) > min(most, 3 * n // 4 if k == 1 else n // 2):
                break
            k += 1
        m = rows_needed(rate, k)
        return m if k > 1 else min(m, n // 2)
    m = int(size) if isinstance(size, Integral) else math.ceil(float(size) * n)
    if m >= n:
        raise ValueError(f"calibration_size={size!r} leaves no rows to learn from, of {n}; make it smaller.")
    return m


def _whole_groups(groups: Groups, size: int, state: Any) -> Any:
    """Draw groups until they have `size` rows; at least one is left."""
    names, counts = np.unique(groups, return_counts=True)
    order = state.permutation(len(names))[:-1]
    before = np.cumsum(counts[order]) - counts[order]
    return names[order[before < size]]


def _needed_back(
    y: NDArray[Any], calibration: NDArray[np.intp], rest: NDArray[np.intp], groups: Groups | None
) -> NDArray[np.bool_]:
    """Give True for calibration rows of a class with few others, and for the rows of their groups."""
    names, code = np.unique(y[np.concatenate([calibration, rest])], return_inverse=True)
    own, others = code[: len(calibration)], code[len(calibration) :]
    kept = np.bincount(others, minlength=len(names))
    back = (kept < np.minimum(np.bincount(code), RARE))[own]
    if groups is not None and back.any():
        back = np.isin(groups[calibration], groups[calibration[back]])
    return np.asarray(back)
