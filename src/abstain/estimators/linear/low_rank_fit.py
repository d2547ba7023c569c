"""Fit low-rank kernel machines: linear machines on the features of landmarks, in memory or computed for every pass.

The landmarks are distinct rows drawn at random, or the centres of clusters of rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils import check_random_state

from abstain.dual.linear_certificate import LowRankProblem
from abstain.dual.problem import Task
from abstain.dual.proof import Proof
from abstain.estimators.fitting.posing import centrable, resolved_kernel
from abstain.estimators.fitting.training import Training
from abstain.estimators.linear.linear_fit import POLISHED, fitted_machine, fitted_tasks
from abstain.kernels import Matrix
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.landmark_features import LandmarkFeatures
from abstain.solvers.linear import LinearNewton, LocalSums
from abstain.solvers.linear_blocks import BlockSums, MixedSums

MEGABYTE = 1e6
SHARE = 8  # a block of kernel values takes 1 / SHARE of the memory limit
LEAST_BLOCK = 1024  # rows
LANDMARKS = ("rows", "k-means")
SAMPLE = 50  # rows that are sampled for each landmark,
LEAST_SAMPLE = 20_000  # and at least this many
LEAST_ROWS = 5  # distinct rows of a cluster whose centre may become a landmark


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


def chosen_landmarks(X: Matrix, weight: NDArray[np.float64], count: int, way: str, random_state: Any) -> Matrix:
    """Choose at most `count` landmarks among rows of positive weight, in float64, dense or CSR as X is.

    Both ways use a random sample of the rows, and each distinct row of it once: a row that occurs twice, or has a
    weight of 2, counts as one.
    """
    rng = check_random_state(random_state)
    rows = np.flatnonzero(weight)
    most = max(LEAST_SAMPLE, SAMPLE * count)
    if len(rows) > most:
        rows = np.sort(rng.choice(rows, most, replace=False))
    sample = X[rows].astype(np.float64)
    if issparse(sample):
        sample.eliminate_zeros()  # rows that differ only in the zeros they store are equal
    sample = sample[_distinct(sample)]
    if way == "k-means":
        return _centres(sample, count, rng)
    n = sample.shape[0]
    return sample if n <= count else sample[np.sort(rng.choice(n, count, replace=False))]


def _distinct(X: Matrix) -> NDArray[np.intp]:
    """Return the place of the first of each set of equal rows, in an order that depends only on the rows' values."""
    first: dict[bytes, int] = {}
    for place, key in enumerate(_keys(X)):
        first.setdefault(key, place)
    return np.array([first[key] for key in sorted(first)], dtype=np.intp)


def _keys(X: Matrix) -> list[bytes]:
    """Return a key for each row; equal rows have equal keys."""
    if not issparse(X):
        return [row.tobytes() for row in X + 0.0]  # -0.0 becomes 0.0
    columns, ends = X.indices.astype(np.int64), X.indptr.tolist()
    return [columns[a:b].tobytes() + X.data[a:b].tobytes() for a, b in pairwise(ends)]


def _centres(X: Matrix, count: int, rng: Any) -> Matrix:
    """Return the means of clusters of at least five distinct rows; no mean equals one of the rows.

    The centre of a cluster of one row would be the row.
    """
    n = X.shape[0]
    clusters = max(1, min(count, n // LEAST_ROWS))
    kmeans = MiniBatchKMeans(clusters, batch_size=4096, n_init=1, max_iter=20, random_state=rng)
    if issparse(X) and X.nnz <= np.iinfo(np.int32).max:  # scikit-learn's clusters need indices of 32 bits
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    label = kmeans.fit(X).labels_
    rows = np.bincount(label, minlength=clusters)
    large = np.flatnonzero(rows >= LEAST_ROWS)
    member = csr_array((np.ones(n), (label, np.arange(n))), shape=(clusters, n))[large]
    total = member @ X
    centres = np.asarray(total.toarray() if issparse(total) else total) / rows[large, np.newaxis]
    found = csr_array(centres) if issparse(X) else centres
    known = set(_keys(X))
    fresh = [place for place, key in enumerate(_keys(found)) if key not in known]
    if not fresh:
        raise ValueError(
            f'landmarks="k-means" found no cluster of {LEAST_ROWS} or more of the {n} distinct rows; add rows, lower '
            'n_components, or use landmarks="rows", which stores training rows.'
        )
    return found[fresh]
