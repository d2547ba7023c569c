"""What cannot be fitted to dask arrays says where and why, before rows are read."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from abstain import (
    Costs,
    EmbeddedRejectSVC,
    Forced,
    LinearRejectSVC,
    LinearRejectSVCCV,
    MachineSearch,
    NoveltyRejector,
    OneClassSVM,
    RejectSVC,
    RejectSVCCV,
    ThresholdRejector,
    compare,
    reject_price_sweep,
    reject_svc_path,
)
from dask_cases import N, chunked, da


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
