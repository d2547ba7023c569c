"""Stratified subsamples of folds, nested in each other.

Every row has a key in [0, 1). A subsample takes the rows with the smallest keys, so that a larger subsample contains a
smaller one, and folds that share rows share the chosen rows. If a subsample has many groups, rows of a group have the
same key and are chosen together. If it would have few groups, it has rows of all groups: two patients say little about
forty. In both cases the folds are the folds of all rows, so a group never trains where it tests.

::

    C_sub = C (n / n_sub)^a      stands for C on all n rows

Theory has the weight of the penalty, 1 / (n C), fall like a power of n between n^-1 (a = 0) and n^0 (a = 1). Measured
with Costs(reject=0.2) on covtype 1 v 2 and 4 v 6, MIT-BIH beats and generated sets with 10 and 100 features: from the
costs of all pairs on 1,000, 2,000 and 4,000 rows to the best pair on 8,000. The pair chosen costs more than the best by
0.0042, 0.0046, 0.0050, 0.0062, 0.0070, 0.0084 a row for a = -1/2, -1/4, 0, 1/4, 1/2, 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstain.estimators.fitting.splitting import Groups, Splits

__all__ = ["keys_of", "rescaled", "subsample"]

EXPONENT = -0.25  # a
SEED = 0
MANY = 30  # least number of groups in a subsample of whole groups


def rescaled(Cs: NDArray[np.float64], rows: int, chosen: int) -> NDArray[np.float64]:
    """Return, for each C for all rows, the C that corresponds to it on `chosen` of the rows."""
    return Cs * (rows / chosen) ** EXPONENT


def keys_of(code: NDArray[np.intp], groups: Groups | None, smallest: float) -> NDArray[np.float64]:
    """Return the key of each row; `smallest` is the share of the smallest subsample.

    Without groups the keys are evenly spaced within each class, so that the first rows have all in proportion::

        key_i = (place of i in a random order of its class) / (rows of its class)
    """
    rng = np.random.default_rng(SEED)
    labels, group = (np.empty(0), np.empty(0)) if groups is None else np.unique(groups, return_inverse=True)
    if smallest * len(labels) >= MANY:
        return np.asarray(rng.permutation(len(labels))[group.ravel()] / len(labels))
    keys = np.empty(len(code))
    for k in range(int(code.max()) + 1):
        own = code == k
        keys[own] = rng.permutation(int(own.sum())) / max(1, int(own.sum()))
    return keys


def subsample(
    splits: Splits, keys: NDArray[np.float64], code: NDArray[np.intp], weight: NDArray[np.float64], share: float
) -> tuple[NDArray[np.intp], Splits]:
    """Choose this share of each fold's training and test rows; return the indices of all rows chosen, and folds."""
    trains = np.stack([first(keys, (train > 0) & (weight > 0), code, share) for train in splits.trains])
    tests = np.stack([first(keys, test > 0, code, share) for test in splits.tests])
    rows = np.flatnonzero(trains.any(axis=0) | tests.any(axis=0))
    tested = np.where(tests, splits.tests * splits.mass[:, np.newaxis], 0.0)[:, rows]
    return rows, Splits.of(np.where(trains, splits.trains, 0)[:, rows], tested)


def first(
    keys: NDArray[np.float64], part: NDArray[np.bool_], code: NDArray[np.intp], share: float
) -> NDArray[np.bool_]:
    """Mark this share of the rows of `part`, those with the smallest keys, and at least one row of each class in it."""
    count = int(np.ceil(share * part.sum()))
    chosen = part & (keys <= np.partition(keys[part], count - 1)[count - 1])
    for k in range(int(code.max()) + 1):
        own = part & (code == k)
        if own.any() and not (chosen & own).any():
            chosen |= part & (keys == keys[own].min())
    return np.asarray(chosen)
