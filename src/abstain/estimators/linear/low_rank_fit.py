"""Fit low-rank kernel machines: linear machines on the features of landmarks, in memory or computed for every pass."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.dual.linear_certificate import LowRankProblem
from abstain.dual.problem import Task
from abstain.dual.proof import Proof
from abstain.estimators.fitting.posing import centrable, resolved_kernel
from abstain.estimators.fitting.training import Training
from abstain.estimators.linear.landmarks import chosen_landmarks
from abstain.estimators.linear.linear_fit import POLISHED, fitted_machine, fitted_tasks
from abstain.kernels import Matrix
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.landmark_features import LandmarkFeatures
from abstain.solvers.linear import LinearNewton
from abstain.solvers.linear_blocks import BlockSums, MixedSums
from abstain.solvers.linear_rows import LocalSums

MEGABYTE = 1e6
SHARE = 8  # a block of kernel values takes 1 / SHARE of the memory limit
LEAST_BLOCK = 1024  # rows


def check_low_rank(estimator: Any) -> bool:
    """Whether an estimator's parameters ask for a low-rank kernel machine; an error if they contradict each other."""
    kernel, count = estimator.kernel, estimator.n_components
    if kernel == "precomputed":
        raise ValueError('kernel="precomputed" has no landmarks; use RejectSVC, or kernel="rbf" with the rows.')
    if kernel != "linear" and count is None:
        raise ValueError(
            f"kernel={kernel!r} needs n_components, the number of landmarks, such as n_components=500; for the exact "
            "kernel machine use RejectSVC."
        )
    return bool(kernel != "linear")


@dataclass(frozen=True, eq=False)
class LandmarkRows:
    """The rows of a fit, and the features of their landmarks, which are stored if they fit into memory.

    Attributes
    ----------
    X : ndarray or CSR of shape (n, n_features)
    features : LandmarkFeatures
    stored : float array of shape (n, r) or None
        In float32 unless there are few rows; None if the kernel values are computed for every pass.
    block : int
        The number of rows with kernel values in memory at a time.
    n_jobs : int or None
    """

    X: Matrix
    features: LandmarkFeatures
    stored: NDArray[Any] | None
    block: int
    n_jobs: int | None

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the kernel values."""
        return self.X.shape[0], len(self.features.mix)

    def read(self, block: slice, which: NDArray[np.intp] | None, out: NDArray[np.float64]) -> None:
        """Compute the kernel values of a block of rows, or of some of them."""
        X = self.X[block] if which is None else self.X[block.start + which]
        self.features.values(X, out, self.n_jobs)

    def sums(self, problem: LowRankProblem) -> LocalSums | MixedSums:
        """Return the sums that the solver needs."""
        if self.stored is not None:
            centre = np.zeros(self.stored.shape[1])
            return LocalSums(replace(problem, X=self.stored, centre=centre), self.n_jobs)
        return MixedSums(BlockSums(self, self.block, problem, self.n_jobs), self.features.mix)


def landmark_rows(estimator: Any, X: Matrix, weight: NDArray[np.float64]) -> LandmarkRows:
    """Choose landmarks by an estimator's parameters, and compute the features if they fit into its memory limit."""
    kernel: Any = resolved_kernel(estimator, estimator.gamma, X, weight)
    X = centrable(kernel, X)
    chosen = chosen_landmarks(X, weight, int(estimator.n_components), estimator.landmarks, estimator.random_state)
    features = LandmarkFeatures.of(kernel, chosen)
    n, (m, r) = X.shape[0], features.mix.shape
    limit = float(estimator.memory_limit) * MEGABYTE
    block = max(LEAST_BLOCK, int(limit / SHARE / (8 * m)))
    kind: Any = np.float64 if n <= POLISHED else np.float32
    stored = features.features(X, np.empty((n, r), kind), estimator.n_jobs) if 4.0 * n * r <= limit else None
    return LandmarkRows(X, features, stored, block, estimator.n_jobs)


def low_rank_machines(
    estimator: Any, training: Training, C: float, settings: LinearNewton
) -> tuple[KernelMachine, tuple[Proof, ...]]:
    """Fit the machines of all tasks of a training on the same landmarks."""
    rows = landmark_rows(estimator, training.X, training.sample_weight)
    code, weight = training.code, training.weights(C)

    def fit(tasks: Sequence[Task], now: LinearNewton) -> list[tuple[KernelMachine, Proof]]:
        [task] = tasks
        given = (task.sign(code), task.weight(code, weight), task.loss)
        problem = LowRankProblem(rows.X, np.zeros(0), *given, rows.features, several=len(training.tasks) > 1)
        return [fitted_machine(problem, now, rows.n_jobs, rows.sums(problem))]

    return fitted_tasks(training.tasks, settings, fit, _joined)


def _joined(machines: Sequence[KernelMachine]) -> KernelMachine:
    coef, bias = (np.concatenate([getattr(one, name) for one in machines]) for name in ("coef", "bias"))
    return replace(machines[0], coef=coef, bias=bias)
