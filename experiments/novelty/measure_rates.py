"""The rate of `abstain fit`: what the guard finds, and what it costs, where false alarms may add only so much cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure_damage import MOST, UNCHANGED, damaged
from measure_sets import COSTS, classifier, rate_of, split
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_score

from abstain import NoveltyRejector
from abstain.cli.training.guarding import ADDED, affordable_rate

LIMITS = (0.01, ADDED, 0.05, 0.1, float("inf"))  # of the cost, that false alarms may add; inf: the rate is 0.01
FOLDS = 5


def trial(name: str, seed: int) -> list[dict[str, Any]]:
    """For each limit: the rate, the shares found by kind of damage, and the cost of ordinary rows.

    Nothing for a table that is too small for the default rate.
    """
    if rate_of(name) != 0.01:
        return []
    X, X_test, y, y_test = split(name, seed)
    expected = -float(cross_val_score(classifier(), X, y, cv=FOLDS).mean())
    machine = classifier().fit(X, y)
    guard = NoveltyRejector(FrozenEstimator(machine), random_state=seed).fit(X, y).guard_
    answer = machine.predict(X_test)
    price = np.where(answer == machine[-1].reject_label_, COSTS.reject, answer != y_test)
    p_value = guard.p_value(guard.unusual(X_test))
    kinds = damaged(X_test[:MOST], X.std(axis=0), np.random.default_rng(seed))
    unlike = {
        kind: np.concatenate(
            [
                guard.p_value(guard.unusual(copy[rows]))
                for copy in copies
                if (rows := (copy != X_test[:MOST]).any(axis=1)).any()
            ]
        )
        for kind, copies in kinds.items()
        if kind != UNCHANGED
    }
    found = []
    for limit in LIMITS:
        rate = affordable_rate(expected, COSTS.reject - expected, guard.m, limit)
        novel = p_value <= rate
        found.append(
            {
                "set": name,
                "seed": seed,
                "limit": limit if np.isfinite(limit) else None,
                "rate": rate,
                "calibrated": guard.m,
                "expected": expected,
                "alone": float(price.mean()),
                "guarded": float(np.where(novel, COSTS.reject, price).mean()),
                "alarms": float(novel.mean()),
                "found": {kind: float((p <= rate).mean()) for kind, p in unlike.items()},
            }
        )
    return found
