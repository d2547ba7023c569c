"""ThresholdRejector with scikit-learn: sample weights, Pipelines, searches, kernels, data frames and pickles."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from abstain import Costs, RejectSVC, ThresholdRejector
from abstain.rules.tuning.methods import roc_thresholds
from abstain.rules.tuning.scored_rows import ScoredRows

ASYMMETRIC = Costs(false_positive=1, false_negative=5, reject=0.3)
METHODS = ["symmetric", "roc", "chow"]


class TestWeights:
    def test_weights_reach_the_fit_and_the_tuning(self, data):
        X, y = data
        weight = np.random.default_rng(0).uniform(0.2, 3, len(y))
        clf = ThresholdRejector(LogisticRegression(), ASYMMETRIC, cv="train").fit(X, y, weight)
        model = LogisticRegression().fit(X, y, weight)
        np.testing.assert_array_equal(clf.estimator_.coef_, model.coef_)
        rows = ScoredRows.of(model.decision_function(X), y, weight, cut=0.0)
        assert clf.thresholds_ == roc_thresholds(rows, ASYMMETRIC)

    def test_folds_are_fitted_with_their_own_weights(self, data):
        X, y = data
        weight = np.random.default_rng(0).uniform(0.2, 3, len(y))
        scores = cross_val_predict(
            LogisticRegression(), X, y, cv=5, method="decision_function", params={"sample_weight": weight}
        )
        rows = ScoredRows.of(scores, y, weight, cut=0.0)
        clf = ThresholdRejector(LogisticRegression(), ASYMMETRIC).fit(X, y, weight)
        assert clf.thresholds_ == roc_thresholds(rows, ASYMMETRIC)

    def test_a_classifier_without_sample_weights_is_tuned_with_them(self, data):
        X, y = data
        weight = np.where(y == 1, 10.0, 1.0)
        model = KNeighborsClassifier(7)
        one, two = (ThresholdRejector(model, Costs(1, 1, 0.3)).fit(X, y, w) for w in (None, weight))
        np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
        assert one.thresholds_ != two.thresholds_
        with pytest.raises(ValueError, match=r"no effect: KNeighborsClassifier\.fit does not accept it"):
            ThresholdRejector(model).fit(X, y, weight)

    def test_a_limit_on_the_error_refuses_weights(self, data):
        X, y = data
        with pytest.raises(ValueError, match="the exact binomial test counts each row once"):
            ThresholdRejector(LogisticRegression(), max_error=0.4).fit(X, y, np.linspace(1, 2, len(y)))

    def test_metadata_routing_passes_weights_on(self, data):
        X, y = data
        weight = np.random.default_rng(0).uniform(0.2, 3, len(y))
        direct = ThresholdRejector(LogisticRegression(), ASYMMETRIC).fit(StandardScaler().fit_transform(X), y, weight)
        with sklearn.config_context(enable_metadata_routing=True):
            line = make_pipeline(
                StandardScaler().set_fit_request(sample_weight=False),
                LogisticRegression().set_fit_request(sample_weight=True),
            )
            clf = ThresholdRejector(line, ASYMMETRIC, cv="train").fit(X, y, sample_weight=weight)
            outer = make_pipeline(
                StandardScaler().set_fit_request(sample_weight=False),
                ThresholdRejector(LogisticRegression().set_fit_request(sample_weight=True), ASYMMETRIC).set_fit_request(
                    sample_weight=True
                ),
            ).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(clf.estimator_[-1].coef_, direct.estimator_.coef_)
        assert outer[-1].thresholds_ == direct.thresholds_


class TestOtherParts:
    """Around, inside and beside other parts of scikit-learn."""

    def test_data_that_only_the_classifier_understands(self, data):
        X, y = data
        frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
        line = make_pipeline(StandardScaler(), LogisticRegression())
        clf = ThresholdRejector(line, ASYMMETRIC).fit(frame, np.array(["no", "yes"])[y])
        assert set(clf.predict(frame)) == {"no", "yes", "reject"}
        assert clf.feature_names_in_.tolist() == ["a", "b", "c", "d"]
        assert clf.n_features_in_ == 4
        thin = ThresholdRejector(LogisticRegression(), ASYMMETRIC).fit(sparse.csr_array(X), y)
        dense = ThresholdRejector(LogisticRegression(), ASYMMETRIC).fit(X, y)
        np.testing.assert_array_equal(thin.predict(sparse.csr_array(X)), dense.predict(X))

    def test_a_precomputed_kernel_is_cut_on_both_sides(self, data):
        X, y = data
        gram = X @ X.T
        ours = ThresholdRejector(SVC(kernel="precomputed"), ASYMMETRIC).fit(gram, y)
        direct = ThresholdRejector(SVC(kernel="linear"), ASYMMETRIC).fit(X, y)
        assert ours.thresholds_.lower == pytest.approx(direct.thresholds_.lower, abs=1e-6)

    def test_around_our_own_machine(self, data):
        X, y = data
        clf = ThresholdRejector(RejectSVC(), Costs(reject=0.2)).fit(X, y)
        np.testing.assert_array_equal(clf.decision_function(X), RejectSVC().fit(X, y).decision_function(X))

    def test_searches_tune_the_mean_cost(self, data):
        X, y = data
        grid = {"estimator__C": [0.01, 1.0], "method": METHODS}
        search = GridSearchCV(ThresholdRejector(LogisticRegression(), ASYMMETRIC), grid, cv=3).fit(X, y)
        assert search.best_score_ == search.cv_results_["mean_test_score"].max()
        assert set(search.predict(X)) <= {-1, 0, 1}

    def test_clone_and_pickle(self, data):
        X, y = data
        clf = ThresholdRejector(Perceptron(), max_error=0.4, reject_label=9, confidence=0.8, random_state=0).fit(X, y)
        assert clone(clf).get_params()["max_error"] == 0.4
        assert not hasattr(clone(clf), "thresholds_")
        back = pickle.loads(pickle.dumps(clf))  # noqa: S301 (our own bytes)
        np.testing.assert_array_equal(back.predict(X), clf.predict(X))
        assert back.certificate_ == clf.certificate_
        assert back.retune(reject_rate=0.1).thresholds_ == clf.retune(reject_rate=0.1).thresholds_

    def test_refitting_leaves_nothing_of_the_first_fit(self, data):
        X, y = data
        again = ThresholdRejector(LogisticRegression(), max_error=0.4, random_state=0).fit(X, y)
        again.set_params(max_error=None).fit(X, y)
        once = ThresholdRejector(LogisticRegression()).fit(X, y)
        assert vars(again).keys() == vars(once).keys()
        assert again.certificate_ is None
        assert again._fitted_.rows is None
