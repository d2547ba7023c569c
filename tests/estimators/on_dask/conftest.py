"""The scheduler and the rows of tests on dask arrays."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _in_this_thread():
    dask = pytest.importorskip("dask", reason="the extra dask is not installed")
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 4)) + 3.0
    return X, np.where(X[:, 0] - X[:, 1] + rng.standard_normal(600) > 0, "yes", "no")
