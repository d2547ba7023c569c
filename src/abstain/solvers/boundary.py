"""What the native core reads: the dual problem as arrays of the right kind, and the number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import cpu_count
from scipy.sparse import issparse

from abstain.dual.problem import DualProblem

__all__ = ["native_problem", "threads"]


def native_problem(problem: DualProblem) -> dict[str, Any]:
    """Give the problem as keywords of the native solvers; what conversion is needed happens here."""
    kernel = problem.kernel
    knots, slopes = problem.loss.tables()
    return {
        "data": _rows(problem),
        "kernel": kernel.name,
        "gamma": kernel.gamma,
        "coef0": kernel.coef0,
        "degree": kernel.degree,
        "sign": problem.sign,
        "weight": problem.weight,
        "knots": knots,
        "slopes": slopes,
    }


def _rows(problem: DualProblem) -> dict[str, Any]:
    X = problem.X
    if not issparse(X):
        name = "gram" if problem.kernel.name == "precomputed" else "X"
        return {name: np.require(X, np.float64, ["C", "A"])}
    return {
        "values": np.require(X.data, np.float64, ["C", "A"]),
        "columns": np.require(X.indices, np.int32, ["C", "A"]),
        "starts": np.require(X.indptr, np.int64, ["C", "A"]),
        "features": X.shape[1],
    }


def threads(n_jobs: int | None) -> int:
    """Count threads as joblib does: None is one, -1 all the processors, -2 all but one."""
    if n_jobs is None:
        return 1
    return max(1, n_jobs if n_jobs > 0 else cpu_count() + 1 + n_jobs)
