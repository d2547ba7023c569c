"""The mean costs of candidates on the same folds, the choice among them, and its cost without the flattery of choosing.

With c_jk the mean cost of candidate j (a machine with its parameters) on the test rows of fold k, the choice is ::

    j* = argmin_j mean_k c_jk

The least mean cost is optimistic, as the least of many noisy numbers is. The cost of the choice is estimated by ::

    mean_k c_{j(k) k}          j(k) = argmin_j mean_{l != k} c_jl

so that each fold is decided by the candidate that the other folds choose: the costs of its rows have no part in the
choice that they judge. Of repeated folds, l are those that test no row of fold k: the others of its repeat. What
remains is small: the candidates that the other folds are judged by were fitted on its rows too. On simulated tables of
80 rows the least was 0.042 +- 0.003 below the cost of new rows, this estimate 0.011 below, +- 0.003; the comparison of
"best", where the whole choice is made inside the training rows, has no such share.

A grid that is narrowed by short fits is narrowed once for each fold, by the folds of other rows, and once by all: j(k)
is a candidate that these folds have kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.candidates.machines import AVERAGE
from abstain.estimators.search.grid import Grid
from abstain.estimators.search.held_out import HeldOutRows, Pricing

TIE = 1e-12  # relative; costs that differ by less are equal, and the first candidate is taken


@dataclass(frozen=True, eq=False)
class Trials:
    """The candidates of one machine.

    Attributes
    ----------
    name : str
        The machine.
    parameters : list of dict
        One per candidate.
    costs : ndarray of shape (candidates, folds)
        Mean costs of the folds' test rows; nan for fits that time did not allow.
    paces : ndarray of shape (candidates,) or None
        Seconds of a tree or an iteration for each training row; nan, or None, if they were not measured.
    kept : bool array of shape (candidates, folds + 1), or None
        Which candidates are left for the choice that decides a fold, and, last, for that on all folds; None for all.
        The costs of the others are those of short fits.
    held_out : dict of int to list of ndarray
        The probabilities of each fold's test rows before a sigmoid, of candidates that the last fit needs them of.
    said : dict of int to list of ndarray
        The probabilities of each fold's test rows by which they are decided, of candidates to be averaged.
    rejected : float
        The share of held-out rows that the best candidate rejects, of an average; nan for others.
    """

    name: str
    parameters: list[dict[str, Any]]
    costs: NDArray[np.float64]
    paces: NDArray[np.float64] | None = None
    kept: NDArray[np.bool_] | None = None
    held_out: dict[int, list[NDArray[np.float64]]] = field(default_factory=dict)
    said: dict[int, list[NDArray[np.float64]]] = field(default_factory=dict)
    rejected: float = float("nan")

    def left(self, fold: int = -1) -> NDArray[np.bool_]:
        """The candidates tried on all folds that are left for the choice that decides a fold, or on all folds."""
        tried = np.logical_and.reduce(np.isfinite(self.costs), axis=1)
        return tried if self.kept is None else np.logical_and(tried, self.kept[:, fold])

    def on(self, folds: NDArray[np.bool_]) -> "Trials":
        """The same on some of the folds."""
        kept, used = None if self.kept is None else self.kept[:, [*folds, True]], np.flatnonzero(folds)
        said = {at: [each[fold] for fold in used] for at, each in self.said.items()}
        return replace(self, costs=self.costs[:, folds], kept=kept, said=said)

    def best_of(self, folds: NDArray[np.bool_], view: int = -1) -> int | None:
        """The candidate left for a view that costs least on these folds; None if there is none."""
        return first_least(np.where(self.left(view), self.costs[:, folds].mean(axis=1), np.nan))

    @property
    def least(self) -> float:
        """The least mean cost; nan if no candidate was tried on all folds."""
        return float(self.costs[self.place].mean()) if self.left()[self.place] else float("nan")

    @property
    def best(self) -> dict[str, Any]:
        """The parameters of the least mean cost; the first ones if none was tried on all folds."""
        return self.parameters[self.place]

    @property
    def pace(self) -> float:
        """The pace of the best candidate; nan if it was not measured."""
        return float("nan") if self.paces is None else float(self.paces[self.place])

    @property
    def place(self) -> int:
        """Where the best candidate is among all of them."""
        return self.best_of(np.ones(self.costs.shape[1], dtype=bool)) or 0


@dataclass(frozen=True)
class DoingNothing:
    """The same action for every row, whatever its features.

    Attributes
    ----------
    action : label
        The class, the reject label or the name of the action.
    cost : float
        Its cross-validated mean cost: each fold is decided by the action that folds of other rows choose.
    """

    action: Any
    cost: float


@dataclass(frozen=True, eq=False)
class Choice:
    """Candidates of several machines on the same folds.

    Attributes
    ----------
    trials : tuple of Trials
        One per machine; ties go to the first.
    shared : bool array of shape (folds, folds), or None
        Whether two folds test a row in common; None if each does only with itself.
    doing_nothing : DoingNothing or None
        The cheapest action for all rows alike, if the machine chosen does not cost less; None if it does, or if its
        cost is not known.
    """

    trials: "tuple[Trials, ...]"
    shared: NDArray[np.bool_] | None = None
    doing_nothing: DoingNothing | None = None

    @classmethod
    def of(cls, found: "Sequence[Trials]", shared: NDArray[np.bool_] | None = None) -> Self:
        """Compare the machines on the folds that all of them were tried on; a search of many rows uses some only."""
        common = cls.common(found)
        if common.all():
            return cls(tuple(found), shared)
        shared = None if shared is None else shared[np.ix_(common, common)]
        return cls(tuple(trials.on(common) for trials in found), shared)

    @staticmethod
    def common(found: "Sequence[Trials]") -> NDArray[np.bool_]:
        """Mark the folds that all machines were tried on, but for those tried on none; all folds if there are none."""
        tried = [np.isfinite(trials.costs).any(axis=0) for trials in found if np.isfinite(trials.costs).any()]
        common = np.logical_and.reduce(tried) if tried else np.zeros(found[0].costs.shape[1], dtype=bool)
        return common if common.any() else ~common

    @property
    def contenders(self) -> "tuple[Trials, ...]":
        """The average alone, where it was tried; otherwise all machines."""
        average = tuple(trials for trials in self.trials if trials.name == AVERAGE and np.isfinite(trials.least))
        return average or self.trials

    def against(self, blind: "Trials") -> Self:
        """Compare the choice with actions for all rows alike, each a candidate with the parameter "action"."""
        found = Choice.of([blind, *self.trials], self.shared)
        nothing = Choice(found.trials[:1], found.shared)
        least = DoingNothing(nothing.chosen.best["action"], nothing.cost)
        return replace(self, doing_nothing=least if least.cost <= self.cost * (1.0 + TIE) else None)

    @property
    def chosen(self) -> "Trials":
        """The average if it was tried, otherwise the machine with the least mean cost."""
        at = first_least(np.array([trials.least for trials in self.contenders]))
        return self.contenders[at or 0]

    @property
    def cost(self) -> float:
        """The mean cost of the choice, each fold decided by what folds of other rows choose; nan if it has none."""
        costs = np.concatenate([trials.costs for trials in self.contenders])
        apart = views_of(costs.shape[1], self.shared)[:-1]
        left = [np.concatenate([trials.left(fold) for trials in self.contenders]) for fold in range(len(apart))]
        if not all(map(np.any, left)) or not apart.any(axis=1).all():
            return float("nan")
        others = [np.where(mine, costs[:, folds].mean(axis=1), np.nan) for mine, folds in zip(left, apart, strict=True)]
        return float(np.mean([costs[first_least(means) or 0, fold] for fold, means in enumerate(others)]))

    @property
    def tried(self) -> int:
        """The number of candidates tried on all folds."""
        return sum(int(np.isfinite(trials.costs).all(axis=1).sum()) for trials in self.trials)


def views_of(folds: int, shared: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """For each fold those that test none of its rows, which choose what decides it; then all of them."""
    return np.vstack([~(np.eye(folds, dtype=bool) if shared is None else shared), np.ones(folds, dtype=bool)])


def first_least(means: Sequence[float] | NDArray[np.float64]) -> int | None:
    """The index of the least number, the first of equal ones; None if all are nan."""
    values = np.asarray(means, dtype=np.float64)
    if np.isnan(values).all():
        return None
    least = np.nanmin(values)
    return int(np.flatnonzero(values <= least * (1.0 + TIE))[0])


def trials_of(search: Any, scored: Sequence[tuple[Grid, Pricing, HeldOutRows]] = ()) -> "Trials":
    """The costs of the last round of a fitted `RejectSVCCV`, each pair with Bayes' and with tuned cuts.

    Kept is what the search itself chooses, on all rows and without the test rows of each fold: its `best_score_`. With
    its scored rows, also what it says of them, if that is known.
    """
    grid: Grid = search._now.grid  # noqa: SLF001 (the costs at the cuts that the search chose)
    tables = [grid.costs] if grid.tuned is None else [grid.costs, grid.tuned]
    last = (grid.rows == grid.rows.max())[:, :, np.newaxis]
    costs = np.concatenate([np.where(last, one, np.nan).reshape(last.size, -1) for one in tables])
    kept = np.zeros((len(costs), grid.n_splits + 1), dtype=bool)
    for view, folds in enumerate(views_of(grid.n_splits, grid.shared)):
        table, place = grid._choice(folds, -1 if folds.all() else view)  # noqa: SLF001
        kept[(table is not grid.costs) * last.size + np.ravel_multi_index(place, grid.rows.shape), view] = True
    if search.status_ == "time_limit":  # the costs are of its folds' machines; the one of all rows is not theirs
        costs = np.full_like(costs, np.nan)
    found = Trials("svm", grid.params * len(tables), costs, kept=kept)
    for _, pricing, rows in scored:
        for at in np.flatnonzero(kept.any(axis=1) & pricing.rule.readout.known).tolist():
            said = rows.probabilities(at % last.size, pricing, tune=at >= last.size)
            found.said[at] = [said.get(fold, np.empty(0)) for fold in range(grid.n_splits)]
    return found
