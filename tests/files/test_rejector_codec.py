"""ThresholdRejectors around known classifiers travel like the machines."""

import io

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from abstain import Costs, EmbeddedRejectSVC, RejectSVC, RejectSVCCV, ThresholdRejector, load, save
from abstain.files.container import LARGEST
from abstain.files.errors import ModelFileError
from abstain.files.load import read
from abstain.preprocessing import default_pipeline

COSTS = Costs(1, 3, 0.3)
REJECTORS = {
    "costs": ThresholdRejector(LogisticRegression(C=0.5), COSTS),
    "chow": ThresholdRejector(LogisticRegression(), COSTS, method="chow", pos_label=0),
    "budget": ThresholdRejector(LogisticRegression(), reject_rate=(0.1, 0.2), method="roc", cv="train"),
    "ceiling": ThresholdRejector(LogisticRegression(), max_error=0.45, confidence=0.6, random_state=1),
    "machine": ThresholdRejector(RejectSVC(kernel="linear"), COSTS, reject_label=9),
    "search": ThresholdRejector(RejectSVCCV(Cs=2, gammas=2, cv=2), COSTS),
    "embedded": ThresholdRejector(EmbeddedRejectSVC(0.2), COSTS),
    "nothing asked": ThresholdRejector(RejectSVC()),
}


@pytest.mark.parametrize("case", REJECTORS)
def test_the_same_decisions(case, data, tmp_path):
    X, y = data
    saved = REJECTORS[case].fit(X, y)
    save(saved, tmp_path / "model")
    loaded = load(tmp_path / "model")
    first, second = saved.decide(X), loaded.decide(X)
    for name in ("label", "rejected", "score", "expected_cost"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), strict=True)
    assert saved.thresholds_ == loaded.thresholds_
    assert saved.certificate_ == loaded.certificate_
    assert repr(saved) == repr(loaded)
    if saved._rows is not None:
        assert saved.retune(costs=Costs(reject=0.1)).thresholds_ == loaded.retune(costs=Costs(reject=0.1)).thresholds_


def test_a_classifier_that_was_fitted_before(data, tmp_path):
    X, y = data
    saved = ThresholdRejector(LogisticRegression().fit(X[:30], y[:30]), COSTS, cv="prefit").fit(X[30:], y[30:])
    save(saved, tmp_path / "model")
    loaded = load(tmp_path / "model")
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
            "asks a SVC, and a model file can hold it around .*, LogisticRegression only; use one of these, or skops",
        ),
        (ThresholdRejector(RejectSVC(), COSTS, method="chow"), "asks a CalibratedClassifierCV"),
    ],
    ids=["SVC", "calibrated"],
)
def test_others_are_refused(rejector, message, data, tmp_path):
    with pytest.raises(ValueError, match=message):
        save(rejector.fit(*data), tmp_path / "model")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda inside: inside.model["wrapped"].update(kind="SVC"), "'kind' of the classifier is 'SVC'"),
        (lambda inside: inside.model["fitted"].update(response_method="__del__"), "which it cannot be"),
        (lambda inside: inside.model["fitted"].update(certificate=[1]), "five values"),
        (lambda inside: inside.model["fitted"].update(certificate=[0.1, 0.9, 10, 11, 0]), "that cannot be"),
        (lambda inside: inside.model["fitted"].update(rows=None), "unknown array 'rows_score'"),
        (lambda inside: inside.arrays["rows_sign"].fill(3), "a sign or weight that no row has"),
        (lambda inside: inside.arrays.update({"wrapped.coef": np.zeros((1, 2))}), "does not fit the other fields"),
        (lambda inside: inside.model["fitted"].update(decisions=None), "does not describe the decisions"),
    ],
)
def test_forgeries(change, message, data, forge):
    raw = forge(ThresholdRejector(LogisticRegression(), COSTS).fit(*data), change)
    with pytest.raises(ModelFileError, match=message):
        read(io.BytesIO(raw), len(raw), LARGEST)
