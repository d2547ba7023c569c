"""Memory of fits, each in a new process: ``python test_memory.py NAME`` tries one."""

from __future__ import annotations

import resource
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from abstain import Costs, RejectSVC
from estimators.hard_cases.data import X0, Y0, noisy
from estimators.hard_cases.processes import ENVIRONMENT, PATIENCE, bounded


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def growth(work):
    """Megabytes per 1,000 calls: the median of ten blocks.

    A leak takes pages in every block; the interpreter's own free lists fill in some of the first and then stay.
    """
    for _ in range(300):
        work()
    taken = [resident()]
    for _ in range(10):
        for _ in range(200):
            work()
        taken.append(resident())
    return np.median(np.diff(taken)) * 5


def memory_over_2000_fits():
    X, y = noisy(60, 3)

    def fit():
        RejectSVC(Costs(reject=0.2)).fit(X, y).predict(X)

    assert growth(fit) < 0.1
    kept = []
    assert growth(lambda: kept.append(bytearray(300))) > 0.1  # what a leak of 300 bytes would show


def cache_is_obeyed():
    X, y = noisy(8000, 40, shift=0.0)
    before = resident()
    RejectSVC(C=10, cache_size=50, max_iter=20_000, solver="smo").fit(X, y)
    # getrusage would count what the process that started this one had
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1e3
    assert peak - before < 50 + 150, (before, peak)  # 512 MB would hold the whole matrix in single precision


def out_of_memory():
    X, y = noisy(20_000, 20, shift=0.0)
    for _ in range(2):
        RejectSVC().fit(X0, Y0)
    room = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (room + 8_000_000, resource.RLIM_INFINITY))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            RejectSVC(C=10, cache_size=4000, max_iter=10_000).fit(X, y)
        except MemoryError:
            pass
        else:
            raise AssertionError("8 MB cannot be enough for 20,000 rows")
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert RejectSVC().fit(X0, Y0).status_ == "optimal"  # alive and well


MEMORY = {  # each in a new process: a fork begins with the free memory of the one it came from
    "memory over 2000 fits": memory_over_2000_fits,
    "cache size is obeyed": cache_is_obeyed,
    "out of memory": out_of_memory,
}


@pytest.mark.long
@pytest.mark.parametrize("name", MEMORY)
def test_memory(name):
    done = subprocess.run(  # noqa: S603 (our own interpreter and file)
        [sys.executable, __file__, name],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    bounded(MEMORY[sys.argv[1]])
