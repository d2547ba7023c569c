"""ThresholdRejectors around known classifiers are saved and loaded like the machines."""

import copy
import io

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from abstain import Costs, EmbeddedRejectSVC, RejectSVC, RejectSVCCV, ThresholdRejector, load, save
from abstain.files.format.container import LARGEST
from abstain.files.format.errors import ModelFileError
from abstain.files.model_file import read
from abstain.preprocessing import default_pipeline
from files.sameness import again, assert_same
from looping import looped

COSTS = Costs(1, 3, 0.3)
CLASSIFIERS = {
    "logistic": LogisticRegression(C=0.5),
    "machine": RejectSVC(kernel="linear"),
    "search": RejectSVCCV(Cs=2, gammas=2, cv=2),
    "embedded": EmbeddedRejectSVC(0.2, n_starts=2),
    "embedded kernel": EmbeddedRejectSVC(0.2, kernel="rbf", n_starts=2),
}
REQUESTS = {
    "costs": {"costs": COSTS, "reject_label": 9},
    "costs, roc": {"costs": COSTS, "method": "roc", "pos_label": 0},
    "budget": {"reject_rate": 0.2},
    "budgets, roc": {"reject_rate": (0.1, 0.2), "method": "roc", "cv": "train"},
    "ceiling": {"max_error": 0.45, "confidence": 0.6, "random_state": 1},
    "ceilings": {"max_error": (0.8, 0.8), "confidence": 0.5, "pos_label": 0, "random_state": 0},
    "nothing": {},
}
PROBABILITIES = {
    "chow": ThresholdRejector(LogisticRegression(), COSTS, method="chow", pos_label=0),
    "chow, budget": ThresholdRejector(LogisticRegression(), reject_rate=0.2, method="chow"),
    "chow, ceiling": ThresholdRejector(LogisticRegression(), max_error=0.6, method="chow", random_state=0),
}
AROUND = {
    "steps": ThresholdRejector(make_pipeline(StandardScaler(), LogisticRegression()), COSTS, method="chow"),
    "steps, machine": ThresholdRejector(make_pipeline(StandardScaler(), RejectSVC()), reject_rate=0.2, cv="train"),
}
EVERY = (
    PROBABILITIES
    | AROUND
    | {
        f"{classifier}, {request}": ThresholdRejector(CLASSIFIERS[classifier], **REQUESTS[request])
        for classifier in CLASSIFIERS
        for request in REQUESTS
    }
)


@looped(case=EVERY)
def test_the_same_decisions(case, data, tmp_path):
    X, y = data
    saved = EVERY[case].fit(X, y)
    loaded = again(saved, tmp_path)
    assert_same(saved.rule_, loaded.rule_)
    assert_same(saved.certificate_, loaded.certificate_)
    assert_same(saved._fitted_.rows, loaded._fitted_.rows)
    assert_same(vars(saved.decide(X)), vars(loaded.decide(X)))
    assert saved.response_method_ == loaded.response_method_
    assert repr(saved) == repr(loaded)
    if saved._fitted_.rows is not None:
        assert_same(*(one.retune(costs=Costs(reject=0.1)).rule_ for one in (saved, loaded)))


def test_after_retuning(data, tmp_path):
    X, y = data
    fitted = ThresholdRejector(LogisticRegression(), COSTS, cv="train").fit(X, y)
    for retuned in (fitted.retune(reject_rate=0.3), fitted.retune(X[::2], y[::2], costs=Costs(reject=0.1))):
        loaded = again(retuned, tmp_path)
        assert_same(retuned.rule_, loaded.rule_)
        assert_same(retuned._fitted_.rows, loaded._fitted_.rows)


def test_with_weights(data, tmp_path):
    X, y = data
    weight = np.random.default_rng(0).uniform(size=len(y))
    saved = ThresholdRejector(LogisticRegression(), COSTS, method="roc").fit(X, y, sample_weight=weight)
    loaded = again(saved, tmp_path)
    assert_same(saved._fitted_.rows, loaded._fitted_.rows)
    assert_same(saved.rule_, loaded.rule_)


def test_a_classifier_that_was_fitted_before(data, tmp_path):
    X, y = data
    saved = ThresholdRejector(LogisticRegression().fit(X[:30], y[:30]), COSTS, cv="prefit").fit(X[30:], y[30:])
    loaded = again(saved, tmp_path)
    assert loaded.estimator is loaded.estimator_
    assert loaded.predict(X).tolist() == saved.predict(X).tolist()
    assert loaded.fit(X[30:], y[30:]).thresholds_ == saved.thresholds_


def test_inside_a_pipeline(table, tmp_path):
    X, y = table
    saved = default_pipeline(ThresholdRejector(LogisticRegression(), COSTS), ["age"], ["city"]).fit(X, y)
    save(saved, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X), saved.predict(X), strict=True)


@pytest.mark.parametrize(
    ("rejector", "message"),
    [
        (
            ThresholdRejector(SVC(), COSTS),
            "a SVC, which a model file cannot contain; use one of .*, CalibratedClassifierCV, and",
        ),
        (ThresholdRejector(SVC(), COSTS, method="chow"), "has a CalibratedClassifierCV around a SVC, .* LogisticReg"),
        (
            ThresholdRejector(make_pipeline(StandardScaler(), SVC()), COSTS),
            "is a ThresholdRejector around a SVC, which a model file cannot",
        ),
        (GridSearchCV(RejectSVC(COSTS), {"C": [1.0]}, cv=2), "is a GridSearchCV, .*; save its best_estimator_"),
    ],
    ids=["SVC", "calibrated", "around a Pipeline", "search"],
)
def test_others_are_refused(rejector, message, data, tmp_path):
    with pytest.raises(ValueError, match=message):
        save(rejector.fit(*data), tmp_path / "model")


@pytest.fixture(scope="module")
def ceiling(data):
    return ThresholdRejector(LogisticRegression(), max_error=0.45, confidence=0.6, random_state=0).fit(*data)


def changed_inside(one):
    one.estimator = copy.copy(one.estimator).set_params(C=7.0)
    return one


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda one: one.set_params(costs=Costs(1, 3, 0.2)), "its costs, thresholds or labels"),
        (lambda one: one.set_params(costs=None), "its costs, thresholds or labels"),
        (lambda one: one.set_params(costs=None, reject_rate=0.1), "its costs, thresholds or labels"),
        (lambda one: one.set_params(method="symmetric"), "its costs, thresholds or labels"),
        (lambda one: one.set_params(method="chow"), "need probabilities that its classifier does not have"),
        (lambda one: one.set_params(pos_label=0), "its costs, thresholds or labels"),
        (lambda one: one.set_params(reject_label=4), "its costs, thresholds or labels"),
        (lambda one: one.set_params(cv="prefit"), 'its classifier is the one given although cv is not "prefit"'),
        (changed_inside, "the parameters of its estimator differ from those of the fitted classifier"),
    ],
)
def test_parameters_that_contradict_the_fit_are_refused(change, reason, rejector, tmp_path):
    message = f"the parameters of estimator were changed after it was fitted: .*{reason}.* Fit it again before saving"
    with pytest.raises(ValueError, match=message):
        save(change(copy.copy(rejector)), tmp_path / "model")
    assert not [*tmp_path.iterdir()]


def test_a_promise_that_was_not_made_is_refused(ceiling, tmp_path):
    for changed in ({"max_error": 0.44}, {"confidence": 0.61}, {"max_error": (0.45, 0.45)}):
        with pytest.raises(ValueError, match=r"Fit it again before saving|cannot be certified"):
            save(copy.copy(ceiling).set_params(**changed), tmp_path / "model")


def test_parameters_that_contradict_nothing_may_change_after_the_fit(rejector, tmp_path):
    other = copy.copy(rejector).set_params(n_jobs=2, random_state=3, confidence=0.5, cv=3)
    assert_same(other.rule_, again(other, tmp_path).rule_)


def refused(raw, message):
    with pytest.raises(ModelFileError, match=message):
        read(io.BytesIO(raw), len(raw), LARGEST)


def edited(*way, **values):
    """A change of some fields of a part of the model."""

    def change(inside):
        part = inside.model
        for step in way:
            part = part[step]
        part.update(values)

    return change


def arrays(**functions):
    def change(inside):
        for name, function in functions.items():
            inside.arrays[name] = function(inside.arrays[name])

    return change


def cuts(function):
    def change(inside):
        inside.model["rule"]["cuts"] = function(*inside.model["rule"]["cuts"])

    return change


CUTS = "field 'cuts' differs from what the library writes"
FORGERIES = {
    "kind": (edited("classifier", kind="SVC"), "'kind' of the classifier must be one of .*, not 'SVC'"),
    "a rejector inside": (edited("classifier", kind="ThresholdRejector"), "must be one of"),
    "method": (edited(method="__del__"), "field 'method' differs from what"),
    "probabilities": (edited(method="predict_proba"), "field 'method' differs from what the library writes|'cuts'"),
    "a bound": (edited(error_bound=[0.1, 0.9, 60, 60, 0]), "field 'error_bound' differs from what the library writes"),
    "no rows": (edited(flaw=None), "unknown array 'rows_score'"),
    "a flaw that is not text": (edited(flaw=1), "an invalid sign, weight or flaw"),
    "no classes": (edited("rule", classes=[]), "do not have the type|one class|classes"),
    "other classes": (edited("rule", classes=[0, 2]), "the classes of its classifier differ from those of its rule"),
    "other classes inside": (
        edited("classifier", "rule", classes=[0, 2]),
        "the classes of its classifier differ from those of its rule",
    ),
    "another lower": (cuts(lambda lower, upper, cut: [np.nextafter(lower, -9), upper, cut]), CUTS),
    "another upper": (cuts(lambda lower, upper, cut: [lower, upper + 1.0, cut]), CUTS),
    "an endless band": (cuts(lambda _, upper, cut: [{"float": "-inf"}, upper, cut]), CUTS),
    "cuts crossed": (cuts(lambda lower, upper, cut: [upper, lower, cut]), CUTS),
    "another cut": (cuts(lambda lower, upper, cut: [lower, upper, cut + 1e-9]), CUTS),
    "other costs": (edited("parameters", costs={"Costs": [1.0, 1.0, 0.1]}), CUTS),
    "no costs": (edited("parameters", costs=None), CUTS),
    "another method": (edited("parameters", method="symmetric"), CUTS),
    "chow": (edited("parameters", method="chow"), "probabilities that its classifier does not have"),
    "two requests": (edited("parameters", reject_rate=0.1), "are given together"),
    "a budget": (edited("parameters", costs=None, reject_rate=0.1), CUTS),
    "pos_label": (edited("parameters", pos_label=0), CUTS),
    "scores": (arrays(rows_score=lambda old: old[::-1]), CUTS + "|array 'rows_score' differs from what"),
    "other scores": (arrays(rows_score=lambda old: old + 1.0), CUTS),
    "signs": (arrays(rows_sign=lambda old: 3 * old), "an invalid sign, weight or flaw"),
    "signs turned": (arrays(rows_sign=lambda old: -old), CUTS),
    "weights": (arrays(rows_weight=lambda old: 0 * old), "an invalid sign, weight or flaw"),
    "nothing to tune on": (
        arrays(**dict.fromkeys(("rows_score", "rows_sign", "rows_weight"), lambda old: old[:0])),
        "cannot be tuned without rows",
    ),
    "the machine inside": (
        edited("classifier", "parameters", kernel="linear"),
        "the kernel, gamma, coef0 or degree of its machine differs",
    ),
    "the costs inside": (edited("classifier", "proof", gap=0.5), "its status is optimal"),
    "prefit": (edited("parameters", cv="nonsense"), "The 'cv' parameter"),
}


@looped(case=FORGERIES)
def test_forgeries(case, rejector, forge):
    change, message = FORGERIES[case]
    refused(forge(rejector, change), message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (edited(error_bound=None), "'error_bound' differs from what"),
        (edited(error_bound=[1]), "'error_bound' differs from what"),
        (lambda inside: inside.model["error_bound"].__setitem__(2, 61), "'error_bound' differs from what"),
        (lambda inside: inside.model["error_bound"].__setitem__(3, 59), "'error_bound' differs from what|'cuts'"),
        (lambda inside: inside.model["error_bound"].__setitem__(4, 0), "'error_bound' differs from what"),
        (lambda inside: inside.model["error_bound"].__setitem__(0, 0.4), "'error_bound' differs from what"),
        (edited("parameters", max_error=0.01), "cannot be certified on"),
        (edited("parameters", confidence=0.9999999), "cannot be certified on"),
        (edited("parameters", max_error=None), "'cuts' differs from what|'error_bound' differs from what"),
        (edited(flaw="seen before"), "rows with a flaw"),
        (arrays(rows_weight=lambda old: 2 * old), "cannot be certified with sample_weight"),
        (lambda inside: inside.arrays.update({"classifier.coef": np.zeros((1, 2))}), "does not match the other fields"),
        (lambda inside: inside.arrays.update({"classifier.coef": np.full((1, 3), np.inf)}), "contains NaN or infinity"),
        (lambda inside: inside.arrays.pop("classifier.n_iter"), "lacks the array 'n_iter'"),
        (edited("classifier", "parameters", C=-1.0), "'C' parameter of LogisticRegression"),
        (edited("classifier", rule={}), "unknown field 'rule'"),
    ],
)
def test_forged_promises(change, message, ceiling, forge):
    refused(forge(ceiling, change), message)


def test_the_control_is_not_refused(rejector, ceiling, forge):
    for one in (rejector, ceiling):
        raw = forge(one, lambda _: None)
        assert read(io.BytesIO(raw), len(raw), LARGEST).thresholds_ == one.thresholds_


@pytest.mark.parametrize("piped", [False, True])
def test_thresholds_on_the_score_of_a_search_before_it_was_tuned_are_refused(piped, forge, tmp_path):
    search = RejectSVCCV(Costs(1, 4, 0.4), pos_label=1, Cs=[1.0, 30.0], gammas=[0.3, 2.0], cv=3)
    around = make_pipeline(StandardScaler(), search) if piped else search
    for seed in range(20):  # the first sample on which the search tunes
        rng = np.random.default_rng(seed)
        y = (rng.random(160) < 0.4).astype(int)
        X = rng.normal(size=(160, 5)) + np.outer(y, [1, 1, 0, 0, 0])
        clf = ThresholdRejector(around, reject_rate=0.2, cv=2).fit(X, y)
        if (clf.estimator_[-1] if piped else clf.estimator_).score_scale_ != 1.0:
            break
    np.testing.assert_array_equal(again(clf, tmp_path).predict(X), clf.predict(X))  # the control
    refused(forge(clf, lambda inside: inside.model.pop("tuned_score")), "before its cuts were tuned")
