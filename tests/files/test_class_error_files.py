"""Promises by true class are saved and loaded bit by bit, as ONNX too, and forgeries of them are refused."""

import io

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import Costs, RejectSVC, ThresholdRejector, save, to_onnx
from abstain.files.format.container import LARGEST
from abstain.files.format.errors import ModelFileError
from abstain.files.model_file import read
from class_cases import gaussians
from files.sameness import again, assert_same
from looping import looped
from onnx_cases import run

X, Y = gaussians(300)
NEW = gaussians(2000, seed=1)[0]
TWO = Y < 2
ROWS = {"two": (X[TWO], np.array(["ant", "bee"])[Y[TWO]]), "three": (X, Y)}
RATES = {"two": {"ant": 0.1, "bee": 0.06}, "three": {0: 0.1, 1: 0.06, 2: 0.3}}
CLASSIFIERS = {
    "logistic": LogisticRegression(),
    "machine": RejectSVC(Costs(reject=0.2)),
    "forest": RandomForestClassifier(3, max_depth=3, random_state=0),
}


def fitted(classes, classifier="logistic", **more):
    return ThresholdRejector(CLASSIFIERS[classifier], class_error=RATES[classes], random_state=0, **more).fit(
        *ROWS[classes]
    )


@looped(classes=ROWS)
@looped(classifier=CLASSIFIERS)
def test_the_same_decisions_and_promises(classes, classifier, tmp_path):
    saved = fitted(classes, classifier)
    loaded = again(saved, tmp_path)
    assert_same(saved.rule_, loaded.rule_)
    assert_same(saved.certificate_, loaded.certificate_)
    assert_same(saved._fitted_.rows, loaded._fitted_.rows)
    assert_same(vars(saved.decide(NEW)), vars(loaded.decide(NEW)))
    np.testing.assert_array_equal(loaded.predict_set(NEW), saved.predict_set(NEW))
    assert repr(saved) == repr(loaded)
    assert loaded.retune(class_error=0.2).certificate_ == saved.retune(class_error=0.2).certificate_


@looped(classes=ROWS)
def test_which_rows_were_held_out_is_remembered(classes, tmp_path):
    rows, rates = ROWS[classes], RATES[classes]
    split = fitted(classes)
    back = again(split.retune(reject_rate=0.1), tmp_path).retune(class_error=rates)
    assert back.certificate_ == split.certificate_
    prefit = ThresholdRejector(LogisticRegression().fit(*rows), class_error=rates, cv="prefit").fit(*rows)
    assert again(prefit, tmp_path).retune(class_error=rates).certificate_ == prefit.certificate_
    folds = again(ThresholdRejector(LogisticRegression(), reject_rate=0.1).fit(*rows), tmp_path)
    with pytest.raises(ValueError, match="the classifier that decides was fitted on their rows"):
        folds.retune(class_error=rates)


@looped(classes=ROWS)
def test_onnx_decides_the_same(classes):
    for classifier in ("logistic", "machine"):
        clf = fitted(classes, classifier)
        label, _, rejected = run(to_onnx(clf), {"X": NEW})
        found = clf.decide(NEW)
        assert label.tolist() == found.label.tolist()
        assert rejected.tolist() == found.rejected.tolist()
        assert rejected.any()
        assert not rejected.all()


@looped(classes=ROWS)
def test_one_classifier_for_each_fold_has_no_file(classes, tmp_path):
    crossed = fitted(classes, conformal="cross")
    with pytest.raises(ValueError, match="a classifier for each fold"):
        save(crossed, tmp_path / "model")
    with pytest.raises(ValueError, match="has no ONNX graph here"):
        to_onnx(crossed)
    inside = make_pipeline(StandardScaler(), ThresholdRejector(LogisticRegression(), class_error=0.1, random_state=0))
    inside.fit(*ROWS[classes])
    np.testing.assert_array_equal(again(inside, tmp_path).predict(NEW), inside.predict(NEW))


def edited(**values):
    return lambda inside: inside.model.update(values)


def parameters(**values):
    return lambda inside: inside.model["parameters"].update(values)


def weights(inside):
    inside.arrays["rows_weight"] = 2 * inside.arrays["rows_weight"]


def scores(inside):
    inside.arrays["rows_score"] = inside.arrays["rows_score"] * 2


WRITES = "differs from what the library writes"
FORGERIES = {
    "no promise": (edited(error_bound=None), WRITES),
    "another promise": (edited(error_bound=[0.1, 0.9, 150, 150, 0]), WRITES),
    "another rate": (parameters(class_error=0.25), WRITES),
    "an impossible rate": (parameters(class_error=1e-6), "needs at least 999999 calibration rows"),
    "a rate of 0": (parameters(class_error=0.0), "must lie between 0 and 1"),
    "a rate of text": (parameters(class_error="low"), "class_error"),
    "no rate": (parameters(class_error=None), WRITES),
    "an unknown class": (parameters(class_error={"dict": [["odd", 0.1]]}), "names 'odd'"),
    "not held out": (edited(held_out=False), "class_error cannot be promised on these scores"),
    "held out, text": (edited(held_out="yes"), "must be true or false"),
    "a flaw": (edited(flaw="seen before"), "rows with a flaw"),
    "weights": (weights, "have weights"),
    "other scores": (scores, WRITES),
    "another way": (parameters(conformal="both"), "'conformal' parameter"),
    "another size": (parameters(calibration_size=2.5), "'calibration_size' parameter"),
}


@looped(classes=ROWS)
@looped(case=FORGERIES)
def test_forgeries(case, classes, forge):
    change, message = FORGERIES[case]
    raw = forge(fitted(classes), change)
    with pytest.raises(ModelFileError, match=message):
        read(io.BytesIO(raw), len(raw), LARGEST)


def test_a_promise_on_folds_cannot_be_forged(forge):
    folds = ThresholdRejector(LogisticRegression(), reject_rate=0.1).fit(*ROWS["two"])
    raw = forge(folds, parameters(class_error=0.1, reject_rate=None))
    with pytest.raises(ModelFileError, match="the classifier that decides was fitted on their rows"):
        read(io.BytesIO(raw), len(raw), LARGEST)


@looped(classes=ROWS)
def test_the_control_is_not_refused(classes, forge):
    raw = forge(fitted(classes), lambda _: None)
    read(io.BytesIO(raw), len(raw), LARGEST)
