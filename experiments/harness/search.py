"""Cross-validated choice of C and gamma for any rule that turns scores into decisions.

The grid is fitted once. Every rule then uses the same held-out scores and chooses the pair for which its own decisions
cost least, so no rule is handicapped by hyper-parameters chosen for another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from abstain import Costs
from abstain.dual.problem import DualProblem, Task
from abstain.kernels import Kernel
from abstain.losses.margin_loss import MarginLoss
from abstain.solvers.cross_validation import Folds, KernelFits, Limits
from harness.paid import paid

Array = NDArray[np.float64]
Signs = NDArray[np.int8]
Decide = Callable[[Array], Signs]  # scores -> choices -1, 0 (reject), +1
Rule = Callable[[Array, Signs, Costs], Decide]  # tuned on held-out scores, true signs and costs

TOL = 1e-3  # as in RejectSVC; with RejectSVCCV's 1e-2, close choices would depend on solver error
TIE = 1e-10  # mean costs this close differ only by the order of summation


@dataclass(frozen=True, eq=False)
class Chosen:
    """The choice of a rule: the pair, its cross-validated mean cost, and the rule tuned on its held-out scores."""

    C: float
    gamma: float
    cost: float
    decide: Decide


@dataclass(frozen=True, eq=False)
class Search:
    """Held-out scores of all training rows for every gamma and C, of shape (gammas, Cs, rows)."""

    Cs: Array
    gammas: Array
    sign: Signs
    fold_of: NDArray[np.intp]
    scores: Array

    @classmethod
    def of(cls, X: Array, sign: Signs, loss: MarginLoss, Cs: Array, gammas: Array, *, folds: int, seed: int) -> Search:
        """Fit all pairs with this loss on shuffled stratified folds."""
        splits = StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, sign)
        weights = np.ones((folds, len(sign)))
        fold_of = np.empty(len(sign), dtype=np.intp)
        tests = [test for _, test in splits]
        for fold, test in enumerate(tests):
            weights[fold, test], fold_of[test] = 0, fold
        problem = DualProblem(Kernel("rbf", gamma=1.0), np.ascontiguousarray(X), sign, loss, np.ones(len(sign)))
        fits = KernelFits(problem, [Task(1, None, loss)], gammas, Limits(TOL, 10_000_000))
        found = fits.scores(None, Folds((sign > 0).astype(np.intp), weights, tests), Cs).scores  # (Cs, gammas, tests)
        scores = np.empty((len(gammas), len(Cs), len(sign)))
        scores[:, :, np.concatenate(tests)] = found.transpose(1, 0, 2)
        return cls(Cs, gammas, sign, fold_of, scores)

    def choose(self, rule: Rule, costs: Costs, *, cross_fit: bool) -> Chosen:
        """The pair of least cross-validated mean cost; ties go to the smaller C, then the smaller gamma.

        A tuned rule is evaluated on the scores it was tuned on, like one more hyper-parameter, or (`cross_fit`) on the
        scores of a fold left out of its tuning. The returned rule is tuned on all scores of the chosen pair.
        """
        best: tuple[float, int, int] | None = None
        for c in range(len(self.Cs)):
            for g in range(len(self.gammas)):
                cost = self._cost(rule, costs, self.scores[g, c], cross_fit=cross_fit)
                if best is None or cost < best[0] - TIE:
                    best = cost, c, g
        if best is None:
            raise ValueError("the grid is empty; pass at least one C and one gamma.")
        cost, c, g = best
        return Chosen(float(self.Cs[c]), float(self.gammas[g]), cost, rule(self.scores[g, c], self.sign, costs))

    def _cost(self, rule: Rule, costs: Costs, score: Array, *, cross_fit: bool) -> float:
        if not cross_fit:
            return float(paid(costs, self.sign, rule(score, self.sign, costs)(score)).mean())
        choice = np.empty(len(score), dtype=np.int8)
        for fold in np.unique(self.fold_of):
            here = self.fold_of == fold
            choice[here] = rule(score[~here], self.sign[~here], costs)(score[here])
        return float(paid(costs, self.sign, choice).mean())
