"""RejectSVCCV with more than two classes: the grid, the folds, the scale of the scores, and an honest score."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from abstain import Costs, RejectSVC, RejectSVCCV
from abstain.rules.tuning.sigmoid import fitted_scale
from class_cases import ANSWERS, GENERAL, gaussians, table_costs

GRID = {"Cs": [0.1, 1.0, 10.0], "gammas": [0.1, 0.5]}


def by_hand(costs, X, y, **options):
    """Costs of the grid, (Cs, gammas, folds), by separate fits."""
    folds = list(StratifiedKFold(5).split(X, y))
    return np.array(
        [
            [
                [-RejectSVC(costs, C=C, gamma=g, **options).fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds]
                for g in GRID["gammas"]
            ]
            for C in GRID["Cs"]
        ]
    )


@pytest.mark.parametrize(
    "costs", [None, Costs(reject=0.2), table_costs(GENERAL, 0.4)], ids=["votes", "even", "general"]
)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_grid_is_that_of_separate_fits(costs, kernel):
    X, y = gaussians(150)
    search = RejectSVCCV(costs, **GRID, kernel=kernel, cuts="bayes").fit(X, y)
    found = by_hand(costs, X, y, kernel=kernel)[:, : len(search._now.grid.gammas)]
    # the search stops at ten times the tolerance, which may move single rows
    assert np.abs(search._now.grid.costs - found).mean() < 0.005
    assert np.abs(search._now.grid.costs - found[::-1]).mean() > 0.005


def test_without_costs_it_chooses_as_a_grid_search_of_svc():
    X, y = load_iris(return_X_y=True)
    ours = RejectSVCCV(Cs=[0.001, 1.0], gammas=[0.5]).fit(X, y)
    theirs = GridSearchCV(SVC(gamma=0.5), {"C": [0.001, 1.0]}).fit(X, y)
    assert ours.C_ == theirs.best_params_["C"] == 1.0
    scores = theirs.cv_results_["mean_test_score"]
    np.testing.assert_allclose(1 + ours.cv_results_["mean_test_score"], scores, atol=0.02)
    np.testing.assert_array_equal(ours.predict(X), SVC(C=1.0, gamma=0.5).fit(X, y).predict(X))


def test_the_machine_is_that_of_the_chosen_pair():
    X, y = gaussians(150)
    costs = table_costs(ANSWERS, 0.4)
    search = RejectSVCCV(costs, **GRID).fit(X, y)
    one = RejectSVC(costs, C=search.C_, gamma=search.gamma_).fit(X, y)
    np.testing.assert_array_equal(search.decision_function(X), one.decision_function(X))
    assert search.rule_.readout.lead is not None
    assert not hasattr(search, "thresholds_")


def test_tuned_cuts_cost_less_on_new_rows():
    X, y = load_digits(return_X_y=True)
    X, train = X / 16, np.arange(len(X)) < 600
    grid, costs = {"Cs": [10.0], "gammas": [0.1]}, Costs(reject=0.1)
    bayes = RejectSVCCV(costs, cuts="bayes", **grid).fit(X[train], y[train])
    tuned = RejectSVCCV(costs, **grid).fit(X[train], y[train])
    assert -tuned.score(X[~train], y[~train]) < -0.8 * bayes.score(X[~train], y[~train])
    assert tuned.reject_mask(X[~train]).mean() < bayes.reject_mask(X[~train]).mean()
    # as far as the search can say, too
    assert tuned.best_score_ > bayes.best_score_
    assert abs(tuned.cv_reject_rate_ - tuned.reject_mask(X[~train]).mean()) < 0.1


def test_the_score_of_labels_without_meaning_promises_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((150, 3)), np.arange(150) % 3
    search = RejectSVCCV(Costs(reject=0.5), Cs=4, gammas=3).fit(X, y)
    # rejecting everything costs 0.5, and nothing is better; the least of the grid may claim so
    assert search.best_score_ < -0.47


def test_a_label_does_not_move_its_own_cut():
    X, y = gaussians(150)
    folds = [(np.arange(150) % 5 != k, np.arange(150) % 5 == k) for k in range(5)]
    folds = [(np.flatnonzero(a), np.flatnonzero(b)) for a, b in folds]
    one = {"Cs": [1.0], "gammas": [0.3], "cv": folds}
    plain = RejectSVCCV(Costs(reject=0.2), **one).fit(X, y)._now.grid.tuned[0, 0]
    other = y.copy()
    other[folds[0][1]] = (other[folds[0][1]] + 1) % 3  # wrong labels in the first fold only
    moved = RejectSVCCV(Costs(reject=0.2), **one).fit(X, other)._now.grid.tuned[0, 0]
    assert moved[0] > plain[0] + 0.2
    # the others now train on wrong labels; the first trains on the same rows, so its decisions are the same
    fits = [RejectSVCCV(Costs(reject=0.2), **one).fit(X, labels) for labels in (y, other)]
    assert fits[0].rule_.readout.lead != fits[1].rule_.readout.lead


def test_groups_and_weights_reach_the_folds():
    X, y = gaussians(150)
    groups = np.arange(150) // 3
    search = RejectSVCCV(Costs(reject=0.2), Cs=[1.0], gammas=[0.3]).fit(X, y, groups=groups)
    assert search.n_splits_ == 5
    weight = np.ones(150)
    weight[:75] = 0.0
    half = RejectSVCCV(Costs(reject=0.2), Cs=[1.0], gammas=[0.3], cv=[(np.arange(0, 150, 2), np.arange(1, 150, 2))] * 2)
    only = clone(half).set_params(cv=[(np.arange(1, 75, 2), np.arange(0, 75, 2))] * 2).fit(X[75:], y[75:])
    np.testing.assert_allclose(half.fit(X, y, weight).best_score_, only.best_score_, atol=0.02)


def test_a_fold_without_a_class_is_an_error():
    X, y = gaussians(60)
    with pytest.raises(ValueError, match="fold 0 of cv trains without the class 2"):
        RejectSVCCV(cv=[(np.flatnonzero(y < 2), np.flatnonzero(y == 2))]).fit(X, y)


def test_running_out_of_time_is_said():
    X, y = gaussians(600)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        search = RejectSVCCV(Costs(reject=0.2), time_limit=1e-3).fit(X, y)
    assert "ran out of time" in str(heard[0].message)
    assert heard[0].filename == __file__
    assert search.status_ == "time_limit"


def test_it_works_inside_scikit_learn():
    X, y = gaussians(120)
    names = np.array(["ant", "bee", "cow"])[y]
    scores = cross_val_score(RejectSVCCV(Costs(reject=0.2), Cs=[1.0], gammas=[0.3]), X, names, cv=3)
    assert (scores > -0.2).all()


class TestScale:
    def test_it_is_found_again(self):
        rng = np.random.default_rng(0)
        g = rng.standard_normal((4000, 4))
        code = np.array([rng.choice(4, p=p) for p in softmax(2.5 * g, axis=1)])
        assert fitted_scale(g, code, np.ones(4000)) == pytest.approx(2.5, rel=0.06)

    def test_rows_without_errors_leave_it_finite(self):
        g = np.eye(3)[np.arange(30) % 3]
        few = fitted_scale(g, np.arange(30) % 3, np.ones(30))
        many = fitted_scale(np.tile(g, (10, 1)), np.tile(np.arange(30) % 3, 10), np.ones(300))
        assert 3 < few < many < 20

    def test_a_weight_is_a_repeated_row(self):
        rng = np.random.default_rng(0)
        g, code = rng.standard_normal((40, 3)), rng.integers(0, 3, 40)
        code[:30] = g[:30].argmax(axis=1)
        weight = 1.0 + np.arange(40) % 2
        rows = np.repeat(np.arange(40), weight.astype(int))
        assert fitted_scale(g, code, weight) == pytest.approx(fitted_scale(g[rows], code[rows], np.ones(60)), rel=1e-3)


@pytest.mark.parametrize("costs", [None, Costs(reject=0.2)], ids=["votes", "costs"])
def test_other_ways_to_give_the_rows_have_the_same_search(costs):
    X, y = gaussians(120)
    options = {"Cs": [0.1, 1.0, 10.0], "cuts": "bayes"}

    def gram(A, B):
        return np.exp(-0.3 * ((A[:, np.newaxis] - B) ** 2).sum(axis=2))

    plain = RejectSVCCV(costs, gammas=[0.3], **options).fit(X, y)._now.grid.costs
    sparse = RejectSVCCV(costs, gammas=[0.3], **options).fit(csr_array(X), y)._now.grid.costs
    called = RejectSVCCV(costs, kernel=gram, **options).fit(X, y)._now.grid.costs
    given = RejectSVCCV(costs, kernel="precomputed", n_jobs=2, **options).fit(gram(X, X), y)._now.grid.costs
    for other in (sparse, called, given):  # one row of a fold is 1 / 24
        assert np.abs(other - plain).mean() < 0.004
