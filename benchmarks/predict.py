"""Time of decision_function on 4,000 new rows, against SVC."""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
from contenders import contenders, geometric_mean, timed
from data import Sample, samples


def measure(sample: Sample, test_rows: int, repeats: int) -> dict[str, Any]:
    """Each contender scores the same new rows; the first is SVC."""
    mixed = sample.shuffled()
    new = mixed.X[:test_rows]
    X, y = mixed.X[test_rows:], mixed.y[test_rows:]
    models = [(rival.name, rival.make(gamma=sample.gamma).fit(X, y)) for rival in contenders()]
    seconds: dict[str, list[float]] = {name: [] for name, _ in models}
    scores: dict[str, Any] = {}
    for _ in range(repeats):
        for name, model in models:
            elapsed, scores[name] = timed(model.decision_function, new)
            seconds[name].append(elapsed)
    reference = models[0][0]
    rows = [
        {
            "name": name,
            "seconds": min(seconds[name]),
            "ratio": min(seconds[name]) / min(seconds[reference]),
            "support_vectors": len(model.support_),
            # a different loss has different scores; for the same loss tol = 1e-3 allows this much
            "largest_difference": float(np.abs(scores[name] - scores[reference]).max()),
        }
        for name, model in models
    ]
    return {"set": sample.name, "test_rows": test_rows, "contenders": rows}


def run(rows: int | None = None, test_rows: int = 4000, repeats: int = 5) -> dict[str, Any]:
    """All sets, and the geometric mean of each contender's ratio to SVC."""
    sets = [measure(sample, test_rows, repeats) for sample in samples(rows)]
    by_name = zip(*(measured["contenders"] for measured in sets), strict=True)
    means = [{"name": same[0]["name"], "ratio": geometric_mean(row["ratio"] for row in same)} for same in by_name]
    return {"repeats": repeats, "sets": sets, "means": means}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, help="reduce every set to this many rows, for a trial")
    parser.add_argument("--test-rows", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=5)
    print(json.dumps(run(**vars(parser.parse_args())), indent=2))
