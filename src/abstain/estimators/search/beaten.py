"""Pairs of C and gamma that can no longer be best: they drop out before all folds are fitted.

After 1, 2, 4, 8, ... folds a pair drops out if, over the test rows i of the folds that it has finished, ::

    sum_i w_i (c_i - b_i) > 3 sqrt(m^2 + sum_i w_i^2 (c_i - b_i)^2)

with w_i the weight of the row in the mean cost, c_i what the pair's decision costs, b_i what that of the pair does that
costs least on these rows, and m the largest w_i c_i of any pair on them. The right side is three standard errors of a
sum with mean 0, with one more row that differs by m: a rare error that costs ten times as much may still be to come.
Fewer than ten rows that differ never drop a pair.

Of 123 searches over 10 values of C and 5 of gamma (700 rows of three generated sets, 600 of Pima, 1,000 of letter H v K
and 1,500 of covtype, each at three kinds of costs and with 4 to 8 seeds), 120 chose the pair of the full search, all a
pair within a standard error of its best. Without m, 12 of 50 on 600 rows, a twentieth of them positive, with false
negatives at ten times the cost, did not fit that pair on all folds; with m none of 25.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from abstain.estimators.fitting.splitting import Splits
from abstain.estimators.search.held_out import Pricing
from abstain.solvers.cross_validation import HeldOut

CLEARLY = 3.0  # standard errors
DROPPING = 500  # rows from which search="auto" lets pairs drop out: with fewer, it would gain little


@dataclass(eq=False)
class Beaten:
    """Finds these pairs while a search runs.

    Attributes
    ----------
    pricing : Pricing
        Of the rows of the folds.
    splits : Splits
    paid : float64 array of shape (gammas, Cs, test rows of all folds)
        The cost of each decision; nan until the pair has finished the fold.
    """

    pricing: Pricing
    splits: Splits
    paid: NDArray[np.float64] = field(init=False)

    def __call__(self, found: HeldOut) -> NDArray[np.bool_]:
        """Read the scores of the fits that have finished; mark the pairs that drop out, (gammas, Cs)."""
        fold, row = np.nonzero(self.splits.tests)
        weight = (self.splits.tests * self.splits.mass[:, np.newaxis])[fold, row]
        gammas, folds, Cs = found.tried.shape
        if not hasattr(self, "paid"):
            self.paid = np.full((gammas, Cs, len(row)), np.nan)
        scores, known = found.scores, np.zeros((gammas, Cs, folds), dtype=bool)
        for k in range(folds):
            at = np.flatnonzero(fold == k)
            known[:, :, k] = ~np.isnan(self.paid[:, :, at[0]])
            gamma, C = (found.finished[:, k] & ~known[:, :, k]).nonzero()
            if len(C):
                own = scores[C[:, np.newaxis], gamma[:, np.newaxis], at]
                self.paid[gamma[:, np.newaxis], C[:, np.newaxis], at] = self.pricing.paid(row[at], own)
                known[gamma, C, k] = True
        out = np.zeros((gammas, Cs), dtype=bool)
        for done in np.unique(known.reshape(-1, folds), axis=0):
            own, rivals = (known == done).all(axis=2), known[:, :, done].all(axis=2)
            paid = self.paid[:, :, done[fold]] * weight[done[fold]]
            more = paid[own] - paid[rivals][paid[rivals].sum(axis=1).argmin()]
            largest = float(paid[rivals].max(initial=0.0))
            out[own] = more.sum(axis=1) > CLEARLY * np.sqrt(largest**2 + (more**2).sum(axis=1))
        return out
