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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

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
    """

    name: str
    parameters: list[dict[str, Any]]
    costs: NDArray[np.float64]
    paces: NDArray[np.float64] | None = None

    @property
    def least(self) -> float:
        """The least mean cost; nan if no candidate was tried on all folds."""
        return float(self.costs[self._place].mean())

    @property
    def best(self) -> dict[str, Any]:
        """The parameters of the least mean cost; the first ones if none was tried on all folds."""
        return self.parameters[self._place]

    @property
    def pace(self) -> float:
        """The pace of the best candidate; nan if it was not measured."""
        return float("nan") if self.paces is None else float(self.paces[self._place])

    @property
    def _place(self) -> int:
        return first_least(self.costs.mean(axis=1)) or 0


@dataclass(frozen=True, eq=False)
class Choice:
    """Candidates of several machines on the same folds.

    Attributes
    ----------
    trials : tuple of Trials
        One per machine; ties go to the first.
    shared : bool array of shape (folds, folds), or None
        Whether two folds test a row in common; None if each does only with itself.
    """

    trials: tuple[Trials, ...]
    shared: NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, found: Sequence[Trials], shared: NDArray[np.bool_] | None = None) -> Self:
        """Compare the machines on the folds that all of them were tried on; a search of many rows uses some only."""
        tried = [np.isfinite(trials.costs).any(axis=0) for trials in found if np.isfinite(trials.costs).any()]
        common = np.logical_and.reduce(tried) if tried else np.zeros(0, dtype=bool)
        if not common.any():
            return cls(tuple(found), shared)
        shared = None if shared is None else shared[np.ix_(common, common)]
        return cls(tuple(replace(trials, costs=trials.costs[:, common]) for trials in found), shared)

    @property
    def chosen(self) -> Trials:
        """The machine with the least mean cost."""
        at = first_least(np.array([trials.least for trials in self.trials]))
        return self.trials[at or 0]

    @property
    def cost(self) -> float:
        """The mean cost of the choice, each fold decided by what folds of other rows choose; nan if it has none."""
        costs = np.concatenate([trials.costs for trials in self.trials])
        costs = costs[np.isfinite(costs).all(axis=1)]
        folds = costs.shape[1]
        apart = ~(np.eye(folds, dtype=bool) if self.shared is None else self.shared)
        if costs.shape[0] == 0 or not apart.any(axis=1).all():
            return float("nan")
        others = [first_least(costs[:, unseen].mean(axis=1)) for unseen in apart]
        return float(np.mean([costs[other, fold] for fold, other in enumerate(others)]))

    @property
    def tried(self) -> int:
        """The number of candidates tried on all folds."""
        return sum(int(np.isfinite(trials.costs).all(axis=1).sum()) for trials in self.trials)


def first_least(means: Sequence[float] | NDArray[np.float64]) -> int | None:
    """The index of the least number, the first of equal ones; None if all are nan."""
    values = np.asarray(means, dtype=np.float64)
    if np.isnan(values).all():
        return None
    least = np.nanmin(values)
    return int(np.flatnonzero(values <= least * (1.0 + TIE))[0])
