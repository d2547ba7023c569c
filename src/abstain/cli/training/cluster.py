"""``--cluster``: the rows of a linear machine on the workers of a Dask cluster, which fit it."""

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from abstain.cli.exit_codes import UsageError
from abstain.cli.input.training_table import TrainingTable
from abstain.cli.progress import progress
from abstain.cli.training.training import LINEAR

SECONDS = 10.0  # to reach the scheduler, and for it to have a worker
CHUNK = 1 << 25  # bytes of a block of rows


def check_cluster(address: str | None, machine: str, C: float | None) -> None:
    """Raise an error, before any work, if another option excludes a cluster."""
    if address is None:
        return
    if machine != LINEAR:
        raise UsageError(f"--cluster is for --machine {LINEAR}, not for {machine}; leave it out.")
    if C is None:
        raise UsageError("--cluster fits at one C and does not search for it; pass --C.")


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """A client of the cluster at an address, with workers that have this version; None without an address."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError("--cluster needs dask; install it with pip install 'abstain[dask]'.") from error
    try:
        client = Client(address, timeout=SECONDS)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise UsageError(
            f"--cluster {address!r} cannot be reached ({reason}); give the address of its "
            "scheduler, as in tcp://10.0.0.5:8786, and for tls:// the certificates in Dask's configuration."
        ) from error
    try:
        _check_workers(client, address)
        yield client
    finally:
        client.close(timeout=SECONDS)


def _check_workers(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=SECONDS)
    except TimeoutError as error:
        raise UsageError(f"--cluster {address!r} has no worker; start one, or wait until one has joined.") from error
    here = version("abstain")
    try:
        found = client.run(version, "abstain")
    except PackageNotFoundError as error:
        raise UsageError(f"abstain is not installed on the workers of --cluster; install abstain {here}.") from error
    if other := sorted({*found.values()} - {here}):
        raise UsageError(f"the workers of --cluster have abstain {other[0]}; install {here}, which this command is.")


def spread(client: Any, table: TrainingTable) -> TrainingTable:
    """The table with its rows, labels and costs in the memory of the workers, as dask arrays."""
    import dask.array as da
    from dask.delayed import delayed

    n, width = table.X.shape
    size = max(1, CHUNK // (table.X.itemsize * width))
    columns = [column for column in (table.X, table.y, table.row_costs) if column is not None]
    blocks: list[list[Any]] = [[] for _ in columns]
    with progress("send rows", n) as report:
        for first in range(0, n, size):
            for found, column in zip(blocks, columns, strict=True):
                block = np.array(column[first : first + size])
                sent = delayed(client.scatter(block, hash=False))
                found.append(da.from_delayed(sent, block.shape, block.dtype))
            report(min(first + size, n))
    arrays = [da.concatenate(found) for found in blocks]
    return replace(table, X=arrays[0], y=arrays[1], row_costs=arrays[2] if len(arrays) > 2 else None)


@contextmanager
def fitting(client: Any) -> Iterator[None]:
    """Turn the loss of the cluster during a fit into an error in words."""
    if client is None:
        yield
        return
    from distributed import KilledWorker

    try:
        yield
    except (KilledWorker, CancelledError, OSError, TimeoutError) as error:
        raise UsageError(
            f"the cluster was lost during the fit ({type(error).__name__}); look at the logs of its workers, which may "
            "have too little memory for the rows."
        ) from error
