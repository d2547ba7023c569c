"""abstain.explain: what moves the score of a row, what would settle it, and what was unlike the training rows."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing as taken
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples as number_of_rows

from abstain.arguments import refuse_dask
from abstain.estimators.novelty.column_range import CellTable, objects
from abstain.estimators.novelty.training_ranges import SeenColumns
from abstain.estimators.novelty.written import Written
from abstain.estimators.unwrap import decide, unguarded
from abstain.preprocessing import plan_of
from abstain.reasons.changes import Floats, changed, lines_of, nearest_changes
from abstain.reasons.explanation import Explanation, pulls_of, sentence, text_of
from abstain.rules.decisions import Decisions

COLUMNS = 100  # that are searched, those that move the scores of a few rows most
CELLS = 4_000_000  # of changed rows that are decided at a time
MOST_CELLS = 2e9  # of changed rows that contributions may take
TIMES = "date", "time", "duration"  # types of columns that are not changed
SHOWN = 3  # columns outside the range in training
SAMPLED = 2_000  # cells of the rows that say which of many columns move scores
EXACT = 1e-9  # to which contributions must sum to the score, relative to the sum of their sizes


def explain(
    estimator: Any,
    X: Any,
    *,
    row_costs: Any = None,
    training: Any = None,
    decisions: Any = None,
    rows: Any = None,
    decimal: str = ".",
    date_format: str = "%Y-%m-%d",
) -> Explanation:
    """Say of rows why they are handed on, what would settle them, and what moves their scores.

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
    decimal, date_format : str
        The decimal mark of numbers in sentences, and the form of dates, as `strftime` takes it.

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
    >>> found = explain(machine, pd.DataFrame({"hours": [3.0], "cups": [2]}), training=train)
    >>> for clause in found.sentence[0].split("; "):
    ...     print(clause)
    Too close to call between fail and pass (pass 50 %)
    it would be answered pass if hours were 5 instead of 3
    hours 3 lowers its score for pass most.
    """
    refuse_dask(X, "explain", "pass it chunk by chunk")
    written = Written(decimal, date_format)
    found, n = decide(estimator, X, row_costs) if decisions is None else decisions, number_of_rows(X)
    if len(found) != n:
        raise ValueError(f"decisions must be those on the {n} rows of X; they are on {len(found)}.")
    chosen = np.arange(n) if rows is None else np.arange(n)[[*rows]]
    form: Any = type(X) if issparse(X) else lambda table: table  # sparse rows are dense until they are decided
    X, like = _dense(X), _of_columns(_dense(training), _dense(X))
    part = taken(X, chosen)
    rejected, score = np.flatnonzero(found.rejected[chosen]), found.score[chosen]
    known: Any = getattr(estimator, "seen_", None) if like is None else SeenColumns.of(like)
    seen, source = SeenColumns.of(X) if known is None else known, X if like is None else like

    def decided(table: Any, i: Any) -> Decisions:
        return decide(estimator, form(table), None if row_costs is None else taken(row_costs, chosen[i]))

    def ask(i: Any, columns: Any, cells: list[Any]) -> Any:
        step, made = max(1, CELLS // part.shape[1]), [(np.empty(0, bool), np.empty(0, object), score[:0])]
        for some in (slice(first, first + step) for first in range(0, len(i), step)):
            one = decided(changed(part, i[some], np.arange(len(i[some])), columns[some], cells[some]), i[some])
            made.append((~one.rejected, one.label.astype(object), one.score))
        return [np.concatenate(each) for each in zip(*made, strict=True)]

    kinds = getattr(X, "dtypes", [X.dtype] * X.shape[1] if isinstance(X, np.ndarray) else ())
    read = [at for at, kind in enumerate(kinds) if not str(kind).lower().startswith(TIMES)]
    if get_tags(estimator).input_tags.pairwise or len(kinds) ** 2 > MOST_CELLS:  # kernel values are not cells of a row
        read = []
    usual = lines_of(part[:0], source, seen, read)[-1]
    if len(read) > COLUMNS:
        moved = np.abs(_moved(ask, usual, score, len(kinds), rejected[: max(1, SAMPLED // len(read))]))
        read = np.sort(np.argsort(-moved.reshape(-1, len(kinds)).sum(axis=0), kind="stable")[:COLUMNS]).tolist()
    lines = lines_of(taken(part, rejected), source, seen, read)
    changes = np.full(len(chosen), None)
    changes[rejected] = objects(nearest_changes(lambda i, *cells: ask(rejected[i], *cells), lines))
    parts, pulls, bias = None, None, None
    if len(chosen):
        pulls, bias = pulls_of(estimator, form(part), score, found.labels.classes, like)
    if pulls is None and 0 < len(chosen) * float(len(usual)) ** 2 <= MOST_CELLS:
        at, zero = np.array([*usual], dtype=np.intp), np.zeros(1, dtype=np.intp)
        parts = _moved(ask, usual, score, len(kinds), np.arange(len(chosen)))
        bias = decided(changed(part, zero, 0 * at, at, [*usual.values()]), zero).score[0]
        sizes = np.abs(parts).sum(axis=-1) + np.abs(bias)
        exact = bool((np.abs(parts.sum(axis=-1) + bias - score) <= EXACT * sizes).all())
        parts, bias = (parts, bias) if exact else (None, None)
    dates = {*plan_of(getattr(unguarded(estimator), "steps", [(0, 0)])[0][1]).dates}
    table: Any = CellTable.of(part)
    names = tuple(f"x{name}" if isinstance(name, int) else name for name in table.names)
    novel = [] if found.novel is None or known is None else np.flatnonzero(found.novel[chosen]).tolist()
    outside = {row: known.outside(taken(part, [row])).words(SHOWN, dates=dates, written=written) for row in novel}
    made = Explanation(
        np.empty(0, dtype=str), chosen, found, names, tuple(changes), parts, bias, pulls, outside,
        "rows" if known is None else "training", len({*lines[0].tolist()}),
    )  # fmt: skip
    places = dict(zip(lines[0].tolist(), (np.maximum(lines[1][0], 0.0).astype(int) + 1).tolist(), strict=True))
    cells = [*table.columns(range(len(names)))]

    def text(value: Any, at: int) -> str:
        return text_of(value, places.get(at, 4), written, date=names[at] in dates)

    said = [sentence(made, cells, text, row, written, named=like is not None) for row in range(len(chosen))]
    return replace(made, sentence=np.array(said, dtype=str))


def _dense(table: Any) -> Any:
    """Return a data frame, or a dense array of any other table."""
    if table is None or hasattr(table, "columns"):
        return table
    return table.toarray() if issparse(table) else np.asarray(table)


def _of_columns(training: Any, X: Any) -> Any:
    """Return the training table with the columns of X, in their order."""
    if training is None:
        return None
    if hasattr(X, "columns") != hasattr(training, "columns"):
        raise ValueError("training and X must be two data frames with the same columns, or two arrays.")
    names = getattr(X, "columns", ())
    if lacking := [name for name in names if name not in training.columns]:
        raise ValueError(f"training lacks the column {lacking[0]!r} of X; pass the table of the fit.")
    return training[[*names]] if len(names) else training


def _moved(ask: Any, usual: dict[int, Any], score: Floats, width: int, rows: Any) -> Floats:
    """Return by how much each cell moves the scores of some rows, compared with the usual cell of its column."""
    at, (_, *of) = np.array([*usual], dtype=np.intp), score.shape
    other = ask(np.repeat(rows, len(at)), np.tile(at, len(rows)), [*usual.values()] * len(rows))[2]
    found = np.zeros((len(rows), *of, width))
    found[..., at] = score[rows][..., np.newaxis] - np.moveaxis(other.reshape(len(rows), len(at), *of), 1, -1)
    return found
