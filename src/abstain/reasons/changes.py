"""The change of one cell that settles a row at the least distance, by a search on the real decisions.

The search is along lines of offsets: up and down each column of numbers, and one line for each category ::

    numbers      multiples of 10^-p, the largest power of ten up to sd / 20; whole ones if only whole numbers occur
                 distance = |new - old| / sd,   old the mean where the cell is missing
    categories   distance = 1 / sqrt(sum_c p_c (1 - p_c) / 2),   p_c the share of category c

so that a column of 0 and 1 has the same distance as two categories. In rounds of growing distance the last offset of
each line up to that distance is decided. The first round that settles a row ends its search: on each line that settles
it, bisection between this offset and that of the round before finds a place where the decision changes.
"""

import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing as taken

from abstain.estimators.fitting.progress import SearchLine
from abstain.estimators.novelty.column_range import CellTable, SeenCategories, is_missing, objects
from abstain.preprocessing import MISSING

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Lines = tuple[Places, Floats, list[Any], Floats, dict[int, Any]]
ROUNDS = (0.25, 0.5, 0.75, *(start * 2.0**k for k in range(64) for start in (1.0, 1.5)))  # 1, 1.5, 2, 3, 4, 6, 8, ...
FINEST = 20  # steps in a standard deviation, at least
CATEGORIES = 50  # of a column, the most frequent


class Change(NamedTuple):
    """A change that settles a row: its distance in standard deviations, the column, what is written, the answer."""

    distance: float
    column: int
    value: Any
    label: Any


def lines_of(part: Any, source: Any, seen: Any, read: Any) -> Lines:
    """Make the lines of n rows in some columns, within the ranges `seen`; standard deviations are of the source.

    Returns
    -------
    at : ndarray of intp, shape (L,)
        The column of each line.
    facts : ndarray of float64, shape (3, L)
        Its decimal places p; +1 upwards and -1 downwards; the distance between offsets.
    value : list
        The category; None for numbers.
    offsets : ndarray of float64, shape (3, n, L)
        The multiple of the step at offset 0, the last offset, -1 if there is none, and the distance of offset 0.
    usual : dict
        By column, the mean or the most frequent category.
    """
    part, source = CellTable.of(part), CellTable.of(source)
    known, places = {one.name: one for one in seen}, source.positions(part.names)
    facts, values, offsets, usual = [np.empty((4, 0))], list[Any](), [np.empty((3, part.rows, 0))], dict[int, Any]()
    for at, here, cells in zip(read, part.columns(read), source.columns([places[at] for at in read]), strict=True):
        limits = known[part.names[at]]
        if isinstance(limits, SeenCategories):
            names = [name for name in limits.counts if name != MISSING][:CATEGORIES]
            share = np.array([limits.counts[name] for name in names]) / max(1, limits.present)
            last = np.where(limits.read(here)[:, np.newaxis] == objects(names), -1.0, 0.0)
            gap = np.sqrt(2.0 / max(1e-6, np.sum(share * (1.0 - share))))
            facts.append(np.tile([[at], [0.0], [1.0], [1.0]], len(names)))
            offsets.append(np.stack([0.0 * last, last, 0.0 * last + gap]))
            values, usual = values + names, usual | dict.fromkeys([at] * bool(names), *names[:1])
            continue
        x, own, low, high = limits.read(here)[0], limits.read(cells)[0], limits.smallest, limits.largest
        own = own[~np.isnan(own)]
        if not len(own):
            continue
        whole = bool((own == np.round(own)).all())
        with np.errstate(all="ignore"):
            mean, sd = float(own.mean()), own.std() or (high - low) / 4.0
        usual[at] = round(mean) if whole else mean
        if not (low < high and 1e-280 < sd < 1e280):
            continue
        p = -int(np.floor(np.log10(sd / FINEST)))
        p = min(p, 0) if whole and high - low >= 1.0 else p
        step = 10.0**-p
        q = np.where(np.isnan(x), np.round(np.clip(mean, low, high) / step) - 0.25, x / step)
        least, most = np.ceil(low / step), np.floor(high / step)
        first = np.stack([np.maximum(np.floor(q) + 1.0, least), np.minimum(np.ceil(q) - 1.0, most)], axis=1)
        last = np.maximum((first - [most, least]) * [-1.0, 1.0], -1.0)
        facts.append(np.array([[at] * 2, [p] * 2, [1.0, -1.0], [step / sd] * 2]))
        offsets.append(np.stack([first, last, np.abs(first - q[:, np.newaxis]) * step / sd]))
        values += [None, None]
    columns = np.hstack(facts)
    return columns[0].astype(np.intp), columns[1:], values, np.concatenate(offsets, axis=2), usual


def changed(X: Any, rows: Places, at: Places, columns: Places, cells: list[Any]) -> Any:
    """Return these rows of a table, with cells replaced: those in the rows `at` of the result and these columns.

    Columns of whole numbers and truths become floats, and categories are added, so that every cell can be written.
    """
    if not hasattr(X, "columns"):
        kind = X.dtype.kind  # texts may be longer
        values = X[rows].astype(object if kind in "US" else np.float64 if kind in "biu" else X.dtype)
        values[at, columns] = objects(cells)
        return values
    table, pandas, written = taken(X, rows), hasattr(X, "iloc"), objects(cells)
    table = table.reset_index(drop=True) if pandas else table.clone()
    for column in np.unique(columns).tolist():
        here, old = columns == column, table.iloc[:, column] if pandas else table.to_series(column)
        if pandas and getattr(old.dtype, "kind", "O") in "biuf":
            numbers = old.to_numpy(np.float64, copy=True, na_value=np.nan)
            numbers[at[here]] = written[here]
            table.isetitem(column, numbers)
            continue
        own = objects([None if is_missing(cell) else cell for cell in old.to_list()])
        own[at[here]] = written[here]
        made = (_pandas if pandas else _polars)(old, own.tolist())
        (table.isetitem if pandas else table.replace_column)(column, made)
    return table


def _pandas(old: Any, cells: list[Any]) -> Any:
    """Return a column of these cells like an old one."""
    kind = old.dtype
    if hasattr(kind, "categories"):
        new = dict.fromkeys(cell for cell in cells if cell is not None and cell not in kind.categories)
        kind = type(kind)([*kind.categories, *new], kind.ordered)
    return type(old)(cells, dtype=object).astype(kind)


def _polars(old: Any, cells: list[Any]) -> Any:
    import polars as pl

    kind = old.dtype
    if kind.is_numeric() or kind in (pl.Boolean, pl.Null):
        return pl.Series(old.name, [None if cell is None else float(cell) for cell in cells], pl.Float64)
    if kind == pl.Enum:
        kind = pl.Enum(dict.fromkeys([*kind.categories, *(cell for cell in cells if cell is not None)]))
    return pl.Series(old.name, cells, kind)


def nearest_changes(ask: Any, lines: Lines) -> list[Change | None]:
    """Search the nearest change of each row; None where no single one settles it.

    ``ask(rows, columns, cells)`` decides rows with a cell written in one column each: whether they are decided, their
    labels and their scores.
    """
    columns, (exponent, sign, unit), value, (first, last, gap), _ = lines
    found: list[Any] = [None] * len(first)
    done = np.full(last.shape, -1.0)

    def asked(i: Places, c: Places, offset: Floats) -> tuple[Any, Any, list[Any]]:
        numbers = ((first[i, c] + sign[c] * offset) * 10.0 ** -exponent[c]).tolist()
        digits = zip(numbers, exponent[c].astype(int).tolist(), (value[line] for line in c), strict=True)
        cells = [(round(one, p) if p > 0 else round(one)) if kind is None else kind for one, p, kind in digits]
        settled, label, _ = ask(i, columns[c], cells)
        return settled, label, cells

    with SearchLine("explain", len(found), shown=sys.stderr.isatty(), unit="rows") as line:
        for distance in ROUNDS:
            ahead = np.array([one is None for one in found], dtype=bool)[:, np.newaxis] & (done < last)
            if not ahead.any():
                break
            line.report(len(found) - int(ahead.any(axis=1).sum()))
            reach = np.minimum(np.floor((distance - gap) / unit), last)
            i, c = np.nonzero(ahead & (reach > done))
            settled, label, cells = asked(i, c, reach[i, c])
            hits = np.flatnonzero(settled)
            i, c, label, values = i[hits], c[hits], label[hits], objects(cells)[hits]
            low, high = done[i, c], reach[i, c]
            while len(wide := np.flatnonzero(high - low > 1.0)):
                middle = (low[wide] + high[wide]) // 2.0
                settled, labels, written = asked(i[wide], c[wide], middle)
                high[wide[settled]], low[wide[~settled]] = middle[settled], middle[~settled]
                label[wide[settled]], values[wide[settled]] = labels[settled], objects(written)[settled]
            changes = zip((gap[i, c] + high * unit[c]).tolist(), columns[c].tolist(), values, label, strict=True)
            for row, change in zip(i.tolist(), map(Change._make, changes), strict=True):
                found[row] = change if found[row] is None else min(found[row], change, key=lambda one: one[:2])
            done = np.maximum(done, reach)
    return found
