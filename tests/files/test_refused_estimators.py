"""What a model file cannot contain is refused by name, with the way out, and leaves an older file alone."""

import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from abstain import RejectSVC, RejectSVCCV, save
from abstain.files.registry import GUARDED, KINDS, REJECTOR

RANDOM = StratifiedKFold(2, shuffle=True, random_state=np.random.RandomState(0))


def linear(X, Y):
    return np.asarray(X) @ np.asarray(Y).T


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (RejectSVC(kernel=linear), "kernel=.* is a function, but a model file can contain only numbers"),
        (RejectSVCCV(Cs=1, gammas=1, cv=RANDOM), "cv=.*RandomState"),
        (
            LogisticRegression(),
            "estimator is a LogisticRegression, which a model file cannot contain; use one of RejectSVC, RejectSVCCV",
        ),
        (
            make_pipeline(PolynomialFeatures(), RejectSVC()),
            "has a PolynomialFeatures before its last step, which a model file cannot contain; use StandardScaler",
        ),
    ],
    ids=["callable kernel", "random state", "other classifier", "other pipeline"],
)
def test_what_a_file_cannot_hold_is_refused(estimator, message, data, tmp_path):
    path = tmp_path / "model"
    path.write_text("old")
    with pytest.raises(ValueError, match=message):
        save(estimator.fit(*data), path)
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


def test_an_estimator_that_is_not_fitted_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        save(RejectSVC(), tmp_path / "model")


def test_the_documentation_names_what_can_be_saved():
    named = re.sub(r"\s+|\\\\", " ", save.__doc__.partition("Examples")[0])
    assert all(re.search(rf"\b{kind}\b", named) for kind in (*KINDS[""], *KINDS[REJECTOR], *KINDS[GUARDED]))
