"""Decisions at every kind of costs, for all tests of the metrics."""

import pytest

from metrics.kinds import KINDS, Case


@pytest.fixture(scope="module")
def cases():
    found = {kind: Case(kind) for kind in KINDS}
    for case in found.values():
        assert 0.05 < case.rejected.mean() < 0.95  # there are rejects
        assert case.mean_cost() > 0  # and errors
    return found
