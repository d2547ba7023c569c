"""Several tasks over the same rows, and the native call that solves them, for tests of it."""

from dataclasses import replace
from itertools import chain

import numpy as np
from scipy.sparse import csr_array

from abstain import _native
from abstain.costs.costs import Costs
from abstain.dual.problem import DualProblem, native_task
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import double_hinge, hinge
from abstain.solvers.native import native_rows

SCALES = np.array([0.3, 2.0, 10.0])
LOSSES = [hinge(), double_hinge(Costs(reject=0.2)), double_hinge(Costs(1, 5, 0.3))]


def classes(rows=90, storage="dense", kernel=None):
    """One problem per class against the rest, with its own loss and weights, over the same rows."""
    rng = np.random.default_rng(rows)
    label = rng.integers(0, 3, rows)
    X = rng.normal(size=(rows, 3)) + 1.2 * np.eye(3)[label]
    kernel = kernel or Kernel("rbf", gamma=0.4)
    if storage == "sparse":
        X = csr_array(np.where(np.abs(X) < 0.3, 0.0, X))
    if storage == "precomputed":
        X, kernel = kernel(X), Kernel("precomputed")
    return [
        DualProblem(kernel, X, np.where(label == k, 1, -1).astype(np.int8), loss, rng.uniform(0.5, 1.5, rows))
        for k, loss in enumerate(LOSSES)
    ]


def flat(solutions):
    return list(chain.from_iterable(solutions))


def at(problem, scale):
    return replace(problem, weight=scale * problem.weight)


def call(problems, **changes):
    """The native call itself, with what a test changes."""
    tasks = [native_task(problem.sign, problem.loss, problem.weight) | {"scales": SCALES} for problem in problems]
    settings = {
        "gammas": np.array([problems[0].kernel.gamma]),
        "tasks": tasks,
        "method": "auto",
        "tol": 1e-3,
        "max_iter": 10_000_000,
        "seconds": np.inf,
        "cache_size": 500.0,
        "threads": 1,
        "coefficients": True,
        "report": None,
    }
    return _native.solve_many(**(native_rows(problems[0]) | settings | changes))
