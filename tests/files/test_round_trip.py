"""What is saved comes back: the same scores, decisions, parameters and attributes, bit for bit."""

import copy
import dataclasses
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, StratifiedGroupKFold, StratifiedKFold

from abstain import BartlettWegkamp, Costs, RejectSVC, RejectSVCCV, save
from abstain.files.registry import parts, restored
from abstain.solvers.cross_validation import KernelFits
from class_cases import gaussians
from files.sameness import again, assert_same, sorted_vars
from looping import looped

LABELS = {
    "integers": lambda y: y,
    "unsigned": lambda y: y.astype(np.uint8),
    "floats": lambda y: y * 2.0 - 1,
    "float32": lambda y: y.astype(np.float32),
    "booleans": lambda y: y.astype(bool),
    "texts": lambda y: np.where(y == 1, "</script>", "=cmd"),
    "wide texts": lambda y: np.where(y == 1, "a", "b").astype("<U30"),
    "objects": lambda y: np.where(y == 1, "\u202ebidi", "x" * 5000).astype(object),
}
STORAGE = {"dense": np.asarray, "csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}


@looped(storage=STORAGE, kernel=["linear", "rbf", "laplacian", "poly", "sigmoid"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # tanh is not a kernel
def test_every_kernel_and_storage(kernel, storage, data, tmp_path):
    X, y = data
    X = STORAGE[storage](np.where(X > 0, X, 0.0))
    saved = RejectSVC(Costs(1, 3, 0.3), kernel=kernel, degree=2, coef0=0.5).fit(X, y)
    loaded = again(saved, tmp_path)
    assert_same(sorted_vars(saved), sorted_vars(loaded))
    np.testing.assert_array_equal(saved.decision_function(X), loaded.decision_function(X), strict=True)
    assert_same(vars(saved.decide(X)), vars(loaded.decide(X)))


@looped(kind=LABELS, costs=[None, Costs(1, 2, (0.2, 0.3))], first_is_positive=[False, True])
def test_every_kind_of_label(kind, costs, first_is_positive, data, tmp_path):
    X, y = data
    y = LABELS[kind](y)
    saved = RejectSVC(costs, pos_label=np.unique(y)[0] if first_is_positive else None).fit(X, y)
    loaded = again(saved, tmp_path)
    for method in ("predict", "predict_forced", "reject_mask", "decision_function"):
        assert_same(getattr(saved, method)(X), getattr(loaded, method)(X))
    assert saved.score(X, y) == loaded.score(X, y)


def test_a_precomputed_kernel(data, tmp_path):
    X, y = data
    gram = X @ X.T
    saved = RejectSVC(Costs(reject=0.2), kernel="precomputed").fit(gram, y)
    loaded = again(saved, tmp_path)
    assert_same(sorted_vars(saved), sorted_vars(loaded))
    assert_same(saved.predict(gram[:5]), loaded.predict(gram[:5]))


@pytest.mark.parametrize(
    "parameters",
    [
        {"cv": StratifiedKFold(3, shuffle=True, random_state=4)},
        {"Cs": np.logspace(-1, 1, 3), "kernel": "linear"},
        {"Cs": [np.float64(0.5), 2], "gammas": ("scale", 0.3)},
        {"rule": BartlettWegkamp(0.4), "class_weight": {0: 1.0, 1: 2}},
        {"time_limit": 1e9, "n_jobs": 1, "reject_label": 7},
    ],
    ids=["splitter", "array, no gamma", "lists", "rule and weights", "limits"],
)
def test_a_search_and_its_parameters(parameters, data, tmp_path):
    X, y = data
    saved = RejectSVCCV(Costs(reject=0.2), **({"Cs": 2, "gammas": 2, "cv": 3} | parameters)).fit(X, y)
    loaded = again(saved, tmp_path)
    assert_same(saved.cv_results_, loaded.cv_results_)
    assert_same(saved.predict(X), loaded.predict(X))
    assert repr(saved.get_params()).replace("np.float64(0.5)", "0.5") == repr(loaded.get_params())
    refitted = clone(loaded).fit(X, y)
    assert_same(saved.decision_function(X), refitted.decision_function(X))


@pytest.mark.parametrize("cv", [GroupKFold(3), StratifiedGroupKFold(3, shuffle=True, random_state=4)], ids=repr)
def test_a_search_by_groups(cv, data, tmp_path):
    X, y = data
    groups = np.arange(len(y)) // 5
    saved = RejectSVCCV(Costs(reject=0.2), Cs=2, gammas=2, cv=cv).fit(X, y, groups=groups)
    loaded = again(saved, tmp_path)
    assert repr(loaded.cv) == repr(cv)
    refitted = clone(loaded).fit(X, y, groups=groups)
    assert_same(saved.cv_results_, refitted.cv_results_)


def test_a_splitter_whose_folds_depend_on_the_rows_is_refused(data, tmp_path):
    X, y = data
    clf = RejectSVCCV(Cs=1, gammas=1, cv=LeaveOneGroupOut()).fit(X, y, groups=np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match=r"cv=LeaveOneGroupOut\(\) is a LeaveOneGroupOut, but a model file can"):
        save(clf, tmp_path / "model")


def unfinished(monkeypatch, late):
    """A search that has had no time for some of its fits, (gammas, folds, Cs)."""

    whole = KernelFits.scores

    def cut_short(*given, **settings):
        found = whole(*given, **settings)
        found.ended[np.broadcast_to(late, found.ended.shape)] = 0
        return found

    monkeypatch.setattr(KernelFits, "scores", cut_short)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_search_on_subsamples(classes, data, tmp_path, monkeypatch):
    monkeypatch.setattr("abstain.estimators.search.halving.FIRST", 40)
    X, y = data if classes == 2 else gaussians(120)
    saved = RejectSVCCV(Costs(reject=0.2), Cs=4, gammas=3, cv=2, search="halving").fit(X, y)
    assert len(np.unique(saved.cv_results_["n_resources"])) > 1
    object.__setattr__(saved._fitted_.grid, "rejected", np.nan)  # not in the file
    loaded = again(saved, tmp_path)
    assert_same(sorted_vars(saved), sorted_vars(loaded))
    assert_same(saved.cv_results_, loaded.cv_results_)


@pytest.mark.filterwarnings("ignore:RejectSVCCV ran out of time")
@pytest.mark.parametrize("late", [[True, True], [False, True]], ids=["all", "the larger C"])
def test_a_search_that_ran_out_of_time(late, data, tmp_path, monkeypatch):
    X, y = data
    unfinished(monkeypatch, np.array(late))
    saved = RejectSVCCV(Costs(reject=0.2), Cs=2, gammas=2, cv=3).fit(X, y)
    loaded = again(saved, tmp_path)
    assert np.isnan(saved.cv_results_["mean_test_score"]).sum() == 2 * sum(late)
    assert np.isnan(saved.best_score_) == all(late)
    object.__setattr__(saved._fitted_.grid, "rejected", np.nan)  # not in the file
    assert_same(sorted_vars(saved), sorted_vars(loaded))
    assert_same(saved.predict(X), loaded.predict(X))


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_indices_keep_their_dtype(index, data, tmp_path):
    X, y = sparse.csr_array(data[0]), data[1]
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    saved = RejectSVC().fit(X, y)
    assert saved.support_vectors_.indices.dtype == index
    assert_same(sorted_vars(saved), sorted_vars(again(saved, tmp_path)))


# what is legitimate and looks odd: no file of it may be refused
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "settings",
    [
        {"C": 1e13},
        {"C": 1e-9},
        {"max_iter": 1},
        {"tol": 1e-12},
        {"tol": 10.0},
        {"solver": "active-set", "C": 100.0},
        {"solver": "smo", "C": 1000.0},
        {"kernel": "linear", "C": 1e6, "max_iter": 1000},
        {"kernel": "poly", "coef0": -1.0, "max_iter": 1000},
        {"kernel": "sigmoid", "gamma": "auto", "max_iter": 1000},
        {"class_weight": {0: 1e6}},
        {"class_weight": "balanced", "gamma": np.float32(0.3)},
    ],
    ids=repr,
)
@pytest.mark.parametrize("costs", [None, Costs(1, 30, 0.1), Costs(reject=0.5)], ids=["none", "uneven", "no band"])
def test_odd_fits_are_saved(settings, costs, data, tmp_path):
    saved = RejectSVC(costs, **settings).fit(*data)
    loaded = again(saved, tmp_path)
    assert_same(saved._fitted_, loaded._fitted_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::RuntimeWarning")
def test_no_fit_is_refused_however_bad_its_numbers():
    rng = np.random.default_rng(0)
    for _ in range(150):
        n = int(rng.integers(6, 50))
        X = rng.standard_normal((n, 2)) * 10.0 ** rng.uniform(-6, 6) + rng.choice([0.0, 1e6])
        settings = {
            "C": 10.0 ** rng.uniform(-8, 8),
            "kernel": str(rng.choice(["linear", "rbf", "laplacian", "poly", "sigmoid"])),
            "solver": str(rng.choice(["auto", "smo", "active-set"])),
            "max_iter": int(rng.choice([1, 10, 1000])),
            "tol": 10.0 ** rng.uniform(-8, 1),
        }
        costs = rng.choice([None, Costs(1, 3, 0.3), Costs(5, 1, (0.1, 0.2))])
        clf = RejectSVC(costs, **settings).fit(X, np.arange(n) % 2, 10.0 ** rng.uniform(-8, 8, n))
        assert_same(clf._fitted_, restored(*parts(clf))._fitted_)


@pytest.mark.parametrize("weight", [1e-6, 1e6])
def test_fits_with_weights_are_saved(weight, data, tmp_path):
    X, y = data
    saved = RejectSVC(Costs(1, 3, 0.3)).fit(X, y, sample_weight=np.where(np.arange(len(y)) % 3, weight, 0.0))
    assert_same(saved._fitted_, again(saved, tmp_path)._fitted_)


def test_equal_rows_and_one_row_of_each_class(tmp_path):
    for X, y in (([[0.0], [1.0]], [0, 1]), (np.ones((6, 2)), [0, 0, 0, 0, 1, 1])):
        for kernel in ("linear", "rbf"):
            saved = RejectSVC(Costs(reject=0.2), kernel=kernel).fit(X, y)
            assert_same(saved._fitted_, again(saved, tmp_path)._fitted_)


@pytest.mark.parametrize(
    "changed",
    [
        {"C": 7.0},
        {"verbose": True},
        {"n_jobs": 2},
        {"time_limit": 3.0},
        {"max_iter": 9},
        {"tol": 0.1},
        {"cache_size": 1},
        {"class_weight": "balanced"},
        {"solver": "smo"},
        {"pos_label": 1},
        {"gamma": "scale"},
    ],
    ids=repr,
)
def test_parameters_that_contradict_nothing_may_change_after_the_fit(changed, data, tmp_path):
    saved = RejectSVC(Costs(1, 3, 0.3)).fit(*data).set_params(**changed)
    assert_same(sorted_vars(saved), sorted_vars(again(saved, tmp_path)))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"costs": Costs(1, 3, 0.2)}, "its costs, thresholds or labels"),
        ({"costs": None}, "its costs, thresholds or labels"),
        ({"pos_label": 0}, "its costs, thresholds or labels"),
        ({"reject_label": 5}, "its costs, thresholds or labels"),
        ({"rule": "bartlett-wegkamp", "costs": Costs(reject=0.3)}, "its costs, thresholds or labels"),
        ({"kernel": "poly"}, "the kernel, gamma, coef0 or degree of its machine differs"),
        ({"kernel": "linear"}, "the kernel, gamma, coef0 or degree of its machine differs"),
        ({"degree": 2}, "the kernel, gamma, coef0 or degree of its machine differs"),
        ({"coef0": 1.0}, "the kernel, gamma, coef0 or degree of its machine differs"),
        ({"gamma": 0.123}, "the kernel, gamma, coef0 or degree of its machine differs"),
        ({"gamma": "auto"}, "the kernel, gamma, coef0 or degree of its machine differs"),
        ({"tol": 1e-300}, "its status is optimal, but its proof does not show that"),
    ],
    ids=repr,
)
def test_parameters_that_contradict_the_machine_are_refused(changed, reason, data, tmp_path):
    clf = RejectSVC(Costs(1, 3, 0.3), C=50.0, solver="smo").fit(*data).set_params(**changed)
    message = f"the parameters of estimator were changed after it was fitted: .*{reason}.* Fit it again before saving"
    with pytest.raises(ValueError, match=message):
        save(clf, tmp_path / "model")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    "changed", [{"Cs": [0.1, 2]}, {"Cs": 2}, {"gammas": [0.1]}, {"gammas": 3}, {"cv": 3}], ids=repr
)
def test_a_search_is_saved_with_what_it_has_tried(changed, search, tmp_path):
    other = copy.copy(search).set_params(**changed)
    with pytest.raises(
        ValueError, match=r"C, gamma or number of folds of its search differ from its parameters.* Fit it again"
    ):
        save(other, tmp_path / "model")


def test_names_of_features(data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "../../x", "\x00"])
    loaded = again(RejectSVC().fit(frame, y), tmp_path)
    assert loaded.feature_names_in_.tolist() == [*frame.columns]
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[frame.columns[::-1]])


def test_a_file_is_an_ordinary_zip_and_always_the_same(machine, contents, tmp_path):
    path = tmp_path / "model.zip"
    path.write_bytes(contents(machine))
    assert contents(machine) == path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
    with np.load(path, allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["arrays/machine.coef"], machine.dual_coef_[0])


def test_the_judge_has_teeth(machine, tmp_path):
    loaded = again(machine, tmp_path)
    assert_same(sorted_vars(machine), sorted_vars(loaded))
    fitted = loaded._fitted_
    other = dataclasses.replace(fitted.machine, coef=np.nextafter(fitted.machine.coef, np.inf))
    loaded._fitted_ = dataclasses.replace(fitted, machine=other)
    with pytest.raises(AssertionError):
        assert_same(sorted_vars(machine), sorted_vars(loaded))
