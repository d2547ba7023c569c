"""The parts of scikit-learn that docs/ecosystem.md lists do with our classifiers what the table says."""

import joblib
import numpy as np
import pytest
from scipy.special import logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 (makes HalvingGridSearchCV importable)
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.svm import SVC

from abstain import Costs, Forced, RejectSVC, ThresholdRejector
from abstain.metrics import get_scorer, mean_cost

COSTS = Costs(false_positive=1, false_negative=2, reject=0.3)


@pytest.fixture(scope="module")
def rows():
    return make_classification(
        100, 4, n_informative=3, n_redundant=0, flip_y=0.1, class_sep=1.0, shuffle=True, random_state=3
    )


@pytest.fixture(scope="module")
def clf(rows):
    fitted = RejectSVC(COSTS, C=3).fit(*rows)
    assert set(fitted.predict(rows[0])) == {-1, 0, 1}
    return fitted


class TestProbabilitiesAndThresholds:
    def test_calibration_without_costs_is_that_of_svc(self, rows):
        ours, theirs = (
            CalibratedClassifierCV(machine, cv=2).fit(*rows).predict_proba(rows[0])
            for machine in (RejectSVC(tol=1e-6), SVC(tol=1e-6))
        )
        np.testing.assert_allclose(ours, theirs, atol=1e-4)

    def test_a_calibrated_classifier_never_rejects_until_it_is_given_costs(self, rows, clf):
        X, y = rows
        calibrated = CalibratedClassifierCV(FrozenEstimator(clf)).fit(X, y)
        order = np.argsort(clf.decision_function(X))
        assert (np.diff(calibrated.predict_proba(X)[order, 1]) >= 0).all()
        assert set(calibrated.predict(X)) == {0, 1}
        chow = ThresholdRejector(FrozenEstimator(calibrated), COSTS, method="chow", cv="prefit").fit(X, y)
        probability, cuts = calibrated.predict_proba(X)[:, 1], COSTS.thresholds()
        np.testing.assert_array_equal(chow.reject_mask(X), (probability >= cuts.lower) & (probability <= cuts.upper))

    @pytest.mark.parametrize("machine", [RejectSVC(COSTS, C=3), ThresholdRejector(LogisticRegression(), COSTS, cv=2)])
    def test_a_tuned_threshold_decides_every_row(self, rows, machine):
        X, y = rows
        cost = make_scorer(mean_cost, greater_is_better=False, costs=COSTS)
        options = {"scoring": cost, "cv": 2, "thresholds": 20, "response_method": "decision_function"}
        tuned = TunedThresholdClassifierCV(machine, **options).fit(X, y)
        above = tuned.estimator_.decision_function(X) >= tuned.best_threshold_
        np.testing.assert_array_equal(tuned.predict(X), above.astype(int))

    def test_a_fixed_threshold_at_the_cut_is_the_forced_choice(self, rows, clf):
        X, y = rows
        options = {"threshold": clf.rule_.cut, "response_method": "decision_function"}
        fixed = FixedThresholdClassifier(FrozenEstimator(clf), **options).fit(X, y)
        np.testing.assert_array_equal(fixed.predict(X), clf.predict_forced(X))
        even = FixedThresholdClassifier(FrozenEstimator(clf)).fit(X, y)  # even odds, whatever the costs
        np.testing.assert_array_equal(even.predict(X), clf.decision_function(X) >= 0)
        assert (even.predict(X) != clf.predict_forced(X)).any()

    def test_probabilities_are_those_of_the_score_where_there_are_costs(self, rows, clf):
        X, y = rows
        odds = np.exp(clf.decision_function(X))
        np.testing.assert_allclose(clf.predict_proba(X)[:, 1], odds / (1 + odds), rtol=1e-12)
        np.testing.assert_array_equal(clf.predict_proba(X), clf.decide(X).probability)
        losses = -cross_val_score(RejectSVC(COSTS), X, y, cv=2, scoring="neg_log_loss")
        assert (losses < np.log(2)).all()
        assert roc_auc_score(y, clf.predict_proba(X)[:, 1]) == roc_auc_score(y, clf.decision_function(X))
        sigmoid = CalibratedClassifierCV(FrozenEstimator(clf)).fit(X, y).predict_proba(X)[:, 1]
        line = np.polyfit(clf.decision_function(X), logit(sigmoid), 1)  # it is a sigmoid of the score
        np.testing.assert_allclose(np.polyval(line, clf.decision_function(X)), logit(sigmoid), atol=1e-6)
        assert not hasattr(RejectSVC(C=3).fit(X, y), "predict_proba")
        with pytest.raises(AttributeError, match="predict_proba"):
            cross_val_score(RejectSVC(), X, y, cv=2, scoring="neg_log_loss", error_score="raise")

    def test_a_frozen_machine_rejects_and_is_not_fitted_again(self, rows, clf):
        X, y = rows
        frozen = FrozenEstimator(clf).fit(X, 1 - y)
        np.testing.assert_array_equal(frozen.predict(X), clf.predict(X))
        np.testing.assert_array_equal(frozen.reject_mask(X), clf.reject_mask(X))
        np.testing.assert_array_equal(frozen.decide(X).expected_cost, clf.decide(X).expected_cost)


class TestSearches:
    GRID = {"C": [0.01, 1.0, 10.0]}  # noqa: RUF012 (read only)

    @pytest.mark.parametrize(
        "search",
        [
            GridSearchCV(RejectSVC(COSTS), GRID, cv=2),
            RandomizedSearchCV(RejectSVC(COSTS), GRID, n_iter=2, cv=2, random_state=0),
            HalvingGridSearchCV(RejectSVC(COSTS), GRID, cv=2, min_resources=30, random_state=0),
        ],
        ids=lambda search: type(search).__name__,
    )
    def test_a_search_minimises_the_mean_cost(self, rows, search):
        X, y = rows
        found = search.fit(X, y)
        again = RejectSVC(COSTS, **found.best_params_).fit(X, y)
        np.testing.assert_array_equal(found.predict(X), again.predict(X))
        assert found.score(X, y) == pytest.approx(-mean_cost(y, again.predict(X), COSTS))
        last = found.cv_results_.get("iter", np.zeros(len(found.cv_results_["params"])))
        assert found.best_score_ == found.cv_results_["mean_test_score"][last == last.max()].max()

    def test_scorers_of_scores_work_and_those_of_two_labels_do_not(self, rows):
        ours = cross_val_score(RejectSVC(), *rows, cv=2, scoring="roc_auc")
        theirs = cross_val_score(SVC(), *rows, cv=2, scoring="roc_auc")
        np.testing.assert_allclose(ours, theirs, atol=0.01)
        with pytest.warns(UserWarning, match="Scoring failed"):
            assert np.isnan(cross_val_score(RejectSVC(COSTS, C=3), *rows, cv=2, scoring="f1")).all()
        named = {name: get_scorer(name) for name in ("selective_accuracy", "coverage")}
        assert np.isfinite(cross_validate(RejectSVC(COSTS, C=3), *rows, cv=2, scoring=named)["test_coverage"]).all()


class TestInspection:
    def test_permutation_importance_is_a_difference_of_costs(self, rows):
        X, y = np.column_stack([rows[0], np.zeros(len(rows[1]))]), rows[1]
        clf = RejectSVC(COSTS, C=3).fit(X, y)
        found = permutation_importance(clf, X, y, n_repeats=2, random_state=0)
        assert found.importances_mean[4] == 0  # a constant
        assert found.importances_mean.max() > 0.05

    @pytest.mark.parametrize("response", ["decision_function", "predict_proba"])
    def test_partial_dependence_is_of_the_score_or_the_probability(self, rows, clf, response):
        X = rows[0]
        found = partial_dependence(clf, X, [0], grid_resolution=3, response_method=response)
        for value, average in zip(found["grid_values"][0], found["average"][0], strict=True):
            moved = X.copy()
            moved[:, 0] = value
            values = getattr(clf, response)(moved)
            assert average == pytest.approx((values if values.ndim == 1 else values[:, 1]).mean())


class TestJoblib:
    def test_parallel_folds_are_the_same(self, rows):
        with joblib.parallel_config("threading", n_jobs=2):
            parallel = cross_val_score(RejectSVC(COSTS), *rows, cv=3)
        np.testing.assert_array_equal(parallel, cross_val_score(RejectSVC(COSTS), *rows, cv=3))

    @pytest.mark.parametrize("mapped", [None, "r"])
    def test_dump_and_load(self, rows, clf, tmp_path, mapped):
        joblib.dump(clf, tmp_path / "machine")
        back = joblib.load(tmp_path / "machine", mmap_mode=mapped)
        np.testing.assert_array_equal(back.decision_function(rows[0]), clf.decision_function(rows[0]))


def forced(C=3):
    return Forced(RejectSVC(COSTS, C=C))


class TestEnsembles:
    """Labels 0 and 1; the reject label -1 would be read as an index of classes or as a third class."""

    def test_stacking_reads_the_probability_or_the_score(self, rows, clf):
        X, y = rows
        stack = StackingClassifier([("svm", RejectSVC(COSTS, C=3))], cv=2).fit(X, y)
        assert stack.stack_method_ == ["predict_proba"]
        np.testing.assert_array_equal(stack.transform(X)[:, 0], clf.predict_proba(X)[:, 1])
        stack.set_params(stack_method="decision_function").fit(X, y)
        np.testing.assert_array_equal(stack.transform(X)[:, 0], clf.decision_function(X))
        assert set(stack.predict(X)) == {0, 1}

    def test_stacking_ends_in_a_forced_machine(self, rows):
        X, y = rows
        stack = StackingClassifier([("logistic", LogisticRegression())], forced(), cv=2).fit(X, y)
        inner = stack.final_estimator_.estimator_
        np.testing.assert_array_equal(stack.predict(X), inner.predict_forced(stack.transform(X)))
        with pytest.raises(ValueError, match="unseen labels"):
            stack.set_params(final_estimator=RejectSVC(Costs(reject=0.01))).fit(X, y).predict(X)

    def test_voting(self, rows, clf):
        X, y = rows
        alone = VotingClassifier([("svm", forced())]).fit(X, y)
        np.testing.assert_array_equal(alone.predict(X), clf.predict_forced(X))
        with pytest.raises(ValueError, match="negative"):
            VotingClassifier([("svm", RejectSVC(COSTS, C=3))]).fit(X, y).predict(X)

    def test_bagging(self, rows, clf):
        X, y = rows
        options = {"n_estimators": 1, "bootstrap": False}
        np.testing.assert_array_equal(
            BaggingClassifier(forced(), **options).fit(X, y).predict(X), clf.predict_forced(X)
        )
        even = BaggingClassifier(RejectSVC(COSTS, C=3), **options).fit(X, y).predict(X)
        np.testing.assert_array_equal(even, clf.decision_function(X) > 0)  # why Forced is needed: it forgets the costs
        bags = BaggingClassifier(ThresholdRejector(RejectSVC(), reject_rate=0.3, cv=2), **options).fit(X, y)
        rejected = bags.estimators_[0].reject_mask(X)
        assert set(bags.predict(X)[rejected]) == {1}  # without probabilities, -1 is read as the last class

    def test_boosting(self, rows, clf):
        X, y = rows
        first = AdaBoostClassifier(forced(3 * len(y)), n_estimators=1).fit(X, y)  # its weights are 1 / n: C times n
        np.testing.assert_array_equal(first.predict(X), clf.predict_forced(X))
        with pytest.raises(ValueError, match="worse than random"):
            AdaBoostClassifier(RejectSVC(Costs(reject=0.01)), n_estimators=2).fit(X, y)

    @pytest.mark.parametrize("scheme", [OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier])
    def test_several_classes(self, scheme):
        X, y = make_classification(
            90, 4, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0
        )
        options = {"random_state": 0, "code_size": 5} if scheme is OutputCodeClassifier else {}
        assert scheme(forced(), **options).fit(X, y).score(X, y) > 0.8
