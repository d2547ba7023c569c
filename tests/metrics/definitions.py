"""The measures by their definitions, row by row in exact fractions; slow, and written without the library."""

from fractions import Fraction
from itertools import permutations, product
from math import prod
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st


class Rows(NamedTuple):
    """True labels (0, 1; 1 is positive), scores about the cut 0, and whole weights."""

    y: list
    score: list
    weight: list

    @property
    def arrays(self):
        return np.array(self.y), np.array(self.score, dtype=float)

    def repeated(self):
        """Each row as often as its weight says."""
        each = [(y, s) for y, s, w in zip(*self, strict=True) for _ in range(w)]
        return Rows([y for y, _ in each], [s for _, s in each], [1] * len(each))


@st.composite
def rows(draw, largest=7, weights=(1, 1)):
    """Few rows with few distinct scores, so that most cases have ties, also on the cut and across it."""
    n = draw(st.integers(1, largest))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    score = draw(st.lists(st.integers(-3, 3).map(lambda s: s / 2), min_size=n, max_size=n))
    weight = draw(st.lists(st.integers(*weights), min_size=n, max_size=n).filter(any))
    return Rows(y, score, weight)


def is_wrong(y, score):
    return (score > 0) != (y == 1)


def accepted_at(data, level):
    """The rows with at least this confidence, as (y, score, weight)."""
    return [row for row in zip(*data, strict=True) if abs(row[1]) >= level]


def levels(data):
    """Confidences of the rows that weigh something, the highest first."""
    return sorted({abs(s) for s, w in zip(data.score, data.weight, strict=True) if w}, reverse=True)


def weight_of(some):
    return Fraction(sum(w for _, _, w in some))


def errors_of(some):
    return Fraction(sum(w for y, s, w in some if is_wrong(y, s)))


def cost_at(data, level, c_fp, c_fn, r_neg, r_pos):
    """Mean cost where the rows below the level are rejected."""
    total = Fraction(0)
    for y, s, w in zip(*data, strict=True):
        if abs(s) < level:
            total += w * (r_pos if y else r_neg)
        elif is_wrong(y, s):
            total += w * (c_fn if y else c_fp)
    return total / sum(data.weight)


def orders(data):
    """Every order of the rows by decreasing confidence: each tie in all its permutations."""
    each = [(y, s) for y, s, w in zip(*data, strict=True) for _ in range(w)]
    ties = [[row for row in each if abs(row[1]) == level] for level in levels(data)]
    for arrangement in product(*(permutations(tie) for tie in ties)):
        yield [row for tie in arrangement for row in tie]


def n_orders(data):
    ties = [sum(w for s, w in zip(data.score, data.weight, strict=True) if abs(s) == level) for level in levels(data)]
    return prod(prod(range(1, tie + 1)) for tie in ties)


def errors_among_first(order):
    """Errors among the first 1, 2, ..., n rows."""
    found, counts = 0, []
    for y, s in order:
        found += is_wrong(y, s)
        counts.append(found)
    return counts


def mean(values):
    values = list(values)
    return sum(values, Fraction(0)) / len(values)


def aurc_of_order(order):
    return mean(Fraction(wrong, k) for k, wrong in enumerate(errors_among_first(order), start=1))


def brute_aurc(data):
    return mean(aurc_of_order(order) for order in orders(data))


def brute_augrc(data):
    return mean(mean(Fraction(wrong, len(order)) for wrong in errors_among_first(order)) for order in orders(data))


def brute_best_aurc(data):
    """The smallest AURC that any order of the same rows has, tied or not."""
    each = [(y, s) for y, s, w in zip(*data, strict=True) for _ in range(w)]
    return aurc_of_order(sorted(each, key=lambda row: is_wrong(*row)))
