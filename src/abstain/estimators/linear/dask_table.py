"""Dask arrays as a training table: blocks of rows, and what a fit must know about them before it begins."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from dask.base import compute
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

from abstain.arguments import is_dask, row_weights
from abstain.compressed import check_indices
from abstain.costs.answers import AnswerTable
from abstain.costs.per_row import row_cells, row_table
from abstain.costs.table import CostTable
from abstain.estimators.fitting.lazy import one_column_chunk
from abstain.estimators.linear.linear_fit import check_reach
from abstain.kernels import Kernel
from abstain.labels import Labels, label_vector
from abstain.solvers.dask_rounds import tasks
from abstain.solvers.dask_rows import as_rows


@dataclass(frozen=True, eq=False)
class Profile:
    """What a fit must know about the rows of a block.

    Attributes
    ----------
    total : float64 array of shape (d,)
        The sum of the rows.
    squares : (float, float)
        The sum and the largest of the squared norms of sparse rows.
    sparse : bool
    classes : ndarray
        The labels that occur.
    weight, staked : float64 arrays, one entry for each of the classes
        The sums of the sample weights, and of the weights times the stake of the row.
    stakes : (float, float)
        The smallest and the largest stake.
    largest_cost : float
    uneven : CostTable or None
        For two classes, the costs of the first row where they differ by class.
    """

    total: NDArray[np.float64]
    squares: tuple[float, float]
    sparse: bool
    classes: NDArray[Any]
    weight: NDArray[np.float64]
    staked: NDArray[np.float64]
    stakes: tuple[float, float]
    largest_cost: float
    uneven: CostTable | None


@dataclass(frozen=True, eq=False)
class DaskTable:
    """Blocks of rows: the non-empty chunks of X, and the same rows of y, of the weights and of the costs.

    Attributes
    ----------
    X, y, weight, costs : list
        Delayed chunks, or arrays; None for an argument that is None.
    first : list of int
        The first row of each block.
    shape : (int, int)
    """

    X: Sequence[Any]
    y: Sequence[Any]
    weight: Sequence[Any]
    costs: Sequence[Any]
    first: Sequence[int]
    shape: tuple[int, int]

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, row_costs: Any) -> Self:
        """Divide the arguments of a fit into blocks; only unknown chunk sizes are computed."""
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, rows and features; its shape is {X.shape}.")
        X = _sized(one_column_chunk(X))
        n, d = X.shape
        if n == 0 or d == 0:
            raise ValueError(f"X has shape {X.shape}; a fit needs at least one row and one feature.")
        sizes = X.chunks[0]
        if not is_dask(sample_weight):
            sample_weight = row_weights(sample_weight, n)
        if row_costs is not None and not is_dask(row_costs):
            row_costs = row_cells(row_costs)
        parts = (
            _split("y", y if is_dask(y) else label_vector(y, "y"), sizes),
            _split("sample_weight", sample_weight, sizes),
            _split("row_costs", row_costs, sizes),
        )
        first = np.cumsum([0, *sizes[:-1]]).tolist()
        full = [at for at, size in enumerate(sizes) if size]
        blocks = [[part[at] for at in full] for part in (X.to_delayed().ravel().tolist(), *parts, first)]
        return cls(blocks[0], blocks[1], blocks[2], blocks[3], blocks[4], (n, d))

    def tasks(self, work: Any, *columns: str) -> list[Any]:
        """Return a delayed task for each block; its arguments are the first row, then these columns."""
        return tasks(work, zip(*(getattr(self, name) for name in ("first", *columns)), strict=True))

    def profiles(self, costs: CostTable | None = None) -> list[Profile]:
        """Check all rows, in one round; `costs` has the actions that the rows have costs for."""
        profile = partial(_profile, self.shape[1], None if costs is None or costs.answering else costs)
        return list(compute(*self.tasks(profile, "X", "y", "weight", "costs")))


def _sized(values: Any) -> Any:
    """Compute chunk sizes if they are unknown; the caller's array does not change."""
    if not np.isnan(values.shape[0]):
        return values
    return values.copy().compute_chunk_sizes()


def _split(name: str, values: Any, sizes: tuple[int, ...]) -> Sequence[Any]:
    """Divide a column into the blocks of X."""
    if values is None:
        return [None] * len(sizes)
    if is_dask(values):
        values = _sized(values)
    n = sum(sizes)
    if values.shape[0] != n:
        raise ValueError(f"{name} must have an entry for each of the {n} rows of X; it has {values.shape[0]}.")
    if is_dask(values):
        chunks = (sizes, *((size,) for size in values.shape[1:]))
        values = values if values.chunks == chunks else values.rechunk(chunks)
        return list(values.to_delayed().ravel())
    return np.split(values, np.cumsum(sizes)[:-1])


@contextmanager
def located(first: int) -> Iterator[None]:
    """Say in an error where the chunk is."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"in the chunk that begins at row {first}, with rows counted from there: {error}") from error


def _profile(width: int, like: CostTable | None, first: int, chunk: Any, y: Any, *columns: Any) -> Profile:
    weight, costs = columns
    with located(first):
        if issparse(chunk):
            check_indices(chunk)
        check_array(chunk, accept_sparse=True, dtype=None, ensure_min_samples=0, input_name="X")
        if chunk.dtype.kind not in "fiub":
            raise ValueError(f"X must be numeric, not of dtype {chunk.dtype}; convert it with X.astype(float).")
        X = as_rows(chunk)
        labels = label_vector(y, "y")
        if X.shape != (len(labels), width):
            raise ValueError(
                f"X has the shape {X.shape} and y has {len(labels)} labels, but the dask array has {width} columns; "
                "state the true chunks of X and y, or let X.compute_chunk_sizes() find them."
            )
        check_reach(X)
        weights = block_weights(weight, len(labels))
        classes, code = np.unique(labels, return_inverse=True)
        held: Any = np.bincount(code, weights=weights, minlength=len(classes))
        squares = Kernel("linear").diagonal(X) if issparse(X) else np.zeros(1)
        total = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()
        about = (total, (float(squares.sum()), float(squares.max())), bool(issparse(X)), classes, held)
        if costs is None:
            return Profile(*about, held, (1.0, 1.0), 0.0, None)
        found = np.asarray(costs)
        numbered = Labels.named(np.arange(2 if found.ndim == 2 else found.shape[1]), rejects=True)
        own = row_table(found, numbered, like, len(labels))
        stakes = own.stakes
        staked: Any = np.bincount(code, weights=weights * stakes, minlength=len(classes))
        odd = np.zeros(0, dtype=np.intp)
        if isinstance(own, AnswerTable) and own.n_classes == 2:
            odd = np.flatnonzero(~own.even_rows)
        uneven = own.take(odd[:1]) if len(odd) else None
        range_of_stakes = (float(stakes.min()), float(stakes.max()))
        return Profile(*about, staked, range_of_stakes, float(own.values.max()), uneven)


def block_weights(weight: Any, n: int) -> NDArray[np.float64]:
    """Return the sample weights of a block; in one block, but not in all, they may all be 0."""
    if weight is None:
        return np.ones(n)
    found = np.asarray(weight, dtype=np.float64)
    if found.shape == (n,) and not found.any():
        return found
    checked: Any = row_weights(found, n)
    return np.asarray(checked)
