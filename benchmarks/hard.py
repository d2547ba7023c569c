"""Fits with large C or unscaled features, where pair steps stall: CPU seconds and gap beside scikit-learn's SVC."""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from contenders import REJECT, geometric_mean
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from abstain import RejectSVC

# SVC has no limit on its time, only on its steps; at the limit its ratio is a lower bound.
SVC_STEPS = 1_000_000


@dataclass(frozen=True)
class Problem:
    """Rows, labels and the parameters of the machine."""

    name: str
    X: Any
    y: NDArray[np.int64]
    parameters: dict[str, Any]


def classes(rows: int, features: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two classes that overlap, a tenth of the labels wrong."""
    X, y = make_classification(
        rows, features, n_informative=features, n_redundant=0, class_sep=0.5, flip_y=0.1, random_state=0
    )
    return X, y


def problems(share: float = 1.0) -> Iterator[Problem]:
    """All cases, with this share of their rows."""
    rng = np.random.default_rng(0)
    X, y = classes(int(5001 * share), 5)
    yield Problem("large C", X, y, {"C": 1e6, "gamma": "scale"})
    for gamma, C in ((5.0, 1e3), (20.0, 1e6)):
        yield Problem(f"shuffled labels, gamma {gamma:g}", X, rng.permutation(y), {"C": C, "gamma": gamma})
    rows = int(4900 * share)
    yield Problem("noise", rng.normal(size=(rows, 10)), rng.integers(0, 2, rows), {"C": 1e4, "gamma": "scale"})
    rows = int(4600 * share)
    y = rng.integers(0, 2, rows)
    mean = rng.gamma(0.3, 1.5, size=57) * (1 + 0.5 * y[:, None] * rng.random(57))
    X = rng.poisson(mean) * np.exp(rng.normal(size=57))
    yield Problem("counts", X, y, {"C": 100.0, "kernel": "linear"})
    yield Problem("counts, sparse", csr_array(X), y, {"C": 100.0, "kernel": "linear"})
    yield Problem("linear", *classes(int(19_000 * share), 10), {"C": 1e4, "kernel": "linear"})


def measure(problem: Problem) -> dict[str, Any]:
    """CPU seconds of one fit each; these fits are long."""

    def seconds(machine: Any) -> float:
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a limit that was reached is in the table
            machine.fit(problem.X, problem.y)
        return time.process_time() - began

    ours, theirs = RejectSVC(REJECT, **problem.parameters), SVC(max_iter=SVC_STEPS, **problem.parameters)
    found = {"name": problem.name, "rows": len(problem.y), "seconds": seconds(ours), "SVC": seconds(theirs)}
    proof = ours.proof_
    stopped = bool(theirs.fit_status_)
    ratio = found["SVC"] / found["seconds"]
    return found | {"ratio": ratio, "gap": proof.gap, "status": proof.status, "SVC_stopped": stopped}


def run(share: float = 1.0) -> dict[str, Any]:
    """All cases, and the geometric mean of SVC's time over ours."""
    measured = [measure(problem) for problem in problems(share)]
    return {"problems": measured, "mean_ratio": geometric_mean(row["ratio"] for row in measured)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="share of the rows, for a trial")
    print(json.dumps(run(**vars(parser.parse_args())), indent=2))
