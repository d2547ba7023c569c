"""However the training rows are laid out, and whatever gives their kernel: the same machine."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.utils.validation import _get_feature_names

from abstain import Costs, EmbeddedRejectSVC, RejectSVC
from abstain.estimators.fitting.posing import faster_dense
from abstain.kernels import Kernel

ASYMMETRIC = Costs(false_positive=1, false_negative=5, reject=0.3)
TIGHT = {"tol": 1e-9}


def misaligned(X):
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view(X.dtype).reshape(X.shape)
    view[:] = X
    assert not view.flags.aligned
    return view


def strided(X):
    wide = np.zeros((2 * len(X), 3 * X.shape[1]))
    wide[::-2, ::3] = X
    return wide[::-2, ::3]


def unsorted_csr(X):
    X = sparse.csr_array(X)
    for start, stop in zip(X.indptr, X.indptr[1:], strict=False):
        X.indices[start:stop] = X.indices[start:stop][::-1]
        X.data[start:stop] = X.data[start:stop][::-1]
    X.has_sorted_indices = False
    return X


def long_indices(X):
    X = sparse.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


DENSE = {
    "list": lambda X: X.tolist(),
    "float32": lambda X: X.astype(np.float32),
    "int": lambda X: X.astype(np.int64),
    "Fortran": np.asfortranarray,
    "strided": strided,
    "misaligned": misaligned,
    "big-endian": lambda X: X.astype(">f8"),
    "pandas": lambda X: pd.DataFrame(X, columns=list("abcd")),
    "polars": lambda X: pl.DataFrame(X, schema=list("abcd")),
}
SPARSE = {
    "csr_matrix": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "int64 indices": long_indices,
    "unsorted": unsorted_csr,
    "float32": lambda X: sparse.csr_array(X.astype(np.float32)),
}


class TestLayout:
    @pytest.mark.parametrize("layout", DENSE.values(), ids=DENSE)
    def test_dense_layouts_give_the_same_bits(self, data, layout):
        X, y = data
        expected = RejectSVC(ASYMMETRIC).fit(X, y).decision_function(X)
        np.testing.assert_array_equal(RejectSVC(ASYMMETRIC).fit(layout(X), y).decision_function(layout(X)), expected)

    def test_read_only_memmap(self, data, tmp_path):
        X, y = data
        expected = RejectSVC(ASYMMETRIC).fit(X, y).decision_function(X)
        for name, array in (("X", X), ("y", y)):
            np.save(tmp_path / f"{name}.npy", array)
        mapped, labels = (np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "Xy")
        np.testing.assert_array_equal(RejectSVC(ASYMMETRIC).fit(mapped, labels).decision_function(mapped), expected)

    @pytest.mark.parametrize("layout", SPARSE.values(), ids=SPARSE)
    @pytest.mark.parametrize("kernel", ["rbf", "linear"])
    def test_sparse_gives_the_same_machine(self, data, layout, kernel):
        X, y = data
        X = np.where(X < 0, 0.0, X)
        options = {"kernel": kernel, "C": 0.1, **TIGHT}
        dense = RejectSVC(ASYMMETRIC, **options).fit(X, y)
        given = layout(X)
        kept = given.copy()
        thin = RejectSVC(ASYMMETRIC, **options).fit(given, y)
        for rows in (X, given):
            np.testing.assert_allclose(thin.decision_function(rows), dense.decision_function(X), atol=1e-7)
            np.testing.assert_allclose(dense.decision_function(rows), dense.decision_function(X), atol=1e-12)
        assert sparse.issparse(thin.support_vectors_)
        assert (given != kept).nnz == 0
        if given.format == "csr":
            np.testing.assert_array_equal(given.indices, kept.indices)  # not sorted under the caller's hands

    @pytest.mark.parametrize("frame", [DENSE["pandas"], DENSE["polars"]], ids=["pandas", "polars"])
    def test_feature_names(self, data, frame):
        X, y = data
        if _get_feature_names(frame(X)) is None:
            pytest.skip(f"scikit-learn {sklearn.__version__} does not read the names of these frames")
        clf = RejectSVC(ASYMMETRIC).fit(frame(X), y)
        assert clf.feature_names_in_.tolist() == list("abcd")
        assert clf.n_features_in_ == 4
        with pytest.raises(ValueError, match="feature names"):
            clf.predict(frame(X)[["b", "a", "c", "d"]])


class TestKernels:
    def test_precomputed_and_callable_are_the_kernel_itself(self, data):
        X, y = data
        train, test = X[:100], X[100:]
        named = RejectSVC(ASYMMETRIC, gamma=0.02, **TIGHT).fit(train, y[:100])

        def kernel(a, b):
            return rbf_kernel(a, b, gamma=0.02)

        called = RejectSVC(ASYMMETRIC, kernel=kernel, **TIGHT).fit(train, y[:100])
        given = RejectSVC(ASYMMETRIC, kernel="precomputed", **TIGHT).fit(kernel(train, train), y[:100])
        expected = named.decision_function(test)
        np.testing.assert_allclose(called.decision_function(test), expected, atol=1e-8)
        np.testing.assert_allclose(given.decision_function(kernel(test, train)), expected, atol=1e-8)
        np.testing.assert_array_equal(called.support_vectors_, train[called.support_])
        assert given.support_vectors_.shape == (0, 0)

    def test_a_callable_kernel_is_called_for_all_pairs_and_as_it_predicts(self, data):
        calls = []

        def kernel(a, b):
            calls.append((a.shape, b.shape))
            return a @ b.T

        X, y = data
        clf = RejectSVC(kernel=kernel).fit(X, y)
        assert calls == [(X.shape, X.shape), (X.shape, clf.support_vectors_.shape)]
        clf.predict(X[:3])
        assert calls[2:] == [((3, 4), clf.support_vectors_.shape)]

    def test_a_callable_kernel_does_not_see_later_changes_of_x(self, data):
        X, y = data[0].copy(), data[1]
        clf = RejectSVC(kernel=rbf_kernel).fit(X, y)
        before = clf.decision_function(data[0])
        X[:] = 0
        np.testing.assert_array_equal(clf.decision_function(data[0]), before)

    @pytest.mark.parametrize("machine", [RejectSVC(ASYMMETRIC), EmbeddedRejectSVC()])
    @pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array])
    def test_a_callable_kernel_on_sparse_rows(self, data, machine, form):
        X, y = data
        expected = clone(machine).set_params(kernel=rbf_kernel).fit(X, y).decision_function(X)
        fitted = clone(machine).set_params(kernel=rbf_kernel).fit(form(X), y)
        np.testing.assert_allclose(fitted.decision_function(form(X)), expected, atol=1e-8)

    @pytest.mark.parametrize("trained", [np.asarray, sparse.csr_array])
    def test_a_callable_kernel_gets_new_rows_in_the_form_of_the_training_rows(self, data, trained):
        seen = set()

        def kernel(a, b):
            seen.add((sparse.issparse(a), sparse.issparse(b)))
            return a @ b.T

        X, y = data
        clf = RejectSVC(kernel=kernel).fit(trained(X), y)
        np.testing.assert_allclose(clf.decision_function(X), clf.decision_function(sparse.csr_array(X)), atol=1e-8)
        assert seen == {(sparse.issparse(trained(X)),) * 2}

    def test_a_callable_kernel_that_cannot_take_sparse_rows(self, data):
        X, y = data

        def dense_only(a, b):
            return np.exp(-0.02 * ((a[:, np.newaxis] - b[np.newaxis]) ** 2).sum(axis=-1))

        clf = RejectSVC(kernel=dense_only).fit(X, y)
        np.testing.assert_array_equal(clf.predict(sparse.csr_array(X)), clf.predict(X))  # fitted on an array
        with pytest.raises(ValueError, match=r"kernel\(X, Y\) failed on sparse rows, IndexError.*X\.toarray\(\)"):
            clf.fit(sparse.csr_array(X), y)
        with pytest.raises(ZeroDivisionError):  # an error of the kernel itself stays as it is
            RejectSVC(kernel=lambda a, b: len(a) / (len(b) * 0)).fit(X, y)

    def test_zero_weights_with_a_gram_matrix(self, data):
        X, y = data
        weight = (np.arange(len(y)) % 3 > 0).astype(float)
        named = RejectSVC(gamma=0.02, **TIGHT).fit(X, y, weight)
        given = RejectSVC(kernel="precomputed", **TIGHT).fit(rbf_kernel(X, gamma=0.02), y, weight)
        np.testing.assert_allclose(
            given.decision_function(rbf_kernel(X, gamma=0.02)), named.decision_function(X), atol=1e-8
        )

    def test_tags(self):
        tags = RejectSVC().__sklearn_tags__()
        assert tags.input_tags.sparse
        assert not tags.input_tags.pairwise
        assert tags.classifier_tags.multi_class
        assert RejectSVC(kernel="precomputed").__sklearn_tags__().input_tags.pairwise

    def test_cross_validation_slices_a_gram_matrix_both_ways(self, data):
        X, y = data
        by_rows = cross_val_score(RejectSVC(gamma=0.02, **TIGHT), X, y, cv=3)
        by_gram = cross_val_score(RejectSVC(kernel="precomputed", **TIGHT), rbf_kernel(X, gamma=0.02), y, cv=3)
        np.testing.assert_allclose(by_gram, by_rows)


class TestSparseRowsThatAreNearlyDense:
    """The solver gets dense rows, the machine keeps sparse ones."""

    @pytest.fixture
    def counts(self):
        rng = np.random.default_rng(0)
        X = rng.poisson(0.5, size=(120, 8)).astype(float)
        return sparse.csr_array(X), (X[:, 0] + rng.normal(size=120) > 0.5).astype(int)

    @pytest.mark.parametrize("kernel", ["rbf", "poly"])
    def test_the_machine_is_sparse_and_scores_as_one_of_dense_rows(self, counts, kernel):
        X, y = counts
        options = {"kernel": kernel, "gamma": 0.02, "C": 0.5}
        thin, dense = (RejectSVC(Costs(reject=0.2), **options).fit(rows, y) for rows in (X, X.toarray()))
        assert sparse.issparse(thin.support_vectors_)
        np.testing.assert_allclose(thin.decision_function(X), dense.decision_function(X.toarray()), atol=1e-6)

    def test_only_where_there_are_few_zeros_and_few_entries(self, counts):
        X, _ = counts
        rbf = Kernel("rbf", gamma=1.0)
        assert faster_dense(rbf, X)
        assert not faster_dense(rbf, X.toarray())
        assert not faster_dense(Kernel("linear"), X)
        assert not faster_dense(rbf, sparse.csr_array((np.ones(40), np.arange(40), np.arange(41)), shape=(40, 1000)))
        wide = sparse.csr_array((np.ones(6), np.arange(6), [0, 3, 6]), shape=(2, 10**8))
        assert not faster_dense(rbf, wide)
