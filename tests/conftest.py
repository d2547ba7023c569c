"""Settings shared by all tests."""

import gc
import os
import shutil
from dataclasses import replace
from functools import cache, partial

# One thread for NumPy's and scikit-learn's own loops, before either is imported: test processes run side by side, and
# threads that wait for a core make small products up to fifty times slower. The solver has threads of its own.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import polars as pl  # noqa: E402
import pytest  # noqa: E402
import sklearn  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402
from sklearn.base import BaseEstimator  # noqa: E402
from sklearn.utils.fixes import parse_version  # noqa: E402

# The same examples in every run, and no time limit for one: a busy machine is not a failure.
settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repeatable")

# scikit-learn reads a constructor's signature whenever it asks an estimator for its parameters: half a million times in
# the tests of the command line alone. Here it reads each constructor once.
read_signature = BaseEstimator._get_param_names.__func__


@cache
def names_of_parameters(cls, init):  # noqa: ARG001 (another constructor, another signature)
    return tuple(read_signature(cls))


BaseEstimator._get_param_names = classmethod(lambda cls: list(names_of_parameters(cls, cls.__init__)))

# scikit-learn before 1.9 takes columns by name through the interchange protocol, which polars 2 has left
OLD = not hasattr(pl.DataFrame, "__dataframe__") and parse_version(sklearn.__version__) < parse_version("1.9")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """A browser's processes take longer than all other tests of the report together."""
    for item in items:
        if "browser" in item.fixturenames:
            item.add_marker(pytest.mark.long)


def pytest_collection_finish():
    """What is imported stays, so garbage need not be looked for in it: that takes up to half a second each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def polars():
    if OLD:
        pytest.skip("scikit-learn before 1.9 and polars 2 do not go together")
    return pl


@pytest.fixture(scope="session", autouse=True)
def whole_machines():
    """Small forests and few candidates in all tests; the fixture gives the machines as users have them."""
    from sklearn.ensemble import RandomForestClassifier

    from abstain.candidates.machines import MACHINES
    from abstain.comparison import rules

    whole = dict(MACHINES)
    small = {
        "logistic": {"grid": ({"C": 0.1}, {"C": 10.0})},
        "forest": {"grid": ({"min_samples_leaf": 5},), "make": partial(RandomForestClassifier, n_estimators=10)},
        "boosting": {"grid": ({"max_leaf_nodes": 3},), "stages": (5, 10)},
    }
    MACHINES.update({name: replace(MACHINES[name], **parts) for name, parts in small.items()})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "_GRID", {"Cs": 2, "gammas": 2})
        patch.setattr(rules, "_EMBEDDED_CS", (0.1, 1.0))
        yield whole
    MACHINES.update(whole)


CHROMIUM = shutil.which("chromium")
QUIET = ("background-networking", "component-update", "sync", "gpu")
ARGUMENTS = ["--headless", "--no-sandbox", "--no-first-run", *(f"--disable-{part}" for part in QUIET)]


@pytest.fixture(scope="session")
def browser():
    """A real Chromium."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt install chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    with sync_api.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()
