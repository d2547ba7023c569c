"""The certificate and feasible coefficients in NumPy: the reference for those of the core."""

import numpy as np

from abstain.dual.certificate import UNBALANCED, Measures
from abstain.dual.problem import ROUNDING

ROUNDED = 1e-12


def measures(problem, beta, F, bias):
    """What `Measures.of` returns at a given bias."""
    f, top, g, size = F + bias, problem.breakpoint(problem.loss.n_knots), problem.sign * beta, np.abs(beta)
    losses, duals, half = problem.losses(f), problem.dual_values(beta), 0.5 * float(beta @ F)
    excess = float(beta.sum()) - problem.total
    up, down = gains(problem, beta, F)
    return Measures(
        bias=bias,
        primal=half + float(losses.sum()) + problem.total * bias,
        dual=float(duals.sum()) - half,
        gap=float(np.abs(losses + beta * f - duals).sum()) + abs(bias * excess),
        pairs=max(0.0, float(up.max()) - float(down.min())),
        outside=max(0.0, float((-g).max()), float((g - top).max())),
        excess=excess,
        size=float(size.sum()),
        length=float(np.linalg.norm(beta)),
        reach=float(np.linalg.norm(top + size)),
        top=float(top.max()),
        room=min((b / a for a, b in zip(g, problem.breakpoint(1), strict=True) if a > 0), default=np.inf),
    )


def gains(problem, beta, F):
    """Each row's up, the gain of increasing its beta, and down, minus the gain of decreasing it, per unit.

    ::

        y_i = +1:  up = phi'(g+) - F_i,   down = phi'(g-) - F_i
        y_i = -1:  up = -phi'(g-) - F_i,  down = -phi'(g+) - F_i
    """
    K, g, positive = problem.loss.n_knots, problem.sign * beta, problem.sign > 0
    slack = ROUNDING * problem.breakpoint(K)
    slopes = [*problem.knots.T[::-1], -np.inf]
    right = slopes[0]
    left = np.where(g <= slack, np.inf, right)
    for k in range(1, K + 1):
        at, following = problem.breakpoint(k), slopes[k]
        right = np.where(at <= g + slack, following, right)
        if k < K:
            left = np.where(at < g - slack, following, left)
    return np.where(positive, right, -left) - F, np.where(positive, left, -right) - F


def feasible(problem, beta):
    """What `certificate.feasible` returns."""
    top, size = problem.breakpoint(problem.loss.n_knots), np.abs(beta)
    given = problem.sign * np.where((size <= ROUNDED * size.max()) & (size < top), 0.0, beta)
    g = given.clip(0.0, top)
    missing = problem.total - float(problem.sign @ g)
    if problem.total != 0.0:
        if abs(missing) > UNBALANCED * g.sum() or (g != given).any():
            rises = problem.sign * np.sign(missing) > 0
            room = np.where(rises, top - g, g)
            share = min(1.0, abs(missing) / max(float(room.sum()), 1e-300))
            g = np.clip(g + np.where(rises, share, -share) * room, 0.0, top)
    elif abs(missing) > 0.5 * UNBALANCED * g.sum() or (g != given).any():
        sums = {y: float(g[problem.sign == y].sum()) for y in (-1, 1)}
        g = g * np.where(problem.sign > 0, *(min(sums.values()) / (sums[y] or 1.0) for y in (1, -1)))
    return problem.sign * g
