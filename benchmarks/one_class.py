"""The machine of one class: CPU seconds and gap beside scikit-learn's OneClassSVM, on one thread."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.svm
from contenders import geometric_mean
from data import covtype_1v2, covtype_4v6, letter_halves, wdbc
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

import abstain
from abstain.dual.certificate import certify
from abstain.dual.problem import DualProblem
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import hinge

Rows = NDArray[np.float64]
SHARES = (0.05, 0.5)
ENOUGH = 5.0  # seconds after which a fit is not repeated
SETTINGS: dict[str, Any] = {"cache_size": 1000}  # each has its own default for tol


def heartbeats(folder: Path) -> Rows:
    """The features of heartbeats of the MIT-BIH database, standardised; without record, place and class."""
    table = np.genfromtxt(folder / "mitbih" / "features.csv.gz", delimiter=",", skip_header=1)[:, 2:-1]
    return np.asarray(StandardScaler().fit_transform(np.nan_to_num(table)))


def tables(rows: int | None = None) -> Iterator[tuple[str, Rows]]:
    """The sets by their names, each reduced to `rows` random rows if a number is given."""

    def some(X: Rows, most: int) -> Rows:
        chosen = np.random.default_rng(0).permutation(len(X))[: min(rows or most, most)]
        return np.ascontiguousarray(X[chosen])

    yield "WDBC", some(wdbc().X, 569)
    folder = os.environ.get("ABSTAIN_DATA")
    if not folder:
        return
    yield "letter", some(letter_halves(Path(folder)).X, 16_000)
    yield "heartbeats", some(heartbeats(Path(folder)), 10_000)
    yield "covtype 4v6", some(covtype_4v6(Path(folder)).X, 10_000)
    yield "covtype 4v6", some(covtype_4v6(Path(folder)).X, 20_000)
    yield "covtype 1v2", some(covtype_1v2(Path(folder)).X, 50_000)


def relative_gap(X: Rows, nu: float, fitted: Any) -> float:
    """The relative duality gap of either machine, by the same float64 certificate."""
    n, d = X.shape
    ones = np.ones(n)
    problem = DualProblem(Kernel("rbf", gamma=1.0 / d), X, ones.astype(np.int8), hinge(0.0), ones, nu * n)
    beta = np.zeros(n)
    beta[fitted.support_] = np.asarray(fitted.dual_coef_).ravel()
    return float(certify(problem, beta, float(np.ravel(fitted.intercept_)[0])).relative_gap)


def measure(name: str, X: Rows, nu: float, repeats: int) -> dict[str, Any]:
    """The best CPU seconds of each, in turn, and the gaps that they leave."""
    found: dict[str, Any] = {"set": name, "rows": len(X), "features": X.shape[1], "nu": nu}
    for kind, machine in (("abstain", abstain.OneClassSVM), ("sklearn", sklearn.svm.OneClassSVM)):
        times = []
        for _ in range(repeats):
            fitted = machine(nu=nu, gamma=1.0 / X.shape[1], **SETTINGS)
            began = time.process_time()
            fitted.fit(X)
            times.append(time.process_time() - began)
            if sum(times) > ENOUGH:
                break
        found[kind] = {"seconds": min(times), "all_seconds": times, "support_vectors": len(fitted.support_)}
        found[kind]["gap"] = relative_gap(X, nu, fitted)
    found["ratio"] = found["sklearn"]["seconds"] / found["abstain"]["seconds"]
    return found


def run(rows: int | None = None, repeats: int = 3) -> dict[str, Any]:
    """All sets and shares, and of scikit-learn's time over ours the geometric mean and the least."""
    measure("warm-up", np.random.default_rng(0).normal(size=(100, 3)), 0.5, 1)  # imports on first use
    fits = [measure(name, X, nu, repeats) for name, X in tables(rows) for nu in SHARES]
    ratios = [fit["ratio"] for fit in fits]
    return {"repeats": repeats, "fits": fits, "mean": geometric_mean(ratios), "least": min(ratios)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, help="reduce every set to this many rows, for a trial")
    parser.add_argument("--repeats", type=int, default=3)
    print(json.dumps(run(**vars(parser.parse_args())), indent=2))
