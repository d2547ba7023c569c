"""The rows that the page counts and lists: all of them, or groups of equal size if there are many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.report.text import plain
from abstain.rules.tuning.scored_rows import confidence_of

# Up to EXACT_ROWS the page contains every score; beyond, STEPS groups of the sorted scores and LISTED rejected rows.
EXACT_ROWS, STEPS, LISTED = 20_000, 5_000, 500
_BARS, _NAME = 48, 80
Codes = NDArray[np.intp]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Steps:
    """Scores in increasing order with the number of rows of each class.

    Attributes
    ----------
    score : ndarray of shape (k,)
        The score of each row or, if rows are grouped, the largest in the group.
    below, above : ndarray of shape (k,)
        Number of rows of the class of low and of high scores.
    exact : bool
        Whether every row is its own step.
    """

    score: Floats
    below: NDArray[np.int64]
    above: NDArray[np.int64]
    exact: bool

    @classmethod
    def of(cls, code: Codes, score: Floats, marks: Sequence[float]) -> Self:
        """Sort the rows; group them if there are many, but never across a mark (thresholds and cut)."""
        order = np.argsort(score, kind="stable")
        s, positive = score[order], code[order].astype(np.int64)
        if len(s) <= EXACT_ROWS:
            return cls(s, 1 - positive, positive, exact=True)
        # Rows exactly on a mark are kept apart: rows on a threshold are rejected, their neighbours may not be.
        sides = [np.searchsorted(s, mark, side) for mark in marks for side in ("left", "right")]
        starts = np.unique([*np.linspace(0, len(s), STEPS, endpoint=False).astype(int), *sides])
        starts = starts[starts < len(s)]
        ends = np.append(starts[1:], len(s)) - 1
        above = np.add.reduceat(positive, starts)
        return cls(s[ends], ends - starts + 1 - above, above, exact=False)


@dataclass(frozen=True, eq=False)
class ListedRows:
    """Rows that the page can list: all of them, or the rejected ones closest to a threshold.

    Attributes
    ----------
    score : ndarray of shape (k,)
        In increasing order.
    above : ndarray of bool, shape (k,)
        Whether the true class is that of the high scores.
    name : tuple of str or int
        Name of the row, or its number, counted from 1.
    complete : bool
        Whether these are all rows.
    """

    score: Floats
    above: NDArray[np.bool_]
    name: tuple[str | int, ...]
    complete: bool

    @classmethod
    def of(cls, code: Codes, score: Floats, nearness: Floats, names: Any, among: Codes | None = None) -> Self:
        """Keep the rows `among` all; if they are many, the LISTED rejected ones of smallest `nearness` (else inf)."""
        among = np.arange(len(score)) if among is None else among
        complete = len(among) <= EXACT_ROWS
        kept = among if complete else among[np.argsort(nearness[among], kind="stable")[:LISTED]]
        kept = kept if complete else kept[np.isfinite(nearness[kept])]
        kept = kept[np.argsort(score[kept], kind="stable")]
        return cls(score[kept], code[kept] > 0, called(names, kept), complete)


def called(names: Sequence[Any] | None, rows: Codes) -> tuple[str | int, ...]:
    """The names of these rows, or their numbers, counted from 1."""
    known = None if names is None else list(names)
    return tuple(row + 1 if known is None else plain(known[row], _NAME) for row in rows.tolist())


def heading_of(names: Any) -> str:
    """What the names of rows are."""
    heading = getattr(names, "name", None)
    return "row" if heading is None else plain(heading, _NAME)


def index_of(rows: Any) -> Any:
    """The index of a pandas object; None for other objects, and for an index that only counts from 0."""
    index = rows.index if hasattr(rows, "iloc") else None
    counts = index is None or (index.name is None and np.array_equal(np.asarray(index), np.arange(len(index))))
    return None if counts else index


@dataclass(frozen=True, eq=False)
class Histogram:
    """Rows of each class by score, in bars of equal width; the outermost bars include everything beyond.

    Novel rows are counted apart.
    """

    edges: Floats
    below: NDArray[np.int64]
    above: NDArray[np.int64]
    novel_below: NDArray[np.int64]
    novel_above: NDArray[np.int64]

    @classmethod
    def of(cls, code: Codes, score: Floats, marks: Sequence[float], novel: Any = False) -> Self:
        """Count the rows; the range covers the middle 99 % of the scores and the finite marks."""
        finite = score[np.isfinite(score)]
        ends = [mark for mark in marks if np.isfinite(mark)]
        ends += np.quantile(finite, [0.005, 0.995]).tolist() if finite.size else [-1.0, 1.0]
        low, high = min(ends), max(ends)
        pad = 0.04 * (high - low) or 1.0
        edges = np.linspace(low - pad, high + pad, _BARS + 1)
        at = np.clip(np.searchsorted(edges, score, side="right") - 1, 0, _BARS - 1)
        kinds = [(code == side) & (novel == unlike) for unlike in (False, True) for side in (0, 1)]
        return cls(edges, *(np.bincount(at[kind], minlength=_BARS) for kind in kinds))


@dataclass(frozen=True, eq=False)
class NovelRows:
    """Rows that a guard rejects as unlike the training rows, whatever the reject cost.

    Attributes
    ----------
    forced : ndarray of shape (2, 2)
        Their number by true class, that of low and that of high scores, and by forced decision.
    listed : ListedRows
        Those that the page can list.
    """

    forced: NDArray[np.int64]
    listed: ListedRows

    @classmethod
    def of(cls, code: Codes, score: Floats, forced: Codes, names: Any, novel: NDArray[np.bool_]) -> Self:
        """Count the novel rows."""
        counts = np.bincount(2 * code[novel] + forced[novel], minlength=4).reshape(2, 2)
        return cls(counts, ListedRows.of(code, score, np.zeros(len(score)), names, np.flatnonzero(novel)))

    @property
    def rejected(self) -> list[int]:
        """Their number, of the class of low and of high scores."""
        return list(self.forced.sum(axis=1).tolist())


def novel_mask(novel: Any, n: int) -> NDArray[np.bool_]:
    """The mask of novel rows; None means that there are none."""
    found = np.zeros(n, dtype=bool) if novel is None else np.asarray(novel)
    if found.dtype != np.bool_ or found.shape != (n,):
        got = f"{found.dtype} {found.shape}"
        raise ValueError(f"novel must have one True or False for each of the {n} rows; got {got}.")
    return found


def most_confident_first(rejected: NDArray[np.bool_], score: Any, novel: NDArray[np.bool_]) -> Codes:
    """The rejected rows, by the lead of the highest score if there is one for each class; novel ones come last."""
    rows = np.flatnonzero(rejected)
    if score is not None and np.ndim(score) == 2:
        lead = confidence_of(np.asarray(score, dtype=np.float64)[rows], "lead")
        rows = rows[np.argsort(-lead, kind="stable")]
    return np.concatenate([rows[~novel[rows]], rows[novel[rows]]])
