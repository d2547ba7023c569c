"""`LinearRejectSVC` on dask arrays made chunk by chunk: time, rounds and what scheduling takes of them, and memory.

Each measurement runs in its own process, in which a limit on memory can be set.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from numpy.typing import NDArray

import abstain.solvers.dask_rows
from abstain import Costs, LinearRejectSVC
from abstain.solvers.dask_rounds import summed, tasks

PLACES = ("threads", "cluster of 1", "cluster of 2", "cluster of 4")
LARGE = "cluster of 2"


def chunk(rows: int, features: int, block_id: tuple[int, int] = (0, 0)) -> NDArray[np.float32]:
    """Rows of float32 that depend on nothing but the place of their chunk."""
    return np.random.default_rng(block_id[0]).standard_normal((rows, features), dtype=np.float32)


def labels(X: NDArray[np.float32]) -> NDArray[np.int8]:
    """Labels with noise, from the rows."""
    noise = np.random.default_rng(int(abs(X[0, 0]) * 2**24)).standard_normal(len(X))
    return (X[:, 0] - X[:, 1] + noise > 0.5).astype(np.int8)


def table(rows: int, features: int, chunks: int) -> tuple[Any, Any]:
    """The rows and their labels, which are made when they are needed."""
    each = rows // chunks
    sizes = ((each,) * chunks, (features,))
    X = da.map_blocks(chunk, each, features, chunks=sizes, dtype=np.float32, meta=np.empty((0, 0), np.float32))
    return X, X.map_blocks(labels, drop_axis=1, dtype=np.int8, meta=np.empty(0, np.int8))


class Rounds:
    """Counts rounds of the cluster."""

    def __init__(self) -> None:
        self.count, self.of = 0, abstain.solvers.dask_rows.summed
        abstain.solvers.dask_rows.summed = self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Do a round."""
        self.count += 1
        return self.of(*args, **kwargs)


def fit_here(
    place: str, *, rows: int, features: int, chunks: int, tol: float, memory_mb: float, persist: bool
) -> dict[str, Any]:
    """Fit in this process, or on a cluster that it starts; `memory_mb` limits this process, or each worker."""
    X, y = table(rows, features, chunks)
    with ExitStack() as stack:
        if place == "threads":
            stack.enter_context(dask.config.set(scheduler="threads"))
            if memory_mb:
                resource.setrlimit(resource.RLIMIT_DATA, (int(memory_mb * 1e6),) * 2)
        else:
            limit = f"{memory_mb}MB" if memory_mb else "auto"
            workers = int(place.removeprefix("cluster of "))
            options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None, "memory_limit": limit}
            stack.enter_context(Client(stack.enter_context(LocalCluster(**options))))
        if persist:
            X, y = dask.persist(X, y)
        idle = min(_idle_round(chunks) for _ in range(5))
        rounds = Rounds()
        began = time.perf_counter()
        clf = LinearRejectSVC(Costs(reject=0.2), C=1e-3, tol=tol).fit(X, y)
        seconds = time.perf_counter() - began
    each = seconds / rounds.count
    return {
        "place": place,
        "rows": rows,
        "features": features,
        "chunks": chunks,
        "persisted": persist,
        "data_mb": rows * features * 4 / 1e6,
        "memory_mb": memory_mb,
        "peak_mb": _peak(),
        "seconds": seconds,
        "status": clf.status_,
        "gap": clf.duality_gap_,
        "steps": clf.n_iter_,
        "rounds": rounds.count,
        "round_seconds": each,
        "idle_round_seconds": idle,
        "scheduling_share": min(1.0, idle / each),
        "first_weights": clf.coef_[0, :2].tolist(),
    }


def _idle_round(chunks: int) -> float:
    """The seconds of a round that does nothing: an empty task for each chunk, and their sum."""
    began = time.perf_counter()
    summed(tasks(float, ((at,) for at in range(chunks))))
    return time.perf_counter() - began


def _peak() -> float:
    """The largest resident memory of this process so far, in MB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) * 1024 / 1e6


def run(
    rows: int = 10_000_000, features: int = 30, chunks: int = 100, tol: float = 1e-4, memory_mb: float = 1000
) -> dict[str, Any]:
    """A tenth of the rows at each place, which must give the same bits; then all, more than one worker may hold."""
    shared = {"features": features, "tol": tol}
    small = shared | {"rows": rows // 10, "chunks": chunks // 5, "memory-mb": 0}
    found = [_apart(place, small) for place in PLACES]
    if len({tuple(one["first_weights"]) for one in found}) > 1:
        raise SystemExit("the places do not give the same bits")
    return {"places": found, "large": _apart(LARGE, shared | {"rows": rows, "chunks": chunks, "memory-mb": memory_mb})}


def _apart(place: str, options: dict[str, Any]) -> dict[str, Any]:
    """Fit in a fresh process."""
    command = [sys.executable, __file__, f"--here={place}", *(f"--{name}={value}" for name, value in options.items())]
    found: dict[str, Any] = json.loads(subprocess.check_output(command, text=True))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--here", choices=PLACES, help="fit in this process")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=30)
    parser.add_argument("--chunks", type=int, default=100)
    parser.add_argument("--tol", type=float, default=1e-4)
    parser.add_argument("--memory-mb", type=float, default=1000)
    parser.add_argument("--persist", action="store_true", help="keep the rows in memory; only with --here")
    given = vars(parser.parse_args())
    place = given.pop("here")
    if place is None:
        given.pop("persist")
        print(json.dumps(run(**given), indent=2))
    else:
        print(json.dumps(fit_here(place, **given)))
