"""Decisions on dask arrays: each chunk is scored and decided when its result is computed."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.arguments import is_dask


def one_column_chunk(X: Any) -> Any:
    """Return the dask array with all features of a row in one chunk."""
    return X if X.ndim < 2 or X.numblocks[1] == 1 else X.rechunk({1: -1})


def lazy_score(estimator: Any, X: Any, n_classes: int) -> Any:
    """Return the scores of the rows of a dask array by a fitted estimator that nothing changes."""
    return lazy_rows(_scores, estimator, X, (n_classes,) if n_classes > 2 else ())


def lazy_rows(work: Callable[[Any, Any], Any], estimator: Any, X: Any, width: tuple[int, ...]) -> Any:
    """Return `work(estimator, chunk)` for each chunk as a dask array of float64, with `width` columns if any."""
    import dask.array as da
    from dask.delayed import delayed

    expected = getattr(estimator, "n_features_in_", None)
    if X.ndim != 2 or (expected is not None and X.shape[1] != expected):
        raise ValueError(f"X must have {expected} columns, as the training rows had; its shape is {X.shape}.")
    X = one_column_chunk(X)
    now = delayed(estimator, pure=False, traverse=False)  # one for all chunks
    task = delayed(partial(_of_chunk, work, width), pure=False)
    parts = [
        da.from_delayed(task(now, chunk), (size, *width), dtype=np.float64)
        for size, chunk in zip(X.chunks[0], X.to_delayed().ravel(), strict=True)
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def _of_chunk(work: Callable[[Any, Any], Any], width: tuple[int, ...], estimator: Any, chunk: Any) -> Any:
    return work(estimator, chunk) if chunk.shape[0] else np.empty((0, *width))


def _scores(estimator: Any, chunk: Any) -> NDArray[np.float64]:
    return np.asarray(estimator.decision_function(chunk))


def applied(function: Callable[..., Any], score: Any, row_costs: Any = None, sample: Any = None) -> Any:
    """Return `function(score)`, or of each chunk of scores; with `row_costs`, `function(score, row_costs)`.

    `sample` has possible costs of one row.
    """
    if isinstance(score, np.ndarray):
        return function(score) if row_costs is None else function(score, row_costs)
    one = np.zeros((1, *score.shape[1:]))
    meta = np.asarray(function(one) if row_costs is None else function(one, sample))
    import dask.array as da

    rows = "nk"[: score.ndim]
    out = "nm"[: meta.ndim]
    axes = {"m": meta.shape[1]} if meta.ndim > 1 else {}
    given: tuple[Any, ...] = (score, rows)
    if row_costs is not None:
        costs = _like(row_costs, score)
        given += (costs, "nca"[: costs.ndim])
    return da.blockwise(
        partial(_whole, function),
        out,
        *given,
        dtype=meta.dtype,
        new_axes=axes,
        concatenate=True,
        meta=meta[:0],
    )


def _whole(function: Callable[..., Any], *parts: Any) -> Any:
    return np.asarray(function(*parts))


def _like(row_costs: Any, score: Any) -> Any:
    """Row costs in the chunks of the scores."""
    import dask.array as da

    if not is_dask(row_costs):
        row_costs = da.from_array(np.asarray(row_costs))
    return row_costs.rechunk((score.chunks[0], *(-1,) * (row_costs.ndim - 1)))
