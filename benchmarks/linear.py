"""LinearRejectSVC on tables of up to two million rows and on sparse rows like text, beside scikit-learn's solvers.

Objectives are ours: 1/2 |w|^2 + C sum of losses, with a bias that is not penalised. liblinear penalises the bias; it is
given a large `intercept_scaling`, and its weights the best bias for them. Its time is that of the first of several
`max_iter` with which it gets within 1e-5 of the optimum, or that of the last one tried within ten times our time.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from contenders import REJECT, timed
from data import generated
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from abstain import LinearRejectSVC

JOBS = 2
WITHIN = 1e-5  # of the optimum
EPOCHS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
PATIENCE = 10  # times our time


@dataclass(frozen=True)
class Table:
    """Rows, labels -1 and +1, and the values of C to fit with."""

    name: str
    X: Any
    y: NDArray[np.int64]
    Cs: tuple[float, ...]


def tables(share: float) -> Iterator[Table]:
    """The tables, each reduced to this share of its rows."""
    folder = os.environ.get("ABSTAIN_DATA")
    if folder:
        yield covtype_2(Path(folder), share)
    made = generated(int(2_000_000 * share), 30)
    yield Table(made.name, made.X, made.y, (1.0,))
    yield text(int(20_000 * share), int(50_000 * share))


def covtype_2(folder: Path, share: float) -> Table:
    """Lodgepole pine (+1) against the six other types, standardised."""
    with np.load(folder / "covtype_full.npz", allow_pickle=False) as arrays:
        rows = np.random.default_rng(0).permutation(len(arrays["y"]))[: int(share * len(arrays["y"]))]
        wilderness, soil = (np.eye(width)[arrays[name][rows]] for name, width in (("wilderness", 4), ("soil", 40)))
        X, y = np.hstack([arrays["num"][rows], wilderness, soil]).astype(np.float64), arrays["y"][rows]
    X -= X.mean(axis=0)
    X /= np.maximum(X.std(axis=0), 1e-12)
    return Table(f"covtype, type 2, {len(y):,} x {X.shape[1]}", X, np.where(y == 2, 1, -1), (0.01, 1.0))


def text(rows: int, words: int, seed: int = 0) -> Table:
    """Documents of about 50 words drawn by Zipf's law, tf-idf with norm 1; a tenth of the words have a meaning."""
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, words + 1)
    lengths = rng.poisson(50, rows) + 1
    columns = rng.choice(words, lengths.sum(), p=share / share.sum())
    X = csr_array((np.ones(len(columns)), columns, np.concatenate([[0], np.cumsum(lengths)])), shape=(rows, words))
    X.sum_duplicates()
    X = csr_array(X @ diags_array(np.log(rows / (1.0 + np.bincount(X.indices, minlength=words))) + 1.0))
    X = csr_array(diags_array(1.0 / np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())) @ X)
    X.sort_indices()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # which liblinear needs
    meaning = rng.normal(size=words) * (rng.random(words) < 0.1)
    y = np.where(X @ meaning + 0.05 * rng.normal(size=rows) > 0, 1, -1)
    return Table(f"like text, {rows:,} x {words:,}, {100 * X.nnz / rows / words:.2f} % filled", X, y, (1.0,))


def objective(table: Table, C: float, w: NDArray[np.float64]) -> float:
    """The hinge's objective of these weights with the best bias for them."""
    f = np.asarray(table.X @ w).ravel()
    at = np.concatenate([1.0 - f[table.y > 0], -1.0 - f[table.y < 0]])  # where a row's loss begins or ends
    order = np.argsort(at)
    slopes = np.arange(1, len(at) + 1) - np.sum(table.y > 0)  # of the sum of losses, beyond each of these
    bias = at[order][np.searchsorted(slopes, 0)]
    return float(0.5 * w @ w + C * np.maximum(0.0, 1.0 - table.y * (f + bias)).sum())


def liblinear(table: Table, C: float, optimum: float, ours: float) -> dict[str, Any]:
    """The first number of epochs with which `LinearSVC` gets within 1e-5 of the optimum, if it does."""
    found: dict[str, Any] = {}
    for epochs in EPOCHS:
        model = LinearSVC(loss="hinge", C=C, tol=1e-12, max_iter=epochs, intercept_scaling=10.0, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds, _ = timed(model.fit, table.X, table.y)
        excess = objective(table, C, model.coef_[0]) / optimum - 1.0
        found = {"name": "LinearSVC(loss='hinge')", "seconds": seconds, "excess": excess, "epochs": epochs}
        if excess <= WITHIN or seconds > PATIENCE * ours:
            break
    return found


def measure(table: Table, C: float) -> dict[str, Any]:
    """Seconds to get within 1e-5 of the optimum, and those of the same rows by other ways."""
    best = LinearRejectSVC(C=C, tol=1e-8, n_jobs=JOBS).fit(table.X, table.y)
    optimum = best.dual_objective_
    fits = []
    for name, costs in (("LinearRejectSVC, hinge", None), ("LinearRejectSVC, double hinge", REJECT)):
        seconds, model = timed(LinearRejectSVC(costs, C=C, tol=WITHIN, n_jobs=JOBS).fit, table.X, table.y)
        excess = model.objective_ / optimum - 1.0 if costs is None else model.duality_gap_
        ended = {"steps": model.n_iter_, "status": model.status_}
        fits.append({"name": name, "seconds": seconds, "excess": excess} | ended)
    fits.append(liblinear(table, C, optimum, fits[0]["seconds"]))
    if isinstance(table.X, np.ndarray):
        seconds, _ = timed(LogisticRegression(C=C, solver="newton-cholesky", max_iter=1000).fit, table.X, table.y)
        fits.append({"name": "LogisticRegression, newton-cholesky", "seconds": seconds})
    for row in fits:
        row["ratio"] = row["seconds"] / fits[0]["seconds"]
    return {"set": table.name, "C": C, "optimum": optimum, "fits": fits}


def run(share: float = 1.0) -> dict[str, Any]:
    """All tables."""
    began = time.perf_counter()
    found = [measure(table, C) for table in tables(share) for C in table.Cs]
    return {"jobs": JOBS, "within": WITHIN, "cases": found, "seconds": time.perf_counter() - began}


if __name__ == "__main__":
    import json

    print(json.dumps(run(0.05), indent=2))
