"""Forged indices of sparse matrices are errors: SciPy and the core would follow them out of their arrays."""

import numpy as np
import pytest
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array, csr_matrix, dia_array, lil_array

from abstain import Costs, RejectSVC, RejectSVCCV
from abstain.compressed import check_indices

RNG = np.random.default_rng(0)
X = RNG.integers(0, 3, size=(40, 6)).astype(float)
Y = np.arange(40) % 2


def forged(matrix, name, at, value):
    """A copy with one index changed; SciPy's constructors would refuse it, so it is changed in place."""
    indices = getattr(matrix, name).astype(np.int64)
    indices[at] = value
    copy = matrix.copy()
    setattr(copy, name, indices)
    return copy


FORGERIES = {
    "starts that overflow": lambda: forged(csr_array(X), "indptr", 3, -(2**63)),
    "starts that descend": lambda: forged(csr_array(X), "indptr", 3, 1000),
    "starts beyond the end": lambda: forged(csr_array(X), "indptr", -1, 10**9),
    "a negative start": lambda: forged(csr_array(X), "indptr", 0, -5),
    "a column beyond the last": lambda: forged(csr_array(X), "indices", 2, 6),
    "a column far out": lambda: forged(csr_array(X), "indices", 2, 2**40),
    "a negative column": lambda: forged(csr_matrix(X), "indices", 2, -1),
    "a row beyond the last": lambda: forged(csc_array(X), "indices", 2, 40),
    "a block beyond the last": lambda: forged(bsr_array(X, blocksize=(2, 2)), "indices", 0, 3),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_indices_are_refused(name):
    with pytest.raises(ValueError, match="point outside it; build it again"):
        check_indices(FORGERIES[name]())
    for estimator in (RejectSVC(), RejectSVC(kernel="linear"), RejectSVCCV(Cs=[1.0], gammas=[1.0], cv=2)):
        with pytest.raises(ValueError, match="point outside it; build it again"):
            estimator.fit(FORGERIES[name](), Y)
    clf = RejectSVC().fit(csr_array(X), Y)
    with pytest.raises(ValueError, match="point outside it; build it again"):
        clf.predict(FORGERIES[name]())


def test_forged_coordinates_are_refused():
    matrix = coo_array(X)
    matrix.coords = (matrix.coords[0], np.where(matrix.coords[1] == 5, 2**31 - 1, matrix.coords[1]))
    with pytest.raises(ValueError, match="point outside it"):
        RejectSVC().fit(matrix, Y)


@pytest.mark.parametrize("make", [csr_array, csc_array, bsr_array, coo_array, lil_array, dia_array])
def test_sound_matrices_are_accepted(make):
    check_indices(make(X))
    assert (RejectSVC().fit(make(X), Y).predict(make(X)) == RejectSVC().fit(csr_array(X), Y).predict(X)).all()


def test_more_columns_than_the_core_counts_are_refused():
    wide = csr_array((np.ones(4), np.array([0, 2**32, 1, 2**32 + 1]), np.arange(5)), shape=(4, 2**32 + 2))
    for kernel in ("rbf", "linear"):
        with pytest.raises(ValueError, match=r"X has 4294967298 columns; at most 2147483647 .* Drop or hash columns"):
            RejectSVC(kernel=kernel).fit(wide, [0, 1, 0, 1])


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_forged_support_vectors_are_refused(kernel):
    """As a machine read from a file of another library may have them."""
    clf = RejectSVC(Costs(reject=0.2), kernel=kernel).fit(csr_array(X), Y)
    clf.machine_.vectors.indices[:] = 10**6
    with pytest.raises(ValueError, match="sparse matrix support_vectors_ point outside it"):
        clf.predict(csr_array(X))
