"""The change of one cell that settles a row at the least distance, by a search on the real decisions.

The search is along lines of offsets: up and down each column of numbers, and one line for each category ::

    numbers      multiples of 10^-p, the largest power of ten up to sd / 20; whole ones if only whole numbers occur
                 distance = |new - old| / sd,   old the mean where the cell is missing
    categories   distance = 1 / sqrt(sum_c p_c (1 - p_c) / 2),   p_c the share of category c

so that a column of 0 and 1 has the same distance as two categories. In rounds of growing distance the last offset of
each line up to that distance is decided. The first round that settles a row ends its search: on each line that settles
it, bisection between this offset and that of the round before finds a place where the decision changes.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse

from abstain.estimators.fitting.progress import SearchLine
from abstain.estimators.novelty.column_range import CellTable, objects
from abstain.preprocessing import MISSING
from abstain.reasons.pulls import Floats, Places

ROUNDS = (0.25, 0.5, 0.75, *(start * 2.0**k for k in range(64) for start in (1.0, 1.5)))  # 1, 1.5, 2, 3, 4, 6, 8, ...
COLUMNS = 100  # that are searched, those that move the scores of a few rows most
FINEST = 20  # steps in a standard deviation, at least
CATEGORIES = 50  # of a column, the most frequent
TEN = np.array([float(f"1e{k}") for k in range(309)])


class Change(NamedTuple):
    """A change that settles a row: its distance in standard deviations, the column, what is written, the answer."""

    distance: float
    column: int
    value: Any
    label: Any


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of n rows; offset o = 0, 1, ... of a number is the multiple first + sign o of its step.

    Attributes
    ----------
    at : ndarray of intp, shape (L,)
        The column of each line.
    facts : ndarray of float64, shape (3, L)
        Its decimal places p; +1 upwards and -1 downwards; the distance between offsets.
    value : list
        The category; of numbers the type of the cells.
    offsets : ndarray of float64, shape (3, n, L)
        The multiple at offset 0, the last offset, -1 if there is none, and the distance of offset 0.
    usual : dict
        By column, the mean or the most frequent category.
    """

    at: Places
    facts: Floats
    value: list[Any]
    offsets: Floats
    usual: dict[int, Any]

    @classmethod
    def of(cls, part: CellTable, source: CellTable, seen: Any, read: Any) -> Self:
        """Make the lines of rows in some columns, by the ranges of another table; by `seen`, if it is not None."""
        places, known = source.positions(part.names), {one.name: one for one in seen or ()}
        kinds = getattr(part.X, "dtypes", [getattr(part.X, "dtype", "")] * len(part.names))
        facts, values, offsets, usual = [np.empty((4, 0))], list[Any](), [np.empty((3, part.rows, 0))], dict[int, Any]()
        for at, x, own in zip(read, part.columns(read), source.columns([places[at] for at in read]), strict=True):
            limits = known.get(part.names[at])
            if own.dtype == object:
                counts = Counter(getattr(limits, "counts", own.tolist()))
                names = [one for one, _ in counts.most_common(CATEGORIES) if one not in (None, MISSING)]
                share = np.array([counts[one] for one in names]) / max(1, sum(counts[one] for one in names))
                last = np.where(x[:, np.newaxis] == objects(names), -1.0, 0.0)
                gap = 1.0 / np.sqrt(max(1e-6, np.sum(share * (1.0 - share)) / 2.0))
                facts.append(np.tile([[at], [0.0], [1.0], [1.0]], len(names)))
                offsets.append(np.stack([0.0 * last, last, 0.0 * last + gap]))
                values, usual = values + names, usual | dict.fromkeys([at] * bool(names), *names[:1])
                continue
            present, kind = own[~np.isnan(own)], str([*kinds][at]).lower()
            if not len(present) or kind.startswith(("date", "time", "duration")):
                continue
            low, high = getattr(limits, "smallest", present.min()), getattr(limits, "largest", present.max())
            with np.errstate(all="ignore"):
                mean, sd = present.mean(), present.std() or (high - low) / 4.0
            cell: Any = bool if kind.startswith("bool") else int if "int" in kind else float
            usual[at] = float(mean) if cell is float else cell(round(mean))
            if not (low < high and 1e-280 < sd < 1e280):
                continue
            p = -int(np.floor(np.log10(sd / FINEST)))
            p = min(p, 0) if high - low >= 1.0 and (present == np.round(present)).all() else p
            step = float(decimal(1.0, p))
            q = np.where(np.isnan(x), np.round(np.clip(mean, low, high) / step) - 0.25, x / step)
            least, most = np.ceil(low / step), np.floor(high / step)
            first = np.stack([np.maximum(np.floor(q) + 1.0, least), np.minimum(np.ceil(q) - 1.0, most)], axis=1)
            last = np.maximum((first - [most, least]) * [-1.0, 1.0], -1.0)
            facts.append(np.array([[at] * 2, [p] * 2, [1.0, -1.0], [step / sd] * 2]))
            offsets.append(np.stack([first, last, np.abs(first - q[:, np.newaxis]) * step / sd]))
            values += [cell] * 2
        columns = np.hstack(facts)
        return cls(columns[0].astype(np.intp), columns[1:], values, np.concatenate(offsets, axis=2), usual)

    def reach(self, distance: float) -> Floats:
        """Return the last offset of each row and line up to a distance; negative if there is none."""
        return np.minimum(np.floor((distance - self.offsets[2]) / self.facts[2]), self.offsets[1])

    def distance(self, i: Places, c: Places, offset: Floats) -> Floats:
        """Return the distances of offsets of rows i and lines c."""
        return np.asarray(self.offsets[2, i, c] + offset * self.facts[2, c])

    def cells(self, i: Places, c: Places, offset: Floats) -> list[Any]:
        """Return what is written into the cells of rows i and lines c at these offsets."""
        numbers = decimal(self.offsets[0, i, c] + self.facts[1, c] * offset, self.facts[0, c].astype(np.intp)).tolist()
        written = zip((self.value[line] for line in c), numbers, strict=True)
        return [value(number) if isinstance(value, type) else value for value, number in written]


def decimal(k: Any, p: Any) -> Any:
    """Return k 10^-p, the float that its decimal digits stand for."""
    return np.where(np.greater(p, 0), k / TEN[np.maximum(p, 0)], k * TEN[np.maximum(np.negative(p), 0)])


def changed(X: Any, rows: Places, columns: Places, cells: list[Any]) -> Any:
    """Return these rows of a table, each with a cell of one column replaced."""
    if issparse(X):
        return type(X)(changed(X[rows].toarray(), np.arange(len(rows)), columns, cells))
    if isinstance(X, np.ndarray):
        found = X[rows] if X.dtype.kind not in "US" else X[rows].astype(object)  # texts may be longer
        found[np.arange(len(rows)), columns] = objects(cells)
        return found
    found = X.iloc[rows].reset_index(drop=True) if hasattr(X, "iloc") else X[rows]
    for at in np.unique(columns).tolist():
        mine = np.flatnonzero(columns == at)
        values = [cells[one] for one in mine]
        if hasattr(X, "iloc"):
            column = found.iloc[:, at].copy()
            if str(column.dtype) == "category":
                column = column.cat.set_categories(dict.fromkeys([*column.cat.categories, *values]))
            column.iloc[mine] = values
            found.isetitem(at, column)
        else:
            found.replace_column(at, found.to_series(at).scatter(mine, values))
    return found


def nearest_changes(ask: Any, lines: Lines) -> list[Change | None]:
    """Search the nearest change of each row; None where no single one settles it.

    ``ask(rows, columns, cells)`` decides rows with a cell written in one column each: whether they are decided, their
    labels and their scores.
    """
    found: list[Any] = [None] * len(lines.offsets[1])
    done = np.full(lines.offsets[1].shape, -1.0)
    with SearchLine("explain", len(found), shown=sys.stderr.isatty(), unit="rows") as line:
        for distance in ROUNDS:
            ahead = np.array([one is None for one in found], dtype=bool)[:, np.newaxis] & (done < lines.offsets[1])
            if not ahead.any():
                break
            line.report(len(found) - int(ahead.any(axis=1).sum()))
            reach = lines.reach(distance)
            i, c = np.nonzero(ahead & (reach > done))
            for row, change in _settled(ask, lines, i, c, (done[i, c], reach[i, c])):
                found[row] = change if found[row] is None else min(found[row], change, key=lambda one: one[:2])
            done = np.maximum(done, reach)
    return found


def _settled(ask: Any, lines: Lines, i: Any, c: Any, ends: tuple[Floats, Floats]) -> Any:
    """Return pairs of a row and a change, where the second offset of row i and line c settles, and the first not."""
    settled, label, _ = ask(i, lines.at[c], lines.cells(i, c, ends[1]))
    i, c, low, high, label = (one[settled] for one in (i, c, *ends, label))
    best = np.full(len(lines.offsets[1]), np.inf)
    while True:
        np.minimum.at(best, i, lines.distance(i, c, high))
        wide = np.flatnonzero((high - low > 1.0) & (lines.distance(i, c, low + 1.0) < best[i]))
        if not len(wide):
            found = lines.distance(i, c, high).tolist(), lines.at[c].tolist(), lines.cells(i, c, high), label
            return zip(i.tolist(), map(Change, *found), strict=True)
        middle = (low[wide] + high[wide]) // 2.0
        settled, labels, _ = ask(i[wide], lines.at[c[wide]], lines.cells(i[wide], c[wide], middle))
        high[wide[settled]], low[wide[~settled]] = middle[settled], middle[~settled]
        label[wide[settled]] = labels[settled]


def moving(ask: Any, lines: Lines, score: Floats) -> list[int]:
    """Return the columns whose changes, of a standard deviation or to a category, move the scores of rows most."""
    i, c = np.nonzero(lines.offsets[1] >= 0.0)
    scores = ask(i, lines.at[c], lines.cells(i, c, np.maximum(lines.reach(1.0)[i, c], 0.0)))[2]
    moved = np.bincount(lines.at[c], np.abs(scores - score[i]).reshape(len(i), -1).sum(axis=1))
    return sorted(np.argsort(-moved, kind="stable")[:COLUMNS].tolist())
