"""The rows that the page counts, by true class and choice or by score, and those that it lists."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain.metrics.outcomes import Outcomes, quotients
from abstain.report.text import Facts, amount, facts_of, plain, unique_names

# Up to EXACT_ROWS the page contains every score; beyond, STEPS groups of the sorted scores. It lists up to LISTED rows.
EXACT_ROWS, STEPS, LISTED = 20_000, 5_000, 100
_BARS, _NAME, _COLUMNS, _SENTENCE = 48, 80, 60, 1000
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


@dataclass(frozen=True)
class ListedRow:
    """A rejected row as text; `values` are the names and values of its columns, `sentence` says why it is rejected."""

    name: str | int
    truth: str
    reason: str
    saving: str
    choice: str
    forced: str
    values: Facts
    sentence: str


def listed_rows(
    at: Codes, found: Any, *, truth: Any, choice: Any, forced: Any, novel: Any, names: Any, table: Any, sentences: Any
) -> tuple[ListedRow, ...]:
    """Describe these rows: what is true, what was chosen and why, and their values."""
    listed = []
    for row, name, values in zip(at.tolist(), called(names, at), values_of(table, at), strict=True):
        usual = "" if found is None or found.p_value is None else f" (p = {amount(found.p_value[row])})"
        reason = f"novel{usual}" if novel[row] else "ambiguous"
        saving = "–" if found is None or novel[row] else amount(found.saving[row])
        true, chosen, answer = ("" if of is None else plain(of[row], _NAME) for of in (truth, choice, forced))
        why = plain(sentences[row], _SENTENCE) if sentences and row in sentences else ""
        listed.append(ListedRow(name, true, reason, saving, chosen, answer, values, why))
    return tuple(listed)


def values_of(X: Any, rows: Codes) -> list[Facts]:
    """The names and values of the first columns of these rows; nothing of sparse rows and of others than tables."""
    table = X if hasattr(X, "columns") or issparse(X) else np.asarray(X)
    if X is None or issparse(X) or len(table.shape) != 2:
        return [()] * len(rows)
    cells = np.asarray(table.iloc[rows] if hasattr(table, "iloc") else table[rows], dtype=object)[:, :_COLUMNS]
    names = getattr(table, "columns", None)
    names = [f"x{at}" for at in range(cells.shape[1])] if names is None else list(names)
    return [facts_of(dict(zip(names, row, strict=False))) for row in cells.tolist()]


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


def novel_mask(novel: Any, n: int) -> NDArray[np.bool_]:
    """The mask of novel rows; None means that there are none."""
    found = np.zeros(n, dtype=bool) if novel is None else np.asarray(novel)
    if found.dtype != np.bool_ or found.shape != (n,):
        got = f"{found.dtype} {found.shape}"
        raise ValueError(f"novel must have one True or False for each of the {n} rows; got {got}.")
    return found


@dataclass(frozen=True)
class ClassNumbers:
    """The decisions on the rows of one true class; shares are nan where nothing can be counted.

    `counts` has an entry for each choice, and `kinds` says what it is: "right", "wrong" or "reject".
    """

    name: str
    rows: int
    counts: tuple[int, ...]
    kinds: tuple[str, ...]
    prices: tuple[float, ...]
    coverage: float
    selective_error: float
    predictivity: float
    mean_cost: float

    @classmethod
    def all_of(cls, outcomes: Outcomes) -> tuple[Self, ...]:
        """Count the rows of each class."""
        costs, counts, names = outcomes.choices, outcomes.counts, unique_names(outcomes.classes)
        # the cheapest choice on average that does not hand on: of answers, the correct one
        mean = np.where(costs.rejecting, np.inf, costs.values.mean(axis=0) if costs.per_row else costs.values)
        right = (mean == mean.min(axis=1, keepdims=True)) & ~costs.rejecting
        kinds = np.where(costs.rejecting, "reject", np.where(right, "right", "wrong"))
        prices = np.full(counts.shape, np.nan) if costs.per_row else costs.values
        rows, decided = counts.sum(axis=1), counts[:, ~costs.rejecting].sum(axis=1)
        correct, answered = (counts * right).sum(axis=1), np.array([counts[:, of].sum() for of in right])
        paid = [outcomes.cost[outcomes.truth == at].sum() for at in range(len(names))]
        parts = (decided, rows), (decided - correct, decided), (correct, answered), (paid, rows)
        shares = np.column_stack([quotients(*part) for part in parts]).tolist()
        cells = (map(tuple, of.tolist()) for of in (counts, kinds, prices))
        return tuple(cls(*one, *own) for *one, own in zip(names, rows.tolist(), *cells, shares, strict=True))
