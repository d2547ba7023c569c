"""Time to fit, interleaved and best of several, with support vectors, the gap reached, and a time floor."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
from contenders import REJECT, SETTINGS, Contender, contenders, geometric_mean, timed
from data import Sample, samples
from threadpoolctl import threadpool_limits

from abstain import RejectSVC
from abstain.estimators.fitting.solving import Solved

# 128 x 1024 float32 values and their rows fit in a second-level cache of 1 MB.
SUPPORT_CHUNK, ROW_CHUNK = 128, 1024


def floor(sample: Sample, support: int) -> float:
    """Seconds for (support x n) kernel values alone, in float32, on one thread.

    A solver that computes every support vector's row once and does nothing else cannot be much faster; one that shrinks
    its rows can.
    """
    X = sample.X.astype(np.float32) * np.float32(np.sqrt(2.0 * sample.gamma))
    half = (X * X).sum(axis=1) / 2
    block = np.empty((SUPPORT_CHUNK, ROW_CHUNK), dtype=np.float32)

    def rows() -> None:
        for i in range(0, support, SUPPORT_CHUNK):
            S, s = X[i : min(i + SUPPORT_CHUNK, support)], half[i : min(i + SUPPORT_CHUNK, support), None]
            for j in range(0, len(X), ROW_CHUNK):
                values = block[: len(S), : len(X[j : j + ROW_CHUNK])]
                np.matmul(S, X[j : j + ROW_CHUNK].T, out=values)
                values -= s
                values -= half[j : j + ROW_CHUNK]
                np.exp(values, out=values)

    with threadpool_limits(limits=1):
        return min(timed(rows)[0] for _ in range(3))


def measure(sample: Sample, repeats: int) -> dict[str, Any]:
    """One row per contender; the contenders take turns, so that load on the machine affects all of them."""
    rivals = contenders()
    seconds: dict[str, list[float]] = {rival.name: [] for rival in rivals}
    fitted: dict[str, Any] = {}
    for _ in range(repeats):
        for rival in rivals:
            elapsed, fitted[rival.name] = timed(rival.make(gamma=sample.gamma).fit, sample.X, sample.y)
            seconds[rival.name].append(elapsed)
    rows = [_row(rival, sample, fitted[rival.name], seconds[rival.name]) for rival in rivals]
    for row in rows:
        row["ratio"] = row["seconds"] / rows[0]["seconds"]
        row["floor"] = floor(sample, row["support_vectors"])
    return {"set": sample.name, "rows": len(sample.y), "features": sample.X.shape[1], "contenders": rows}


def _row(rival: Contender, sample: Sample, fitted: Any, seconds: list[float]) -> dict[str, Any]:
    return {
        "name": rival.name,
        "seconds": min(seconds),
        "all_seconds": seconds,
        "support_vectors": len(fitted.support_),
        "relative_gap": rival.relative_gap(sample, fitted),
    }


def certificate_share(sample: Sample) -> float:
    """Share of a fit's time that goes into its certificate, by a clock around it; double hinge, one thread."""
    spent, certify, prove = 0.0, Solved.of, Solved.proof

    def clocked(work: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any) -> Any:
            nonlocal spent
            seconds, found = timed(work, *arguments)
            spent += seconds
            return found

        return wrapped

    with patch.object(Solved, "of", clocked(certify)), patch.object(Solved, "proof", clocked(prove)):
        whole, _ = timed(RejectSVC(REJECT, gamma=sample.gamma, **SETTINGS).fit, sample.X, sample.y)
    return spent / whole


def run(rows: int | None = None, repeats: int = 3) -> dict[str, Any]:
    """All sets, and per contender the geometric means of its ratio to SVC and to its floor."""
    sets = [measure(sample, repeats) | {"certificate": certificate_share(sample)} for sample in samples(rows)]
    by_name = zip(*(measured["contenders"] for measured in sets), strict=True)
    means = [
        {
            "name": same[0]["name"],
            "ratio": geometric_mean(row["ratio"] for row in same),
            "over_floor": geometric_mean(row["seconds"] / row["floor"] for row in same),
        }
        for same in by_name
    ]
    return {"repeats": repeats, "sets": sets, "means": means}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, help="reduce every set to this many rows, for a trial")
    parser.add_argument("--repeats", type=int, default=3)
    print(json.dumps(run(**vars(parser.parse_args())), indent=2))
