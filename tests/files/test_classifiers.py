"""ThresholdRejectors around scikit-learn's forests, boosting and calibrated classifiers: what is saved comes back."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from abstain import Costs, RejectSVC, RejectSVCCV, ThresholdRejector, save, to_onnx
from abstain.files.format.errors import ModelFileError
from abstain.files.format.manifest import packed
from abstain.files.format.schema import Fields
from abstain.files.registry import CLASSIFIERS as CODECS
from abstain.files.registry import parts, restored
from abstain.files.sklearn_codecs.classifiers import classifier_from, classifier_parts
from abstain.preprocessing import default_pipeline
from files.sameness import again, assert_same

COSTS = Costs(1, 3, 0.3)
FOREST = RandomForestClassifier(4, random_state=0)
Boosting = HistGradientBoostingClassifier
BOOSTING = Boosting(max_iter=3, max_leaf_nodes=5, min_samples_leaf=4)


def calibrated(inner, **settings):
    return CalibratedClassifierCV(inner, **{"cv": 2} | settings)


CLASSIFIERS = {
    "forest": FOREST,
    "forest, best first": RandomForestClassifier(3, max_leaf_nodes=6, max_features=None, random_state=1),
    "forest, pruned": RandomForestClassifier(3, ccp_alpha=0.02, bootstrap=False, criterion="entropy", random_state=2),
    "forest, weights": RandomForestClassifier(3, class_weight={0: 1.0, 1: 2.5}, max_samples=0.9),
    "forest, stumps": RandomForestClassifier(2, max_depth=1, class_weight="balanced", n_jobs=2, random_state=3),
    "forest, roots": RandomForestClassifier(2, min_samples_leaf=1000, random_state=3),
    "boosting": BOOSTING,
    "boosting, stopped": Boosting(early_stopping=True, max_iter=5, min_samples_leaf=3, max_bins=9),
    "boosting, scored": Boosting(early_stopping=True, max_iter=2, scoring="accuracy"),
    "boosting, a constant": Boosting(max_iter=1, class_weight="balanced", random_state=7),
    "boosting, pairs": Boosting(max_iter=2, min_samples_leaf=4, interaction_cst="pairwise", max_features=0.7),
    "sigmoid of a forest": calibrated(FOREST, ensemble=False),
    "sigmoids of forests": calibrated(FOREST, ensemble=True, n_jobs=1),
    "curve of boosting": calibrated(BOOSTING, method="isotonic", ensemble=False),
    "curves of boosting": calibrated(BOOSTING, method="isotonic", cv=StratifiedKFold(3)),
    "sigmoids of lines": calibrated(LogisticRegression(C=0.3)),
    "the same for all": DummyClassifier(strategy="prior"),
    "sigmoid of a machine": calibrated(RejectSVC(), ensemble=False),
    "sigmoids of machines": calibrated(RejectSVC(kernel="linear")),
    "curves of searches": calibrated(RejectSVCCV(Cs=2, gammas=2, cv=2), method="isotonic"),
}


FOUR = {name: CLASSIFIERS[name] for name in ("forest", "boosting", "sigmoids of forests", "curve of boosting")}


def assert_same_model(saved, loaded, X):
    for method in ("predict", "predict_proba", "predict_forced", "reject_mask", "decision_function"):
        if hasattr(saved, method):
            assert_same(getattr(saved, method)(X), getattr(loaded, method)(X))
    assert_same(vars(saved.decide(X)), vars(loaded.decide(X)))
    assert_same(saved.thresholds_, loaded.thresholds_)
    assert_same(saved.rule_, loaded.rule_)
    assert repr(saved) == repr(loaded)
    assert repr(saved.estimator_) == repr(loaded.estimator_)


@pytest.mark.parametrize("case", CLASSIFIERS)
def test_the_same_decisions(case, data, tmp_path):
    X, y = data
    saved = ThresholdRejector(CLASSIFIERS[case], COSTS, cv=2).fit(X, y)
    loaded = again(saved, tmp_path)
    assert_same_model(saved, loaded, X)
    check_is_fitted(loaded.estimator_)
    assert_same_model(saved, pickle.loads(pickle.dumps(loaded)), X)  # noqa: S301 (our own)
    assert_same(packed(parts(saved)[1])[0], packed(parts(loaded)[1])[0])
    assert repr(clone(loaded)) == repr(clone(saved))
    clone(loaded).fit(X, y).predict(X)
    loaded.retune(costs=Costs(reject=0.1))


@pytest.mark.parametrize(
    ("asked", "classifier"),
    [
        ({"costs": COSTS, "method": "chow"}, FOREST),
        ({"costs": COSTS, "method": "chow", "pos_label": "a"}, BOOSTING),
        ({"reject_rate": 0.2, "method": "chow"}, calibrated(BOOSTING)),
        ({"max_error": 0.6, "confidence": 0.6, "cv": 5, "random_state": 0}, FOREST),
        ({"reject_rate": (0.1, 0.2), "method": "roc", "cv": "train"}, calibrated(FOREST, method="isotonic")),
        ({}, BOOSTING),
    ],
)
def test_every_request(asked, classifier, data, tmp_path):
    X, y = data
    y = np.where(y == 1, "b", "a")
    saved = ThresholdRejector(classifier, **{"cv": 2} | asked).fit(X, y)
    loaded = again(saved, tmp_path)
    assert_same_model(saved, loaded, X)
    assert_same(saved.certificate_, loaded.certificate_)
    assert_same(saved.estimator_.classes_, loaded.estimator_.classes_)


@pytest.mark.parametrize("classifier", FOUR.values(), ids=FOUR)
def test_missing_values_go_the_same_way(classifier, data, tmp_path):
    X, y = data
    X = np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.3, np.nan, X)
    X[:, 2] = np.where(y == 1, np.nan, 1.0)  # split by what is missing: an infinite threshold
    saved = ThresholdRejector(classifier, COSTS, cv=2).fit(X, y)
    thresholds = next(array for name, array in parts(saved)[1].items() if name.endswith("threshold"))
    assert np.isinf(thresholds).any()
    assert_same_model(saved, again(saved, tmp_path), X)


def test_every_node_comes_back(data, tmp_path):
    X, y = data
    saved = ThresholdRejector(FOREST, COSTS, cv=2).fit(X, y)
    pairs = zip(saved.estimator_.estimators_, again(saved, tmp_path).estimator_.estimators_, strict=True)
    for one, other in pairs:
        assert_same(one.tree_.__getstate__(), other.tree_.__getstate__())
        assert_same(dict(vars(one), tree_=0), dict(vars(other), tree_=0))
    assert_same(saved.estimator_.feature_importances_, again(saved, tmp_path).estimator_.feature_importances_)
    saved = ThresholdRejector(BOOSTING, COSTS, cv=2).fit(X, y)
    loaded = again(saved, tmp_path)
    for (one,), (other,) in zip(saved.estimator_._predictors, loaded.estimator_._predictors, strict=True):
        assert_same(vars(one), vars(other))
    assert saved.estimator_.n_iter_ == loaded.estimator_.n_iter_ == 3


@pytest.mark.parametrize("cv", [2, "prefit", "train"])
def test_a_sigmoid_that_was_added(cv, data, tmp_path):
    X, y = data
    given = RejectSVC(gamma=0.5)
    saved = ThresholdRejector(given.fit(X, y) if cv == "prefit" else given, COSTS, method="chow", cv=cv).fit(X, y)
    assert type(saved.estimator_) is CalibratedClassifierCV
    loaded = again(saved, tmp_path)
    assert type(loaded.estimator) is RejectSVC
    assert hasattr(loaded.estimator, "_fitted_") == (cv == "prefit")
    assert_same_model(saved, loaded, X)


def test_a_classifier_that_was_fitted_before(data, tmp_path):
    X, y = data
    for classifier in (FOREST, BOOSTING, calibrated(FOREST), calibrated(FrozenEstimator(clone(BOOSTING).fit(X, y)))):
        saved = ThresholdRejector(clone(classifier).fit(X[:30], y[:30]), COSTS, cv="prefit").fit(X[30:], y[30:])
        loaded = again(saved, tmp_path)
        assert loaded.estimator is loaded.estimator_
        assert_same_model(saved, loaded, X)


@pytest.mark.parametrize("classifier", FOUR.values(), ids=FOUR)
def test_inside_pipelines(classifier, table, tmp_path):
    X, y = table
    saved = default_pipeline(ThresholdRejector(classifier, COSTS, cv=2, pos_label="good"), ["age", "score"], ["city"])
    loaded = again(saved.fit(X, y), tmp_path)
    assert_same(saved.predict(X), loaded.predict(X))
    assert_same(saved.decision_function(X), loaded.decision_function(X))
    numbers = X[["score", "unused"]]
    saved = make_pipeline(StandardScaler(), ThresholdRejector(classifier, reject_rate=0.2, cv=2)).fit(numbers, y)
    assert_same(saved.decision_function(numbers), again(saved, tmp_path).decision_function(numbers))


def test_names_of_features_and_sparse_rows(data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "</script>", "=cmd"])
    for classifier in (FOREST, BOOSTING, calibrated(FOREST)):
        saved = ThresholdRejector(classifier, COSTS, cv=2).fit(frame, y)
        loaded = again(saved, tmp_path)
        assert loaded.feature_names_in_.tolist() == [*frame.columns]
        assert_same_model(saved, loaded, frame)
    rows = sparse.csr_array(np.where(X > 0, X, 0.0))
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    for classifier in (FOREST, calibrated(RejectSVC())):
        saved = ThresholdRejector(classifier, COSTS, cv=2).fit(rows, y)
        assert_same_model(saved, again(saved, tmp_path), rows)


@pytest.mark.parametrize("case", ["forest, best first", *FOUR, "sigmoids of lines"])
def test_the_codecs_take_more_classes_than_the_rejector_does_yet(case, data):
    X, _ = data
    y = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.0, 1.5])
    saved = clone(CLASSIFIERS[case]).fit(X, y)
    state, arrays = classifier_parts(saved, CODECS[type(saved).__name__])
    assert_same(saved.predict_proba(X), made(state, arrays).predict_proba(X))
    if case == "boosting":
        for name, array in arrays.items():
            if len(array) == arrays["sizes"].sum():
                arrays[name] = array[: arrays["sizes"][:-1].sum()]
        arrays["sizes"] = arrays["sizes"][:-1]
        with pytest.raises(ModelFileError, match="its trees are not the same number for each class"):
            made(state, arrays)


def made(state, arrays):
    fields = Fields(state, "classifier")
    return classifier_from(fields.take("kind"), CODECS, fields, arrays, np.arange(3))


def test_an_array_without_axes_is_refused(data):
    state, arrays = parts(ThresholdRejector(calibrated(FOREST), cv=2).fit(*data))
    with pytest.raises(ModelFileError, match="an array without axes"):
        restored(state, arrays | {"classifier.fold.left": np.array(1, dtype="<i4")})


def accuracy(estimator, X, y):
    return (estimator.predict(X) == y).mean()


@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        (ExtraTreesClassifier(2), "around a ExtraTreesClassifier, which .* one of .*, RandomForestClassifier, Hist"),
        (RandomForestClassifier(2, warm_start=True), "RandomForestClassifier with warm_start=True, which a model"),
        (RandomForestClassifier(2, monotonic_cst=[1, 0, 0]), r"with monotonic_cst=\[1, 0, 0\], which a model"),
        (RandomForestClassifier(2, random_state=np.random.RandomState(0)), "random_state=.* is a RandomState"),
        (Boosting(max_iter=2, warm_start=True), "Classifier with warm_start=True, which a model file"),
        (Boosting(max_iter=2, monotonic_cst=[1, 0, 0]), r"with monotonic_cst=\[1, 0, 0\], which a model"),
        (Boosting(max_iter=2, scoring=accuracy), "scoring=<function .* is a function"),
        (Boosting(max_iter=2, categorical_features=[0]), "with categorical features, which .*; encode"),
        (CalibratedClassifierCV(cv=2), "CalibratedClassifierCV around a LinearSVC, which .* one of RejectSVC"),
        (calibrated(LinearSVC()), "CalibratedClassifierCV around a LinearSVC, which .* one of RejectSVC"),
        (calibrated(calibrated(FOREST)), "CalibratedClassifierCV around a CalibratedClassifierCV"),
        (calibrated(RandomForestClassifier(2, warm_start=True)), "RandomForestClassifier with warm_start=True, which"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,  # no addresses: workers must agree
)
def test_what_a_file_cannot_contain_is_refused_by_name(classifier, message, data, tmp_path):
    X, y = data
    X = np.column_stack([np.round(np.abs(X[:, 0])), X[:, 1:]])
    with pytest.raises(ValueError, match=message):
        save(ThresholdRejector(classifier, COSTS, cv=2).fit(X, y), tmp_path / "model")
    assert not [*tmp_path.iterdir()]


def test_temperatures_and_shared_frozen_classifiers_are_refused(data, tmp_path):
    X, y = data
    fitted = ThresholdRejector(calibrated(FOREST, ensemble=False), COSTS, cv="train").fit(X, y)
    fitted.estimator_.method = fitted.estimator.method = "temperature"
    if "temperature" in str(CalibratedClassifierCV._parameter_constraints["method"]):
        with pytest.raises(ValueError, match="method='temperature', which a model file; use 'sigmoid' or"):
            save(fitted, tmp_path / "model")
    frozen = FrozenEstimator(clone(FOREST).fit(X, y))
    with pytest.raises(ValueError, match=r"with 2 classifiers, .* 1 if frozen, .*; use ensemble=False"):
        save(ThresholdRejector(calibrated(frozen, ensemble=True), cv=2).fit(X, y), tmp_path / "model")


@pytest.mark.parametrize(
    ("classifier", "change", "reason"),
    [
        (FOREST, lambda one: one.estimator_.estimators_.pop(), "its number of trees differs from n_estimators"),
        (FOREST, lambda one: one.estimator.set_params(max_depth=2), "parameters of its estimator differ"),
        (calibrated(FOREST), lambda one: one.estimator.set_params(method="isotonic"), "parameters of its estimator"),
        (calibrated(FOREST), lambda one: one.estimator.set_params(estimator__max_depth=2), "parameters of its"),
        (calibrated(FOREST), lambda one: one.estimator_.set_params(ensemble=False), "although ensemble is False"),
        (calibrated(FOREST), lambda one: one.estimator_.set_params(method="isotonic"), "estimator or method differs"),
        (calibrated(FOREST), lambda one: one.estimator_.set_params(estimator__max_depth=2), "the parameters of its"),
    ],
)
def test_parameters_that_contradict_the_fit_are_refused(classifier, change, reason, data, tmp_path):
    fitted = ThresholdRejector(clone(classifier), COSTS, cv=2).fit(*data)
    change(fitted)
    with pytest.raises(ValueError, match=f"changed after it was fitted: .*{reason}.* Fit it again before saving"):
        save(fitted, tmp_path / "model")


def test_a_forest_whose_parameters_contradict_nothing_is_saved(data, tmp_path):
    X, y = data
    saved = copy.deepcopy(ThresholdRejector(FOREST, COSTS, cv=2).fit(X, y))
    for one in (saved.estimator, saved.estimator_):
        one.set_params(n_jobs=2, max_depth=77)
    assert_same(saved.predict_proba(X), again(saved, tmp_path).predict_proba(X))


@pytest.mark.parametrize("classifier", [FOREST, BOOSTING, calibrated(FOREST)], ids=repr)
def test_onnx_refuses_trees_by_name(classifier, data):
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match=f"around a {type(classifier).__name__}, which has no ONNX graph"):
        to_onnx(ThresholdRejector(classifier, COSTS, cv=2).fit(*data))
