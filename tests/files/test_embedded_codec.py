"""EmbeddedRejectSVC in model files: what is saved comes back, bit for bit."""

import copy

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from abstain import EmbeddedRejectSVC, save
from abstain.preprocessing import default_pipeline
from files.sameness import again, assert_same, sorted_vars
from looping import looped

STORAGE = {"dense": np.asarray, "csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}


# tanh is not positive semidefinite; its solution is saved all the same
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@looped(storage=STORAGE, kernel=["linear", "rbf", "laplacian", "poly", "sigmoid"])
def test_every_kernel_and_storage(kernel, storage, data, tmp_path):
    X, y = data
    X = STORAGE[storage](np.where(X > 0, X, 0.0))
    saved = EmbeddedRejectSVC(0.2, C=1.0, kernel=kernel, degree=2, coef0=0.5).fit(X, y)
    loaded = again(saved, tmp_path)
    assert_same(sorted_vars(saved), sorted_vars(loaded))
    np.testing.assert_array_equal(saved.decision_function(X), loaded.decision_function(X), strict=True)
    assert_same(vars(saved.decide(X)), vars(loaded.decide(X)))


@pytest.mark.parametrize(
    "settings",
    [
        {"reject_cost": 0.5},
        {"reject_cost": 1},
        {"solver": "dual"},
        {"lower_bound": True, "margin_cost": 0.01, "pos_label": "a"},
        {"n_components": 3, "kernel": "rbf", "reject_label": "ask", "random_state": None},
        {"time_limit": 1e9, "n_starts": 0, "verbose": False},
    ],
    ids=repr,
)
def test_parameters_and_attributes(settings, data, tmp_path):
    X, y = data
    saved = EmbeddedRejectSVC(**{"reject_cost": 0.2, "C": 1.0} | settings).fit(X, np.where(y == 1, "b", "a"))
    loaded = again(saved, tmp_path)
    assert_same(sorted_vars(saved), sorted_vars(loaded))
    for method in ("predict", "predict_forced", "reject_mask", "decision_function"):
        assert_same(getattr(saved, method)(X), getattr(loaded, method)(X))
    assert saved.score(X, np.where(y == 1, "b", "a")) == loaded.score(X, np.where(y == 1, "b", "a"))
    if settings.get("random_state", 0) is not None:
        assert_same(sorted_vars(saved), sorted_vars(clone(loaded).fit(X, np.where(y == 1, "b", "a"))))


def test_a_precomputed_kernel(data, tmp_path):
    X, y = data
    gram = X @ X.T
    saved = EmbeddedRejectSVC(0.2, kernel="precomputed").fit(gram, y)
    loaded = again(saved, tmp_path)
    assert_same(sorted_vars(saved), sorted_vars(loaded))
    assert_same(saved.predict(gram[:5]), loaded.predict(gram[:5]))
    with pytest.raises(ValueError, match="features"):
        loaded.predict(gram[:5, :5])


def test_names_of_features_and_pipelines(table, tmp_path):
    X, y = table
    named = EmbeddedRejectSVC(0.2).fit(X[["score", "unused"]], y)
    assert again(named, tmp_path).feature_names_in_.tolist() == ["score", "unused"]
    saved = default_pipeline(EmbeddedRejectSVC(0.2, C=1.0), ["age", "score"], ["city"]).fit(X, y)
    loaded = again(saved, tmp_path)
    assert_same(saved.predict(X), loaded.predict(X))
    assert_same(saved.decision_function(X), loaded.decision_function(X))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_parameters_that_contradict_nothing_may_change_after_the_fit(kernel, data, tmp_path):
    saved = EmbeddedRejectSVC(0.2, C=1.0, kernel=kernel).fit(*data)
    saved.set_params(C=2.0, n_starts=1, max_iter=7, time_limit=3.0, verbose=True, random_state=4, steepness=50.0)
    assert_same(sorted_vars(saved), sorted_vars(again(saved, tmp_path)))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"reject_cost": 0.4}, "its costs, thresholds or labels"),
        ({"reject_cost": 0.6}, "its costs, thresholds or labels"),
        ({"reject_label": 9}, "its costs, thresholds or labels"),
        ({"pos_label": 0}, "its costs, thresholds or labels"),
        ({"kernel": "linear"}, "the kernel, gamma, coef0 or degree of its machine differs"),
        ({"gamma": 0.123}, "the kernel, gamma, coef0 or degree of its machine differs"),
        ({"lower_bound": True}, "its lower bound is missing, or it has one that its parameters"),
        ({"solver": "dual"}, "its lower bound is missing, or it has one that its parameters"),
    ],
    ids=repr,
)
def test_parameters_that_contradict_the_machine_are_refused(changed, reason, embedded, tmp_path):
    message = f"the parameters of estimator were changed after it was fitted: .*{reason}.* Fit it again before saving"
    with pytest.raises(ValueError, match=message):
        save(copy.copy(embedded).set_params(**changed), tmp_path / "model")
    assert not [*tmp_path.iterdir()]


def linear(X, Y):
    return np.asarray(X) @ np.asarray(Y).T


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": linear}, "kernel=.* is a function, but a model file can contain only numbers"),
        ({"random_state": np.random.RandomState(0)}, "random_state=.* is a RandomState"),
    ],
    ids=["callable kernel", "random state"],
)
def test_what_a_file_cannot_hold_is_refused(settings, message, data, tmp_path):
    with pytest.raises(ValueError, match=message):
        save(EmbeddedRejectSVC(0.2, **settings).fit(*data), tmp_path / "model")
    assert not [*tmp_path.iterdir()]


def test_hostile_labels_and_names_are_text(data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=["../../x", "</script>", "=cmd"])
    names = np.array(["<img onerror=alert(1)>", "\u202ereject\x07"], dtype=object)
    loaded = again(EmbeddedRejectSVC(0.2, C=1.0).fit(frame, names[y]), tmp_path)
    assert set(loaded.predict(frame)) <= {*names, "reject"}
    assert loaded.feature_names_in_.tolist() == [*frame.columns]
