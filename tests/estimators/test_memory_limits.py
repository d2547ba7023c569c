"""Address space that runs out: a fit, a search or a prediction succeeds or raises MemoryError, and never aborts."""

import subprocess
import sys

import pytest

# Each trial is a process of its own, forked after a first fit has loaded everything, with a limit so many MB above what
# it has then.
TRIALS = """
import itertools, os, resource, sys, warnings
import numpy as np
from abstain import Costs, RejectSVC, RejectSVCCV

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.standard_normal((900, 6))
y = (X[:, 0] + rng.standard_normal(900) > 0).astype(int)
machine = RejectSVC(Costs(reject=0.2), n_jobs=2).fit(X[:100], y[:100])
many = np.tile(X, (20, 1))
WORK = {
    "fit": lambda: RejectSVC(Costs(reject=0.2), solver="smo", n_jobs=4, time_limit=0.3).fit(X, y),
    "search": lambda: RejectSVCCV(
        Costs(reject=0.2), kernel="poly", Cs=[0.1, 1], gammas=[0.1], cv=3, n_jobs=4, time_limit=0.3
    ).fit(X, y),
    "predict": lambda: machine.predict(many),
    "abort": os.abort,
}


held = []


def limited(room):
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))
    for chunk in (2**20, 2**16, 2**13):  # what malloc has in reserve
        try:
            while True:
                held.append(bytearray(chunk))
        except MemoryError:
            pass
    resource.setrlimit(resource.RLIMIT_AS, (size + int(room * 2**20), resource.RLIM_INFINITY))


for work, room in itertools.product(WORK, map(float, sys.argv[1:])):
    child = os.fork()
    if child == 0:
        code = 9
        try:
            limited(room)
            WORK[work]()
            code = 0
        except MemoryError:
            code = 3
        except BaseException as error:
            os.write(2, f"{work} {room}: {error!r}\\n".encode())
        finally:
            os._exit(code)
    print(work, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
ROOM = (0.5, 2, 4, 6, 8, 10, 14, 4000)
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and limits the address space"),
]


@pytest.fixture(scope="module")
def ended():
    """How each trial ended, by the name of the work."""
    command = [sys.executable, "-c", TRIALS, *map(str, ROOM)]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)  # noqa: S603
    codes = {}
    for work, code in (line.split() for line in result.stdout.splitlines()):
        codes.setdefault(work, []).append(int(code))
    return codes | {"errors": result.stderr}


@pytest.mark.parametrize("work", ["fit", "search", "predict"])
def test_memory_that_runs_out_is_an_error_and_not_an_abort(ended, work):
    assert set(ended[work]) == {0, 3}, ended  # both occur: the limits are where memory runs out
    assert ended[work][0] == 3
    assert ended[work][-1] == 0


def test_an_abort_would_be_seen(ended):
    assert set(ended["abort"]) == {-6}
