"""What `kernel="auto"` costs beside "rbf" and "laplacian", on the sets of this experiment, and what it promises.

``python choices.py --only kernels`` writes kernels.json, which the page shows. All three have the grid of the library
and the same folds. Seconds are of one thread's CPU, in turn.

On noise, labels are drawn without regard to the features, so that the cost of decisions is known::

    cost = rejected c_r + (1 - rejected) / 2
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from harness.trials import as_ratio, over_sets
from measure_sets import SETS
from measure_trial import COSTS, Trial
from summary import described

from abstain import Costs, RejectSVCCV

SPLITS, KERNELS = 6, ("rbf", "laplacian", "auto")
DRAWN, ROWS, FEATURES, REJECT, FRESH = 100, (60, 200), 5, 0.45, 4000  # tables of noise, and rows of each


def on_split(name: str, seed: int) -> list[dict[str, Any]]:
    """Each kernel on one split, for all costs."""
    trial, found = Trial.of(name, seed), []
    for key, costs in COSTS.items():
        for kernel in KERNELS:
            began = time.process_time()
            search = RejectSVCCV(costs, kernel=kernel, cv=trial.folds, n_jobs=1).fit(trial.X, trial.sign)
            seconds = time.process_time() - began
            facts = {"promised": -float(search.best_score_), "seconds": seconds, "chosen": search.kernel_}
            found.append(trial.judged(key, kernel, search.predict(trial.X_test), **facts))
    return [{"set": name, "seed": seed, **row} for row in found]


def on_noise(rows: int, seed: int) -> list[dict[str, Any]]:
    """What each kernel promises for labels that do not depend on the features, and what its decisions cost."""
    rng = np.random.default_rng([rows, seed])
    X, y, fresh = rng.normal(size=(rows, FEATURES)), rng.permutation(rows) % 2, rng.normal(size=(FRESH, FEATURES))
    found = []
    for kernel in KERNELS:
        search = RejectSVCCV(Costs(1, 1, REJECT), kernel=kernel, n_jobs=1).fit(X, y)
        rejected = float(search.decide(fresh).rejected.mean())
        cost = rejected * REJECT + (1.0 - rejected) / 2
        found.append({"rows": rows, "seed": seed, "kernel": kernel, "promised": -search.best_score_, "cost": cost})
    return found


def cells() -> list[str]:
    """All cells: a set and a seed, or the rows of a table of noise and its seed."""
    found = [f"{name}/{seed}" for seed in range(SPLITS) for name in SETS]
    return [*found, *(f"{rows} rows of noise/{seed}" for rows in ROWS for seed in range(DRAWN))]


def load(wanted: list[str]) -> None:
    """Read the sets."""
    for name in {cell.split("/")[0] for cell in wanted} & {*SETS}:
        described(name)


def seconds(cell: str) -> float:
    """About how long a cell takes, to begin with the longest."""
    return 0.0 if "noise" in cell else 700.0


def measured(cell: str) -> list[dict[str, Any]]:
    """The numbers of a cell."""
    name, seed = cell.split("/")
    return on_split(name, int(seed)) if name in SETS else on_noise(int(name.split()[0]), int(seed))


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """The numbers of all cells as the page shows them."""
    runs = [row for cell, rows in found.items() if cell.split("/")[0] in SETS for row in rows]
    return compared(runs, [row for cell, rows in found.items() if cell.split("/")[0] not in SETS for row in rows])


def compared(runs: list[dict[str, Any]], noise: list[dict[str, Any]]) -> dict[str, Any]:
    """Ratios to the Gaussian kernel over sets, with intervals; on noise the promised cost minus the true one."""
    found: dict[str, Any] = {"ratio": {}, "noise": []}
    sets = sorted({row["set"] for row in runs})

    def of(name: str, costs: str, kernel: str, what: str) -> list[float]:
        rows = [row for row in runs if (row["set"], row["costs"], row["method"]) == (name, costs, kernel)]
        return [float(row[what]) for row in rows]

    def level(name: str, costs: str, kernel: str) -> float:
        paid = of(name, costs, kernel, "cost")
        return max(float(np.mean(paid)), COSTS[costs].reject_negative / (len(paid) * described(name)["test_rows"]))

    for kernel in KERNELS[1:] if len(sets) > 1 else ():
        logs, times = [], []
        for name in sets:
            logs.append(float(np.mean([np.log(level(name, c, kernel) / level(name, c, "rbf")) for c in COSTS])))
            seconds = [sum(sum(of(name, c, one, "seconds")) for c in COSTS) for one in (kernel, "rbf")]
            times.append(float(np.log(seconds[0] / seconds[1])))
        found["ratio"][kernel] = {"cost": as_ratio(over_sets(logs)), "seconds": as_ratio(over_sets(times))}
    autos = [row for row in runs if row["method"] == "auto"]
    found["laplacian_chosen"] = float(np.mean([row["chosen"] == "laplacian" for row in autos])) if autos else None
    found["splits"] = len({row["seed"] for row in runs})
    for rows in sorted({row["rows"] for row in noise}):
        for kernel in KERNELS:
            gaps = [row["promised"] - row["cost"] for row in noise if (row["rows"], row["kernel"]) == (rows, kernel)]
            error = float(np.std(gaps, ddof=1) / np.sqrt(len(gaps))) if len(gaps) > 1 else None
            found["noise"].append(
                {"rows": rows, "kernel": kernel, "tables": len(gaps), "gap": float(np.mean(gaps)), "error": error}
            )
    return found
