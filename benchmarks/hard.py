"""Fits with large C, random labels or unscaled features: CPU seconds and gap beside scikit-learn's SVC."""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from contenders import REJECT, geometric_mean
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

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


def overlapping(rows: int, features: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two classes that overlap, a tenth of the labels wrong."""
    X, y = make_classification(
        rows, features, n_informative=features, n_redundant=0, class_sep=0.5, flip_y=0.1, random_state=0
    )
    return X, y


def forest(rows: int, features: int) -> NDArray[np.float64]:
    """Rows of covtype's numeric columns, standardised; generated where the folder of data is absent."""
    folder = os.environ.get("ABSTAIN_DATA")
    if not folder:
        return overlapping(rows, features)[0]
    with np.load(Path(folder) / "covtype_full.npz", allow_pickle=False) as arrays:
        X = arrays["num"]
    chosen = np.random.default_rng(0).permutation(len(X))[:rows]
    return np.asarray(StandardScaler().fit_transform(X[chosen, :features].astype(np.float64)))


def problems(share: float = 1.0) -> Iterator[Problem]:
    """All cases, with this share of their rows."""
    rng = np.random.default_rng(0)

    def coin(rows: int) -> NDArray[np.int64]:
        return rng.integers(0, 2, rows)

    few, many = int(4900 * share), int(10_000 * share)
    X, y = forest(few, 5), coin(few)
    for gamma in (5.0, 20.0):
        for C in (1e3, 1e6):
            yield Problem(f"real rows, random labels, gamma = {gamma:g}", X, y, {"C": C, "gamma": gamma})
    yield Problem("real rows, random labels", forest(many, 10), coin(many), {"C": 100.0, "gamma": "scale"})
    yield Problem("real rows, random labels, gamma = 1", forest(many, 10), coin(many), {"C": 100.0, "gamma": 1.0})
    yield Problem("normal noise", rng.normal(size=(few, 10)), coin(few), {"C": 1e4, "gamma": "scale"})
    yield Problem("overlapping classes", *overlapping(int(5001 * share), 5), {"C": 1e6, "gamma": "scale"})
    y = coin(int(4600 * share))
    mean = rng.gamma(0.3, 1.5, size=57) * (1 + 0.5 * y[:, None] * rng.random(57))
    X = rng.poisson(mean) * np.exp(rng.normal(size=57))
    yield Problem("counts", X, y, {"C": 100.0, "kernel": "linear"})
    yield Problem("counts, sparse", csr_array(X), y, {"C": 100.0, "kernel": "linear"})
    yield Problem("counts, sparse, rbf", csr_array(X), y, {"C": 1e4, "gamma": "scale"})
    yield Problem("linear", *overlapping(int(19_000 * share), 10), {"C": 1e4, "kernel": "linear"})


def measure(problem: Problem) -> dict[str, Any]:
    """CPU seconds of one fit each; these fits are long."""

    def seconds(machine: Any) -> float:
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a limit that was reached is in the table
            machine.fit(problem.X, problem.y)
        return time.process_time() - began

    theirs = SVC(max_iter=SVC_STEPS, **problem.parameters)
    found: dict[str, Any] = {
        "name": problem.name,
        "rows": problem.X.shape[0],
        "features": problem.X.shape[1],
        "C": problem.parameters["C"],
        "SVC": seconds(theirs),
        "SVC_stopped": bool(theirs.fit_status_),
        "fits": [],
    }
    for loss, costs in (("hinge", None), ("double hinge", REJECT)):
        ours = RejectSVC(costs, **problem.parameters)
        taken, proof = seconds(ours), ours.proof_
        row = {"name": loss, "seconds": taken, "ratio": found["SVC"] / taken, "gap": proof.gap, "status": proof.status}
        found["fits"].append(row)
    return found


def run(share: float = 1.0) -> dict[str, Any]:
    """All cases, and of SVC's time over ours the geometric mean and the least, for each loss."""
    with threadpool_limits(limits=1):  # idle threads that spin would count
        measured = [measure(problem) for problem in problems(share)]
    ratios = [[row["ratio"] for row in problem["fits"]] for problem in measured]
    means = [geometric_mean(column) for column in zip(*ratios, strict=True)]
    return {"problems": measured, "means": means, "least": [min(column) for column in zip(*ratios, strict=True)]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="share of the rows, for a trial")
    print(json.dumps(run(**vars(parser.parse_args())), indent=2))
