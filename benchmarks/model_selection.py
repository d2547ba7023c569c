"""C and gamma by cross-validation: RejectSVCCV against GridSearchCV, the same grid, folds and two cores for each."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from contenders import REJECT, geometric_mean, timed
from data import Sample, searched_samples
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from abstain import RejectSVC, RejectSVCCV
from abstain.gamma import resolve_gamma

JOBS = 2
CS = np.logspace(-2, 3, 10)
WIDTHS = 4.0 ** np.arange(-2, 3)  # times the gamma of "scale"
FOLDS = StratifiedKFold(5)
# For each of our searches, the brute-force search whose costs judge the chosen pair.
BRUTE_FORCE = {"hinge": "GridSearchCV(RejectSVC) hinge", "double hinge": "GridSearchCV(RejectSVC) double hinge"}


def searches(gammas: list[float], Cs: list[float]) -> dict[str, Callable[[], Any]]:
    """All searches; SVC's comes first, and the others are compared with it."""
    grid = {"C": Cs, "gamma": gammas}
    brute: dict[str, Any] = {"param_grid": grid, "cv": FOLDS, "n_jobs": JOBS}
    ways: dict[str, Callable[[], Any]] = {"GridSearchCV(SVC)": partial(GridSearchCV, SVC(), **brute)}
    for name, costs in (("hinge", None), ("double hinge", REJECT)):
        ways[BRUTE_FORCE[name]] = partial(GridSearchCV, RejectSVC(costs), **brute)
        ways[f"RejectSVCCV {name}"] = partial(RejectSVCCV, costs, Cs=Cs, gammas=gammas, cv=FOLDS, n_jobs=JOBS)
    return ways


def measure(sample: Sample, Cs: list[float], repeats: int) -> dict[str, Any]:
    """All searches take turns; the best time of each counts."""
    gammas = (resolve_gamma("scale", sample.X) * WIDTHS).tolist()
    ways = searches(gammas, Cs)
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    found: dict[str, Any] = {}
    for _ in range(repeats):
        for name, make in ways.items():
            elapsed, found[name] = timed(make().fit, sample.X, sample.y)
            seconds[name].append(elapsed)
    reference = min(seconds["GridSearchCV(SVC)"])
    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "seconds": min(seconds[name]),
            "all_seconds": seconds[name],
            "speedup": reference / min(seconds[name]),
            **chosen(search),
        }
        for name, search in found.items()
    ]
    for row in rows:
        for loss, brute in BRUTE_FORCE.items():
            if row["name"] == f"RejectSVCCV {loss}":
                row.update(judged(found[brute].cv_results_, row["C"], row["gamma"]))
    return {"set": sample.name, "rows": len(sample.y), "features": sample.X.shape[1], "searches": rows}


def chosen(search: Any) -> dict[str, float]:
    """The pair a search chose, and its mean cost by that search; SVC is scored by accuracy."""
    pair = search.best_params_ if hasattr(search, "best_params_") else {"C": search.C_, "gamma": search.gamma_}
    is_svc = isinstance(getattr(search, "estimator", None), SVC)
    cost = 1.0 - search.best_score_ if is_svc else -search.best_score_
    return {"C": float(pair["C"]), "gamma": float(pair["gamma"]), "mean_cost": float(cost)}


def judged(brute: dict[str, Any], C: float, gamma: float) -> dict[str, float]:
    """Brute force's mean cost at that pair minus its best, and the standard error of its best over the folds."""
    at = [pair["C"] == C and pair["gamma"] == gamma for pair in brute["params"]].index(True)
    best = int(np.argmax(brute["mean_test_score"]))
    folds = np.array([brute[f"split{fold}_test_score"] for fold in range(FOLDS.get_n_splits())])
    excess = folds[:, best].mean() - folds[:, at].mean()
    noise = folds[:, best].std(ddof=1) / np.sqrt(len(folds))
    return {"excess_cost": float(excess), "fold_noise": float(noise)}


def run(rows: int | None = None, repeats: int = 2, strengths: int = len(CS)) -> dict[str, Any]:
    """All sets, and the geometric mean of each search's speed over GridSearchCV(SVC)."""
    Cs = CS.tolist() if strengths == len(CS) else np.logspace(-2, 1, strengths).tolist()
    for make in searches([0.5], [1.0]).values():  # start the workers and imports before timing
        make().fit(np.arange(40.0)[:, np.newaxis], np.arange(40) % 2)
    sets = [measure(sample, Cs, repeats) for sample in searched_samples(rows)]
    by_name = zip(*(measured["searches"] for measured in sets), strict=True)
    means = [{"name": same[0]["name"], "speedup": geometric_mean(row["speedup"] for row in same)} for same in by_name]
    return {"repeats": repeats, "jobs": JOBS, "grid": [len(Cs), len(WIDTHS), 5], "sets": sets, "means": means}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, help="reduce every set to this many rows, for a trial")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--strengths", type=int, default=len(CS), help="how many values of C; fewer for a trial")
    print(json.dumps(run(**vars(parser.parse_args())), indent=2))
