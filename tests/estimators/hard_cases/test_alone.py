"""Threads, forks, interrupts, a locale and many rows: each in a fork of a process that has imported everything.

``python test_alone.py`` reads names from its input, and tries one after the other.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

from abstain import Costs, RejectSVC
from estimators.hard_cases.data import X0, Y0, noisy, same_bits
from estimators.hard_cases.interrupts import interrupted
from estimators.hard_cases.processes import Worker, outcome_in_a_fork, serve
from looping import rarely


def threads_of_one_fit():
    for X, y, kernel in ((*noisy(3000, 8), "rbf"), (*noisy(1500, 600), "rbf"), (*noisy(1500, 8), "poly")):
        one, two = (RejectSVC(Costs(reject=0.2), kernel=kernel, n_jobs=n).fit(X, y) for n in (1, 2))
        assert same_bits(one, two)
        assert np.array_equal(one.decision_function(X), two.decision_function(X))


def eight_fits_at_once():
    sets = [noisy(700, 6, seed) for seed in range(8)]
    serial = [RejectSVC(Costs(reject=0.2)).fit(X, y) for X, y in sets]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda data: RejectSVC(Costs(reject=0.2), n_jobs=2).fit(*data), sets))
    assert all(map(same_bits, serial, together))


def predict_during_refit():
    small, large = noisy(100, 3, 1), noisy(400, 3, 2)
    X = noisy(50, 3, 3)[0]
    expected = [RejectSVC(Costs(reject=0.2)).fit(*data).decide(X) for data in (small, large)]
    clf, stop = RejectSVC(Costs(reject=0.2)).fit(*small), threading.Event()

    def refit():
        while not stop.is_set():
            clf.fit(*large)
            clf.fit(*small)

    thread = threading.Thread(target=refit)
    thread.start()
    try:
        for _ in range(300):
            got = clf.decide(X)
            assert any(
                np.array_equal(got.score, one.score) and np.array_equal(got.label, one.label) for one in expected
            )
    finally:
        stop.set()
        thread.join()


def fork_after_threads():
    X, y = noisy(2000, 8)
    before = RejectSVC(n_jobs=2).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # Python 3.12 and later say that forking with threads is risky
        child = os.fork()
    if child == 0:
        os._exit(0 if same_bits(RejectSVC(n_jobs=2).fit(X, y), before) else 1)
    assert os.waitpid(child, 0)[1] == 0


def loky_workers():
    X, y = noisy(500, 4)
    here = RejectSVC().fit(X, y)
    for there in joblib.Parallel(n_jobs=2)(joblib.delayed(RejectSVC().fit)(X, y) for _ in range(3)):
        assert same_bits(here, there)
    get_reusable_executor().shutdown()


def comma_decimal_locale():
    import locale

    assert locale.localeconv()["decimal_point"] == "."  # the process starts in C
    plain = RejectSVC().fit(X0, Y0)
    locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
    assert locale.localeconv()["decimal_point"] == ","
    assert same_bits(RejectSVC().fit(X0, Y0), plain)


def interrupt_fit():
    X, y = noisy(4000, 10, shift=0.0)
    interrupted(lambda: RejectSVC(kernel="linear", C=1e6, tol=1e-9, solver="smo").fit(X, y))


def interrupt_wide_rows():
    X, y = noisy(6000, 2500, shift=0.0)
    interrupted(lambda: RejectSVC(C=10).fit(X, y))


def interrupt_predict():
    X, y = noisy(3000, 20, shift=0.0)
    clf = RejectSVC().fit(X, y)
    many = np.random.default_rng(0).normal(size=(400_000, 20))
    interrupted(lambda: clf.predict(many))


def far_apart(n, d=2):
    """Two Gaussians that no machine confuses, and few rows of which support it."""
    return noisy(n, d, shift=12.0)


def rows(n):
    X, y = far_apart(n)
    clf = RejectSVC(kernel="linear", C=1.0).fit(X, y)
    assert clf.status_ == "optimal"
    assert clf.score(X, y) == 0.0
    assert clf.duality_gap_ < 1e-2
    rbf = RejectSVC(gamma=0.01, C=1.0, cache_size=200).fit(X, y)
    assert rbf.score(X, y) == 0.0


ALONE = {
    "same bits for one and two threads": threads_of_one_fit,
    "eight fits at once": eight_fits_at_once,
    "predict during a refit": predict_during_refit,
    "fork after a threaded fit": fork_after_threads,
    "loky workers": loky_workers,
    "comma-decimal locale": comma_decimal_locale,
    "SIGINT during fit": interrupt_fit,
    "SIGINT while rows are computed": interrupt_wide_rows,
    "SIGINT during predict": interrupt_predict,
    "46341 rows": lambda: rows(46_341),
    "65536 rows": lambda: rows(65_536),
}


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    """A folder with the German locale, which has a decimal comma; None where it cannot be made."""
    compiler, folder = shutil.which("localedef"), tmp_path_factory.mktemp("locale")
    made = compiler and subprocess.run(  # noqa: S603 (the system's own tool)
        [compiler, "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"], check=False, capture_output=True
    )
    return folder if made and (folder / "de_DE.UTF-8").exists() else None


@pytest.fixture(scope="module")
def worker(german):
    worker = Worker(__file__, {} if german is None else {"LOCPATH": str(german)})
    yield worker
    worker.close()


@pytest.mark.parametrize("name", rarely(ALONE, "65536 rows"))
def test_survives_alone(name, worker, german):
    if name == "comma-decimal locale" and german is None:
        pytest.skip("localedef or its sources are missing: no locale with a decimal comma can be made")
    assert worker.ask(name) == "survived"


if __name__ == "__main__":
    serve(lambda name: outcome_in_a_fork(ALONE[name]))
