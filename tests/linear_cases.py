"""Problems of linear machines on odd rows, and their optimum by a general solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

import clarabel_qp
from abstain import Costs
from abstain.dual.linear_certificate import LinearProblem
from abstain.dual.problem import DualProblem
from abstain.estimators.linear.linear_fit import row_centre
from abstain.kernels import Kernel
from abstain.losses.margin_loss import in_sequence
from abstain.losses.tangent_hinge import double_hinge, hinge

LOSSES = {"hinge": hinge(), "double hinge": double_hinge(Costs(1, 5, 0.3))}
NAMES = ["wide", "few rows", "duplicates", "zero rows", "one feature", "weights 0", "huge C", "scales", "far", "single"]


def posed(name: str, loss, *, sparse: bool) -> LinearProblem:
    rng = np.random.default_rng(sum(map(ord, name)))
    n, d = {"few rows": (4, 30), "one feature": (40, 1)}.get(name, (60, 150))
    X = rng.standard_normal((n, d))
    if sparse or name == "zero rows":
        X *= rng.random((n, d)) < 0.1
    if name == "duplicates":
        X = X[np.arange(n) % 25]
    if name == "zero rows":
        X[::4] = 0.0
    if name == "scales":
        X *= np.logspace(-2, 2, d)
    if name == "far" and not sparse:
        X += 1e5
    y = np.where(np.arange(n) % 3 > 0, 1, -1).astype(np.int8)
    weight = np.full(n, 1e6 if name == "huge C" else 1.0)
    if name == "weights 0":
        weight[::5] = 0.0
    if name == "single":
        X = X.astype(np.float32)
    rows = csr_array(X) if sparse else X
    return LinearProblem(rows, row_centre(rows), y, weight, loss)


def optimum(problem: LinearProblem) -> float:
    X = np.asarray(problem.X.todense() if hasattr(problem.X, "todense") else problem.X, dtype=np.float64)
    X = np.ascontiguousarray(X - X.mean(axis=0))
    return clarabel_qp.primal_optimum(DualProblem(Kernel("linear"), X, problem.sign, problem.loss, problem.weight))


def beside(problems: list[LinearProblem]) -> LinearProblem:
    """Problems over the same rows as one value."""
    signs, weights = ([getattr(one, name) for one in problems] for name in ("sign", "weight"))
    loss = in_sequence([one.loss for one in problems], signs)
    return replace(problems[0], sign=np.concatenate(signs), weight=np.concatenate(weights), loss=loss)
