"""Actions with known crossings, built from them, and the cheapest action by brute force."""

from __future__ import annotations

import numpy as np

from abstain import Actions

CREDIT = Actions(
    {
        "approve": {"good": 0, "bad": 5},
        "decline": {"good": 1, "bad": 0},
        "call": 0.3,
        "visit": {"good": 0.4, "bad": 0.2},
    },
    rejects=("call", "visit"),
)
THREE = Actions({"no": {"no": 0, "yes": 5}, "yes": {"no": 1, "yes": 0}, "ask": 0.3})  # Costs(1, 5, 0.3)


def with_crossings(p, rng, labels=(0, 1)) -> Actions:
    """Actions a0, ..., aK whose cheapest one changes at the probabilities p of the last class, given in random order.

    At each crossing the cost for the first class rises by odds times the fall for the last class.
    """
    p = np.asarray(p)
    falls = rng.uniform(0.1, 1.0, len(p))
    first = np.concatenate([[0.0], np.cumsum(p / (1 - p) * falls)])
    last = np.concatenate([np.cumsum(falls[::-1])[::-1], [0.0]])
    order = rng.permutation(len(first))
    table = {f"a{k}": dict(zip(labels, (first[k], last[k]), strict=True)) for k in order}
    return Actions(table, rejects=[f"a{k}" for k in range(1, len(p))])


def cheapest(costs, p):
    """The least expected cost at each probability, and which actions have it alone; costs are (actions, 2)."""
    lines = np.outer(1 - p, costs[:, 0]) + np.outer(p, costs[:, 1])
    best = lines.min(axis=1)
    return best, np.unique(lines.argmin(axis=1))
