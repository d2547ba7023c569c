"""The whole path in C against separate exact fits, and a sweep over reject costs against separate fits."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from typing import Any

import numpy as np
from contenders import C, geometric_mean, timed
from data import Sample, generated, small_samples

from abstain import Costs, RejectSVC, reject_price_sweep, reject_svc_path

KERNELS = ("rbf", "linear")
COSTS = {
    "hinge": None,
    "reject 0.2": Costs(reject=0.2),
    "1 : 5, reject 0.3": Costs(1, 5, 0.3),
}
C_MIN, C_MAX = 1e-2, 1e3
COLD_FITS = np.logspace(-2, 3, 11)  # spread like the path; their mean is "one cold exact fit"
PRICES = np.linspace(0.45, 0.03, 15)


def measure_path(sample: Sample, kernel: str, costs: Costs | None, repeats: int) -> dict[str, Any]:
    """Path and cold fits take turns; the best time of each counts."""
    path_seconds, fit_seconds = [], []
    machine = RejectSVC(costs, kernel=kernel, gamma=sample.gamma, solver="active-set")
    for _ in range(repeats):
        fits = [timed(machine.set_params(C=strength).fit, sample.X, sample.y)[0] for strength in COLD_FITS]
        fit_seconds.append(float(np.mean(fits)))
        seconds, path = timed(lambda: follow(sample, kernel, costs))
        path_seconds.append(seconds)
    return {
        "breakpoints": len(path.breakpoints),
        "path_seconds": min(path_seconds),
        "fit_seconds": min(fit_seconds),
        "ratio": min(path_seconds) / min(fit_seconds),
    }


def follow(sample: Sample, kernel: str, costs: Costs | None) -> Any:
    """The path of this machine."""
    return reject_svc_path(
        sample.X, sample.y, costs, kernel=kernel, gamma=sample.gamma, C_min=C_MIN, C_max=C_MAX, n_jobs=1
    )


def measure_sweep(sample: Sample, repeats: int) -> dict[str, Any]:
    """The same fits, warm-started from the neighbour and cold."""
    machine = RejectSVC(Costs(), C=C, gamma=sample.gamma)

    def alone() -> list[RejectSVC]:
        prices = [replace(machine.costs, reject=float(price)) for price in PRICES]
        return [RejectSVC(costs, C=C, gamma=sample.gamma).fit(sample.X, sample.y) for costs in prices]

    def swept() -> list[RejectSVC]:
        return reject_price_sweep(machine, sample.X, sample.y, PRICES.tolist())

    seconds: dict[str, list[float]] = {"sweep": [], "separate": []}
    fitted: dict[str, list[RejectSVC]] = {}
    for _ in range(repeats):
        for name, work in (("sweep", swept), ("separate", alone)):
            elapsed, fitted[name] = timed(work)
            seconds[name].append(elapsed)
    return {
        "set": sample.name,
        "rows": len(sample.y),
        "prices": len(PRICES),
        "seconds": {name: min(times) for name, times in seconds.items()},
        "iterations": {name: sum(machine.n_iter_ for machine in machines) for name, machines in fitted.items()},
        "ratio": min(seconds["sweep"]) / min(seconds["separate"]),
    }


def run(rows: int | None = None, repeats: int = 3) -> dict[str, Any]:
    """All sets, kernels and costs; then the sweeps, also on a set beyond the small ones."""
    sets = list(small_samples(rows))
    paths: list[dict[str, Any]] = [
        {"set": sample.name, "rows": len(sample.y), "kernel": kernel, "costs": name}
        | measure_path(sample, kernel, costs, repeats)
        for sample in sets
        for kernel in KERNELS
        for name, costs in COSTS.items()
    ]
    sweeps = [measure_sweep(sample, repeats) for sample in (*sets, generated(rows or 5000))]
    return {
        "repeats": repeats,
        "C_min": C_MIN,
        "C_max": C_MAX,
        "paths": paths,
        "mean_ratio": geometric_mean(path["ratio"] for path in paths),
        "worst_ratio": max(path["ratio"] for path in paths),
        "sweeps": sweeps,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, help="reduce every set to this many rows, for a trial")
    parser.add_argument("--repeats", type=int, default=3)
    print(json.dumps(run(**vars(parser.parse_args())), indent=2))
