"""Time of EmbeddedRejectSVC against scikit-learn's linear SVC on Letter pairs, and its growth with the rows."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from contenders import geometric_mean, timed
from data import generated
from numpy.typing import NDArray
from sklearn.svm import SVC

from abstain import EmbeddedRejectSVC

PAIRS, REJECT_COSTS = ("BE", "HK", "KX"), (0.05, 0.2, 0.5)
C = 0.1


def pair(name: str, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The training half of two letters, raw features, the first one +1."""
    table = np.loadtxt(Path(os.environ["ABSTAIN_DATA"]) / "letter.csv.gz", delimiter=",", skiprows=1)
    first, second = (ord(letter) - ord("A") + 1 for letter in name)
    rows = np.flatnonzero((table[:, -1] == first) | (table[:, -1] == second))
    rows = rows[np.random.default_rng(seed).permutation(len(rows))][: -(-len(rows) // 2)]
    return np.ascontiguousarray(table[rows, :-1]), np.where(table[rows, -1] == first, 1, -1)


def fits(repeats: int) -> dict[str, Any]:
    """Best times of the default fit, of the paper's solver and of SVC, taking turns."""
    rows = []
    for name in PAIRS:
        X, y = pair(name)
        for cost in REJECT_COSTS:
            rivals = {
                "SVC": SVC(kernel="linear", C=C),
                "primal": EmbeddedRejectSVC(cost),
                "dual": EmbeddedRejectSVC(cost, solver="dual"),
            }
            seconds: dict[str, list[float]] = {rival: [] for rival in rivals}
            for _ in range(repeats):
                for rival, estimator in rivals.items():
                    seconds[rival].append(timed(estimator.fit, X, y)[0])
            best = {rival: min(times) for rival, times in seconds.items()}
            rows.append({
                "pair": name,
                "rows": len(y),
                "reject_cost": cost,
                **best,
                "primal / SVC": best["primal"] / best["SVC"],
                "dual / primal": best["dual"] / best["primal"],
                "objective": rivals["primal"].objective_,
                "lower_bound": rivals["dual"].lower_bound_,
            })
    ratios = {ratio: [row[ratio] for row in rows] for ratio in ("primal / SVC", "dual / primal")}
    return {
        "rows": rows,
        "means": {ratio: geometric_mean(values) for ratio, values in ratios.items()},
        "largest": {ratio: max(values) for ratio, values in ratios.items()},
    }


def growth(smallest: int, doublings: int, repeats: int, cost: float = 0.2) -> dict[str, Any]:
    """Best times at ``smallest * 2^k`` generated rows of 16 features, and the exponent of n that fits them."""
    sizes = [smallest * 2**k for k in range(doublings + 1)]
    seconds = []
    for size in sizes:
        sample = generated(size, features=16)
        seconds.append(min(timed(EmbeddedRejectSVC(cost).fit, sample.X, sample.y)[0] for _ in range(repeats)))
    return {"sizes": sizes, "seconds": seconds, "exponent": float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])}


def run(repeats: int = 10, smallest: int = 1250, doublings: int = 4) -> dict[str, Any]:
    """Everything; the Letter pairs only if the folder named by ABSTAIN_DATA has them."""
    results: dict[str, Any] = {"repeats": repeats}
    if "ABSTAIN_DATA" in os.environ:
        results["fits"] = fits(repeats)
    results["growth"] = growth(smallest, doublings, max(2, repeats // 4))
    return results


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--smallest", type=int, default=1250)
    parser.add_argument("--doublings", type=int, default=4)
    print(json.dumps(run(**vars(parser.parse_args())), indent=2))
