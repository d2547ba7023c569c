"""A search is a list of tasks, and its folds have the scores of single fits."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from abstain.dual.problem import Task
from abstain.solvers.cross_validation import Folds, KernelFits, Limits
from abstain.solvers.native import ActiveSet
from many_tasks import SCALES, at, classes


def posed(problem, weights):
    """The tasks of a problem, and folds that score all rows."""
    folds = Folds((problem.sign > 0).astype(np.intp), weights, [np.arange(problem.n)] * len(weights))
    return [Task(1, None, problem.loss)], folds


def test_a_search_is_a_list_of_tasks():
    problem = classes()[2]
    trains = np.ones((3, problem.n), np.uint8)
    for fold in range(3):
        trains[fold, fold::3] = 0
    gammas = np.array([0.1, 1.0])
    weights = trains * problem.weight
    tasks, folds = posed(problem, weights)
    found = KernelFits(problem, tasks, gammas, Limits(1e-4, 10**6, 10, 2)).scores(None, folds, SCALES)
    scores = found.scores.reshape(len(SCALES), 2, 3, problem.n)
    assert found.optimal.all()
    assert found.finished.all()
    for g, gamma in enumerate(gammas):
        for fold, train in enumerate(trains.astype(bool)):
            kernel, weight = replace(problem.kernel, gamma=gamma), np.where(train, problem.weight, 0.0)
            part = replace(problem, kernel=kernel, weight=weight)
            for c, C in enumerate(SCALES):
                alone = ActiveSet().solve(at(part, C))
                assert_allclose(scores[c, g, fold], alone.expansion + alone.bias, atol=5e-3)


def test_pairs_that_are_beaten_are_left_out_after_1_2_and_4_folds():
    problem = classes()[2]
    weights = np.ones((5, problem.n)) * problem.weight
    tasks, folds = posed(problem, weights)
    fits, seen = KernelFits(problem, tasks, np.array([0.1, 1.0]), Limits(1e-4, 10**6, 10, 2)), []

    def beaten(found):
        seen.append(found.finished.sum(axis=1))  # folds, (gammas, Cs)
        out = np.zeros(seen[-1].shape, dtype=bool)
        out[0, 0], out[1, -1] = True, len(seen) > 1
        return out

    found, whole = (fits.scores(None, folds, SCALES, beaten=one) for one in (beaten, None))
    done = np.full((2, len(SCALES)), 5)
    done[0, 0], done[1, -1] = 1, 2
    assert [int(one.max()) for one in seen] == [1, 2, 4]
    np.testing.assert_array_equal(found.finished.sum(axis=1), done)
    np.testing.assert_array_equal(found.tried, found.finished)
    assert found.finished[1, :2, -1].all()  # the first two
    left_out = ~found.finished.transpose(2, 0, 1).repeat(problem.n, axis=2)
    assert (found.scores[left_out] == 0.0).all()
    assert_allclose(found.scores[~left_out], whole.scores[~left_out], atol=5e-3)


def test_an_error_in_the_choice_ends_the_search():
    problem = classes()[2]
    tasks, folds = posed(problem, np.ones((3, problem.n)))

    def failing(found):
        raise ZeroDivisionError(found.tried.sum())

    with pytest.raises(ZeroDivisionError):
        KernelFits(problem, tasks, np.ones(1), Limits(1e-3, 10**6)).scores(None, folds, SCALES, beaten=failing)


def test_a_search_without_time_is_unfinished():
    problem = classes()[1]
    weights = np.ones((2, problem.n))
    tasks, folds = posed(problem, weights)
    found = KernelFits(problem, tasks, np.ones(2), Limits(1e-3, 10**6, until=0.0)).scores(None, folds, SCALES)
    assert not found.finished.any()
    assert not found.optimal.any()
    assert not found.scores.any()
