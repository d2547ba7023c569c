"""The proof that a low-rank kernel machine is the best on its landmarks, computed independently of any solver.

::

    problem  1/2 c' K c + sum_i w_i loss_i(y_i f(x_i)),   f(x) = sum_j c_j k(landmark_j, x) + b,   c = A w
    primal   at the machine that predicts
    dual     sum_i phi_i(gamma_i) - 1/2 s' A (A' K A)^-1 A' s,   s = sum_i y_i gamma_i k(landmarks, x_i)

with 0 <= gamma_i <= top_i and sum_i y_i gamma_i = 0. Any such gamma gives a lower bound on the primal value of every
machine on these landmarks, wherever it came from. All kernel values are computed again in float64, block by block. It
says nothing about machines on other rows: how much the landmarks cost is seen on held-out rows only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from abstain.arguments import one_blas_thread
from abstain.dual.certificate import Certificate
from abstain.dual.linear_certificate import LinearProblem, feasible_gamma, judged, lower_bound
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.landmark_features import LandmarkFeatures

__all__ = ["LowRankProblem", "certify_low_rank"]

BLOCK = 4_000_000  # kernel values in memory at a time: 32 MB


@dataclass(frozen=True, eq=False)
class LowRankProblem(LinearProblem):
    """Signed rows, a weighted loss, and the landmarks of the machine; no array is copied.

    Attributes
    ----------
    features : LandmarkFeatures
    """

    features: LandmarkFeatures

    def blocks(self) -> Iterator[slice]:
        """Slices of rows whose kernel values fit into memory."""
        step = max(1, BLOCK // max(len(self.features.mix), self.X.shape[1]))
        for first in range(0, self.X.shape[0], step):
            yield slice(first, first + step)


def certify_low_rank(
    problem: LowRankProblem, machine: KernelMachine, gamma: NDArray[np.float64], n_jobs: int | None = None
) -> Certificate:
    """Certify a machine on the landmarks, with gamma clipped and balanced where it must be."""
    gamma = feasible_gamma(problem, gamma)
    beta, A, c = problem.sign * gamma, problem.features.mix, machine.coef
    gram = problem.features.kernel(problem.features.landmarks)
    sums, losses, reach = np.zeros(len(A)), 0.0, 0.0
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        for rows in problem.blocks():
            X, sign = problem.X[rows], problem.sign[rows]
            losses += float(problem.weight[rows] @ problem.loss.take(rows).value(sign, sign * machine.score(X, n_jobs)))
            values = problem.features.values(X, n_jobs=n_jobs)
            sums += beta[rows] @ values
            reach += float(problem.weight[rows] ** 2 @ np.einsum("ij,ij->i", values, values))
        factor = cho_factor(A.T @ gram @ A)
        best = A @ cho_solve(factor, A.T @ sums, check_finite=False)  # the coefficients of the dual's own machine
        duals = float(problem.loss.dual_value(problem.sign, gamma, problem.weight).sum())
        primal = 0.5 * float(c @ gram @ c) + losses
        dual, best = lower_bound(duals - 0.5 * float(sums @ best), best)
        # a score is off by about eps |k(landmarks, x)| |c|, and a loss by its weight and steepest slope times that
        steep = float(np.linalg.norm(c)) * problem.loss.steepest
        violation = float(np.sqrt(max(0.0, float((c - best) @ gram @ (c - best)))))
        return judged(primal, dual, steep * np.sqrt(reach) + losses, violation)
