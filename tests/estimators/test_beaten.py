"""Pairs that can no longer be best drop out between folds: by which rule, what is said of them, and who is chosen."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_moons
from sklearn.model_selection import StratifiedKFold, cross_val_score

from abstain import Costs, RejectSVC, RejectSVCCV, load, save
from abstain.estimators.search.beaten import Beaten

COSTS = {"no costs": None, "rejects": Costs(reject=0.2), "unequal": Costs(1, 10, 0.4)}


def curved(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] * X[:, 1] + 0.5 * X[:, 2] ** 2 - 0.5 + 0.5 * rng.normal(size=n) > 0


class Paid:
    """The scores are what is paid."""

    def paid(self, row, scores):
        assert row.shape == scores.shape[1:]
        return scores


class Splits:
    def __init__(self, tests, mass):
        self.tests, self.mass = tests, mass


class Found:
    """Two gammas and one C."""

    def __init__(self, finished, paid):
        self.finished = self.tried = finished[:, :, np.newaxis]
        self.scores = paid[np.newaxis]


@pytest.mark.parametrize("mass", [1.0, 3.0])
@pytest.mark.parametrize(("more", "largest", "out"), [(9, 0, False), (10, 0, True), (20, 1, False), (21, 1, True)])
def test_the_rule_is_the_formula(more, largest, out, mass):
    """Pair 1 pays 0.2 more on k of 30 rows of the first fold.

    If that is the largest cost, 0.2 k > 3 sqrt(0.04 + 0.04 k) means k > 9.9; if both pay 1 on a row, with 1 in place of
    the first 0.04, k > 20.2.
    """
    tests = np.kron(np.eye(2), np.ones(30))
    paid = np.zeros((2, 60))
    paid[1, :more] = 0.2
    paid[:, 29] = largest
    finished = np.array([[True, False], [True, False]])
    beaten = Beaten(Paid(), Splits(tests, np.full(2, mass)))
    np.testing.assert_array_equal(beaten(Found(finished, paid)).ravel(), [False, out])


def test_pairs_are_compared_on_the_folds_that_they_have_finished():
    """Pair 1 is best on the first fold, and drops out on both; what it costs on a fold is read once."""
    tests = np.kron(np.eye(2), np.ones(30))
    paid = np.zeros((2, 60))
    paid[0, :5], paid[1, 30:] = 0.2, 1.0
    beaten = Beaten(Paid(), Splits(tests, np.ones(2)))
    assert not beaten(Found(np.array([[True, False], [True, False]]), paid)).any()
    paid[:, :30] = np.nan
    np.testing.assert_array_equal(beaten(Found(np.ones((2, 2), dtype=bool), paid)).ravel(), [False, True])


@pytest.mark.parametrize("name", COSTS)
def test_what_it_says_of_pairs_is_what_their_folds_cost(name):
    X, y = curved(600)
    found = RejectSVCCV(COSTS[name], n_jobs=1, tol=1e-4).fit(X, y)
    results = found.cv_results_
    splits = np.array([results[f"split{fold}_test_score"] for fold in range(5)])
    done = np.isfinite(splits).sum(axis=0)
    assert {*done.tolist()} <= {1, 2, 4, 5}
    assert done.min() < done.max() == 5
    for at, count in enumerate(done):
        assert np.isfinite(splits[:count, at]).all()  # the first folds
        assert np.isnan(results["mean_test_score"][at]) == (count < 5)
    ranks = results["rank_test_score"]
    assert ranks[done == 5].max() < ranks[done < 5].min()
    assert (results["n_resources"] == 600).all()
    for at in (int(np.argmin(done)), int(np.argmax(done))):
        machine = RejectSVC(COSTS[name], **results["params"][at], tol=1e-6)
        expected = cross_val_score(machine, X, y, cv=StratifiedKFold(5))[: done[at]]
        np.testing.assert_allclose(splits[: done[at], at], expected, atol=3 * 10 / 120)  # the search is less exact
        assert np.mean(np.abs(splits[: done[at], at] - expected) < 1e-9) >= 0.4
    best = results["params"][int(np.nanargmax(results["mean_test_score"]))]
    assert found.best_score_ <= np.nanmax(results["mean_test_score"]) + 1e-12
    assert name != "no costs" or best == {"C": found.C_, "gamma": found.gamma_}


@pytest.mark.parametrize("name", COSTS)
def test_the_choice_is_that_of_the_full_search_or_within_a_standard_error(name):
    same = 0
    for seed in range(6):
        X, y = (curved, lambda n, seed: make_moons(n, noise=0.35, random_state=seed))[seed % 2](700, seed)
        some, full = (RejectSVCCV(COSTS[name], cuts="bayes", search=search).fit(X, y) for search in ("auto", "full"))
        here, there = some._now.grid, full._now.grid
        assert np.isnan(here.costs).any()
        assert np.isfinite(there.costs).all()
        more = there.costs[here.place] - there.costs[there.place]
        assert more.mean() <= more.std(ddof=1) / np.sqrt(5) + 1e-12
        same += here.place == there.place
    assert same >= 4


def test_few_rows_full_and_halving_drop_no_pair():
    X, y = curved(600)
    for rows, search in ((499, "auto"), (600, "full"), (600, "halving")):
        found = RejectSVCCV(Cs=4, gammas=3, search=search).fit(X[:rows], y[:rows])
        assert np.isfinite(found.cv_results_["mean_test_score"]).all(), search
    assert np.isnan(RejectSVCCV(Cs=4, gammas=3).fit(X, y).cv_results_["mean_test_score"]).any()  # the control


@pytest.mark.parametrize("kernel", ["auto", "precomputed"])
def test_one_and_two_threads_and_a_time_limit(kernel):
    X, y = curved(600)
    X = X @ X.T if kernel == "precomputed" else X
    given = {"Cs": 4, "gammas": 3, "kernel": kernel}
    one, two = (RejectSVCCV(Costs(reject=0.2), n_jobs=jobs, **given).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one._now.grid.costs, two._now.grid.costs)
    limited = RejectSVCCV(Costs(reject=0.2), time_limit=1e6, **given).fit(X, y)
    assert (limited.C_, limited.status_) == (one.C_, "optimal")


def test_several_classes_and_files(tmp_path):
    X, y = make_classification(600, 6, n_informative=4, n_classes=3, random_state=0)
    for costs in (None, Costs(reject=0.3)):
        found = RejectSVCCV(costs, Cs=5, gammas=3).fit(X, y)
        assert np.isnan(found.cv_results_["mean_test_score"]).any()
        full = RejectSVCCV(costs, Cs=5, gammas=3, search="full").fit(X, y)
        assert abs(found.score(X, y) - full.score(X, y)) < 0.02
    save(found, tmp_path / "a.model")
    again = load(tmp_path / "a.model")
    np.testing.assert_array_equal(again.cv_results_["split4_test_score"], found.cv_results_["split4_test_score"])
