"""The contenders, all on the same training problem (C = 10, rbf kernel, tol = 1e-3, 1000 MB of cache)."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from data import Sample
from sklearn.svm import SVC

from abstain import Costs, RejectSVC
from abstain.dual.certificate import certify
from abstain.dual.problem import DualProblem
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import double_hinge, hinge

sys.path.append(str(Path(__file__).parents[1] / "experiments"))  # for public_data

C = 10.0
SETTINGS: dict[str, Any] = {"C": C, "tol": 1e-3, "cache_size": 1000}
REJECT = Costs(reject=0.2)
THREADS = {1: "1 thread", 2: "2 threads"}


@dataclass(frozen=True)
class Contender:
    """A named way to fit."""

    name: str
    make: Callable[..., Any]
    costs: Costs | None = None

    def relative_gap(self, sample: Sample, fitted: Any) -> float:
        """Relative duality gap of the solution, by the same float64 certificate for every contender."""
        loss = hinge() if self.costs is None else double_hinge(self.costs)
        weight = np.full(len(sample.y), C)
        problem = DualProblem(Kernel("rbf", gamma=sample.gamma), sample.X, sample.y.astype(np.int8), loss, weight)
        beta = np.zeros(len(sample.y))
        beta[fitted.support_] = np.asarray(fitted.dual_coef_).ravel()
        return float(certify(problem, beta, float(np.ravel(fitted.intercept_)[0])).relative_gap)


def contenders() -> list[Contender]:
    """scikit-learn's SVC first: the others are compared with it."""
    found = [Contender("SVC", partial(SVC, **SETTINGS))]
    try:
        from sklearnex import svm as intel
    except ImportError:
        pass  # optional; the table is made without it
    else:
        for threads, words in THREADS.items():
            make = partial(intel.SVC, n_jobs=threads, **SETTINGS)
            found.append(Contender(f"sklearnex SVC, {words}", make))
    for name, costs in (("hinge", None), ("double hinge", REJECT)):
        for threads, words in THREADS.items():
            make = partial(RejectSVC, costs, n_jobs=threads, **SETTINGS)
            found.append(Contender(f"RejectSVC {name}, {words}", make, costs))
    return found


def timed(call: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    """Wall seconds and the return value of the call."""
    start = time.perf_counter()
    result = call(*arguments)
    return time.perf_counter() - start, result


def geometric_mean(values: Iterable[float]) -> float:
    """Geometric mean of positive numbers."""
    return float(np.exp(np.mean(np.log(list(values)))))
