"""Rows like the training rows: how many are rejected as novel, by the guard and by a wrong one, and what that costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure_sets import RATES, classifier, split
from numpy.random import RandomState

from abstain import NoveltyRejector
from abstain.estimators.novelty.detectors import fitted_detector
from abstain.estimators.novelty.guard import Guard
from abstain.estimators.novelty.guard_rows import MOST_DETECTED
from abstain.rules.tuning.class_error import rows_needed


def trial(name: str, seeds: list[int]) -> list[dict[str, Any]]:
    """One entry for each split and rate that the training rows are enough for."""
    return [entry for seed in seeds for entry in _one(name, seed)]


def _one(name: str, seed: int) -> list[dict[str, Any]]:
    X, X_test, y, y_test = split(name, seed)
    alone = -float(classifier().fit(X, y).score(X_test, y_test))
    found = []
    for rate in RATES:
        if len(y) < 2 * rows_needed(rate):
            continue
        guarded = NoveltyRejector(classifier(), rate, random_state=seed).fit(X, y)
        found.append({
            "set": name,
            "seed": seed,
            "rate": rate,
            "calibrated": guarded.guard_.m,
            "trained": len(y),
            "tested": len(y_test),
            "guard": float(guarded.guard_.novel_rows(X_test).mean()),
            "wrong": float(wrong_guard(X, y, rate).novel_rows(X_test).mean()),
            "alone": alone,
            "guarded": -float(guarded.score(X_test, y_test)),
        })
    return found


def wrong_guard(X: Any, y: Any, rate: float) -> Guard:
    """A guard whose cut comes from the rows that its detector was fitted on: it promises nothing."""
    X, y = X[:MOST_DETECTED], y[:MOST_DETECTED]
    detector = fitted_detector(classifier(), None, X, y, RandomState(0))
    return Guard.calibrated(detector, X, rate, len(np.asarray(y)))
