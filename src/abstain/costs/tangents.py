"""Where the loss of each task touches the logistic loss: the log-odds at which the cheapest action can change.

Two classes are one task, on the log-odds of the last class: all cuts of the lower envelope. More classes are one task
each, k against the rest, and what k has to exceed depends on which others are likely. A machine has two tangents, at
the least and the largest of these log-odds.

Answers and a reject (the rest of the mass on j)::

    P_k reject_k = (1 - P_k) (errors[j, k] - reject_j)            from where on answering k is cheaper than rejecting

Named actions: along the ray from a mixture Q of the other classes to class k the costs are lines, whose envelope has a
last cut, from where on the action that is best for k is the cheapest of all. Q is each other class alone, each two of
them, and all of them evenly. No theorem covers this choice (nor general costs of answers): it is right where the rest
of the mass is like one of these mixtures.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.costs.envelope import envelope

__all__ = ["tangents"]


def tangents(costs: Any) -> Any:
    """Return the log-odds of a table's tasks.

    Two classes: a tuple, strictly increasing; of rows the array of their cuts, with infinity where a row has fewer.
    More classes: an array of shape (n_classes, 2), least and largest; of rows (n, n_classes, 2).
    """
    if costs.n_classes == 2:
        cuts = costs.levels().cuts
        if not costs.per_row:
            return tuple(np.unique(cuts).tolist())
        always = np.isinf(cuts).all(axis=1, keepdims=True)  # one action is the cheapest whatever the class
        return np.where(always, 0.0, cuts)
    each = _of_rays if costs.names is not None else _of_reject
    return np.stack([each(costs, k) for k in range(costs.n_classes)], axis=-2)


def _of_reject(costs: Any, k: int) -> NDArray[np.float64]:
    table = costs.unitless
    reject = table[..., -1]
    more = np.delete(table[..., k] - reject, k, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _ends(np.where(more > 0, np.log(more) - np.log(reject[..., k, np.newaxis]), np.nan))


def _of_rays(costs: Any, k: int) -> NDArray[np.float64]:
    table, n = costs.unitless, costs.n_classes
    others = [j for j in range(n) if j != k]
    mixed = [*((j,) for j in others), *combinations(others, 2), tuple(others)]
    Q = np.array([[(j in some) / len(some) for j in range(n)] for some in dict.fromkeys(mixed)])
    start = Q @ table  # (..., mixtures, actions)
    lines = np.stack([start, np.broadcast_to(table[..., k, np.newaxis, :], start.shape)], axis=-2)
    cuts = envelope(lines.reshape(-1, 2, costs.n_actions), costs.rejecting, range(costs.n_actions)).cuts
    last = np.where(np.isinf(cuts), -np.inf, cuts).max(axis=1, initial=-np.inf).reshape(start.shape[:-1])
    return _ends(np.where(np.isinf(last), np.nan, last))


def _ends(at: NDArray[np.float64]) -> NDArray[np.float64]:
    """The least and the largest that is not nan, on the last axis; 0 where all are: k is never the dearer answer."""
    none = np.isnan(at).all(axis=-1)
    low, high = np.where(np.isnan(at), np.inf, at).min(axis=-1), np.where(np.isnan(at), -np.inf, at).max(axis=-1)
    return np.stack([np.where(none, 0.0, low), np.where(none, 0.0, high)], axis=-1)
