"""Small, wide, sorted and lopsided tables: CPU time of one thread against the class that users would pick instead."""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from contenders import REJECT, worked
from scipy.sparse import random_array
from sklearn.datasets import load_digits, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC
from sklearn.svm import OneClassSVM as Peer
from threadpoolctl import threadpool_limits

from abstain import LinearRejectSVC, OneClassSVM, RejectSVC

Maker = Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """A table, our machine and its peer, and how many times as fast as the peer ours should be."""

    name: str
    data: Callable[[], tuple[Any, Any]]
    ours: Maker
    peer: Maker
    aim: float
    repeats: int = 15


def rows(n: int, d: int, classes: int = 2, **settings: Any) -> Callable[[], tuple[Any, Any]]:
    """Classes that overlap, a tenth of the labels wrong."""
    informative = min(d, max(4, classes))
    return lambda: make_classification(
        n, d, n_informative=informative, n_redundant=0, n_classes=classes, n_clusters_per_class=1, flip_y=0.1,
        random_state=0, **settings,
    )  # fmt: skip


def rare() -> tuple[Any, Any]:
    """8,000 rows, of which one in 1,000 is positive."""
    X, _ = rows(8000, 8)()
    y = np.zeros(8000, dtype=np.intp)
    y[::1000] = 1
    return X + 2.0 * y[:, np.newaxis], y


def sparse_rows(n: int, d: int, density: float) -> Callable[[], tuple[Any, Any]]:
    """Sparse rows like counts of words, with labels that a few columns decide."""

    def made() -> tuple[Any, Any]:
        rng = np.random.default_rng(0)
        X = random_array((n, d), density=density, format="csr", rng=rng)
        score = X @ rng.normal(size=d)
        return X, (score > np.median(score)).astype(np.intp)

    return made


def pictures(n: int, d: int, classes: int) -> Callable[[], tuple[Any, Any]]:
    """Rows with as many features as small pictures have."""
    return rows(n, d, classes, class_sep=2.0)


def by_class(make: Callable[[], tuple[Any, Any]]) -> Callable[[], tuple[Any, Any]]:
    """The same rows, those of one class after those of the other."""

    def made() -> tuple[Any, Any]:
        X, y = make()
        order = np.argsort(y, kind="stable")
        return X[order], y[order]

    return made


def plain(**parameters: Any) -> tuple[Maker, Maker]:
    """RejectSVC without costs, and SVC."""
    return lambda: RejectSVC(**parameters), lambda: SVC(**parameters)


def linear(costs: Any = None) -> tuple[Maker, Maker]:
    """LinearRejectSVC, and LinearSVC with the hinge."""
    return lambda: LinearRejectSVC(costs), lambda: LinearSVC(loss="hinge")


CASES = (
    Case("rbf, 100 x 8", rows(100, 8), *plain(), 1.0, 60),
    Case("rbf, 300 x 8", rows(300, 8), *plain(), 1.5, 60),
    Case("rbf, 2,500 x 784 in 10 classes", pictures(2500, 784, 10), *plain(), 3.0, 3),
    Case("rbf, 50 classes of 40 rows, 20 features", rows(2000, 20, 50, class_sep=3.0), *plain(), 2.0, 3),
    Case("rbf, 500 x 765 in 10 classes", pictures(500, 765, 10), *plain(), 2.0, 5),
    Case(
        "digits with costs", lambda: load_digits(return_X_y=True), lambda: RejectSVC(REJECT), SVC, 1.5, 5
    ),
    Case("one class, 200 x 8", rows(200, 8), lambda: OneClassSVM(nu=0.05), lambda: Peer(nu=0.05), 1.0, 60),
    Case("one class, 1,000 x 8", rows(1000, 8), lambda: OneClassSVM(nu=0.05), lambda: Peer(nu=0.05), 2.0),
    Case("linear, 300 x 4,000", rows(300, 4000), *linear(), 1.0, 5),
    Case("linear, 200 x 8", rows(200, 8), *linear(), 1.0, 60),
    Case("linear, sparse 300 x 5,000", sparse_rows(300, 5000, 0.01), *linear(), 1.0, 5),
    Case("linear, sparse 20,000 x 20,000", sparse_rows(20_000, 20_000, 0.002), *linear(), 1.0, 3),
    Case("rbf, one row in 1,000 positive, 8,000 x 8", rare, *plain(), 3.0, 5),
)
SORTED = (("hinge", lambda: RejectSVC(C=10)), ("double hinge", lambda: RejectSVC(REJECT, C=10)))


def measure(case: Case, repeats: int | None = None) -> dict[str, Any]:
    """CPU seconds of both, in turn, and the ratio of the best."""
    X, y = case.data()
    seconds: dict[str, list[float]] = {"ours": [], "peer": []}
    for _ in range(repeats or case.repeats):
        for name, make in (("peer", case.peer), ("ours", case.ours)):
            spent, fitted = worked(make().fit, X, y)
            seconds[name].append(spent)
    best = {name: min(times) for name, times in seconds.items()}
    ratio = best["peer"] / best["ours"]
    return {"case": case.name, **best, "ratio": ratio, "aim": case.aim, "gap": float(fitted.duality_gap_)}


def sorted_rows(n: int, repeats: int) -> list[dict[str, Any]]:
    """The time of fits to rows sorted by class over that to the same rows shuffled."""
    shuffled = rows(n, 10)
    found = []
    for name, make in SORTED:
        times: dict[str, list[float]] = {"shuffled": [], "sorted": []}
        for _ in range(repeats):
            for order, data in (("shuffled", shuffled), ("sorted", by_class(shuffled))):
                times[order].append(worked(make().fit, *data())[0])
        best = {order: min(each) for order, each in times.items()}
        found.append({"loss": name, **best, "ratio": best["sorted"] / best["shuffled"], "aim": 1.1})
    return found


def run(repeats: int | None = None, rows: int = 19_000) -> dict[str, Any]:
    """All cases; with `repeats`, each so often."""
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # LinearSVC stops at its limit of steps
        return {"cases": [measure(case, repeats) for case in CASES], "sorted": sorted_rows(rows, repeats or 3)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, help="measure each case so often, for a trial")
    parser.add_argument("--rows", type=int, default=19_000, help="of the sorted rows")
    print(json.dumps(run(**vars(parser.parse_args())), indent=2))
