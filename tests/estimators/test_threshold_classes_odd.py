"""ThresholdRejector of several classes: requests that are refused, odd scores, and classes in another order."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from abstain import Costs
from class_cases import GENERAL, gaussians, rejector, table_costs

X, Y = gaussians(300)
NEW, TRUE = gaussians(400, seed=1)
PRICE, NAMED = Costs(reject=0.2), table_costs(GENERAL, 0.4)
NAMES = np.array(["ant", "bee", "cow"])


class Scores(ClassifierMixin, BaseEstimator):
    """The columns of X are the scores."""

    def fit(self, X, y):
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        return self

    def decision_function(self, X):
        return np.asarray(X, dtype=float)


REFUSED = {
    "an unknown class": ({"reject_rate": {"dog": 0.1}}, r"names 'dog', which is not one of the classes \['ant', 'bee'"),
    "a number for a name": ({"max_error": {0: 0.1}}, "names 0, which is not one of the classes"),
    "no class": ({"max_error": {}}, "names no class"),
    "a share above 1": ({"reject_rate": {"ant": 1.1}}, r"must lie in \[0, 1\]"),
    "a negative share": ({"reject_rate": {"ant": -0.1}}, r"must lie in \[0, 1\]"),
    "a share of nan": ({"reject_rate": {"ant": np.nan}}, r"reject_rate\['ant'\]=nan must be a number"),
    "text": ({"max_error": {"ant": "x"}}, r"max_error\['ant'\]='x' must be a real number"),
    "a ceiling of 0": ({"max_error": {"ant": 0.0}}, "must lie between 0 and 1, both excluded"),
    "a pair": ({"reject_rate": (0.1, 0.2)}, r"a negative and a positive class, and y has 3 .*=\{'ant': 0\.1"),
    "a pair of ceilings": ({"max_error": (0.1, 0.2)}, "dict by the class answered"),
    "pos_label": ({"reject_rate": 0.1, "pos_label": "ant"}, "pos_label='ant' is for two classes, and y has 3"),
    "roc by class": ({"reject_rate": {"ant": 0.1}, "method": "roc"}, 'use method="symmetric" or method="chow"'),
    "roc with a budget": ({"reject_rate": 0.1, "method": "roc"}, "with reject_rate is for two classes"),
    "roc with a ceiling": ({"max_error": 0.1, "method": "roc"}, "chooses its two thresholds by the labels"),
    "costs of others": ({"costs": NAMED}, "name the classes .*, but y has 'ant'"),
    "costs by sign": ({"costs": Costs(1, 5, 0.3)}, "differ between a positive and a negative class"),
    "two ways": ({"costs": PRICE, "max_error": {"ant": 0.1}}, "given together"),
    "the same rows": ({"max_error": {"ant": 0.4}, "cv": "train"}, 'cv="train" tunes on the rows'),
    "a reject label that is a class": ({"reject_rate": 0.1, "reject_label": "bee"}, "is one of the classes"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_a_way_out(case):
    request, text = REFUSED[case]
    with pytest.raises(ValueError, match=text):
        rejector(**request).fit(X, NAMES[Y])


def test_three_names_do_not_fit_two_classes():
    with pytest.raises(ValueError, match=r"name the class 2, but y has \[0, 1\]"):
        rejector(costs=NAMED).fit(X[Y < 2], Y[Y < 2])


def test_a_class_missing_in_a_fold_is_refused():
    y = np.where(np.arange(len(Y)) == 7, 3, Y)
    with (
        pytest.warns(UserWarning, match="least populated class"),
        pytest.raises(ValueError, match="leaves no rows of the class 3 to fit on"),
    ):
        rejector(costs=PRICE).fit(X, y)


def test_weights_certify_nothing():
    with pytest.raises(ValueError, match="counts each row once"):
        rejector(max_error={0: 0.4}).fit(X, Y, np.linspace(1, 2, len(Y)))


class TestOddScores:
    def test_pairs_of_classes_are_refused(self):
        for model in (SVC(decision_function_shape="ovo"), make_pipeline(SVC(decision_function_shape="ovo"))):
            with pytest.raises(ValueError, match='use decision_function_shape="ovr"'):
                rejector(model, costs=PRICE).fit(X, Y)  # three classes make three pairs
        four = np.where(np.arange(len(Y)) % 4 == 3, 3, Y)
        with pytest.raises(ValueError, match='use decision_function_shape="ovr"'):
            rejector(SVC(decision_function_shape="ovo"), costs=PRICE).fit(X, four)

    def test_the_wrong_number_of_columns_is_refused(self):
        with pytest.raises(ValueError, match=r"Scores\.decision_function must return 3 numbers.*shape \(300, 2\)"):
            rejector(Scores(), costs=PRICE, cv="train").fit(X, Y)

    @pytest.mark.parametrize(("value", "text"), [(np.nan, "contains nan"), (np.inf, "contains infinity; scale X")])
    def test_scores_that_are_not_finite_are_refused(self, value, text):
        scores = np.column_stack([X, X[:, 0]])
        scores[5, 1] = value
        with pytest.raises(ValueError, match=text):
            rejector(Scores(), costs=PRICE, cv="train").fit(scores, Y)

    def test_probabilities_of_0_have_finite_logarithms(self):
        forest = RandomForestClassifier(3, random_state=0).fit(X, Y)
        assert (forest.predict_proba(NEW) == 0).any()
        for request in ({"costs": PRICE}, {"costs": NAMED}, {"reject_rate": 0.2}, {"max_error": 0.5}):
            clf = rejector(forest, cv="prefit", **request).fit(NEW, TRUE)
            assert np.isfinite(clf.decision_function(NEW)).all()
            np.testing.assert_array_equal(clf.retune().predict(NEW), forest.predict(NEW))

    def test_constant_scores_are_all_accepted_or_all_rejected(self):
        flat = np.zeros((90, 3))
        clf = rejector(Scores(), reject_rate=0.99, cv="train").fit(flat, Y[:90])
        assert not clf.reject_mask(flat).any()
        wrong = np.mean(Y[:90] != 0)
        clf = rejector(Scores(), costs=table_costs(1 - np.eye(3), 0.6), cv="train").fit(flat, Y[:90])
        assert clf.reject_mask(flat).all() == (wrong > 0.6)


class Reversed(ClassifierMixin, BaseEstimator):
    """Logistic regression with its classes in the opposite order."""

    def fit(self, X, y):
        self.model_ = LogisticRegression().fit(X, y)
        self.classes_ = self.model_.classes_[::-1]
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)[:, ::-1]


class ReversedScores(Reversed):
    def decision_function(self, X):
        score = self.model_.decision_function(X)
        return -score if score.ndim == 1 else score[:, ::-1]


@pytest.mark.parametrize("truth", [NAMES[Y], NAMES[np.minimum(Y, 1)]], ids=["three", "two"])
@pytest.mark.parametrize("method", ["chow", "symmetric", "roc"])
def test_classes_of_the_classifier_need_not_be_sorted(truth, method):
    plain = rejector(costs=PRICE, method=method).fit(X, truth)
    clf = rejector(ReversedScores(), costs=PRICE, method=method).fit(X, truth)
    np.testing.assert_array_equal(clf.predict(NEW), plain.predict(NEW))
    np.testing.assert_allclose(clf.predict_proba(NEW), plain.predict_proba(NEW))
    np.testing.assert_allclose(clf.decide(NEW).expected_cost, plain.decide(NEW).expected_cost)
    by_odds = rejector(Reversed(), costs=PRICE, method=method).fit(X, truth)
    assert by_odds.score(X, truth) > plain.score(X, truth) - 0.02  # the scores of another scale, the same answers
