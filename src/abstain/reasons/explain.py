"""abstain.explain: what moves the score of a row, what would settle it, and what was unlike the training rows."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing as taken
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples as number_of_rows

from abstain.arguments import refuse_dask
from abstain.estimators.novelty.column_range import CellTable, objects
from abstain.estimators.novelty.training_ranges import SeenColumns
from abstain.estimators.unwrap import decide, unguarded
from abstain.preprocessing import plan_of
from abstain.reasons.changes import COLUMNS, Lines, changed, moving, nearest_changes
from abstain.reasons.explanation import Cells, Explanation, sentence
from abstain.reasons.pulls import Floats, pulls_of
from abstain.rules.decisions import Decisions

CELLS = 4_000_000  # of changed rows that are decided at a time
MOST_CELLS = 2e9  # of changed rows that contributions may take
SHOWN = 3  # columns outside the range in training
SAMPLED = 2_000  # cells of the rows that say which of many columns move scores
EXACT = 1e-9  # to which contributions must sum to the score, relative to the sum of their sizes


def explain(
    estimator: Any,
    X: Any,
    *,
    row_costs: Any = None,
    training: Any = None,
    decisions: Decisions | None = None,
    rows: ArrayLike | None = None,
) -> Explanation:
    """Say of rows what moves their scores, what would settle them, and what was unlike the training rows.

    ::

        linear machines    score = sum of the contributions of the columns + bias, the score of a row of usual cells
        kernel machines    score = sum_j beta_j k(x_j, x) + bias: the training rows x_j that pull most to each side
        any classifier     of a rejected row the change of one cell that settles it at the least distance
        novel rows         the columns outside their range in training, and the p-value

    A change is a fact about the decisions of the estimator, not a cause and not advice: the row was decided with the
    value that the sentence has.

    Parameters
    ----------
    estimator : classifier of this library, or Pipeline or search around one
        Fitted.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Rows as the whole `estimator` takes them.
    row_costs : array-like or data frame, default=None
        Costs of each row of X, as in `RejectSVC.fit`.
    training : {array-like, sparse matrix, data frame}, default=None
        The rows that the estimator was fitted to: the ranges within which columns are changed, standard deviations, and
        the positions of rows that pull. Without them the ranges are those that a `NoveltyRejector` counted, or those of
        the rows of X, and standard deviations are those of X.
    decisions : Decisions, default=None
        The decisions on X, if they are already made.
    rows : array-like of int or bool, default=None
        The positions of the rows to explain, or a mask of them; by default all rows.

    Returns
    -------
    Explanation
        Arrays, one sentence for each row, and a frame.

    Notes
    -----
    Distances are in standard deviations of the column. A number is changed to a multiple of the largest power of ten up
    to sd / 20, or to a whole number if only those occur; a category to one of the 50 most frequent, all at the same
    distance. The search looks at growing distances, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, ..., then bisects: a column
    whose decisions change twice in between may be missed. Of more than 100 columns it searches those that move the
    scores of the first rows most.

    Examples
    --------
    >>> import pandas as pd
    >>> from abstain import Costs, RejectSVC, explain
    >>> train = pd.DataFrame({"hours": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "cups": [2, 1, 3, 1, 2, 3]})
    >>> machine = RejectSVC(Costs(reject=0.2), C=10, kernel="linear")
    >>> machine = machine.fit(train, ["fail", "fail", "pass", "fail", "pass", "pass"])
    >>> print(explain(machine, pd.DataFrame({"hours": [3.0], "cups": [2]}), training=train).sentence[0])
    Would be answered pass if hours were 5 instead of 3; hours 3 lowers its score for pass most.
    """
    refuse_dask(X, "explain", "pass it chunk by chunk")
    found, n = decide(estimator, X, row_costs) if decisions is None else decisions, number_of_rows(X)
    if len(found) != n:
        raise ValueError(f"decisions must be those on the {n} rows of X; they are on {len(found)}.")
    X = X if hasattr(X, "columns") or issparse(X) else np.asarray(X)
    chosen = np.arange(n) if rows is None else np.arange(n)[np.asarray(rows)]
    like = training if hasattr(training, "columns") or issparse(training) or training is None else np.asarray(training)
    like = like[[*X.columns]] if hasattr(X, "columns") and hasattr(like, "columns") else like
    part = taken(X, chosen)
    table, rejected, score = _table(part), np.flatnonzero(found.rejected[chosen]), found.score[chosen]
    source = _table(like) if like is not None else table if issparse(X) else _table(X)
    names = tuple(f"x{name}" if isinstance(name, int) else name for name in table.names)
    seen = getattr(estimator, "seen_", None) if like is None else SeenColumns.of(like)

    def decided(table: Any, i: Any) -> Decisions:
        return decide(estimator, table, None if row_costs is None else taken(row_costs, chosen[i]))

    def ask(i: Any, columns: Any, cells: list[Any]) -> Any:
        step, made = max(1, CELLS // max(1, len(names))), [(np.empty(0, bool), np.empty(0, object), score[:0])]
        for some in (slice(first, first + step) for first in range(0, len(i), step)):
            one = decided(changed(part, i[some], columns[some], cells[some]), i[some])
            made.append((~one.rejected, one.label.astype(object), one.score))
        return [np.concatenate(each) for each in zip(*made, strict=True)]

    read: Any = range(0 if get_tags(estimator).input_tags.pairwise else len(names))  # kernel values are not cells
    few = rejected[: max(1, SAMPLED // max(1, len(read)))] if len(read) > COLUMNS else rejected
    lines = Lines.of(_table(taken(part, few)), source, seen, read)
    usual = lines.usual
    if len(read) > COLUMNS and len(few):
        read = moving(lambda i, *cells: ask(few[i], *cells), lines, score[few])
        lines = Lines.of(_table(taken(part, rejected)), source, seen, read)
    pulls = pulls_of(estimator, part, score, found.labels.classes, like)
    parts, bias = _contributions(ask, decided, part, usual, score) if pulls is None else (None, pulls.bias)
    changes = np.full(len(chosen), None)
    changes[rejected] = objects(nearest_changes(lambda i, *cells: ask(rejected[i], *cells), lines))
    novel = [] if found.novel is None else rejected[found.novel[chosen[rejected]]].tolist()
    kinds = dict(zip(lines.at.tolist(), zip(lines.value, lines.facts[0].astype(int), strict=True), strict=True))
    inner = unguarded(estimator)
    inner = inner if hasattr(inner, "steps") else getattr(inner, "estimator_", None)  # of a ThresholdRejector
    dates = {*plan_of(getattr(inner, "steps", [(0, 0)])[0][1]).dates}
    cells = Cells(table, names, kinds, dates)
    made = Explanation(
        np.empty(0, dtype=str), chosen, found, names, tuple(changes), parts, bias,
        pulls, {row: _outside(seen, taken(part, [row]), dates) for row in novel if seen is not None},
        "rows" if seen is None and like is None else "training", len({*lines.at.tolist()}),
    )  # fmt: skip
    return replace(made, sentence=np.array([sentence(made, cells, row) for row in range(len(chosen))], dtype=str))


def _contributions(ask: Any, decided: Any, part: Any, usual: dict[int, Any], score: Floats) -> tuple[Any, Any]:
    """Return what each cell adds to the scores, compared with a usual row, and that row's score, if they sum to it."""
    at, zero, (n, *of) = np.array([*usual], dtype=np.intp), np.zeros(1, dtype=np.intp), score.shape
    if not n or n * float(len(at)) ** 2 > MOST_CELLS:
        return None, None
    alike = reduce(lambda row, k: changed(row, zero, zero + k, [usual[k]]), usual, taken(part, [0]))
    bias = decided(alike, zero).score[0]
    other = ask(np.repeat(np.arange(n), len(at)), np.tile(at, n), [*usual.values()] * n)[2]
    parts = np.zeros((n, *of, part.shape[1]))
    parts[..., at] = score[..., np.newaxis] - np.moveaxis(other.reshape(n, len(at), *of), 1, -1)
    sizes = np.abs(parts).sum(axis=-1) + np.abs(bias)
    exact = np.abs(parts.sum(axis=-1) + bias - score) <= EXACT * sizes
    return (parts, bias) if exact.all() else (None, None)


def _outside(seen: SeenColumns, row: Any, dates: set[str]) -> list[str]:
    words = seen.outside(row).words(SHOWN, dates=dates)
    return [one.replace(": 1 of 1 rows", "").removesuffix(".") for one in words]


def _table(X: Any) -> CellTable:
    if (table := CellTable.of(X.toarray() if issparse(X) else X)) is None:
        raise ValueError("X must be a table of rows and columns: an array of two axes, or a frame of pandas or polars.")
    return table
