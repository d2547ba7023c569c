"""A search is a list of tasks, and its folds have the scores of single fits."""

from dataclasses import replace

import numpy as np
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


def test_a_search_without_time_is_unfinished():
    problem = classes()[1]
    weights = np.ones((2, problem.n))
    tasks, folds = posed(problem, weights)
    found = KernelFits(problem, tasks, np.ones(2), Limits(1e-3, 10**6, until=0.0)).scores(None, folds, SCALES)
    assert not found.finished.any()
    assert not found.optimal.any()
    assert not found.scores.any()
