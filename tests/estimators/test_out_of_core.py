"""Rows in a file mapped to memory: read where they are, a block at a time."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from abstain.costs.costs import Costs
from abstain.estimators.linear.linear_svc import LinearRejectSVC

N, D = 30_000, 50  # 6 MB in float32


@pytest.fixture(scope="module")
def mapped(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D), dtype=np.float32)
    path = tmp_path_factory.mktemp("rows") / "rows.npy"
    np.save(path, X)
    y = (X[:, 0] + X[:, 1] ** 2 + rng.standard_normal(N) > 1).astype(int)
    return np.load(path, mmap_mode="r"), X, y


def peak(work):
    """The most memory that Python and NumPy held at a time, in MB; pages of mapped files do not count."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


LINEAR = LinearRejectSVC(Costs(reject=0.2), tol=1e-2)
LOW_RANK = LinearRejectSVC(Costs(reject=0.2), kernel="rbf", n_components=10, memory_limit=1, tol=5e-2, random_state=0)


def test_no_copy_of_all_rows_is_made(mapped, monkeypatch):
    X, _, y = mapped
    for module in ("gammas._BLOCK", "estimators.linear.linear_fit._BLOCK", "dual.linear_certificate.BLOCK"):
        monkeypatch.setattr(f"abstain.{module}", 100_000)
    for module in ("machines.kernel_machine._BLOCK", "machines.linear_machine._BLOCK"):
        monkeypatch.setattr(f"abstain.{module}", 100_000)
    monkeypatch.setattr("abstain.estimators.linear.low_rank_fit.LEAST_SAMPLE", 1000)
    numbers_of_rows = 20 * 8 * N / 1e6  # vectors with a number for each row, of which there are a dozen or two
    for estimator in (LINEAR, LOW_RANK):
        assert peak(lambda: estimator.fit(X, y)) < numbers_of_rows  # noqa: B023 (called at once)
        assert peak(lambda: estimator.predict(X)) < numbers_of_rows  # noqa: B023
    # the control: a copy is seen
    assert peak(lambda: np.abs(X)) > numbers_of_rows


def test_mapped_rows_give_the_machine_of_those_in_memory(mapped):
    X, inside, y = mapped
    for estimator in (LINEAR, LOW_RANK):
        one, other = (estimator.fit(rows[:5000], y[:5000]).decision_function(inside[:100]) for rows in (X, inside))
        np.testing.assert_array_equal(one, other)
