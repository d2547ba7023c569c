"""Graphs of Chow's rule around logistic regression: probabilities that round, and fits that have no graph."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import Costs, ThresholdRejector, to_onnx
from abstain.files.onnx import check as onnx_check
from files.onnx_tables import CODES, NAMED, NEW, TRIAGE, TWO, X, Y
from onnx_cases import run

FAR = np.vstack([NEW, 1e3 * NEW, 40.0 * NEW])  # also where probabilities round to 0 and 1


def test_logistic_regression_that_rejects():
    clf = ThresholdRejector(LogisticRegression(), Costs(reject=0.3)).fit(X, Y)
    label, score, rejected = run(to_onnx(clf), {"X": NEW})
    assert label.tolist() == clf.predict(NEW).tolist()
    assert rejected.any()
    np.testing.assert_allclose(score, clf.estimator_.decision_function(NEW), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("classes", "rejector"),
    [
        (2, ThresholdRejector(LogisticRegression(), Costs(1, 2, 0.3), method="chow")),
        (2, ThresholdRejector(LogisticRegression(), TWO, method="chow")),
        (2, ThresholdRejector(make_pipeline(StandardScaler(), LogisticRegression()), TWO, method="chow")),
        (3, ThresholdRejector(LogisticRegression(), Costs(reject=0.3), method="chow")),
        (3, ThresholdRejector(LogisticRegression(), NAMED, method="chow")),
        (3, ThresholdRejector(LogisticRegression(), TRIAGE, method="chow")),
        (3, ThresholdRejector(LogisticRegression(), reject_rate=0.2, method="chow")),
    ],
    ids=["costs", "actions", "actions behind a pipeline", "classes", "table", "actions of several", "highest"],
)
def test_chow_around_logistic_regression(classes, rejector):
    mine = classes > CODES
    clf = rejector.fit(X[mine], Y[mine])
    found, (label, score, rejected) = clf.decide(FAR), run(to_onnx(clf), {"X": FAR})
    assert label.tolist() == found.label.tolist()
    assert rejected.tolist() == found.rejected.tolist()
    assert len(set(label.tolist())) == len(set(found.labels.classes)) + 1 + (clf.costs in (TWO, TRIAGE))
    sure = np.abs(found.score).reshape(len(FAR), -1).max(axis=1) > 30  # 1 minus a probability has few digits there
    np.testing.assert_allclose(score[~sure], found.score[~sure], rtol=0, atol=1e-3)
    near = np.abs(found.score).reshape(len(FAR), -1).max(axis=1) < 10
    np.testing.assert_allclose(score[near], found.score[near], rtol=0, atol=1e-10)
    assert sure.any()
    assert near.any()


@pytest.mark.parametrize("setting", [{"multi_class": "ovr"}, {"solver": "liblinear"}], ids=str)
def test_probabilities_of_one_class_against_the_rest_are_refused(setting):
    """As scikit-learn 1.7 computes them for these settings, which later versions do not fit."""
    clf = ThresholdRejector(LogisticRegression(), Costs(reject=0.3), method="chow").fit(X, Y)
    for name, value in setting.items():
        setattr(clf.estimator_, name, value)
    with pytest.raises(ValueError, match=r"have no ONNX graph; leave both at their defaults"):
        to_onnx(clf)


def test_scores_of_another_regression_are_noticed():
    """The control: the room for rounding of probabilities does not hide a machine with another bias."""
    clf = ThresholdRejector(LogisticRegression(), TWO, method="chow").fit(X[CODES < 2], Y[CODES < 2])
    model = to_onnx(clf)
    onnx_check.compare(model, clf)
    clf.estimator_.intercept_ += 1e-6
    with pytest.raises(RuntimeError, match="differ from Python's"):
        onnx_check.compare(model, clf)
