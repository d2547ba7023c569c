"""Misses of each class with their intervals, and the share answered, by data set, machine and way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from measure import FOLDS, LETTER_ROWS, PRODUCTS, RATES, TEST_SHARE, data_of
from scipy import stats


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """All numbers."""
    by_set: dict[str, list[dict[str, Any]]] = {}
    for key, rows in answers.items():
        by_set.setdefault(key.partition("/")[0], []).extend(rows)
    return {
        "rates": RATES,
        "folds": FOLDS,
        "test_share": TEST_SHARE,
        "letter_rows": LETTER_ROWS,
        "resamples": min(map(len, by_set.values())),
        "least_squares_rows": {name: rows for name, (_, rows) in PRODUCTS.items()},
        "rows": {name: _counts(name) for name in by_set},
        "sets": {name: _of_set(name, rows) for name, rows in by_set.items()},
    }


def _counts(name: str) -> dict[str, int]:
    counts = np.bincount(data_of(name)[1]).tolist()
    return dict(zip(RATES[name], counts, strict=True))


def _of_set(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in rows[0]:
        machine, way = key.split("/")
        measured = [row[key] for row in rows]
        missed, wrong, first = (np.array([one[at] for one in measured], dtype=np.float64) for at in range(3))
        classes = {
            label: {
                "rate": rate,
                "missed": over_orders(missed[:, k]),
                "wrong": over_orders(wrong[:, k]),
                "one_row": of_rows(int(first[:, k].sum()), len(first)),
            }
            for k, (label, rate) in enumerate(RATES[name].items())
        }
        answered = over_orders(np.array([one[3] for one in measured]))
        found.setdefault(machine, {})[way] = {"answered": answered, "classes": classes}
    return found


def over_orders(values: Any) -> dict[str, float]:
    """Mean over random orders of the same rows, which are independent, with its 95 % interval by Student's t."""
    n, mean = len(values), float(values.mean())
    half = float(stats.t.isf(0.025, n - 1)) * float(values.std(ddof=1)) / np.sqrt(n)
    return {"mean": mean, "low": mean - half, "high": mean + half}


def of_rows(count: int, total: int) -> dict[str, Any]:
    """One row for each order: the number of misses, and the exact 95 % interval (Clopper-Pearson) of their share."""
    interval = stats.binomtest(count, total).proportion_ci(0.95, method="exact")
    return {"count": count, "total": total, "low": float(interval.low), "high": float(interval.high)}
