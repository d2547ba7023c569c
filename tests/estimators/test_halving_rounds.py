"""The rounds of a search: which rows each has, and which pairs stay."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from abstain.estimators.fitting.splitting import checked_splits
from abstain.estimators.search.halving import survivors
from abstain.estimators.search.rounds import keys_of, subsample, wrong_order


class TestSubsample:
    def splits(self, y, groups, cv):
        return y, checked_splits(cv, y, groups, y, np.ones(len(y)))

    def test_is_stratified_and_nested(self):
        y = (np.arange(10_000) % 10 == 0).astype(int)
        sign, splits = self.splits(y, None, StratifiedKFold(5))
        keys = keys_of(sign, None, 0.1)
        small, parts = subsample(splits, keys, sign, np.ones(len(y)), 0.1)
        large, _ = subsample(splits, keys, sign, np.ones(len(y)), 0.3)
        assert set(small) <= set(large)
        assert 1000 <= len(small) < 1150
        for train, test in zip(parts.trains, parts.tests, strict=True):
            assert y[small[train > 0]].mean() == pytest.approx(0.1, abs=0.02)
            assert not (train[test > 0]).any()
            assert test.sum() == pytest.approx(1.0)

    def test_has_whole_groups_if_there_are_many(self):
        y, groups = np.arange(6000) % 7 % 2, np.arange(6000) // 6
        sign, splits = self.splits(y, groups, 5)
        rows, parts = subsample(splits, keys_of(sign, groups, 0.1), sign, np.ones(6000), 0.1)
        chosen = groups[rows]
        assert (np.unique(chosen, return_counts=True)[1] == 6).all()
        for train, test in zip(parts.trains, parts.tests, strict=True):
            assert not np.isin(chosen[train > 0], chosen[test > 0]).any()
        # the control: rows by themselves split groups
        rows, _ = subsample(splits, keys_of(sign, None, 0.1), sign, np.ones(6000), 0.1)
        assert (np.unique(groups[rows], return_counts=True)[1] < 6).any()

    def test_has_rows_of_all_groups_if_there_are_few(self):
        y, groups = np.arange(6000) % 7 % 2, np.arange(6000) // 300
        sign, splits = self.splits(y, groups, 5)
        rows, parts = subsample(splits, keys_of(sign, groups, 0.1), sign, np.ones(6000), 0.1)
        assert len(np.unique(groups[rows])) == 20
        for train, test in zip(parts.trains, parts.tests, strict=True):
            assert not np.isin(groups[rows][train > 0], groups[rows][test > 0]).any()

    def test_has_both_classes_and_a_test_row_however_small(self):
        y = (np.arange(1000) == 7).astype(int)
        y[11] = 1
        sign, splits = self.splits(y, None, [(np.arange(0, 900), np.arange(900, 1000))])
        rows, parts = subsample(splits, keys_of(sign, None, 0.01), sign, np.ones(1000), 0.005)
        assert set(y[rows[parts.trains[0] > 0]]) == {0, 1}
        assert (parts.tests > 0).sum() == 1


class TestSurvivors:
    COSTS = np.array([[0.3, 0.2, 0.2], [0.1, 0.2, 0.2], [0.15, 0.2, np.nan]])
    DISORDER = np.array([[0.5, 0.5, 0.1], [0.5, 0.2, 0.5], [0.5, 0.3, np.nan]])

    def test_equal_costs_are_ordered_by_the_scores(self):
        stay = survivors(self.COSTS, self.DISORDER, 4, every_gamma=False)
        np.testing.assert_array_equal(stay, [[0, 0, 1], [1, 1, 0], [1, 0, 0]])

    def test_every_gamma_keeps_its_best_where_there_is_room(self):
        costs = np.array([[0.1, 0.3], [0.2, 0.4], [0.25, 0.5]])
        np.testing.assert_array_equal(survivors(costs, costs, 2, every_gamma=True), [[1, 1], [0, 0], [0, 0]])
        np.testing.assert_array_equal(survivors(costs, costs, 1, every_gamma=True), [[1, 0], [0, 0], [0, 0]])

    def test_the_gamma_above_the_best_keeps_its_best(self):
        costs = np.array([[0.3, 0.1, 0.4], [0.3, 0.2, 0.5], [0.3, 0.25, 0.6]])
        stay = survivors(costs, costs, 3, every_gamma=False)
        np.testing.assert_array_equal(stay, [[0, 1, 1], [0, 1, 0], [0, 0, 0]])

    def test_the_C_above_the_best_is_tried_again(self):
        costs = np.array([[0.2, 0.3], [0.1, 0.3], [np.nan, np.nan]])
        for count, expected in ((4, [[1, 1], [1, 0], [1, 0]]), (2, [[0, 1], [1, 0], [0, 0]])):
            stay = survivors(costs, costs, count, every_gamma=False)
            np.testing.assert_array_equal(stay, expected)

    def test_the_order_of_scores_is_the_auc(self):
        code, score = np.array([0, 0, 1, 1]), np.array([0.0, 2.0, 1.0, 2.0])
        assert wrong_order(code, score) == (1 + 0.5) / 4
        assert wrong_order(code[:2], score[:2]) == 0.5
        # of several classes the mean, each against the rest
        scores = np.array([[3.0, 0.0, 0.0], [1.0, 1.0, 1.0], [2.0, 0.5, 0.5]])
        assert wrong_order(np.arange(3), scores) == 0.5 / 3
