"""What `explain` returns, and its sentences, which say what would be decided, and never why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.reasons.changes import Change, Floats
from abstain.reasons.pulls import Pulls
from abstain.rules.decisions import Decisions

LONGEST = 60  # letters of a name or category
RANGES = {"training": "within its range in training", "rows": "within the range of these rows"}


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Why n rows were decided as they were.

    Attributes
    ----------
    sentence : ndarray of str, shape (n,)
        One sentence for each row, in the user's columns and units. Training rows are counted from 1.
    rows : ndarray of intp, shape (n,)
        The positions of the rows in X.
    decisions : Decisions
        On all rows of X.
    columns : tuple of str
        The names of the columns of X; x0, x1, ... for an array.
    changes : tuple of Change or None
        For each rejected row the change of one cell that settles it at the least distance: `distance` in standard
        deviations, `column` as a position, `value` and `label`. None where there is none, and for decided rows.
    contributions : ndarray of float64, shape (n, n_columns), or (n, n_classes, n_columns); or None
        Of linear machines, and others whose score is a sum over the columns: what each cell adds to the score, compared
        with the mean of its column, rounded for whole numbers, or with its most frequent category. They sum to the
        score with `bias`.
    bias : float or ndarray, or None
        The score of the row of means; of several classes one for each.
    pulls : Pulls or None
        Of machines that are expansions over training rows: the rows that pull the score most to each side.
    outside : dict of int to list of str
        For each novel row, what its columns have that no training row had.
    ranges : {"training", "rows"}
        Where the ranges within which columns are changed come from: the training table, or what a `NoveltyRejector`
        counted in it; otherwise the rows of X.
    searched : int
        The number of columns that were changed.
    """

    sentence: NDArray[np.str_]
    rows: NDArray[np.intp]
    decisions: Decisions
    columns: tuple[str, ...]
    changes: tuple[Change | None, ...]
    contributions: Floats | None
    bias: Any
    pulls: Pulls | None
    outside: dict[int, list[str]]
    ranges: str
    searched: int

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with the sentence, the decision and the change of each row."""
        frame = self.decisions.to_frame().iloc[self.rows]
        frame.insert(0, "sentence", self.sentence)
        for at, name in enumerate(Change._fields):
            frame[f"change_{name}"] = [None if one is None else one[at] for one in self.changes]
        frame["change_column"] = [None if one is None else self.columns[one.column] for one in self.changes]
        return frame


class Cells:
    """The cells of a table as text.

    Parameters
    ----------
    table : CellTable
    names : sequence of str
    exponents : dict of int to int
        The decimal places to which numbers of a column are changed.
    dates : set of str
        The columns whose numbers are days since 1970-01-01.
    """

    def __init__(self, table: Any, names: Any, exponents: dict[int, int], dates: set[str]) -> None:
        self.table, self.names, self.exponents = table, [plain(name) for name in names], exponents
        self.dates, self.columns = {at for at, name in enumerate(names) if name in dates}, dict[int, Any]()

    def of(self, row: int, at: int) -> str:
        """The text of a cell, with one digit more than changes have."""
        if at not in self.columns:
            self.columns[at] = next(self.table.columns([at]))
        return self.text(self.columns[at][row], at, finer=1)

    def text(self, value: Any, at: int, finer: int = 0) -> str:
        """The text of a value in a column."""
        places = max(0, self.exponents.get(at, 3)) + finer
        if value is None or value != value:  # noqa: PLR0124 (NaN)
            return "missing"
        if at in self.dates:
            return str(np.datetime64(int(value), "D"))
        if isinstance(value, str) or places > 9:
            return plain(value)
        return f"{value:.{places}f}".rstrip("0").rstrip(".") if finer else f"{value:.{places}f}"

    def change(self, row: int, at: int, value: Any) -> str:
        """What a cell would be, and what it is."""
        new, old = self.text(value, at), self.of(row, at)
        return f"{self.names[at]} were {new} instead of {plain(self.columns[at][row]) if old == new else old}"


def plain(value: Any) -> str:
    """A name or a category on one line, cut if it is long."""
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def sentence(made: Any, cells: Cells, row: int) -> str:
    """The sentence of a row."""
    decisions, at, change, clauses = made.decisions, made.rows[row], made.changes[row], list[str]()
    if decisions.novel is not None and decisions.novel[at] and decisions.p_value is not None:
        what = made.outside.get(row, ["what training had is not known"]) or ["an unusual combination of values"]
        words = "; ".join(what).replace(": 1 of 1 rows", "").removesuffix(".").replace(".;", ",")
        clauses.append(f"unlike the training rows (p-value {decisions.p_value[at]:.2g}): {words}")
    if change is not None:
        clauses.append(f"would be answered {plain(change.label)} if {cells.change(row, change.column, change.value)}")
    elif not decisions.rejected[at]:
        clauses.append(f"answered {plain(decisions.label[at])}")
    elif made.searched:
        clauses.append(f"no change of one of {made.searched} columns {RANGES[made.ranges]} would settle it")
    k = 1 if decisions.score.ndim == 1 else int(decisions.score[at].argmax())
    of, parts, pulls = (row,) if decisions.score.ndim == 1 else (row, k), np.zeros(1), made.pulls
    if pulls is not None or made.contributions is not None:
        parts = made.contributions[of] if pulls is None else pulls.part[of]

    def moves(j: int, verb: str) -> str:
        if pulls is None:
            return f"{cells.names[j]} {cells.of(row, j)} {verb}"
        row_name = f"training row {pulls.row[of][j] + 1}" if pulls.row[of][j] >= 0 else "a training row"
        return f"{row_name} ({plain(pulls.label[of][j])}) {verb}"

    ends = [moves(int(parts.argmax()), "raises")] if parts.max() > 0.0 else []
    ends += [moves(int(parts.argmin()), "lowers")] if parts.min() < 0.0 else []
    clauses += [f"{' and '.join(ends)} its score for {plain(decisions.labels.classes[k])} most"] if ends else []
    text = "; ".join(clauses)
    return f"{text[:1].upper()}{text[1:]}."
