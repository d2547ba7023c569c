"""Letter Recognition: 26 classes, or any pair of them (FR02 section 4)."""

from __future__ import annotations

from string import ascii_uppercase
from typing import Any

import numpy as np

from public_data.access import load_table
from public_data.bunch import in_scikit_learn_form
from public_data.sources import SOURCES

__all__ = ["load_letter"]

FEATURES = [
    "x_box",
    "y_box",
    "width",
    "high",
    "onpix",
    "x_bar",
    "y_bar",
    "x2bar",
    "y2bar",
    "xybar",
    "x2ybr",
    "xy2br",
    "x_ege",
    "xegvy",
    "y_ege",
    "yegvx",
]


def load_letter(*, pair: str | None = None, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load Letter Recognition: 20000 rows, 16 features, 26 classes.

    Parameters
    ----------
    pair : str, default=None
        Two letters, such as ``"HK"``: keeps only their rows, with the first letter as 0 and the second as 1, the
        positive class. None keeps all rows, A = 0 to Z = 25.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether data and target are pandas objects.

    Returns
    -------
    Bunch or (data, target)
        ``data`` (n, 16), ``target`` (n,), indices into ``target_names``, ``feature_names``, ``target_names``,
        ``frame`` (None without `as_frame`), ``DESCR``, ``source``, ``citation``, ``licence``.
    """
    letters = _checked_pair(pair)
    table = load_table(SOURCES["letter"])
    data, target = table.data, table.target - 1
    if letters is not None:
        first, second = (ascii_uppercase.index(letter) for letter in letters)
        rows = (target == first) | (target == second)
        data, target = data[rows], (target[rows] == second).astype(np.int64)
    return in_scikit_learn_form(
        SOURCES["letter"],
        data,
        target,
        FEATURES,
        letters or ascii_uppercase,
        return_X_y=return_X_y,
        as_frame=as_frame,
    )


def _checked_pair(pair: object) -> str | None:
    if pair is None:
        return None
    if not isinstance(pair, str) or len(set(pair)) != 2 or len(pair) != 2 or not set(pair) <= set(ascii_uppercase):
        raise ValueError(f'pair={pair!r} must be two different capital letters, such as "HK", or None for all 26.')
    return pair
