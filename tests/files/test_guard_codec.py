"""A NoveltyRejector is saved with its guard and comes back the same; guards that contradict themselves are refused."""

import copy
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.svm import OneClassSVM as TheirOneClassSVM

from abstain import (
    Actions,
    Costs,
    EmbeddedRejectSVC,
    LinearRejectSVC,
    NoveltyRejector,
    OneClassSVM,
    RejectSVC,
    RejectSVCCV,
    ThresholdRejector,
    drift,
    load,
    save,
)
from abstain.estimators.novelty.novelty import DEFAULT_RATE
from abstain.files.format.container import LARGEST
from abstain.files.format.errors import ModelFileError
from abstain.files.model_file import read
from abstain.preprocessing import default_pipeline
from files.forging import array, field, shifted
from files.sameness import again, assert_same
from looping import looped

COSTS = Costs(1, 3, 0.3)
FEW_TREES = IsolationForest(n_estimators=5)
FOREST = RandomForestClassifier(3, max_depth=3, random_state=0)
ACTIONS = Actions({"treat": {0: 1.0, 1: 0.0}, "send home": {0: 0.0, 1: 3.0}, "ask": 0.3})
CLASSIFIERS = {
    "machine": RejectSVC(COSTS),
    "search": RejectSVCCV(COSTS, Cs=2, gammas=2, cv=2),
    "linear": LinearRejectSVC(COSTS),
    "embedded": EmbeddedRejectSVC(0.2, n_starts=2),
    "actions": RejectSVC(ACTIONS),
    "no costs": RejectSVC(),
    "rejector": ThresholdRejector(LogisticRegression(), COSTS),
    "logistic": LogisticRegression(C=0.5),
    "calibrated": CalibratedClassifierCV(FOREST, cv=2),
    "steps": make_pipeline(StandardScaler(), RejectSVC(COSTS)),
    "steps, forest": make_pipeline(StandardScaler(), FOREST),
    "steps, rejector": make_pipeline(StandardScaler(), ThresholdRejector(FOREST, reject_rate=0.2, cv=2)),
    "rejector, steps": ThresholdRejector(make_pipeline(StandardScaler(), LogisticRegression()), COSTS, method="chow"),
}


def assert_guards_alike(saved, loaded, X):
    """The same decisions, reasons, p-values, drift and parameters, for rows like the training rows and unlike them."""
    far = 10 * X if not isinstance(X, pd.DataFrame) else X.assign(age=1e4)
    for rows in (X, far):
        assert_same(saved.predict(rows), loaded.predict(rows))
        assert_same(saved.novelty(rows), loaded.novelty(rows))
        first, second = saved.decide(rows), loaded.decide(rows)
        assert_same(first.reason, second.reason)
        assert_same(vars(first), vars(second))
        if not sparse.issparse(rows):
            assert_same(drift(saved, rows), drift(loaded, rows))
    assert (saved.decide(far).reason == "novel").sum() > len(far.toarray() if sparse.issparse(far) else far) / 2
    assert_same(saved.calibration_, loaded.calibration_)
    assert saved.seen_ == loaded.seen_
    assert saved.guard_.n == loaded.guard_.n
    assert repr(saved) == repr(loaded)


@looped(case=CLASSIFIERS)
def test_the_same_decisions(case, data, tmp_path):
    X, y = data
    saved = NoveltyRejector(CLASSIFIERS[case], rate=0.05, random_state=0).fit(X, y)
    assert_guards_alike(saved, again(saved, tmp_path), X)


def test_a_table_with_missing_cells_and_categories(guarded_table, table, tmp_path):
    X, y = table
    loaded = again(guarded_table, tmp_path)
    assert_guards_alike(guarded_table, loaded, X)
    assert_same(clone(loaded).fit(X, y).novelty(X), guarded_table.novelty(X))


def test_the_guard_at_the_end_of_a_pipeline(table, tmp_path):
    X, y = table
    guard = NoveltyRejector(make_pipeline(StandardScaler(), RejectSVC(COSTS)), rate=0.05, random_state=0)
    saved = default_pipeline(guard, ["age", "score"], ["city"]).fit(X, y)
    loaded = again(saved, tmp_path)
    assert_same(saved.predict(X), loaded.predict(X))
    assert_same(saved[-1].calibration_, loaded[-1].calibration_)


def test_several_classes(tmp_path):
    X, y = make_classification(90, 4, n_informative=4, n_redundant=0, n_classes=3, random_state=1)
    for classifier in (RejectSVC(), make_pipeline(StandardScaler(), FOREST)):
        saved = NoveltyRejector(classifier, rate=0.05, random_state=0).fit(X, np.array(["a", "b", "c"])[y])
        assert_guards_alike(saved, again(saved, tmp_path), X)


@pytest.mark.parametrize("before", [[], [StandardScaler(with_mean=False)], [MaxAbsScaler()]], ids=repr)
def test_sparse_rows(before, data, tmp_path):
    X, y = sparse.csr_array(data[0]), data[1]
    saved = NoveltyRejector(make_pipeline(*before, RejectSVC(COSTS)), rate=0.05, random_state=0).fit(X, y)
    loaded = again(saved, tmp_path)
    assert_guards_alike(saved, loaded, X)
    assert loaded.seen_ is None


def test_missing_values(data, tmp_path):
    X, y = np.where(data[0] > 1.5, np.nan, data[0]), data[1]
    boosting = HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=4, min_samples_leaf=4)
    saved = NoveltyRejector(boosting, rate=0.05, random_state=0).fit(X, y)
    assert "impute" in saved.guard_.detector.named_steps
    assert_guards_alike(saved, again(saved, tmp_path), X)


def test_rows_that_the_detector_cannot_score(guarded, tmp_path):
    now = guarded._fitted_
    scores = np.append(now.guard.scores[:-1], np.inf)
    saved = copy.copy(guarded)
    calibration = replace(now.calibration, scores=scores)
    saved._fitted_ = replace(now, guard=replace(now.guard, scores=scores), calibration=calibration)
    assert_same(saved.guard_.scores, again(saved, tmp_path).guard_.scores)


def test_a_frozen_classifier_stays_frozen(data, machine, tmp_path):
    saved = NoveltyRejector(FrozenEstimator(machine), rate=0.05, random_state=0).fit(*data)
    loaded = again(saved, tmp_path)
    assert_guards_alike(saved, loaded, data[0])
    assert loaded.calibration_.choices is None
    assert loaded.estimator.estimator is loaded.estimator_


def test_a_machine_of_one_class_that_was_asked_for(data, tmp_path):
    X, y = data
    detector = OneClassSVM(nu=0.2, gamma=0.3)
    for estimator in (RejectSVC(COSTS), make_pipeline(StandardScaler(), RejectSVC(COSTS))):
        saved = NoveltyRejector(estimator, 0.05, detector, random_state=0).fit(X, y)
        loaded = again(saved, tmp_path)
        assert_guards_alike(saved, loaded, X)
        assert_same(clone(loaded).fit(X, y).novelty(X), saved.novelty(X))


@pytest.mark.filterwarnings("ignore:rate=0.01 needs 99 calibration rows")
def test_the_default_rate_is_recognised_again(data, tmp_path):
    saved = NoveltyRejector(RejectSVC(COSTS), random_state=0).fit(*data)
    loaded = again(saved, tmp_path)
    assert loaded.rate is DEFAULT_RATE
    assert not loaded.guard_.acts
    with pytest.warns(UserWarning, match="needs 99 calibration rows"):
        clone(loaded).fit(*data)
    stated = again(NoveltyRejector(RejectSVC(COSTS), rate=0.05, random_state=0).fit(*data), tmp_path)
    with pytest.raises(ValueError, match=r"rate=0.01 needs 99 calibration rows"):
        clone(stated).set_params(rate=float("0.01")).fit(*data)


@pytest.mark.parametrize(
    ("rejector", "message"),
    [
        (NoveltyRejector(RejectSVC(), 0.05, FEW_TREES), "has a IsolationForest as detector .* leave detector=None"),
        (NoveltyRejector(RejectSVC(), 0.05, TheirOneClassSVM()), "a OneClassSVM as detector of novel"),
        (
            NoveltyRejector(RejectSVC(), 0.05, make_pipeline(StandardScaler(), OneClassSVM())),
            "a Pipeline as detector .* preprocess in the Pipeline that is estimator",
        ),
        (NoveltyRejector(make_pipeline(PCA(2), RejectSVC()), 0.05), "has a PCA before its last step"),
        (
            NoveltyRejector(GridSearchCV(RejectSVC(COSTS), {"C": [1.0]}, cv=2), 0.05),
            "around a GridSearchCV, .* fit it around its best_estimator_",
        ),
        (NoveltyRejector(NoveltyRejector(RejectSVC(), 0.1), 0.05), "a NoveltyRejector around a NoveltyRejector"),
    ],
    ids=["forest", "theirs", "scaled", "PCA", "search", "guard of a guard"],
)
def test_others_are_refused(rejector, message, data, tmp_path):
    with pytest.raises(ValueError, match=message):
        save(rejector.fit(*data), tmp_path / "model")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"rate": 0.06}, "its guard was made for rate=0.05"),
        ({"reject_label": 7}, "its reject label does not match"),
        ({"detector": OneClassSVM()}, "its detector differs from the one in its parameters"),
        ({"estimator": RejectSVC(COSTS)}, "the parameters of its estimator differ"),
        ({"estimator": make_pipeline(MinMaxScaler(), RejectSVC(COSTS, C=3.0))}, "the parameters of its estimator"),
    ],
    ids=["rate", "label", "detector", "estimator", "C"],
)
def test_parameters_that_contradict_the_fit_are_refused(changed, reason, guarded, tmp_path):
    with pytest.raises(ValueError, match=f"changed after it was fitted: {reason}.* Fit it again before saving"):
        save(copy.copy(guarded).set_params(**changed), tmp_path / "model")


UNUSUAL = "guard.unusual"
FORGERIES = {
    "not sorted": (array(UNUSUAL, lambda old: old[::-1]), "not in increasing order"),
    "minus infinity": (shifted(UNUSUAL, 0, -np.inf), "'guard.unusual' contains NaN or infinity"),
    "below 0": (shifted(UNUSUAL, 0, -100.0), "scores that its detector cannot give"),
    "too few": (array(UNUSUAL, lambda old: old[:3]), "its 3 calibration rows are too few"),
    "negative count": (shifted("guard.choices", 0, -1000), "counts of decisions on calibration rows"),
    "too many counts": (shifted("guard.choices", 0, 1000), "counts of decisions on calibration rows"),
    "counts that overflow": (
        array("guard.choices", np.full(3, 2**62)),
        "counts of decisions on calibration rows",
    ),
    "rate 1": (field("parameters/rate", 1.0), "The 'rate' parameter"),
    "a tiny rate": (field("parameters/rate", 1e-30), "calibration rows are too few"),
    "the least rate": (field("parameters/rate", 5e-324), "calibration rows are too few"),
    "another label": (field("parameters/reject_label", 1), "reject_label"),
    "a detector in the parameters": (field("parameters/detector", None), "'detector' does not exist"),
    "default rate": (field("rate_is_stated", False), "'rate_is_stated' differs from what"),
    "frozen": (field("is_frozen", True), "counts of decisions|frozen"),
    "a detector given": (field("detector_is_given", True), "a NoveltyDetector as detector of novel rows"),
    "classes": (field("rule/classes", [0, 2]), "the classes of its classifier differ"),
    "classes turned": (field("rule/classes", [1, 0]), "different and sorted"),
    "one class": (field("rule/classes", [1]), "two or more"),
    "a classifier as detector": (field("detector/estimator/kind", "RejectSVC"), "must be one of"),
    "a detector as classifier": (field("classifier/estimator/kind", "OneClassSVM"), "must be one of"),
    "a guard inside": (field("classifier/estimator/kind", "NoveltyRejector"), "must be one of"),
    "other steps": (field("detector/steps/0/1/parameters/clip", True), "does not begin with the transformers"),
    "other names": (field("detector/steps/0/0", "other"), "does not begin with the transformers"),
    "seen by none": (field("seen/rows", 3), "does not count every row"),
    "no columns": (field("seen", None), "unknown array"),
    "the rows of the detector": (field("detector/estimator/machine/n_rows", 10**9), "are not those of its detector"),
    "the machine of the detector": (shifted("guard.detector.machine.coef", 0, -1e9), "one of them is not above 0"),
    "a negative floor": (shifted("guard.detector.floor", 0, -1.0), "a unit of its detector is not above 0"),
    "no spread": (array("guard.detector.spread", lambda old: 0.0 * old), "a unit of its detector is not above 0"),
    "no unit": (array("guard.detector.units", lambda old: 0.0 * old), "a unit of its detector is not above 0"),
    "no excess": (array("guard.detector.excess", lambda old: -old), "a unit of its detector is not above 0"),
    "residuals turned": (array("guard.detector.residuals", lambda old: -old), "a unit of its detector is not above 0"),
    "vectors beyond": (shifted("guard.detector.machine.vectors", 0, 9.0), "vectors beyond the cells that it clips"),
}


@looped(case=FORGERIES)
def test_forgeries(case, guarded, forge):
    change, message = FORGERIES[case]
    raw = forge(guarded, change)
    with pytest.raises(ModelFileError, match=message):
        read(io.BytesIO(raw), len(raw), LARGEST)


OLD = Path(__file__).parent / "data" / "0.2.0-guarded.model"  # when the default was a one-class SVM


def test_a_file_with_the_default_detector_of_earlier_versions(tmp_path):
    model = load(OLD)
    *_, scale, last = model.guard_.detector
    assert (type(scale), type(last)) == (StandardScaler, OneClassSVM)
    assert model.detector is None
    assert model.decide([[0.0, 0.0], [5.0, 5.0]]).reason.tolist() == ["ambiguous", "novel"]
    rows = np.random.default_rng(0).standard_normal((60, 2))
    score = -last.score_samples(scale.transform(model.guard_.detector[0].transform(rows)))
    by_hand = [(1 + np.sum(model.guard_.scores >= one - 1e-9)) / 20 for one in score]
    np.testing.assert_allclose(model.novelty(rows), by_hand)
    assert_guards_alike(model, again(model, tmp_path), rows)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (shifted(UNUSUAL, -1, 100.0), "scores that its detector cannot give"),
        (shifted(UNUSUAL, 0, -100.0), "scores that its detector cannot give"),
        (field("detector/steps/1/1/parameters/with_mean", False), "scales dense rows as sparse"),
    ],
    ids=["above 0", "below the least", "sparse scaling"],
)
def test_forgeries_of_such_a_file(change, message, forge):
    raw = forge(load(OLD), change)
    with pytest.raises(ModelFileError, match=message):
        read(io.BytesIO(raw), len(raw), LARGEST)


def test_other_columns_than_the_detector_reads(guarded_table, forge):
    def renamed(inside):
        inside.model["seen"]["names"][0] = "years"

    raw = forge(guarded_table, renamed)
    with pytest.raises(ModelFileError, match="its training columns have other names"):
        read(io.BytesIO(raw), len(raw), LARGEST)
