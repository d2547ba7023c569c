"""Pairs of C and gamma that can no longer be best: they drop out before all folds are fitted.

After 1, 2, 4, 8, ... folds a pair drops out if, over the test rows i of the folds that it has finished, ::

    sum_i w_i (c_i - b_i) > 3 sqrt(sum_i w_i^2 (c_i - b_i)^2)

with w_i the weight of the row in the mean cost, c_i what the pair's decision costs, and b_i what that of the pair does
which costs least on these rows. The right side is three standard errors of a sum with mean 0. The left side is at most
the root of the number of rows that differ times a third of it, so that fewer than ten such rows drop no pair. If the
signs of the differences are a matter of chance, it is larger with a probability of at most exp(-9/2) = 0.011, however
few or uneven they are. (The pair that costs least was chosen for it, so this is a guide, not a promise.)

Measured with 10 values of C and 5 of gamma: TODO
"""

from __future__ import annotations

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
        scores, known = np.swapaxes(found.scores, 0, 1), np.zeros((gammas, Cs, folds), dtype=bool)
        for k in range(folds):
            at = np.flatnonzero(fold == k)
            known[:, :, k] = ~np.isnan(self.paid[:, :, at[0]])
            new = found.finished[:, k] & ~known[:, :, k]
            known[new, k] = True
            gamma, C = np.nonzero(new)
            if len(C):
                own = scores[gamma[:, np.newaxis], C[:, np.newaxis], at]
                self.paid[gamma[:, np.newaxis], C[:, np.newaxis], at] = self.pricing.paid(row[at], own)
        out = np.zeros((gammas, Cs), dtype=bool)
        for done in np.unique(known.reshape(-1, folds), axis=0):
            own, rivals = (known == done).all(axis=2), known[:, :, done].all(axis=2)
            paid = self.paid[:, :, done[fold]] * weight[done[fold]]
            more = paid[own] - paid[rivals][paid[rivals].sum(axis=1).argmin()]
            out[own] = more.sum(axis=1) > CLEARLY * np.sqrt((more**2).sum(axis=1))
        return out
