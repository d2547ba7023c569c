"""The landmarks of a low-rank kernel machine: distinct rows drawn at random, or the centres of clusters of rows."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils import check_random_state

from abstain.kernels import Matrix

LANDMARKS = ("rows", "k-means")
SAMPLE = 50  # rows that are sampled for each landmark,
LEAST_SAMPLE = 20_000  # and at least this many
LEAST_ROWS = 5  # distinct rows of a cluster whose centre may become a landmark


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
