"""What `explain` returns: training rows that pull, and sentences: why a row is handed on, and what would settle it.

::

    score of a kernel machine    f(x) = sum_j beta_j k(x_j, x) + bias,    beta_j k(x_j, x) the pull of row j
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from abstain.estimators.novelty.written import Written
from abstain.estimators.unwrap import reached, unguarded
from abstain.frames import DataFrame
from abstain.machines.kernel_machine import KernelMachine
from abstain.reasons.changes import Change, Floats, Places
from abstain.rules.decisions import Decisions

SHOWN = 3  # training rows of each side
ALIKE = 5  # training rows whose classes are counted
BLOCK = 4_000_000  # kernel values in memory at a time
LONGEST = 60  # letters of a name or category
RANGES = {"training": "within its range in training", "rows": "within the range of these rows"}


class Pulls(NamedTuple):
    """The training rows that pull the scores of n rows most; of several classes, each score.

    Attributes
    ----------
    part : ndarray of float64, shape (n, 6), or (n, n_classes, 6)
        beta_j k(x_j, x), the three largest and the three smallest, in decreasing order; fewer for fewer than 6 rows.
    row : ndarray of intp, the same shape
        Positions in the training table, -1 if it lacks the row; without a table, among the rows that the machine was
        fitted to, of which a guard or a promise may have left some out.
    label : ndarray of object, the same shape
        The classes of the rows; None where the machine does not tell.
    rest : ndarray of float64, shape (n,) or (n, n_classes)
        The sum over all other rows. The score is the sum of `part`, `rest` and the bias.
    alike : ndarray of object, shape (n, 5)
        The classes of the training rows with the largest k(x_j, x), fewer for fewer rows; empty for kernels that do
        not depend on the distance.
    """

    part: Floats
    row: Places
    label: NDArray[Any]
    rest: Floats
    alike: NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Why n rows were decided as they were.

    Attributes
    ----------
    sentence : ndarray of str, shape (n,)
        One sentence for each row, in the user's columns and units: why it is handed on, what would settle it, and what
        moves its score. Training rows are counted from 1, if `explain` was passed their table.
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

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame with the sentence, the decision and the change of each row."""
        frame = self.decisions.to_frame().iloc[self.rows]
        frame.insert(0, "sentence", self.sentence)
        for at, name in enumerate(Change._fields):
            frame[f"change_{name}"] = [None if one is None else one[at] for one in self.changes]
        frame["change_column"] = [None if one is None else self.columns[one.column] for one in self.changes]
        return frame


def text_of(value: Any, places: int, written: Written, *, date: bool) -> str:
    """The text of a cell: a number to so many decimal places, or days since 1970-01-01 as a date."""
    if value is None or isinstance(value, str) or np.isnan(value):
        return plain(value) if isinstance(value, str) else "missing"
    return written.day(value) if date else written.number(plain(round(value, places)).removesuffix(".0"))


def plain(value: Any) -> str:
    """A name or a category on one line, cut if it is long."""
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def sentence(made: Any, cells: list[Any], text: Any, row: int, written: Written, *, named: bool) -> str:
    """The sentence of a row, from the cells of each column, and what makes a text of a cell and its column.

    Training rows have numbers only if they are `named`: those of a table that the reader has.
    """
    decisions, at, change, clauses = made.decisions, made.rows[row], made.changes[row], list[str]()
    k = 1 if decisions.score.ndim == 1 else int(decisions.score[at].argmax())
    if decisions.novel is not None and decisions.novel[at] and decisions.p_value is not None:
        what = made.outside.get(row, ["what training had is not known"]) or ["an unusual combination of values"]
        words = "; ".join(what).replace(": 1 of 1 rows", "").removesuffix(".").replace(".;", ",")
        p_value = written.number(f"{decisions.p_value[at]:.2g}")
        clauses.append(f"unlike the training rows (p-value {p_value}): {words}")
    elif decisions.rejected[at]:
        clauses.append(_between(decisions, at, k, written))
    if change is not None:
        cell, name = cells[change.column][row], plain(made.columns[change.column])
        new, old = text(change.value, change.column), text(cell, change.column)
        old = written.number(plain(cell)) if old == new else old  # all of its digits
        clauses.append(f"it would be answered {plain(change.label)} if {name} were {new} instead of {old}")
    elif not decisions.rejected[at]:
        clauses.append(f"answered {plain(decisions.label[at])}")
    elif made.searched:
        clauses.append(f"no change of a single column (of {made.searched}) {RANGES[made.ranges]} would settle it")
    said = "; ".join(clauses + _moved_by(made, cells, text, row, k, named=named))
    return f"{said[:1].upper()}{said[1:]}."


def _between(decisions: Decisions, at: int, k: int, written: Written) -> str:
    """The two answers that are nearest, the cheaper or likelier one first, two classes in their order; how likely."""
    answers = np.flatnonzero(~np.array(decisions.labels.hands_on))
    cost = decisions.expected_cost[at][answers]
    if len(answers) > 2 and np.isnan(cost).any():
        cost = -decisions.score[at]
    nearest = answers[np.argsort(cost, kind="stable")[:2]] if len(answers) > 2 else answers
    names = " and ".join(plain(decisions.labels.actions[one]) for one in nearest)
    said = f"too close to call between {names}" if len(nearest) > 1 else "too close to call"
    if decisions.probability is None:
        return said
    share = written.number(f"{100.0 * decisions.probability[at][k]:.3g}")
    return f"{said} ({plain(decisions.labels.classes[k])} {share} %)"


def _moved_by(made: Any, cells: list[Any], text: Any, row: int, k: int, *, named: bool) -> list[str]:
    """What moves the score of class k most, or the classes of the training rows that are most alike."""
    decisions, pulls = made.decisions, made.pulls
    if pulls is None and made.contributions is None:
        return []
    if pulls is not None and not named:
        known = Counter(label for label in pulls.alike[row] if label is not None).most_common(1)
        of = f"of the {pulls.alike.shape[1]} most alike training rows in the model"
        return [f"{of} {count} {'is' if count == 1 else 'are'} {plain(label)}" for label, count in known]
    at = (row,) if decisions.score.ndim == 1 else (row, k)
    parts = made.contributions[at] if pulls is None else pulls.part[at]

    def moves(j: int, verb: str) -> str:
        if pulls is None:
            return f"{plain(made.columns[j])} {text(cells[j][row], j)} {verb}"
        row_name = f"training row {pulls.row[at][j] + 1}" if pulls.row[at][j] >= 0 else "a training row"
        return f"{row_name} ({plain(pulls.label[at][j])}) {verb}"

    ends = [moves(int(parts.argmax()), "raises")] if parts.max() > 0.0 else []
    ends += [moves(int(parts.argmin()), "lowers")] if parts.min() < 0.0 else []
    return [f"{' and '.join(ends)} its score for {plain(decisions.labels.classes[k])} most"] if ends else []


def pulls_of(estimator: Any, X: Any, score: Floats, classes: Any, training: Any) -> tuple[Pulls | None, Any]:
    """Return the training rows that pull most, and the bias, if scores are those of an expansion that is not linear."""
    machine, rows = _machine_and_rows(estimator, X)
    if machine is None or machine.linear is not None or issparse(machine.coef) or len(machine.support) < 2:
        return None, None
    coef, where, step = np.atleast_2d(machine.coef), machine.support, max(1, BLOCK // machine.coef.size)
    few = ALIKE if machine.is_precomputed or machine.kernel.formula.stationary else 0
    blocks = [_most(machine.values(rows[at : at + step]), coef, few) for at in range(0, len(score), step)]
    *joined, alike = (np.concatenate(one) for one in zip(*blocks, strict=True))
    part, place, rest = (one.reshape(*score.shape, *one.shape[2:]) for one in joined)
    if training is not None and not machine.is_precomputed:
        known = {key: at for at, key in reversed([*enumerate(_keys(_machine_and_rows(estimator, training)[1]))])}
        where = np.array([known.get(key, -1) for key in _keys(machine.vectors)])
    of = np.where(coef.max(axis=0) > 0.0, coef.argmax(axis=0), -1) if len(coef) > 1 else (coef[0] > 0.0) * 1
    label = np.array([*classes, None], dtype=object)[of]
    return Pulls(part, where[place], label[place], rest, label[alike]), machine.bias


def _machine_and_rows(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the machine on training rows inside guards, Pipelines and searches, and X as it takes them; else None."""
    for _ in range(2):  # a guard may be around a Pipeline, or its last step
        estimator, X = reached(unguarded(estimator), X, "support_")
    machine = getattr(estimator, "machine_", None)
    if not (isinstance(machine, KernelMachine) and hasattr(estimator, "support_")):
        return None, X
    return machine, csr_array(X) if issparse(X) else np.asarray(X, dtype=np.float64)


def _most(values: Floats, coef: Floats, alike: int) -> tuple[Floats, Places, Floats, Places]:
    """Return the largest and smallest parts of each row and machine, their places, the others' sum; alike rows."""
    parts = values[:, np.newaxis] * coef
    few, m = min(SHOWN, parts.shape[-1] // 2), parts.shape[-1]
    place = np.argpartition(parts, (few - 1, m - few))[..., [*range(few), *range(m - few, m)]]
    place = np.take_along_axis(place, np.argsort(-np.take_along_axis(parts, place, -1), kind="stable"), -1)
    part, alike = np.take_along_axis(parts, place, -1), min(alike, m)
    near = np.argpartition(values, m - max(alike, 1), axis=-1)[:, m - alike :]
    return part, place, parts.sum(axis=-1) - part.sum(axis=-1), near


def _keys(rows: Any) -> list[bytes]:
    """One value for each row, equal for equal rows."""
    return [row.tobytes() for row in (rows.toarray() if issparse(rows) else rows) + 0.0]  # -0.0 is 0.0
