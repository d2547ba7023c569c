"""Arrays in chunks, one of which is empty."""

from __future__ import annotations

import numpy as np
import pytest

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
N, CHUNKS = 600, (250, 0, 100, 250)


def chunked(values):
    return da.from_array(np.asarray(values), chunks=(CHUNKS, *((size,) for size in np.shape(values)[1:])))
