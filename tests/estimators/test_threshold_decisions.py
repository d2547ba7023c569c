"""What a ThresholdRejector decides: Chow's rule, budgets, ceilings, and decisions that agree with each other."""

import numpy as np
import pytest
from scipy.special import logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.svm import LinearSVC

from abstain import Costs, ThresholdRejector
from abstain.machines.response_machine import log_odds
from abstain.rules.tuning.scored_rows import ScoredRows
from one_score import Counting, first_column, symmetric_within

ASYMMETRIC = Costs(false_positive=1, false_negative=5, reject=0.3)
METHODS = ["symmetric", "roc", "chow"]


class TestChow:
    @pytest.mark.parametrize("pos_label", [None, 0])
    def test_it_is_the_cheapest_action_by_the_probabilities(self, data, pos_label):
        X, y = data
        clf = ThresholdRejector(LogisticRegression(), ASYMMETRIC, method="chow", pos_label=pos_label).fit(X, y)
        towards = 1 if pos_label is None else 0
        P = LogisticRegression().fit(X, y).predict_proba(X)[:, towards]
        cost = np.c_[5 * P, np.full(len(P), 0.3), 1 - P]
        record = clf.decide(X)
        np.testing.assert_allclose(record.expected_cost, cost)
        actions = np.array([1 - towards, -1, towards])
        np.testing.assert_array_equal(record.label, actions[cost.argmin(axis=1)])
        np.testing.assert_array_equal(clf.predict_forced(X), actions[[0, 2]][cost[:, ::2].argmin(axis=1)])
        p_low, p_high = 0.06, 0.7
        band = (p_low, p_high) if pos_label is None else (1 - p_high, 1 - p_low)
        assert (clf.thresholds_.lower, clf.thresholds_.upper) == pytest.approx([*logit(band)])
        assert 0 < record.rejected.mean() < 1

    def test_a_classifier_without_probabilities_gets_a_sigmoid(self, data):
        X, y = data
        clf = ThresholdRejector(LinearSVC(), ASYMMETRIC, method="chow").fit(X, y)
        same = CalibratedClassifierCV(LinearSVC(), cv=5, ensemble=False).fit(X, y)
        np.testing.assert_allclose(clf.decision_function(X), logit(same.predict_proba(X)[:, 1]), rtol=1e-6)
        model = LinearSVC().fit(X, y)
        same = CalibratedClassifierCV(FrozenEstimator(model)).fit(X, y)
        for cv, estimator in (("prefit", model), ("train", LinearSVC())):
            clf = ThresholdRejector(estimator, ASYMMETRIC, method="chow", cv=cv).fit(X, y)
            np.testing.assert_allclose(clf.decision_function(X), logit(same.predict_proba(X)[:, 1]), rtol=1e-6)
        with pytest.raises(ValueError, match="fits the sigmoid to the labels of the rows that must certify it"):
            ThresholdRejector(model, max_error=0.4, method="chow", cv="prefit").fit(X, y)

    def test_budgets_are_on_the_larger_probability(self, data):
        X, y = data
        clf = ThresholdRejector(LinearSVC(), reject_rate=0.2, method="chow").fit(X, y)
        assert clf.thresholds_.lower == -clf.thresholds_.upper
        machine = CalibratedClassifierCV(LinearSVC(), cv=StratifiedKFold(5), ensemble=False)
        P = cross_val_predict(machine, X, y, cv=5, method="predict_proba")
        assert clf.thresholds_ == symmetric_within(ScoredRows.of(log_odds(P), y, cut=0.0), 0.2)
        folds = list(StratifiedKFold(5).split(X, y))
        listed = ThresholdRejector(LinearSVC(), reject_rate=0.2, method="chow", cv=folds).fit(X, y)
        assert listed.thresholds_.lower == pytest.approx(clf.thresholds_.lower)


class TestBudgetsAndCeilings:
    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("pos_label", [None, 0])
    def test_budgets_are_kept_on_the_rows_tuned_on(self, data, method, pos_label):
        X, y = data
        options = {"method": method, "cv": "train", "pos_label": pos_label}
        for rate in (0.0, 0.1, 0.37, 1.0):
            clf = ThresholdRejector(LogisticRegression(), reject_rate=rate, **options).fit(X, y)
            assert np.mean(clf.reject_mask(X)) <= rate
        negative, positive = (0, 1) if pos_label is None else (1, 0)
        clf = ThresholdRejector(LogisticRegression(), reject_rate=(0.3, 0.05), **options).fit(X, y)
        rejected = clf.reject_mask(X)
        assert np.mean(rejected[y == positive]) <= 0.05
        assert np.mean(rejected[y == negative]) <= 0.3
        other = ThresholdRejector(LogisticRegression(), reject_rate=(0.05, 0.3), **options).fit(X, y)
        assert other.thresholds_ != clf.thresholds_

    @pytest.mark.parametrize("method", ["symmetric", "chow"])
    def test_a_ceiling_on_fresh_rows(self, method):
        X, y = first_column(3000)
        model = LogisticRegression().fit(*first_column(500, seed=1))
        clf = ThresholdRejector(model, max_error=0.05, method=method, cv="prefit").fit(X, y)
        new, truth = first_column(40000, seed=2)
        said = clf.predict(new)
        kept = said != -1
        assert np.mean(said[kept] != truth[kept]) <= 0.05
        assert np.mean(kept) > 0.5
        record = clf.certificate_
        assert (record.accepted, record.n_rows) == (np.sum(~clf.reject_mask(X)), 3000)
        assert record.upper_bound <= 0.05 < record.upper_bound + 0.01

    @pytest.mark.parametrize("pos_label", [None, 0])
    def test_a_ceiling_for_each_class(self, pos_label):
        X, y = first_column(3000)
        negative = 0 if pos_label is None else 1
        clf = ThresholdRejector(Counting().fit(X, y), max_error=(0.03, 0.2), cv="prefit", pos_label=pos_label).fit(X, y)
        said, truth = clf.predict(X), y
        kept = (said != -1) & (truth == negative)
        assert clf.certificate_.max_error == (0.03, 0.2)
        assert clf.certificate_.accepted[0] == kept.sum()
        assert clf.certificate_.errors[0] == np.sum(said[kept] != negative)
        assert clf.certificate_.upper_bound[0] <= 0.03

    def test_what_cannot_be_certified_says_how_many_rows_it_takes(self, data):
        X, y = data
        with pytest.raises(ValueError, match=r"max_error=0\.01 .* at least 230 calibration rows .* Use at least 460"):
            ThresholdRejector(LogisticRegression(), max_error=0.01).fit(X, y)

    def test_score_without_costs_counts_errors_not_rejects(self, data):
        X, y = data
        clf = ThresholdRejector(LogisticRegression(), reject_rate=0.4).fit(X, y)
        said = clf.predict(X)
        assert clf.score(X, y) == pytest.approx(-np.mean((said != y) & (said != -1)))


class TestDecisions:
    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("ask", [{"costs": ASYMMETRIC}, {"reject_rate": 0.3}], ids=["costs", "budget"])
    def test_they_agree_with_each_other(self, data, method, ask):
        X, y = data
        clf = ThresholdRejector(LogisticRegression(), method=method, **ask).fit(X, y)
        record, said, f = clf.decide(X), clf.predict(X), clf.decision_function(X)
        expected = np.where(f > clf.thresholds_.upper, 1, np.where(f < clf.thresholds_.lower, 0, -1))
        np.testing.assert_array_equal(said, expected)
        np.testing.assert_array_equal(record.label, said)
        np.testing.assert_array_equal(record.rejected, clf.reject_mask(X))
        np.testing.assert_array_equal(record.score, f)
        assert 0 < np.mean(record.rejected) < 1
        kept = ~record.rejected  # what is decided is decided the same way when forced
        np.testing.assert_array_equal(clf.predict_forced(X)[kept], said[kept])

    def test_expected_costs_need_probabilities_and_costs(self, data):
        X, y = data
        P = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
        known = ThresholdRejector(LogisticRegression(), ASYMMETRIC).fit(X, y).decide(X).expected_cost
        np.testing.assert_allclose(known, np.c_[5 * P, np.full(len(P), 0.3), 1 - P])
        assert np.isnan(ThresholdRejector(LinearSVC(), ASYMMETRIC).fit(X, y).decide(X).expected_cost).all()
        unpriced = ThresholdRejector(LogisticRegression(), reject_rate=0.1).fit(X, y).decide(X)
        assert np.isnan(unpriced.expected_cost).all()
        assert "label" in unpriced.to_frame()

    @pytest.mark.parametrize("method", METHODS)
    def test_pos_label_orients_the_costs(self, data, method):
        X, y = data
        plain = ThresholdRejector(LogisticRegression(), ASYMMETRIC, method=method).fit(X, y)
        swapped = ThresholdRejector(LogisticRegression(), ASYMMETRIC, method=method, pos_label=0).fit(X, 1 - y)
        names = np.array([1, 0, -1])
        np.testing.assert_array_equal(swapped.predict(X), names[plain.predict(X)])
        np.testing.assert_array_equal(swapped.predict_forced(X), names[plain.predict_forced(X)])
        assert swapped.score(X, 1 - y) == pytest.approx(plain.score(X, y))
        np.testing.assert_allclose(swapped.decide(X).expected_cost, plain.decide(X).expected_cost, atol=1e-6)
        other = ThresholdRejector(LogisticRegression(), ASYMMETRIC, method=method).fit(X, 1 - y)  # control
        assert (other.predict(X) != names[plain.predict(X)]).any()

    def test_scores_that_are_none_are_refused(self, data):
        X, y = data

        class Broken(Counting):
            def decision_function(self, X):
                return np.full(len(X), np.nan)

        with pytest.raises(ValueError, match=r"Broken\.decision_function must return one number per row.*contains nan"):
            ThresholdRejector(Broken(), ASYMMETRIC).fit(X, y)
