"""The pairs of letters: FR02's table, which pairs a hyperplane separates (with a proof either way), and the halves."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from string import ascii_uppercase

import numpy as np
from numpy.typing import NDArray
from public_data import load_letter
from scipy.optimize import linprog

# FR02, table 1 (p. 79): the problems where the embedded machine was better, where neither was, where it was worse.
# "DB" stands for the pair BD; every other name is in alphabetical order.
_BETTER = (
    "AH BE BJ BK BP BV CE CL CU DJ DO DX EK EX EZ FY GT HY IP JR JS KO KT LO OR OV PR PV RS TY "
    "UV XZ BI BS DH GK FI HJ IZ KV"
)
_NEITHER = "AU ET TX BF DR GM HT HW KS LX MV NU QX CO KM BR BD FS FX GO GV JQ MU PQ PS PY RV"
_WORSE = "ST DN EQ ER ES FT HK HU JZ KX SX"
TABLE = {"better": _BETTER.split(), "neither": _NEITHER.split(), "worse": _WORSE.split()}
PAIRS = [name for row in TABLE.values() for name in row]
ALL_PAIRS = ["".join(two) for two in combinations(ascii_uppercase, 2)]

Rows = NDArray[np.int64]
Halves = tuple[NDArray[np.float64], Rows, NDArray[np.float64], Rows]


@lru_cache(maxsize=1)
def letters() -> tuple[Rows, Rows]:
    """All 20,000 rows as integers 0 to 15, and their letters, 0 for A."""
    X, y = load_letter(return_X_y=True)
    return X.astype(np.int64), y


def rows_of(name: str) -> tuple[Rows, Rows]:
    """The rows of two letters in file order; the first letter is +1."""
    X, y = letters()
    first, second = (ascii_uppercase.index(letter) for letter in name)
    chosen = (y == first) | (y == second)
    return X[chosen], np.where(y[chosen] == first, 1, -1)


def halves(name: str, seed: int) -> Halves:
    """Training half and test half: a permutation by the seed, the first ceil(n / 2) rows train."""
    X, y = rows_of(name)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = np.split(order, [-(-len(y) // 2)])
    return X[train].astype(np.float64), y[train], X[test].astype(np.float64), y[test]


def separable(X: Rows, y: Rows) -> bool:
    """Whether a hyperplane has the two classes strictly on its two sides; either answer is proved in exact arithmetic.

    One linear program asks how far apart the convex hulls are:

        min |p|_1  over p and a >= 0  subject to  sum_i a_i y_i x_i = p,  sum_{y_i = 1} a_i = sum_{y_i = -1} a_i = 1

    Above 0 its multipliers are a hyperplane between the hulls. At 0 the a are a point of both hulls, and there is none.
    """
    d, sign = X.shape[1], y[:, None]
    classes = np.vstack([y == 1, y == -1])
    hulls = np.hstack([(X * sign).T, np.eye(d), -np.eye(d)])
    sums = np.hstack([classes, np.zeros((2, 2 * d))])
    price = np.r_[np.zeros(len(y)), np.ones(2 * d)]
    right = np.r_[np.zeros(d), 1.0, 1.0]
    found = linprog(price, A_eq=np.vstack([hulls, sums]), b_eq=right, method="highs-ds")
    if found.status != 0:
        raise RuntimeError(f"the linear program ended with: {found.message}")
    if separates(found.eqlin.marginals[:d], X, y):
        return True
    used = found.x[: len(y)] > 1e-9
    if meets(X[used], y[used]):
        return False
    raise RuntimeError(f"no proof either way; the hulls are {found.fun:.3g} apart by the linear program.")


def separates(w: NDArray[np.float64], X: Rows, y: Rows) -> bool:
    """Whether all w.x of one class lie above all of the other, in integers: no rounding error can lie."""
    whole = np.rint(w * 2.0**40).astype(np.int64)
    score = X @ whole
    up, down = score[y == 1], score[y == -1]
    return bool(up.min() > down.max() or up.max() < down.min())


def meets(X: Rows, y: Rows) -> bool:
    """Whether these rows, as corners, have weights a >= 0 that make a point of both hulls; solved in fractions."""
    columns = np.vstack([(X * y[:, None]).T, y == 1, y == -1])
    right = [0] * X.shape[1] + [1, 1]
    weights = _solved(columns.astype(int).tolist(), right)
    return weights is not None and min(weights) >= 0


def _solved(A: list[list[int]], b: list[int]) -> list[Fraction] | None:
    """The one solution of A a = b by elimination in fractions; None where there is none, or more than one."""
    table = [[Fraction(value) for value in (*row, last)] for row, last in zip(A, b, strict=True)]
    width = len(A[0])
    for column in range(width):
        pivot = next((k for k in range(column, len(table)) if table[k][column]), None)
        if pivot is None:
            return None
        table[column], table[pivot] = table[pivot], table[column]
        head = [value / table[column][column] for value in table[column]]
        for k, row in enumerate(table):
            if k != column and row[column]:
                table[k] = [value - row[column] * above for value, above in zip(row, head, strict=True)]
        table[column] = head
    return None if any(row[-1] for row in table[width:]) else [row[-1] for row in table[:width]]
