"""Scores of held-out rows for every task, kernel width, fold and C, in few native calls.

All tasks and folds of one width share its kernel matrix. A weight of 0 holds a row out of a fold, or of a pair of
classes; it is scored like the others.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from abstain import _native
from abstain.arguments import threads
from abstain.dual.problem import DualProblem, Task, native_task
from abstain.dual.proof import Status
from abstain.machines.kernel_machine import vote_values
from abstain.solvers.native import native_rows

MOST = 32_000_000  # scores of one native call: 256 MB


@dataclass(frozen=True)
class Limits:
    """What the fits of a search may use.

    Attributes
    ----------
    tol, max_iter, cache_size, n_jobs
        As in `SMO`.
    until : float or None
        The time of `time.monotonic` at which they must end.
    """

    tol: float
    max_iter: int
    cache_size: float = 500.0
    n_jobs: int | None = None
    until: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds that are left."""
        return np.inf if self.until is None else max(0.0, self.until - time.monotonic())


class Line(Protocol):
    """Reports how far a search is."""

    def begin(self, fits: NDArray[np.intp]) -> None:
        """Begin these fits, given by the positions of their Cs."""

    def report(self, seconds: NDArray[np.float64]) -> None:
        """Report how long each of them took; 0 if it is not done, nan if it is left out."""


@dataclass(frozen=True, eq=False)
class Folds:
    """Folds of some rows.

    Attributes
    ----------
    code : intp array of shape (rows,)
        The classes of the rows.
    weights : float64 array of shape (folds, rows)
        The weights of the rows at C = 1; 0 holds a row out.
    tests : sequence of intp arrays
        The rows that each fold scores.
    """

    code: NDArray[np.intp]
    weights: NDArray[np.float64]
    tests: Sequence[NDArray[np.intp]]

    @property
    def ends(self) -> NDArray[np.intp]:
        """Where the test rows of each fold begin in an array with one fold after another, and the end."""
        return np.cumsum([0, *map(len, self.tests)])


class HeldOut:
    """Scores of the test rows of all folds, one fold after another, by every fit of a search.

    Attributes
    ----------
    tried : bool array of shape (gammas, folds, Cs)
        The fits to make, without those left out.
    """

    def __init__(self, tasks: Sequence[Task], folds: Folds, tried: NDArray[np.bool_]) -> None:
        gammas, _, Cs = tried.shape
        self.tasks, self.folds, self.tried, self.ends = tasks, folds, tried, folds.ends
        self.pairs = tasks[0].negative is not None
        n = 1 + max(max(task.positive, task.negative or 0) for task in tasks) if self.pairs else len(tasks)
        self.total = np.zeros((n, Cs, gammas, self.ends[-1]))
        self.won = np.zeros(self.total.shape if self.pairs else (0,))
        self.met, self.ended = np.zeros(tried.shape, dtype=int), np.zeros(tried.shape, dtype=int)  # machines

    @property
    def optimal(self) -> NDArray[np.bool_]:
        """Whether the machines of all tasks reached the tolerance, (gammas, folds, Cs)."""
        return np.asarray(self.met == len(self.tasks))

    @property
    def finished(self) -> NDArray[np.bool_]:
        """Whether they were tried and ended in time."""
        return np.asarray(self.ended == len(self.tasks))

    @property
    def scores(self) -> NDArray[np.float64]:
        """(Cs, gammas, test rows), bias included, and for several classes a last axis for these; 0 if unfinished."""
        if not self.pairs:
            return self.total[0] if len(self.tasks) == 1 else np.moveaxis(self.total, 0, -1)
        return np.moveaxis(vote_values(self.won, self.total), 0, -1)

    def add(self, task: int, at: tuple[int, int, Any], scores: NDArray[np.float64], status: Any) -> None:
        """Add the scores of a task at a gamma, a fold and some Cs, (Cs, test rows of the fold)."""
        gamma, fold, Cs = at
        rows = slice(self.ends[fold], self.ends[fold + 1])
        one = self.tasks[task]
        if one.negative is None:
            self.total[task, Cs, gamma, rows] = scores
        else:
            first = scores >= 0
            for k, sign, votes in ((one.positive, 1.0, first), (one.negative, -1.0, ~first)):
                self.total[k, Cs, gamma, rows] += sign * scores
                self.won[k, Cs, gamma, rows] += votes
        self.met[gamma, fold, Cs] += np.asarray(status) == Status.OPTIMAL.value
        self.ended[gamma, fold, Cs] += np.asarray(status) != Status.TIME_LIMIT.value

    def joined(self, other: "HeldOut") -> "HeldOut":
        """Add the fits of another search of the same rows, which tried other pairs."""
        for name in ("total", "won", "tried", "met", "ended"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


Beaten = Callable[[HeldOut], NDArray[np.bool_]]  # the pairs that need no more folds, (gammas, Cs)


@dataclass(frozen=True, eq=False)
class KernelFits:
    """The fits of a search over kernel values.

    Attributes
    ----------
    problem : DualProblem
        The kernel and all rows.
    tasks : sequence of Task
    gammas : float64 array, ascending
    limits : Limits
    kernels : tuple of str
        The kernel of each gamma; empty: all have the problem's.
    """

    problem: DualProblem
    tasks: Sequence[Task]
    gammas: NDArray[np.float64]
    limits: Limits
    kernels: tuple[str, ...] = ()
    coarse_first: ClassVar[bool] = True  # single pairs of the grid can be tried first, in case time is short

    def scores(
        self,
        rows: NDArray[np.intp] | None,
        folds: Folds,
        Cs: NDArray[np.float64],
        tried: NDArray[np.bool_] | None = None,
        *,
        line: Line | None = None,
        beaten: Beaten | None = None,
    ) -> "HeldOut":
        """Fit the tasks on each fold of some of the rows, or of all if None, and return held-out scores.

        Cs must ascend: each fit of a task and fold starts from the previous one. `tried`, of shape (gammas, folds, Cs),
        marks the fits to make; all by default. Under a time limit the widths in the middle come first. After 1, 2, 4,
        8, ... folds, the pairs that are `beaten` are left out on the others.
        """
        problem, tasks, limits = self.problem, self.tasks, self.limits
        if rows is not None:
            problem, tasks = problem.on_rows(rows), [task.take(rows) for task in tasks]
        shape = (len(self.gammas), len(folds.tests), len(Cs))
        found = HeldOut(tasks, folds, np.ones(shape, dtype=bool) if tried is None else tried)
        used = np.flatnonzero(found.tried.any(axis=(1, 2)))  # the others need no kernel matrix
        names = np.array(self.kernels or (problem.kernel.name,) * len(self.gammas))
        calls = [used[names[used] == name] for name in dict.fromkeys(names[used].tolist())]
        if not problem.kernel.formula.native:  # then there is a Gram matrix per width
            calls = np.split(used, len(used))
        for at, call in enumerate(calls):
            far = np.abs(call - call[len(call) // 2]) if limits.until is not None else np.zeros(len(call))
            widths = call[np.argsort(far, kind="stable")]
            kernel = replace(problem.kernel, name=str(names[widths[0]]), gamma=float(self.gammas[widths[0]]))
            problem = replace(problem, kernel=kernel)
            seconds = limits.seconds / (len(calls) - at)
            until = None if limits.until is None else time.monotonic() + seconds
            own = replace(limits, until=until)
            shared = native_rows(problem) | {
                "gammas": np.require(self.gammas[widths], np.float64, ["C", "A"]),
                "method": "search",
                "tol": float(limits.tol),
                "max_iter": int(limits.max_iter),
                "cache_size": float(limits.cache_size),
                "threads": threads(limits.n_jobs),
                "coefficients": False,
                "report": None if line is None else line.report,
            }
            for fits in _parts(found.tried[widths], len(tasks), problem.n):
                part = _Part(found, beaten)
                posed = [part.posed(Cs, int(widths[place]), place, task, fold) for task, place, fold in fits]
                if line is not None:
                    line.begin(part.Cs)
                choose = None if beaten is None else part.add
                done = _native.solve_many(**shared, tasks=posed, seconds=own.seconds, choose=choose)
                part.add(done["expansion"], done["bias"], done["status"])
        return found


class _Part:
    """The fits of one native call; those of a task, gamma and fold are one after the other."""

    def __init__(self, found: "HeldOut", beaten: Beaten | None) -> None:
        self.found, self.beaten = found, beaten
        self.Cs = np.empty(0, dtype=np.intp)  # where those of all fits are
        self.left: list[tuple[slice, int, int, int, NDArray[np.intp]]] = []  # to be added

    def posed(self, Cs: NDArray[np.float64], gamma: int, place: int, task: int, fold: int) -> dict[str, Any]:
        """Return the fits of a task at the Cs to be tried, as the core reads them; `place` is that of their kernel."""
        folds, one = self.found.folds, self.found.tasks[task]
        which, first = np.flatnonzero(self.found.tried[gamma, fold]), len(self.Cs)
        self.left.append((slice(first, first + len(which)), task, gamma, fold, which))
        self.Cs = np.concatenate([self.Cs, which])
        scales = np.require(Cs[which], np.float64, ["C", "A"])
        sign, weight = one.sign(folds.code), one.weight(folds.code, folds.weights[fold])
        at = {"scales": scales, "kernel": place, "round": 0 if self.beaten is None else fold.bit_length()}
        return native_task(sign, one.loss, weight) | at

    def add(
        self, expansion: NDArray[np.float64], bias: NDArray[np.float64], status: Sequence[str]
    ) -> NDArray[np.bool_]:
        """Add the fits that have ended since the last call, and mark those that are not left out."""
        found, ended, left = self.found, np.array(status), self.left
        late, wanted, self.left = ended == Status.TIME_LIMIT.value, np.ones(len(bias), dtype=bool), []
        for one in left:
            own, task, gamma, fold, which = one
            if late[own].all():  # or has not begun
                self.left.append(one)
                continue
            scores = expansion.reshape(len(bias), -1)[own][:, found.folds.tests[fold]] + bias[own, np.newaxis]
            scores[late[own]] = 0.0
            found.add(task, (gamma, fold, which), scores, ended[own])
        if self.beaten is not None and self.left:
            out = self.beaten(found)
            for own, _, gamma, fold, which in self.left:
                wanted[own] = ~out[gamma, which]
                found.tried[gamma, fold, which] &= wanted[own]
        return wanted


def _parts(tried: NDArray[np.bool_], n_tasks: int, n_rows: int) -> Iterator[list[tuple[int, int, int]]]:
    """Divide the (task, place among the widths, fold) into calls whose scores fit the memory."""
    part, held = list[tuple[int, int, int]](), 0
    for at, fold in np.argwhere(tried.any(axis=2)).tolist():
        for task in range(n_tasks):
            fits = int(tried[at, fold].sum()) * n_rows
            if part and held + fits > MOST:
                yield part
                part, held = [], 0
            part.append((task, at, fold))
            held += fits
    if part:
        yield part
