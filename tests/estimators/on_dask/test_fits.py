"""`LinearRejectSVC` on dask arrays without a cluster, against the same fit in memory."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

from abstain import Actions, Costs, LinearRejectSVC
from dask_cases import N, chunked, da, dask
from looping import quick


def same(on_dask, in_memory, tol=1e-6):
    """Both certified, and both objectives within the gaps of each other."""
    assert on_dask.status_ == in_memory.status_ == "optimal"
    assert on_dask.duality_gap_ <= tol
    assert on_dask.objective_ == pytest.approx(in_memory.objective_, rel=2 * tol)
    far = np.sqrt(2.0 * in_memory.objective_ * (on_dask.duality_gap_ + in_memory.duality_gap_))  # 1/2 |w - w*|^2 <= gap
    np.testing.assert_allclose(on_dask.coef_, in_memory.coef_, atol=2.0 * far)
    np.testing.assert_array_equal(on_dask.classes_, in_memory.classes_)


ACTIONS = Actions({"yes": {"yes": 0, "no": 5}, "no": {"yes": 1, "no": 0}, "ask": 0.3}, rejects=("ask",))
NAMED = Costs.from_table({"no": {"yes": 2}, "yes": {"no": 1}}, reject=0.3)
COSTS = [None, Costs(reject=0.2), Costs(1, 5, 0.3), NAMED, ACTIONS]


@pytest.mark.parametrize(
    ("costs", "class_weight"), list(zip(COSTS, [{"yes": 3.0}, None, "balanced", None, None], strict=True)), ids=range(5)
)
def test_the_optimum_is_that_of_the_fit_in_memory(rows, costs, class_weight):
    X, y = rows
    clf = LinearRejectSVC(costs, C=0.1, tol=1e-6, class_weight=class_weight)
    weight = np.random.default_rng(1).uniform(0, 2, N)
    weight[250:350] = 0.0  # a whole chunk
    on_dask = LinearRejectSVC(**clf.get_params()).fit(chunked(X), chunked(y), chunked(weight))
    same(on_dask, clf.fit(X, y, weight))
    assert on_dask.n_features_in_ == 4
    decided = on_dask.predict(chunked(X))
    assert isinstance(decided, da.Array)
    np.testing.assert_array_equal(decided.compute(), on_dask.predict(X))
    assert decided.dtype == on_dask.predict(X).dtype
    other = LinearRejectSVC(**clf.get_params()).fit(chunked(X), chunked(y))  # the control: another problem
    assert abs(other.objective_ / on_dask.objective_ - 1) > 1e-3


@pytest.mark.parametrize("costs", [None, Costs(reject=0.3)], ids=["none", "reject"])
def test_several_classes(rows, costs):
    X = rows[0]
    y = np.digitize(X[:, 0] + X[:, 1], [5.0, 7.0]) * 10
    clf = LinearRejectSVC(costs, tol=1e-6, class_weight="balanced")
    on_dask = LinearRejectSVC(**clf.get_params()).fit(chunked(X), y)
    same(on_dask, clf.fit(X, y))
    assert on_dask.coef_.shape == (3, 4)
    assert len(on_dask.proofs_) == 3
    scores = on_dask.decision_function(chunked(X))
    assert scores.shape == (N, 3)
    for method in ("decision_function", "predict", "predict_forced", "reject_mask", "predict_set"):
        lazy = getattr(on_dask, method)(chunked(X))
        assert isinstance(lazy, da.Array)
        expected = getattr(on_dask, method)(X)
        assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(lazy.compute(), expected, rtol=1e-12)


@pytest.mark.parametrize("costs", [None, Costs(reject=0.2)], ids=["none", "reject"])
@pytest.mark.parametrize("pos_label", quick(["yes", "no"], "no"))
def test_costs_of_the_rows(rows, costs, pos_label):
    X, y = rows
    rng = np.random.default_rng(2)
    row_costs = np.column_stack([rng.uniform(1, 3, N), rng.uniform(1, 9, N), rng.uniform(0.1, 0.4, N)])
    row_costs[250:350, 2] = row_costs[250:350, :2].prod(axis=1) / row_costs[250:350, :2].sum(axis=1)  # never rejected
    clf = LinearRejectSVC(costs, C=0.3, tol=1e-6, pos_label=pos_label)
    on_dask = LinearRejectSVC(**clf.get_params()).fit(chunked(X), chunked(y), row_costs=chunked(row_costs))
    same(on_dask, clf.fit(X, y, row_costs=row_costs))
    same(LinearRejectSVC(**clf.get_params()).fit(chunked(X), y, row_costs=row_costs), clf)
    expected = on_dask.predict(X, row_costs)
    assert len(np.unique(expected)) == 3
    for given in (row_costs, chunked(row_costs), da.from_array(row_costs, chunks=(70, 2))):
        np.testing.assert_array_equal(on_dask.predict(chunked(X), given).compute(), expected)
    assert on_dask.score(chunked(X), chunked(y), row_costs=row_costs) == on_dask.score(X, y, row_costs=row_costs)
    assert on_dask._now.largest_row_cost == row_costs.max()


@pytest.mark.parametrize(
    ("dtype", "shift"), [(np.float32, 0), (np.int16, 0), (np.float64, 1e7)], ids=["float32", "int16", "far away"]
)
def test_sparse_chunks(rows, dtype, shift):
    X, y = rows
    X = (np.where(np.abs(X - 3) > 0.7, np.round(X - 3, 2) * 10, 0.0) + shift).astype(dtype)
    sparse = chunked(X).map_blocks(csr_array, dtype=dtype, meta=csr_array((0, 0), dtype=dtype))
    clf = LinearRejectSVC(Costs(reject=0.2), tol=1e-6)
    on_dask = LinearRejectSVC(**clf.get_params()).fit(sparse, y)
    same(on_dask, clf.fit(csr_array(X), y))
    np.testing.assert_array_equal(on_dask.predict(sparse).compute(), on_dask.predict(csr_array(X)))


def test_any_chunks_of_columns_and_unknown_sizes(rows):
    X, y = rows
    clf = LinearRejectSVC(Costs(reject=0.2)).fit(chunked(X), y)
    parts = da.from_array(X, chunks=((250, 0, 100, 250), (3, 1)))
    unknown = chunked(X)[chunked(np.ones(N, dtype=bool))]
    assert np.isnan(unknown.shape[0])
    for given in (parts, unknown):
        np.testing.assert_array_equal(LinearRejectSVC(Costs(reject=0.2)).fit(given, y).coef_, clf.coef_)
        np.testing.assert_array_equal(clf.predict(given).compute(), clf.predict(X))
    assert np.isnan(unknown.shape[0])  # the caller's array is as it was


@pytest.mark.parametrize("limit", [{"max_iter": 2}, {"time_limit": 1e-9}])
def test_a_limit_is_reported_with_a_true_gap(rows, limit):
    X, y = rows
    clf = LinearRejectSVC(tol=1e-8, **limit)
    with pytest.warns(UserWarning, match="limit") as caught:
        clf.fit(chunked(X), y)
    assert caught[0].filename == __file__
    assert clf.status_ == ("time_limit" if "time_limit" in limit else "iteration_limit")
    f = np.where(y == "yes", 1, -1) * clf.decision_function(X)
    assert clf.objective_ == pytest.approx(0.5 * float(clf.coef_[0] @ clf.coef_[0]) + np.maximum(0, 1 - f).sum())
    assert clf.dual_objective_ <= LinearRejectSVC(tol=1e-8).fit(X, y).objective_


def test_conjugate_gradients_and_estimated_hessians(rows, monkeypatch):
    X, y = rows
    exact = LinearRejectSVC(Costs(reject=0.2), tol=1e-6).fit(X, y).objective_
    for name, value in (("PRODUCTS", 0.0), ("MOST_DENSE", 1)):
        monkeypatch.setattr(f"abstain.solvers.linear.{name}", value)
        monkeypatch.setattr("abstain.solvers.linear.SAMPLED", 2)
        clf = LinearRejectSVC(Costs(reject=0.2), tol=1e-3).fit(chunked(X), y)
        assert clf.status_ == "optimal"
        assert exact <= clf.objective_ * (1 + 1e-6) <= exact * (1 + 1e-3)


def test_the_same_bits_whatever_the_threads(rows):
    X, y = rows
    first = LinearRejectSVC(Costs(reject=0.2)).fit(chunked(X), y)
    with dask.config.set(scheduler="threads", num_workers=3):
        again = LinearRejectSVC(Costs(reject=0.2)).fit(chunked(X), chunked(y))
    np.testing.assert_array_equal(first.coef_, again.coef_)
    assert first.intercept_ == again.intercept_
    other = LinearRejectSVC(Costs(reject=0.2)).fit(da.from_array(X, chunks=(200, -1)), y)  # the control: other chunks
    assert (first.coef_ != other.coef_).any()


def test_misaligned_and_read_only_blocks(rows):
    X, y = rows
    buffer = bytearray(X.nbytes + 1)
    moved = np.frombuffer(buffer, dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
    moved[:] = X
    moved.flags.writeable = False
    assert not moved.flags.aligned
    given = da.from_delayed(dask.delayed(lambda: moved)(), X.shape, dtype=np.float64)
    clf = LinearRejectSVC(Costs(reject=0.2)).fit(given, y)
    expected = LinearRejectSVC(Costs(reject=0.2)).fit(da.from_array(X, chunks=-1), y)
    np.testing.assert_array_equal(clf.coef_, expected.coef_)


MEMORY = """
import resource
import dask, dask.array as da, numpy as np
from abstain import LinearRejectSVC

base = np.random.default_rng(0).standard_normal((5000, 100))
X = da.map_blocks(lambda block_id=None: base + block_id[0], chunks=((5000,) * 48, (100,)), dtype=float)
y = np.tile(base[:, 0] + base[:, 1] > 0, 48)
data = int(next(line for line in open("/proc/self/status") if line.startswith("VmData")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (data + 140 * 2**20,) * 2)
with dask.config.set(scheduler="synchronous"):
    print(LinearRejectSVC(C=1e-4, tol=1e-2).fit(X, y).status_)
    try:
        X.compute()
    except MemoryError:
        print("too large")
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA is Linux's")
def test_a_fit_never_holds_all_rows():
    # 192 MB of rows, in chunks of 4 MB, within 140 MB, of which BLAS reserves about 70 for itself
    run = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, timeout=120, check=False)  # noqa: S603
    assert run.stdout == "optimal\ntoo large\n", run.stderr
