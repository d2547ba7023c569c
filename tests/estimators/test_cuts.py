"""Tuned cuts: where they come from, that no row's cost sees its own cuts, and when Bayes' cuts stay."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import PredefinedSplit, RepeatedStratifiedKFold, StratifiedKFold

from abstain import Costs, RejectSVC, RejectSVCCV
from abstain.estimators.fitting.splitting import Splits
from abstain.estimators.fitting.training import implied
from abstain.estimators.search.grid import Grid
from abstain.estimators.search.held_out import HeldOutRows, Pricing
from abstain.rules.tuning.sigmoid import shrunk_sigmoids

COSTS = Costs(1, 3, 0.3)
SMALL = {"Cs": [0.1, 1.0, 10.0], "gammas": [0.02, 0.1]}


@pytest.fixture(scope="module")
def wide():
    """Few rows for the features, where machines reject too much."""
    return make_classification(160, 40, n_informative=10, class_sep=1.5, flip_y=0.02, random_state=0)


class TestTheFinalCuts:
    def test_they_are_bayes_cuts_on_a_score_rescaled_by_the_sigmoid_of_all_held_out_scores(self, wide):
        X, y = wide
        clf = RejectSVCCV(COSTS, **SMALL, tol=1e-5).fit(X, y)
        score = np.empty(len(y))
        for train, test in StratifiedKFold(5).split(X, y):
            machine = RejectSVC(COSTS, C=clf.C_, gamma=clf.gamma_, tol=1e-5).fit(X[train], y[train])
            score[test] = machine.decision_function(X[test])
        t, b = shrunk_sigmoids(score[np.newaxis], np.where(y > 0, 1, -1).astype(np.int8), np.ones(len(y)))[0]
        assert (clf.score_scale_, clf.score_shift_) == pytest.approx((np.exp(t), b), rel=1e-2)
        assert clf.score_scale_ != pytest.approx(1.0, rel=1e-2)  # the control: it is tuned
        assert clf.thresholds_ == COSTS.score_thresholds()

    def test_the_machine_is_that_of_the_theory(self, wide):
        clf = RejectSVCCV(COSTS, **SMALL).fit(*wide)
        plain = RejectSVC(COSTS, C=clf.C_, gamma=clf.gamma_).fit(*wide)
        rescaled = clf.score_scale_ * plain.decision_function(wide[0]) + clf.score_shift_
        np.testing.assert_allclose(clf.decision_function(wide[0]), rescaled, rtol=0, atol=1e-12)
        assert clf.duality_gap_ == plain.duality_gap_

    def test_decisions_are_those_of_least_expected_cost(self, wide):
        clf = RejectSVCCV(COSTS, **SMALL).fit(*wide)
        X = np.random.default_rng(1).normal(size=(500, 40))
        decided = clf.decide(X)
        actions = np.array([clf.classes_[0], clf.reject_label_, clf.classes_[1]])
        np.testing.assert_array_equal(actions[decided.expected_cost.argmin(axis=1)], decided.label)
        forced = decided.expected_cost[:, [0, 2]].argmin(axis=1)
        np.testing.assert_array_equal(clf.classes_[forced], decided.forced)
        assert len({*decided.label}) == 3

    def test_the_other_class_as_positive_gives_the_same_decisions(self, wide):
        X, y = wide
        one = RejectSVCCV(Costs(1, 3, 0.3), **SMALL, pos_label=1, reject_label=9).fit(X, y)
        other = RejectSVCCV(Costs(3, 1, 0.3), **SMALL, pos_label=0, reject_label=9).fit(X, y)
        np.testing.assert_array_equal(one.predict(X), other.predict(X))


class TestNoRowSeesItsOwnCuts:
    def rows(self):
        rng = np.random.default_rng(0)
        code = (rng.random(90) >= 0.5).astype(np.intp)
        tests = np.zeros((3, 90))
        tests[np.arange(90) % 3, np.arange(90)] = 1 / 30
        scores = 1.4 * code[np.nonzero(tests)[1]] - 0.7 + rng.normal(size=(1, 1, 90))
        return scores, Splits.of((tests == 0).astype(np.int32), tests), code

    def test_labels_of_a_fold_do_not_move_its_cuts(self):
        scores, splits, code = self.rows()
        first = splits.tests[0] > 0
        turned, choices = np.where(first, 1 - code, code), []
        rule = implied(RejectSVC(COSTS), [0, 1])[0]

        class Recorded(Pricing):
            def paid(self, row, score, read):
                choices.append(rule.choose(read[0].scale * score + read[0].shift))
                return super().paid(row, score, read)

        for labels in (code, turned):
            rows = HeldOutRows.of(scores, splits, labels, np.ones(3, dtype=bool))
            rows.tuned_costs(np.array([0]), Recorded(rule, labels))
        before, after = choices[:3], choices[3:]
        np.testing.assert_array_equal(before[0], after[0])  # the turned fold is decided by the others
        assert any((one != two).any() for one, two in zip(before[1:], after[1:], strict=True))  # which it moves

    def test_a_row_tested_twice_is_out_of_both_fits(self, wide):
        X, y = wide
        folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
        clf = RejectSVCCV(COSTS, **SMALL, cv=folds).fit(X, y)
        assert clf.n_splits_ == 6
        assert np.isfinite(clf.cv_results_["mean_tuned_score"]).any()


class TestBayesCutsStay:
    @pytest.mark.parametrize(
        ("options", "rows"),
        [
            ({"cuts": "bayes"}, slice(None)),
            ({"rule": "bartlett-wegkamp", "costs": Costs(reject=0.2)}, slice(None)),
            ({"cv": PredefinedSplit(np.arange(160) % 2 - 1)}, slice(None)),
            ({"cv": 3}, slice(0, 18)),
        ],
        ids=["asked for", "another rule", "one fold", "few rows"],
    )
    def test_here(self, options, rows, wide):
        X, y = wide[0][rows], wide[1][rows]
        clf = RejectSVCCV(**{"costs": COSTS} | SMALL | options).fit(X, y)
        plain = RejectSVC(clf.costs, rule=clf.rule, C=clf.C_, gamma=clf.gamma_).fit(X, y)
        assert clf.thresholds_ == plain.thresholds_
        assert "mean_tuned_score" not in clf.cv_results_

    def test_where_the_tuned_ones_cost_more_or_change_nothing(self):
        costs = np.array([[[0.3, 0.3, 0.3]], [[0.2, 0.2, 0.2]]])
        for tuned, chosen in ((costs.copy(), False), (costs + np.array([0.1, 0.1, 0.11]), False), (costs - 0.01, True)):
            grid = Grid(np.array([1.0, 2.0]), np.array([1.0]), costs, np.full((2, 1), 9), tuned)
            assert grid.best_is_tuned == chosen

    def test_without_costs_nothing_is_cut(self, wide):
        clf = RejectSVCCV(None, **SMALL).fit(*wide)
        assert clf.thresholds_.lower == clf.thresholds_.upper == 0.0


class TestTheHonestScore:
    def test_each_fold_is_decided_by_the_choice_of_the_others(self):
        costs = np.random.default_rng(0).random((4, 3, 5))
        grid = Grid(np.arange(1.0, 5.0), np.arange(1.0, 4.0), costs, np.full((4, 3), 9))
        expected = []
        for fold in range(5):
            others = np.delete(costs, fold, axis=2).mean(axis=2)
            c, g = np.unravel_index(np.argmin(others), others.shape)
            expected.append(costs[c, g, fold])
        assert grid.best_score == pytest.approx(-np.mean(expected))
        assert -grid.best_score > costs.mean(axis=2).min()  # the least mean cost promises more

    def test_where_nothing_can_be_learned_it_does_not_promise_a_gain(self):
        """Labels drawn by lot: any choice costs the same on new rows, 0.5 without rejects."""
        honest, least = [], []
        for seed in range(15):
            rng = np.random.default_rng(seed)
            X, y = rng.normal(size=(60, 5)), rng.permutation(np.arange(60) % 2)
            clf = RejectSVCCV(Costs(reject=0.5), Cs=6, gammas=3, cuts="bayes").fit(X, y)
            honest.append(-clf.best_score_)
            least.append(-clf.cv_results_["mean_test_score"].max())
        assert np.mean(least) < 0.46  # the control: the search's own minimum is too good to be true
        assert abs(np.mean(honest) - 0.5) < 0.04

    def test_with_one_fold_it_is_the_least(self, wide):
        clf = RejectSVCCV(COSTS, **SMALL, cv=PredefinedSplit(np.arange(160) % 2 - 1)).fit(*wide)
        assert clf.best_score_ == clf.cv_results_["mean_test_score"].max()
