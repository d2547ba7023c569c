"""Cross-validated choice of C and width for any rule that turns the scores of a machine into decisions.

All fits of a grid are made once; every rule then reads the same held-out scores, and chooses the pair for which its own
decisions cost least. So no rule is handicapped by hyper-parameters that were chosen for another one's sake.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from abstain import Costs
from abstain.dual.problem import DualProblem
from abstain.kernels import Kernel
from abstain.losses.margin_loss import MarginLoss
from abstain.solvers.cross_validation import held_out_scores

Array = NDArray[np.float64]
Signs = NDArray[np.int8]
Decide = Callable[[Array], Signs]  # scores -> choices -1, 0 (reject), +1
Rule = Callable[[Array, Signs, Costs], Decide]  # learnt from held-out scores, true signs and prices

TOL = 1e-3  # as in RejectSVC; the looser 1e-2 of RejectSVCCV leaves close choices to the solver
TIE = 1e-10  # mean costs this near to one another differ by the order of summation alone


@dataclass(frozen=True, eq=False)
class Chosen:
    """What a rule chose: the pair, its cross-validated mean cost, and what it learnt from the held-out scores there."""

    C: float
    gamma: float
    cost: float
    decide: Decide


@dataclass(frozen=True, eq=False)
class Search:
    """Scores of all training rows, each by a machine not fitted on it, for every width and C: (gammas, Cs, rows)."""

    Cs: Array
    gammas: Array
    sign: Signs
    fold_of: NDArray[np.intp]
    scores: Array

    @classmethod
    def of(cls, X: Array, sign: Signs, loss: MarginLoss, Cs: Array, gammas: Array, *, folds: int, seed: int) -> Search:
        """Fit the machine with this loss for all pairs on shuffled stratified folds."""
        splits = StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, sign)
        trains = np.ones((folds, len(sign)), dtype=np.uint8)
        fold_of = np.empty(len(sign), dtype=np.intp)
        for fold, (_, test) in enumerate(splits):
            trains[fold, test], fold_of[test] = 0, fold
        problem = DualProblem(Kernel("rbf", gamma=1.0), np.ascontiguousarray(X), sign, loss, np.ones(len(sign)))
        found = held_out_scores(problem, gammas, Cs, trains, tol=TOL, max_iter=10_000_000, cache_size=500)
        own = found.scores[:, fold_of, :, np.arange(len(sign))]  # (rows, gammas, Cs)
        return cls(Cs, gammas, sign, fold_of, np.ascontiguousarray(own.transpose(1, 2, 0)))

    def choose(self, rule: Rule, costs: Costs, *, cross_fit: bool) -> Chosen:
        """The pair of least cross-validated mean cost; of ties the smaller C, then the smaller gamma.

        What the rule itself learns is judged on the scores it was learnt from, as one more hyper-parameter, or
        (`cross_fit`) on those of the fold that it has not seen. What is returned is learnt from all scores at the pair.
        """
        best: tuple[float, int, int] | None = None
        for c in range(len(self.Cs)):
            for g in range(len(self.gammas)):
                cost = self._cost(rule, costs, self.scores[g, c], cross_fit=cross_fit)
                if best is None or cost < best[0] - TIE:
                    best = cost, c, g
        if best is None:
            raise ValueError("the grid is empty; give at least one C and one gamma.")
        cost, c, g = best
        return Chosen(float(self.Cs[c]), float(self.gammas[g]), cost, rule(self.scores[g, c], self.sign, costs))

    def _cost(self, rule: Rule, costs: Costs, score: Array, *, cross_fit: bool) -> float:
        if not cross_fit:
            return float(costs.prices(self.sign, rule(score, self.sign, costs)(score)).mean())
        choice = np.empty(len(score), dtype=np.int8)
        for fold in np.unique(self.fold_of):
            here = self.fold_of == fold
            choice[here] = rule(score[~here], self.sign[~here], costs)(score[here])
        return float(costs.prices(self.sign, choice).mean())
