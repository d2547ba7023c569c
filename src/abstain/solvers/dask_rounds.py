"""Rounds of a dask cluster, or of its scheduler for threads: tasks for all blocks, and the sum of their results."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from operator import add
from typing import Any
from uuid import uuid4

from dask.base import compute, persist
from dask.delayed import delayed

FAN_IN = 8  # partial sums that one task adds


def tasks(work: Callable[..., Any], blocks: Iterable[Sequence[Any]]) -> list[Any]:
    """Return the delayed results of `work` on the arguments of each block; a scheduler sees them as one group."""
    name = f"{getattr(work, 'func', work).__name__.strip('_')}-{uuid4().hex}"
    task = delayed(work, pure=False)
    return [task(*block, dask_key_name=(name, at)) for at, block in enumerate(blocks)]


def summed(
    parts: Sequence[Any], *, plus: Callable[[Any, Any], Any] | None = None, of: Callable[[Any], Any] | None = None
) -> Any:
    """Compute the sum of delayed parts, or `of` them, added on the workers in their order, a few at a time."""
    while True:
        groups = (parts[first : first + FAN_IN] for first in range(0, len(parts), FAN_IN))
        parts, of = tasks(partial(_added, plus, of), groups), None
        if len(parts) == 1:
            return compute(parts[0])[0]


def _added(plus: Callable[[Any, Any], Any] | None, of: Callable[[Any], Any] | None, *parts: Any) -> Any:
    if of is not None:
        parts = tuple(of(part) for part in parts)
    if plus is None and isinstance(parts[0], dict):
        return {name: reduce(add, (part[name] for part in parts)) for name in parts[0]}
    return reduce(plus or add, parts)


def kept(delayed_results: Sequence[Any]) -> Sequence[Any]:
    """Begin delayed tasks; their results stay on the workers."""
    return list(persist(*delayed_results))


def released(*groups: Sequence[Any]) -> None:
    """Cancel what a cluster still computes or keeps for these groups."""
    try:
        from distributed import futures_of
    except ImportError:
        return
    futures = futures_of([each for group in groups for each in group if each is not None])
    if futures:
        futures[0].client.cancel(futures)
