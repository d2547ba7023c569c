"""Active set against SMO by rows, C and tolerance, with time and the gap reached."""

from __future__ import annotations

import argparse
import json
import warnings
from itertools import product
from typing import Any

import numpy as np
from contenders import REJECT, timed
from data import Sample, generated
from sklearn.exceptions import ConvergenceWarning

from abstain import RejectSVC
from abstain.dual.certificate import certify
from abstain.dual.problem import DualProblem
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import double_hinge

SOLVERS = ("smo", "active-set", "auto")
STRENGTHS = (0.1, 10.0, 1000.0)
TOLERANCES = (1e-3, 1e-6)
TIME_LIMIT = 60.0


def gap(sample: Sample, machine: RejectSVC) -> float:
    """Relative duality gap of the solution, computed in float64 from its coefficients and bias alone."""
    weight = np.full(len(sample.y), float(machine.C))
    kernel = Kernel("rbf", gamma=sample.gamma)
    problem = DualProblem(kernel, sample.X, sample.y.astype(np.int8), double_hinge(REJECT), weight)
    beta = np.zeros(len(sample.y))
    beta[machine.support_] = machine.dual_coef_[0]
    return float(certify(problem, beta, float(machine.intercept_[0])).relative_gap)


def measure(sample: Sample, C: float, tol: float, repeats: int) -> dict[str, Any]:
    """The solvers take turns; the best time of each counts."""
    seconds: dict[str, list[float]] = {solver: [] for solver in SOLVERS}
    fitted: dict[str, RejectSVC] = {}
    for _ in range(repeats):
        for solver in SOLVERS:
            machine = RejectSVC(
                REJECT, C=C, gamma=sample.gamma, tol=tol, solver=solver, time_limit=TIME_LIMIT, cache_size=1000
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # shown in the table
                elapsed, fitted[solver] = timed(machine.fit, sample.X, sample.y)
            seconds[solver].append(elapsed)
    return {
        "rows": len(sample.y),
        "C": C,
        "tol": tol,
        "solvers": {
            solver: {
                "seconds": min(seconds[solver]),
                "relative_gap": gap(sample, fitted[solver]),
                "iterations": int(fitted[solver].n_iter_),
                "status": fitted[solver].status_,
            }
            for solver in SOLVERS
        },
        "between": int(np.sum(fitted["active-set"].sets_ % 2)),  # rows of the linear system
    }


def run(smallest: int = 250, doublings: int = 4, repeats: int = 2) -> dict[str, Any]:
    """Sizes ``smallest * 2^k`` of one generated set, every C and tolerance."""
    sizes = [smallest * 2**k for k in range(doublings + 1)]
    settings = list(product(STRENGTHS, TOLERANCES))
    cases = [measure(sample, *setting, repeats) for sample in map(generated, sizes) for setting in settings]
    return {"repeats": repeats, "time_limit": TIME_LIMIT, "cases": cases}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smallest", type=int, default=250)
    parser.add_argument("--doublings", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=2)
    print(json.dumps(run(**vars(parser.parse_args())), indent=2))
