"""Where the loss of each task touches the logistic loss: the log-odds at which the cheapest action can change.

Two classes are one task, on the log-odds of the last class: all cuts of the lower envelope. Rows with costs of their
own for named actions have more, spread evenly between the first and the last of their cuts: where few actions are
ever the cheapest the cuts are few and far apart, and what lies between them is not learnt.

More classes are one task each, k against the rest, and where the cheapest action changes depends on which others are
likely. Along the ray from a mixture Q of the other classes to class k the costs are lines, as for two classes::

    c_a(p) = (1 - p) sum_j Q_j values[j, a] + p values[k, a]

Q is each other class alone, and all of them evenly. The tangents of k are spread evenly, in log-odds, from the least
cut of these rays to the largest. Several of them, because one task does not decide alone: a machine with many rows
takes one value between each two tangents, and says no more of P_k than between which two it lies. On
Gaussians with known probabilities, five draws of 1,000 rows, kernel machines cost this much more than Bayes' rule::

                                        tangents at two ends    spread
    three classes, named actions              3 to 10 %        1 to 2 %
    three classes, costs per row              6 to 29 %        3 to 4 %
    two classes, actions with costs per row       6 %             3 %

Where a wrong answer k costs e_k whatever is true, and rejecting less than half of it, k needs one tangent only: it is
answered if P_k > 1 - reject / e_k, and at most one class can be (`own_cuts`). No theorem covers the spread tangents of
other costs, of named actions and of costs per row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.costs.envelope import envelope

__all__ = ["ends_of_reject", "own_cuts", "spread", "tangents"]

COUNT = 6  # of each class of several; from five to eight the costs were the same


def tangents(costs: Any) -> Any:
    """Return the log-odds of a table's tasks.

    Two classes: a tuple, strictly increasing; of rows an array (n, L) in any order, with infinity where it has fewer.
    More classes: an array of shape (n_classes, COUNT), not decreasing; of rows (n, n_classes, COUNT).
    """
    if costs.n_classes == 2:
        cuts = costs.levels().cuts
        if costs.per_row:
            return cuts if costs.names is None else np.concatenate([cuts, _evenly(cuts)[:, 1:-1]], axis=1)
        return tuple(np.unique(cuts).tolist())
    cuts = own_cuts(costs)
    return spread(costs) if cuts is None else np.repeat(cuts[:, np.newaxis], COUNT, axis=1)


def own_cuts(costs: Any) -> NDArray[np.float64] | None:
    """Return Bayes' cuts on the log-odds of each class, where at most one class can pass its own; else None.

    ::

        answer k  if  P_k > 1 - reject / e_k,     e_k the cost of the wrong answer k,  reject < e_k / 2
    """
    if costs.names is not None or costs.per_row:
        return None
    n, table = costs.n_classes, costs.unitless
    wrong, reject = costs.errors.T[~np.eye(n, dtype=bool)].reshape(n, n - 1), costs.reject_costs
    if (wrong != wrong[:, :1]).any() or (reject != reject[0]).any() or not (reject[0] < 0.5 * wrong[:, 0]).all():
        return None
    own = table[:, :-1].T[~np.eye(n, dtype=bool)].reshape(n, n - 1)[:, 0]
    return np.asarray(np.log((own - table[0, -1]) / table[0, -1]))


def ends_of_reject(costs: Any) -> NDArray[np.float64]:
    """Return the tangents that machines of several classes had in version 0.2, for their files: two for each class.

    ::

        P_k reject_k = (1 - P_k) (errors[j, k] - reject_j)      the least and the largest over j; 0 if there is none
    """
    table = costs.unitless
    reject, found = table[:, -1], []
    for k in range(costs.n_classes):
        more = np.delete(table[:, k] - reject, k)
        at = np.log(more[more > 0]) - np.log(reject[k])
        found.append((at.min(), at.max()) if len(at) else (0.0, 0.0))
    return np.array(found)


def spread(costs: Any) -> NDArray[np.float64]:
    """Return the tangents of several classes, spread over the cuts of all rays."""
    return np.stack([_of_class(costs, k) for k in range(costs.n_classes)], axis=-2)


def _of_class(costs: Any, k: int) -> NDArray[np.float64]:
    table, n = costs.unitless, costs.n_classes
    alone = np.delete(np.eye(n), k, axis=0)
    start = np.vstack([alone, alone.mean(axis=0)]) @ table  # (..., mixtures, actions)
    rays = np.stack([start, np.broadcast_to(table[..., k, np.newaxis, :], start.shape)], axis=-2)
    cuts = envelope(rays.reshape(-1, 2, costs.n_actions), costs.rejecting, range(costs.n_actions)).cuts
    return _evenly(cuts.reshape(*start.shape[:-2], -1))


def _evenly(cuts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return COUNT log-odds from the least to the largest finite cut, on the last axis; 0 if there is none."""
    low, high = cuts.min(axis=-1, initial=np.inf), np.where(np.isinf(cuts), -np.inf, cuts).max(axis=-1, initial=-np.inf)
    none = low > high  # the same action is always the cheapest
    low, high = np.where(none, 0.0, low)[..., np.newaxis], np.where(none, 0.0, high)[..., np.newaxis]
    return np.asarray(np.minimum(low + (high - low) * np.linspace(0.0, 1.0, COUNT), high))
