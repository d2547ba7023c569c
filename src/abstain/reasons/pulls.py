"""The training rows that pull the score of a kernel machine most, inside guards, Pipelines and searches.

::

    f(x) = sum_j beta_j k(x_j, x) + bias
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from abstain.estimators.unwrap import reached, unguarded
from abstain.machines.kernel_machine import KernelMachine
from abstain.reasons.changes import Floats, Places

SHOWN = 3  # training rows of each side
BLOCK = 4_000_000  # kernel values in memory at a time


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
        The sum over all other rows.
    bias : float or ndarray of shape (n_classes,)
        What is left of the score.
    """

    part: Floats
    row: Places
    label: NDArray[Any]
    rest: Floats
    bias: Any


def pulls_of(estimator: Any, X: Any, score: Floats, classes: Any, training: Any) -> Pulls | None:
    """Return the training rows that pull most, if these scores of X are those of an expansion that is not linear."""
    inner, rows = _machine_and_rows(estimator, X)
    machine = getattr(inner, "machine_", None)
    if not (isinstance(machine, KernelMachine) and hasattr(inner, "support_") and machine.linear is None):
        return None
    coef, where = np.atleast_2d(machine.coef), machine.support
    if len(coef) != np.size(score[:1]) or coef.shape[1] < 2:
        return None
    step = max(1, BLOCK // coef.size)
    blocks = [_most(machine.values(rows[at : at + step]), coef) for at in range(0, len(score), step)]
    joined = (np.concatenate(one) for one in zip(*blocks, strict=True))
    part, place, rest = (one.reshape(*score.shape, *one.shape[2:]) for one in joined)
    if training is not None and not machine.is_precomputed:
        known = {key: at for at, key in reversed([*enumerate(_keys(_machine_and_rows(estimator, training)[1]))])}
        where = np.array([known.get(key, -1) for key in _keys(machine.vectors)])
    of = np.where(coef.max(axis=0) > 0.0, coef.argmax(axis=0), -1) if len(coef) > 1 else (coef[0] > 0.0) * 1
    label = np.array([*classes, None], dtype=object)[of[place]]
    exact = np.allclose(part.sum(axis=-1) + rest + machine.bias, score, rtol=1e-9, atol=1e-9 * np.abs(coef).max())
    return Pulls(part, where[place], label, rest, machine.bias) if exact else None


def _machine_and_rows(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the classifier inside guards, Pipelines and searches, and the rows as it takes them."""
    for _ in range(2):  # a guard may be around a Pipeline, or its last step
        estimator, X = reached(unguarded(estimator), X, "support_")
    return estimator, csr_array(X) if issparse(X) else np.asarray(X, dtype=np.float64)


def _most(values: Floats, coef: Floats) -> tuple[Floats, Places, Floats]:
    """Return the largest and smallest parts of each row and machine, their places, and the sum of the others."""
    parts = values[:, np.newaxis] * coef
    few, m = min(SHOWN, parts.shape[-1] // 2), parts.shape[-1]
    place = np.argpartition(parts, (few - 1, m - few))[..., [*range(few), *range(m - few, m)]]
    place = np.take_along_axis(place, np.argsort(-np.take_along_axis(parts, place, -1), kind="stable"), -1)
    part = np.take_along_axis(parts, place, -1)
    return part, place, parts.sum(axis=-1) - part.sum(axis=-1)


def _keys(rows: Any) -> list[bytes]:
    """One value for each row, equal for equal rows."""
    return [row.tobytes() for row in (rows.toarray() if issparse(rows) else rows) + 0.0]  # -0.0 is 0.0
