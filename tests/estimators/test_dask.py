"""`LinearRejectSVC` on dask arrays without a cluster, against the same fit in memory; lazy decisions of machines."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from abstain import (
    Actions,
    Costs,
    EmbeddedRejectSVC,
    Forced,
    LinearRejectSVC,
    LinearRejectSVCCV,
    NoveltyRejector,
    OneClassSVM,
    RejectSVC,
    RejectSVCCV,
    ThresholdRejector,
    compare,
    reject_price_sweep,
    reject_svc_path,
)
from abstain.candidates.search import MachineSearch
from looping import quick

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
N, CHUNKS = 600, (250, 0, 100, 250)


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 4)) + 3.0
    return X, np.where(X[:, 0] - X[:, 1] + rng.standard_normal(N) > 0, "yes", "no")


def chunked(values):
    return da.from_array(np.asarray(values), chunks=(CHUNKS, *((size,) for size in np.shape(values)[1:])))


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


def bad_arguments(X, y):
    """Arguments of a fit, and the words of its error."""
    column = da.ones(N, chunks=100)
    return [
        ({"X": da.where(X > 5, np.nan, X)}, r"chunk that begins at row \d+.*NaN"),
        ({"X": da.where(X > 5, np.inf, X)}, r"chunk that begins at row \d+.*infinity"),
        ({"X": X * 1e200}, "overflow"),
        ({"X": X[:, 0]}, "two dimensions"),
        ({"X": X.astype(str)}, "X.astype"),
        ({"X": X[:0]}, "at least one row"),
        ({"y": y[:-1]}, "each of the 600 rows"),
        ({"y": column}, "class"),
        ({"y": X[:, 0]}, "continuous|class"),
        ({"sample_weight": 0 * column}, "zero for every row"),
        ({"sample_weight": -column}, r"chunk that begins at row \d+.*>= 0"),
        ({"row_costs": da.zeros((N, 3), chunks=100)}, r"chunk that begins at row \d+.*positive"),
        ({"sample_weight": (y == "yes").astype(float)}, "weight zero"),
    ]


@pytest.mark.parametrize("case", range(13))
def test_errors_say_where_and_what(rows, case):
    X, y = map(chunked, rows)
    given, words = bad_arguments(X, y)[case]
    clf = LinearRejectSVC(Costs(reject=0.2))
    with pytest.raises(ValueError, match=f"(?s){words}"):
        clf.fit(**{"X": X, "y": y} | given)
    assert not hasattr(clf, "classes_")


def test_a_frame_is_refused_with_the_way_out(rows):
    class Frame:
        __module__ = "dask.dataframe.core"

    with pytest.raises(TypeError, match="to_dask_array"):
        LinearRejectSVC().fit(Frame(), rows[1])


IN_MEMORY = {
    "svc": lambda X, y: RejectSVC(Costs(reject=0.2)).fit(X, y),
    "three classes": lambda X, y: RejectSVC(Costs(reject=0.2)).fit(X, np.arange(len(y)) % 3),
    "search": lambda X, y: RejectSVCCV(Costs(reject=0.2), Cs=2, gammas=2).fit(X, y),
    "linear search": lambda X, y: LinearRejectSVCCV(Costs(reject=0.2)).fit(X, y),
    "one class": lambda X, _: OneClassSVM().fit(X),
    "embedded": lambda X, y: EmbeddedRejectSVC(reject_cost=0.2).fit(X, y),
    "forced": lambda X, y: Forced(RejectSVC(Costs(reject=0.2))).fit(X, y),
    "threshold": lambda X, y: ThresholdRejector(LogisticRegression(), costs=Costs(reject=0.2)).fit(X, y),
    "novelty": lambda X, y: NoveltyRejector(RejectSVC(Costs(reject=0.2))).fit(X, y),
    "machines": lambda X, y: MachineSearch(Costs(reject=0.2), ("logistic",)).fit(X, y),
    "compare": lambda X, y: compare({"svc": LogisticRegression()}, X, y, Costs(reject=0.2)),
    "path": lambda X, y: reject_svc_path(X, y, Costs(reject=0.2)),
    "sweep": lambda X, y: reject_price_sweep(RejectSVC(Costs(reject=0.2)), X, y, [0.1]),
}


@pytest.mark.parametrize("case", IN_MEMORY)
def test_what_needs_rows_in_memory_says_so_before_any_is_read(rows, case):
    X, y = rows
    read = []

    def chunk(block):
        read.append(len(block))
        return block

    lazy = chunked(X).map_blocks(chunk, dtype=float, meta=np.empty((0, 0)))
    ways = r"takes rows in memory; (use LinearRejectSVC|.*some of the rows).*, or pass X.compute\(\)"
    with pytest.raises(TypeError, match=ways):
        IN_MEMORY[case](lazy, y)
    assert not read
    if case == "svc":  # the control: the count would see a machine that reads them
        LinearRejectSVC(Costs(reject=0.2)).fit(lazy, y)
        assert sum(read) >= len(X)


def test_cuts_of_a_linear_machine_are_tuned_on_dask_arrays(rows):
    X, y = rows
    asked = {"costs": Costs(reject=0.2), "cv": 3, "method": "symmetric"}
    in_memory = ThresholdRejector(LinearRejectSVC(Costs(reject=0.2)), **asked).fit(X, y)
    lazy = ThresholdRejector(LinearRejectSVC(Costs(reject=0.2)), **asked).fit(chunked(X), y)
    assert (lazy.predict(X) == in_memory.predict(X)).mean() > 0.95  # each of the four fits has a tolerance


def test_one_class_scores_dask_arrays_by_chunks(rows):
    X, _ = rows
    machine = OneClassSVM(nu=0.2).fit(X[:100])
    lazy = machine.predict(da.concatenate([chunked(X)[:0], chunked(X)]))
    expected = machine.predict(X)
    machine.fit(X[100:200])  # what is lazy has kept the machine
    np.testing.assert_array_equal(lazy.compute(), expected)
    assert 0 < (expected == -1).sum() < len(X)


def test_other_kernels_are_refused(rows):
    clf = LinearRejectSVC(kernel="rbf", n_components=5)
    with pytest.raises(ValueError, match="dask arrays need kernel='linear'"):
        clf.fit(chunked(rows[0]), rows[1])


def test_bad_chunks_are_found_when_they_are_predicted(rows):
    X, y = rows
    clf = LinearRejectSVC(Costs(reject=0.2)).fit(X, y)
    decided = clf.predict(chunked(np.where(X > 5, np.nan, X)))  # lazy: nothing happens yet
    with pytest.raises(ValueError, match="NaN"):
        decided.compute()
    with pytest.raises(ValueError, match="4 columns"):
        clf.predict(chunked(X[:, :3]))


@pytest.mark.parametrize(
    "clf",
    [
        RejectSVC(Costs(reject=0.2)),
        EmbeddedRejectSVC(reject_cost=0.2, n_starts=1),
        ThresholdRejector(LogisticRegression(), costs=Costs(reject=0.2)),
    ],
    ids=lambda clf: type(clf).__name__,
)
def test_other_machines_decide_dask_arrays(rows, clf):
    X, y = rows
    clf.fit(X[:200], y[:200])
    lazy = clf.predict(chunked(X))
    expected = clf.predict(X)
    clf.fit(X[:200], y[:200][::-1])  # what is lazy has kept the machine
    np.testing.assert_array_equal(lazy.compute(), expected)
    np.testing.assert_allclose(clf.decision_function(chunked(X)).compute(), clf.decision_function(X), atol=1e-9)
    for method in {"predict_forced", "reject_mask", "predict_set", "predict_proba"} & set(dir(clf)):
        lazy, expected = getattr(clf, method)(chunked(X)), getattr(clf, method)(X)
        assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_array_equal(lazy.compute(), expected)
    np.testing.assert_array_equal(clf.decide(chunked(X)).label, clf.predict(X))
    np.testing.assert_allclose(clf.decide(chunked(X)).expected_cost, clf.decide(X).expected_cost, rtol=1e-9)
    assert clf.score(chunked(X), chunked(y)) == clf.score(X, y)


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
