"""More than two classes: time to fit and to predict against SVC's pairs of classes, CPU time of one thread."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from contenders import C, geometric_mean, worked
from numpy.typing import NDArray
from public_data import load_cells, load_covtype, load_letter
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from abstain import Costs, RejectSVC

SETTINGS: dict[str, Any] = {"tol": 1e-3, "cache_size": 1000}
PAIRS, COSTS = "RejectSVC, pairs of classes", "RejectSVC with costs"
STRENGTHS = (1.0, C)

Table = tuple[str, NDArray[np.float64], NDArray[np.int64], int]  # name, rows, classes, how many are for training


def contenders(strength: float) -> dict[str, Callable[[], Any]]:
    """SVC first: the others are compared with it."""
    return {
        "SVC": partial(SVC, C=strength, **SETTINGS),
        PAIRS: partial(RejectSVC, C=strength, n_jobs=1, **SETTINGS),
        COSTS: partial(RejectSVC, Costs(reject=0.3), C=strength, n_jobs=1, **SETTINGS),
    }


def tables(rows: int | None) -> Iterator[Table]:
    """The sets that are there; with `rows`, at most so many training rows of each."""
    yield "digits", *load_digits(return_X_y=True), min(rows or 1200, 1200)
    if not os.environ.get("ABSTAIN_DATA"):
        return
    yield "Letter, 26 classes", *load_letter(return_X_y=True), rows or 16_000
    yield "covtype, 7 classes", *load_covtype(classes=None, return_X_y=True), rows or 10_000
    yield "PBMC 68k, 10 classes", *load_cells(return_X_y=True), min(rows or 500, 500)


def measure(table: Table, strength: float, test_rows: int, repeats: int) -> dict[str, Any]:
    """One row per contender; they take turns, so that load on the machine affects all of them."""
    name, data, target, training = table
    mixed = np.random.default_rng(0).permutation(len(target))
    rows, tested = mixed[:training], mixed[training : training + test_rows]
    scale = StandardScaler().fit(data[rows])
    X, X_test, y = scale.transform(data[rows]), scale.transform(data[tested]), np.asarray(target)[rows]
    ways = contenders(strength)
    fit: dict[str, list[float]] = {way: [] for way in ways}
    predict: dict[str, list[float]] = {way: [] for way in ways}
    models, labels = {}, {}
    with threadpool_limits(limits=1):
        for _ in range(repeats):
            for way, make in ways.items():
                seconds, models[way] = worked(make().fit, X, y)
                fit[way].append(seconds)
                seconds, labels[way] = worked(models[way].predict, X_test)
                predict[way].append(seconds)
    found = [
        {
            "name": way,
            "fit": min(fit[way]),
            "fit_ratio": min(fit["SVC"]) / min(fit[way]),
            "predict": min(predict[way]),
            "predict_ratio": min(predict["SVC"]) / min(predict[way]),
            "gap": max((proof.gap for proof in models[way].proofs_), default=0.0) if way != "SVC" else None,
            "different_labels": int(np.sum(labels[way] != labels["SVC"])) if way != COSTS else None,
        }
        for way in ways
    ]
    classes = len(np.unique(y))
    return {"set": name, "C": strength, "rows": len(y), "features": X.shape[1], "classes": classes, "contenders": found}


def run(rows: int | None = None, test_rows: int = 4000, repeats: int = 5) -> dict[str, Any]:
    """All sets, and the geometric mean of each contender's ratios over the sets."""
    sets = [measure(table, strength, test_rows, repeats) for table in tables(rows) for strength in STRENGTHS]
    by_name = zip(*(measured["contenders"] for measured in sets), strict=True)
    means = [
        {"name": same[0]["name"]}
        | {key: geometric_mean(row[key] for row in same) for key in ("fit_ratio", "predict_ratio")}
        for same in by_name
    ]
    return {"repeats": repeats, "sets": sets, "means": means}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, help="reduce every set to this many training rows, for a trial")
    parser.add_argument("--test-rows", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=5)
    print(json.dumps(run(**vars(parser.parse_args())), indent=2))
