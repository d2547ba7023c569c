"""Decisions on dask arrays: each chunk is scored and decided when its result is computed."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from abstain.arguments import is_dask


def one_column_chunk(X: Any) -> Any:
    """Return the dask array with all features of a row in one chunk."""
    return X if X.ndim < 2 or X.numblocks[1] == 1 else X.rechunk({1: -1})


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


def applied(function: Callable[..., Any], score: Any, row_costs: Any = None, sample: Any = None) -> Any:
    """Return `function(score)`, or of each chunk of scores; with `row_costs`, `function(score, row_costs)`.

    The costs get the chunks of the scores; `sample` has possible costs of one row.
    """
    costs, of_one = ((), ()) if row_costs is None else ((row_costs,), (sample,))
    if isinstance(score, np.ndarray):
        return function(score, *costs)
    meta = np.asarray(function(np.zeros((1, *score.shape[1:])), *of_one))
    import dask.array as da

    given: tuple[Any, ...] = (score, "nk"[: score.ndim])
    if row_costs is not None:
        lazy = row_costs if is_dask(row_costs) else da.from_array(np.asarray(row_costs))
        given += (lazy.rechunk((score.chunks[0], *(-1,) * (lazy.ndim - 1))), "nca"[: lazy.ndim])
    kind = {"dtype": meta.dtype, "meta": meta[:0], "new_axes": {"m": meta.shape[1]} if meta.ndim > 1 else {}}
    return da.blockwise(partial(_whole, function), "nm"[: meta.ndim], *given, concatenate=True, **kind)


def _whole(function: Callable[..., Any], *parts: Any) -> Any:
    return np.asarray(function(*parts))
