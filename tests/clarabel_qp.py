"""The judge: optimal values by a general QP solver (Clarabel), from the training problem's definition.

`primal_optimum` knows only the loss as a maximum of lines; `dual_optimum` knows only the dual of docs/theory.md, one
unknown per piece. Neither uses anything of abstain but the data of a `DualProblem`.
"""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse


def primal_optimum(problem) -> float:
    """min 1/2 |v|^2 + w.t + total bias   s.t.  f = V v + bias,  t_i >= 0,  t_i >= c_k + s_k y_i f_i,  where K = V V'.

    The unknowns are (v, bias, f, t); the value is measured in units of the largest weight, v in those of its root.
    """
    n, unit = problem.n, problem.weight.max()
    V = np.sqrt(unit) * _root(_gram(problem))
    rank = V.shape[1]
    eye, zero, column = sparse.eye_array(n), sparse.csc_array((n, n)), np.ones((n, 1))
    lines = _lines(problem)
    P = sparse.block_diag([sparse.eye_array(rank), sparse.csc_array((2 * n + 1, 2 * n + 1))])
    q = np.concatenate([np.zeros(rank), [problem.total / unit], np.zeros(n), problem.weight / unit])
    rows = [[V, column, -eye, zero]]
    rows += [[None, None, sparse.diags_array(problem.sign * slope), -eye] for _, slope in lines]
    rows += [[None, None, None, -eye]]
    bounds = np.concatenate([np.zeros(n), *(-constant for constant, _ in lines), np.zeros(n)])
    return unit * _minimum(P, q, sparse.block_array(rows), bounds, equalities=n)


def dual_optimum(problem) -> float:
    """max sum_ik knot_ik a_ik - 1/2 beta' K beta   s.t.  beta_i = y_i sum_k a_ik, sum beta = total, 0 <= a_ik <= d_ik.

    The unknowns are (beta, a), in units of the largest weight, and so is the value.
    """
    n, unit = problem.n, problem.weight.max()
    K = unit * _gram(problem)
    widths = np.diff(problem.breakpoints, axis=1).T / unit
    pieces = len(widths)
    eye = sparse.eye_array(n * pieces)
    P = sparse.block_diag([K, sparse.csc_array((n * pieces, n * pieces))])
    q = np.concatenate([np.zeros(n), -problem.knots[:, ::-1].T.ravel()])
    add_up = sparse.hstack([-sparse.diags_array(problem.sign.astype(float))] * pieces)
    rows = [[sparse.eye_array(n), add_up], [np.ones((1, n)), None], [None, -eye], [None, eye]]
    bounds = np.concatenate([np.zeros(n), [problem.total / unit], np.zeros(n * pieces), widths.ravel()])
    return -unit * _minimum(P, q, sparse.block_array(rows), bounds, equalities=n + 1)


def _gram(problem) -> np.ndarray:
    K = problem.gram()
    return 0.5 * (K + K.T)


def _root(K: np.ndarray) -> np.ndarray:
    """V with K = V V', as many columns as K has rank."""
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-15 * len(K) * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def _lines(problem) -> list[tuple[np.ndarray, np.ndarray]]:
    """The lines c_k + s_k z of every row's loss, rightmost first, from its knots and slopes."""
    knots, slopes = (table[problem.kind] for table in problem.loss.tables())
    lines, height, right = [], np.zeros(problem.n), knots[:, -1]
    for k in reversed(range(knots.shape[1])):
        height = height + slopes[:, k + 1] * (knots[:, k] - right) if k + 1 < knots.shape[1] else height
        right = knots[:, k]
        lines.append((height - slopes[:, k] * knots[:, k], slopes[:, k]))
    return lines


def _minimum(P, q, A, b, equalities: int) -> float:
    cones = [clarabel.ZeroConeT(equalities), clarabel.NonnegativeConeT(len(b) - equalities)]
    for tol in (1e-11, 1e-9):  # as sharp as it can be had
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
        outcome = clarabel.DefaultSolver(
            sparse.triu(P, format="csc"), q, sparse.csc_array(A), b, cones, settings
        ).solve()
        if str(outcome.status) == "Solved":
            return float(outcome.obj_val)
    raise RuntimeError(f"the judge itself failed: {outcome.status}")
