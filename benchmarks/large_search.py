"""C and gamma on 30,000 rows: the search by halving against other classifiers with Chow's rule, and the full search."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from contenders import REJECT, timed
from data import Sample, covtype_1v2, generated
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from abstain import RejectSVCCV, ThresholdRejector

JOBS = 2
ROWS, TEST_ROWS = 30_000, 20_000
HALVING, FULL = "RejectSVCCV, halving", "RejectSVCCV, full"


def contenders(*, full: bool) -> dict[str, Callable[[], Any]]:
    """The search by halving first: the others are compared with it."""
    ways: dict[str, Callable[[], Any]] = {
        HALVING: partial(RejectSVCCV, REJECT, search="halving", n_jobs=JOBS),
        "LogisticRegression, Chow": lambda: ThresholdRejector(LogisticRegression(max_iter=1000), REJECT),
        "HistGradientBoosting, Chow": lambda: ThresholdRejector(HistGradientBoostingClassifier(random_state=0), REJECT),
    }
    return ways | ({FULL: partial(RejectSVCCV, REJECT, search="full", n_jobs=JOBS)} if full else {})


def samples(rows: int) -> Iterator[Sample]:
    """The sets, with their test rows at the end."""
    made = generated(rows + TEST_ROWS, 100)
    yield Sample("generated", made.X, made.y)
    folder = os.environ.get("ABSTAIN_DATA")
    if folder:
        yield covtype_1v2(Path(folder)).shuffled(rows + TEST_ROWS)


def measure(sample: Sample, rows: int, *, full: bool) -> dict[str, Any]:
    """Seconds of each fit, and the costs of its decisions on the held-out rows, paired with those of the first."""
    X, X_test, y, y_test = sample.X[:rows], sample.X[rows:], sample.y[:rows], sample.y[rows:]
    measured: list[dict[str, Any]] = []
    first: NDArray[np.float64] | None = None
    for name, make in contenders(full=full).items():
        seconds, model = timed(make().fit, X, y)
        costs = REJECT.of(np.asarray(y_test) > 0, chosen(model, X_test) + 1)
        first = costs if first is None else first
        difference = costs - first
        row = {
            "name": name,
            "seconds": seconds,
            "ratio": seconds / (measured[0]["seconds"] if measured else seconds),
            "cost": float(costs.mean()),
            "error": float(costs.std(ddof=1) / np.sqrt(len(costs))),
            "difference": float(difference.mean()),
            "difference_error": float(difference.std(ddof=1) / np.sqrt(len(costs))),
        }
        if isinstance(model, RejectSVCCV):
            row |= {"C": model.C_, "gamma": model.gamma_, "status": model.status_}
        measured.append(row)
    return {"set": f"{sample.name}, {X.shape[1]} features", "rows": rows, "test_rows": len(y_test), "fits": measured}


def chosen(model: Any, X: NDArray[np.float64]) -> NDArray[np.int64]:
    """The decisions as -1, 0 (reject) and +1; the classes are -1 and +1, so the reject label is 0."""
    return np.asarray(model.predict(X), dtype=np.int64)


def run(rows: int = ROWS, *, full: bool = False) -> dict[str, Any]:
    """All sets."""
    return {"jobs": JOBS, "sets": [measure(sample, rows, full=full) for sample in samples(rows)]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="training rows of each set; fewer for a trial")
    parser.add_argument("--full", action="store_true", help="also the full search, which is slow")
    print(json.dumps(run(**vars(parser.parse_args())), indent=2))
