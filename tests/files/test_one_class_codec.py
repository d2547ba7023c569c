"""Machines of one class in model files, bit for bit."""

import copy

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import OneClassSVM, save
from files.forging import field, opened
from files.sameness import again, assert_same, sorted_vars
from looping import looped

STORAGE = {"dense": np.asarray, "csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}
METHODS = ("score_samples", "decision_function", "predict")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # tanh is not positive semidefinite
@looped(storage=STORAGE, kernel=["linear", "rbf", "laplacian", "poly", "sigmoid"])
def test_every_kernel_and_storage(kernel, storage, data, tmp_path):
    X = STORAGE[storage](np.where(data[0] > 0, data[0], 0.0))
    saved = OneClassSVM(kernel=kernel, nu=0.3, degree=2, coef0=0.5).fit(X, sample_weight=np.arange(60) % 3)
    loaded = again(saved, tmp_path)
    assert_same(sorted_vars(saved), sorted_vars(loaded))
    for method in METHODS:
        np.testing.assert_array_equal(getattr(saved, method)(X), getattr(loaded, method)(X), strict=True)


@pytest.mark.filterwarnings("ignore:no machine separates")
def test_a_precomputed_kernel_names_and_pipelines(data, tmp_path):
    X = data[0]
    gram = X @ X.T
    saved = OneClassSVM(kernel="precomputed").fit(gram)
    assert_same(saved.score_samples(gram[:5]), again(saved, tmp_path).score_samples(gram[:5]))
    named = OneClassSVM().fit(pd.DataFrame(X, columns=["a", "b", "c"]))
    assert again(named, tmp_path).feature_names_in_.tolist() == ["a", "b", "c"]
    pipeline = make_pipeline(StandardScaler(), OneClassSVM(nu=0.2)).fit(X)
    assert_same(pipeline.score_samples(X), again(pipeline, tmp_path).score_samples(X))


@pytest.mark.filterwarnings("ignore:no machine separates")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("settings", [{"nu": 1.0}, {"nu": 1e-9}, {"max_iter": 1}, {"tol": 1e-15}], ids=repr)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_odd_fits_are_saved(settings, kernel, data, tmp_path):
    for X in (data[0], data[0] + 1e7, np.ones((9, 2)), data[0][:1]):
        saved = OneClassSVM(kernel=kernel, **settings).fit(X)
        assert_same(sorted_vars(saved), sorted_vars(again(saved, tmp_path)))


@pytest.mark.parametrize("changed", [{"gamma": 0.123}, {"kernel": "poly"}, {"tol": 1e-300}], ids=repr)
def test_parameters_that_contradict_the_machine_are_refused(changed, data, tmp_path):
    saved = OneClassSVM(max_iter=100_000).fit(np.tile(data[0], (20, 1)))
    with pytest.raises(ValueError, match="the parameters of estimator were changed after it was fitted"):
        save(copy.copy(saved).set_params(**changed), tmp_path / "model")


def test_a_rejector_cannot_be_around_one(rejector, forge):
    with pytest.raises(ValueError, match=r"'kind' of the classifier must be one of .*, not 'OneClassSVM'"):
        opened(forge(rejector, field("classifier/kind", "OneClassSVM")))


@pytest.mark.filterwarnings("ignore:no machine separates")
def test_a_callable_kernel_is_refused(data, tmp_path):
    with pytest.raises(ValueError, match="is a function, but a model file can contain only numbers"):
        save(OneClassSVM(kernel=lambda A, B: A @ B.T).fit(data[0]), tmp_path / "model")
