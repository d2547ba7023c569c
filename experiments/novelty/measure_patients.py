"""Beats of a patient whose beats were not in training: the share rejected as novel, and costs."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from measure_sets import RATES, classifier
from public_data import load_mitbih
from sklearn.model_selection import train_test_split

from abstain import NoveltyRejector

LEARNED, TESTED, REPEATS = 4000, 500, 2
BY_BEATS, BY_PATIENTS = "beats", "patients"  # what the calibration rows are drawn by


beats = cache(load_mitbih)


def trial(record: int, repeats: int, learned: int) -> list[dict[str, Any]]:
    """Train on beats of the other patients; decide held-out beats of these, and beats of the new patient."""
    bunch = beats()
    found = []
    for seed in range(repeats):
        order = np.random.default_rng(seed).permutation(len(bunch.target))
        new = order[bunch.groups[order] == record][:TESTED]
        X, X_same, y, y_same, patient, _ = train_test_split(
            *(part[order[bunch.groups[order] != record][: learned + TESTED]] for part in _parts(bunch)),
            test_size=TESTED,
            random_state=seed,
        )
        tables = {"same": (X_same, y_same), "new": (bunch.data[new], bunch.target[new])}
        for drawn in (BY_BEATS, BY_PATIENTS):
            guarded = NoveltyRejector(classifier(), RATES[0], random_state=seed)
            guarded.fit(X, y, groups=patient if drawn == BY_PATIENTS else None)
            entry: dict[str, Any] = {"record": record, "seed": seed, "drawn": drawn}
            for whose, (rows, truth) in tables.items():
                alone, decided = guarded.estimator_, guarded.decide(rows)
                entry[whose] = {
                    "novel": float((decided.reason == "novel").mean()),
                    "answered": float((alone.predict(rows) != alone[-1].reject_label_).mean()),
                    "alone": -float(alone.score(rows, truth)),
                    "guarded": -float(guarded.score(rows, truth)),
                }
            found.append(entry)
    return found


def _parts(bunch: Any) -> tuple[Any, Any, Any]:
    return bunch.data, bunch.target, bunch.groups
