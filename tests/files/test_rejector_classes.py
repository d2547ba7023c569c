"""ThresholdRejectors of several classes are saved and loaded bit by bit, and forgeries of them are refused."""

import copy
import io
from dataclasses import replace

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import Costs, RejectSVC, ThresholdRejector, save
from abstain.files.format.container import LARGEST
from abstain.files.format.errors import ModelFileError
from abstain.files.model_file import read
from abstain.rules.readouts import Softmax
from class_cases import GENERAL, gaussians, table_costs
from files.sameness import again, assert_same
from looping import looped

X, Y = gaussians(150)
NAMES = np.array(["ant", "bee", "cow"])[Y]
PRICE, NAMED = Costs(reject=0.2), table_costs(GENERAL, 0.4)
CASES = {
    "nothing": ThresholdRejector(LogisticRegression()),
    "costs": ThresholdRejector(LogisticRegression(), PRICE, reject_label=9),
    "roc": ThresholdRejector(LogisticRegression(), NAMED, method="roc", cv="train"),
    "chow": ThresholdRejector(LogisticRegression(), NAMED, method="chow"),
    "budget": ThresholdRejector(RandomForestClassifier(3, max_depth=3, random_state=0), reject_rate=0.2),
    "budget, chow": ThresholdRejector(LogisticRegression(), reject_rate=0.2, method="chow"),
    "budgets": ThresholdRejector(RejectSVC(), reject_rate={1: 0.2, 0: 0.1}),
    "ceiling": ThresholdRejector(RejectSVC(PRICE), max_error=0.5, random_state=0),
    "ceilings": ThresholdRejector(LogisticRegression(), max_error={2: 0.5, 1: 0.5}, confidence=0.8, random_state=0),
    "a sigmoid": ThresholdRejector(RejectSVC(PRICE), PRICE, method="chow"),
    "boosting": ThresholdRejector(HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=4), PRICE, cv=2),
    "calibrated": ThresholdRejector(CalibratedClassifierCV(LogisticRegression(), cv=2), reject_rate=0.2, cv=2),
}


@looped(case=CASES)
def test_the_same_decisions(case, tmp_path):
    saved = copy.deepcopy(CASES[case]).fit(X, Y)
    loaded = again(saved, tmp_path)
    assert_same(saved.rule_, loaded.rule_)
    assert_same(saved.certificate_, loaded.certificate_)
    assert_same(saved._fitted_.rows, loaded._fitted_.rows)
    assert_same(vars(saved.decide(X)), vars(loaded.decide(X)))
    assert repr(saved) == repr(loaded)
    if saved._fitted_.rows is not None:
        assert_same(*(one.retune(costs=PRICE).rule_ for one in (saved, loaded)))


@pytest.mark.parametrize("labels", [NAMES, NAMES.astype(object)], ids=["text", "objects"])
def test_names_of_classes(labels, tmp_path):
    for request in ({"reject_rate": {"bee": 0.2}}, {"max_error": {"bee": 0.6, "cow": 0.6}}):
        saved = make_pipeline(StandardScaler(), ThresholdRejector(LogisticRegression(), **request, random_state=0))
        saved.fit(X, labels)
        loaded = again(saved, tmp_path)
        np.testing.assert_array_equal(loaded.predict(X), saved.predict(X), strict=True)
        assert loaded[-1].certificate_ == saved[-1].certificate_


def test_two_classes_by_answer(tmp_path):
    two = Y < 2
    for y in (Y[two], NAMES[two], Y[two] == 1):
        share = {np.unique(y).tolist()[1]: 0.5}
        for request in ({"reject_rate": share}, {"max_error": share}):
            saved = ThresholdRejector(LogisticRegression(), **request, random_state=0).fit(X[two], y)
            loaded = again(saved, tmp_path)
            assert loaded.thresholds_ == saved.thresholds_
            assert_same(saved.certificate_, loaded.certificate_)


@pytest.fixture(scope="module")
def fitted():
    return ThresholdRejector(LogisticRegression(), PRICE, method="roc").fit(X, Y)


@pytest.fixture(scope="module")
def promised():
    return ThresholdRejector(LogisticRegression(), max_error={1: 0.5, 2: 0.6}, random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    "change",
    [
        {"costs": Costs(reject=0.3)},
        {"costs": None},
        {"costs": None, "reject_rate": {1: 0.1}, "method": "symmetric"},
        {"method": "symmetric"},
        {"method": "chow"},
        {"reject_label": 4},
    ],
)
def test_parameters_that_contradict_the_fit_are_refused(change, fitted, tmp_path):
    with pytest.raises(ValueError, match="Fit it again before saving"):
        save(copy.copy(fitted).set_params(**change), tmp_path / "model")


def test_a_rule_that_contradicts_the_parameters_is_refused(fitted, tmp_path):
    now = fitted._fitted_
    decider = now.rule.decider
    changes = [{"decider": replace(decider, cuts=decider.cuts + 1.0)}, {"decider": replace(decider, by="highest")}]
    for change in (*changes, {"readout": Softmax()}, {"costs": None}):
        other = copy.copy(fitted)
        other._fitted_ = replace(now, rule=replace(now.rule, **change))
        with pytest.raises(ValueError, match="its costs, thresholds or labels"):
            save(other, tmp_path / "model")


def edited(*way, **values):
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
        inside.model["rule"]["cuts"] = function(inside.model["rule"]["cuts"])

    return change


WRITES = "differs from what the library writes"
FORGERIES = {
    "another cut": (cuts(lambda old: [old[0], old[1], 9.0]), WRITES),
    "no cuts": (cuts(lambda old: old[:0]), WRITES),
    "two cuts": (cuts(lambda old: old[:2]), "does not have 0 or 3 cuts"),
    "a cut of text": (cuts(lambda old: [*old[:2], "x"]), "each a number"),
    "classes turned": (edited("rule", classes=[2, 1, 0]), "different and sorted"),
    "a class twice": (edited("rule", classes=[0, 1, 1]), "different and sorted"),
    "two classes": (edited("rule", classes=[0, 1]), "does not match the other fields"),
    "four classes": (edited("rule", classes=[0, 1, 2, 3]), "does not have 0 or 4 cuts"),
    "other costs": (edited("parameters", costs={"Costs": [1.0, 1.0, 0.1]}), WRITES),
    "another method": (edited("parameters", method="symmetric"), WRITES),
    "chow": (edited("parameters", method="chow"), WRITES),
    "pos_label": (edited("parameters", pos_label=1), "is for two classes"),
    "a pair": (edited("parameters", costs=None, reject_rate={"tuple": [0.1, 0.1]}), "a negative and a positive"),
    "an unknown class": (
        edited("parameters", costs=None, method="symmetric", reject_rate={"dict": [[7, 0.1]]}),
        "names 7, which is not one of the classes",
    ),
    "a dict of lists": (
        edited("parameters", costs=None, method="symmetric", reject_rate={"dict": [[[7], 0.1]]}),
        "pairs of a label and a value",
    ),
    "scores turned": (arrays(rows_score=lambda old: old[::-1].copy()), WRITES),
    "other scores": (arrays(rows_score=lambda old: 2.0 * old), WRITES),
    "a score of inf": (arrays(rows_score=lambda old: np.where(old == old.max(), np.inf, old)), "contains NaN or inf"),
    "fewer columns": (arrays(rows_score=lambda old: old[:, :2].copy()), "does not match the other fields"),
    "one score": (arrays(rows_score=lambda old: old[:, 0].copy()), "wrong dtype or number of axes"),
    "a class of 0": (arrays(rows_code=lambda old: old - 1), "an invalid class, weight or flaw"),
    "a class of 4": (arrays(rows_code=lambda old: old + 1), "an invalid class, weight or flaw"),
    "small codes": (arrays(rows_code=lambda old: old.astype(np.int8)), "wrong dtype"),
    "signs": (lambda inside: inside.arrays.update(rows_sign=np.ones(150, dtype=np.int8)), "unknown array 'rows_sign'"),
    "weights of 0": (arrays(rows_weight=lambda old: 0 * old), "an invalid class, weight or flaw"),
    "other weights": (arrays(rows_weight=lambda old: np.linspace(0.01, 20, len(old))), WRITES),
    "no rows": (edited(flaw=None), "unknown array"),
    "a bound": (edited(error_bound=[0.1, 0.9, 150, 150, 0]), WRITES),
    "probabilities": (edited(method="predict_proba"), WRITES),
}


def refused(raw, message):
    with pytest.raises(ModelFileError, match=message):
        read(io.BytesIO(raw), len(raw), LARGEST)


@looped(case=FORGERIES)
def test_forgeries(case, fitted, forge):
    change, message = FORGERIES[case]
    refused(forge(fitted, change), message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (edited(error_bound=None), WRITES),
        (edited("parameters", max_error={"dict": [[1, 0.5]]}), WRITES),
        (edited("parameters", max_error={"dict": [[1, 0.01], [2, 0.6]]}), "cannot be certified"),
        (edited(flaw="seen before"), "rows with a flaw"),
        (arrays(rows_weight=lambda old: 2 * old), "cannot be certified with sample_weight"),
    ],
)
def test_forged_promises(change, message, promised, forge):
    refused(forge(promised, change), message)


def test_the_control_is_not_refused(fitted, promised, forge):
    for one in (fitted, promised):
        raw = forge(one, lambda _: None)
        assert_same(read(io.BytesIO(raw), len(raw), LARGEST).rule_, one.rule_)
