"""RejectSVCCV on large tables: subsamples that grow while pairs drop out."""

import re
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ShuffleSplit, StratifiedKFold

from abstain import Costs, RejectSVCCV
from abstain.estimators.fitting.progress import FitsLine
from abstain.estimators.fitting.splitting import checked_splits
from abstain.estimators.fitting.training import Training
from abstain.estimators.search import halving, rounds
from abstain.estimators.search.halving import Schedule
from abstain.estimators.search.rounds import coarse_to_fine, keys_of, subsample
from abstain.solvers.cross_validation import Folds, KernelFits, Limits
from class_cases import gaussians

REJECT = Costs(reject=0.2)
GRID = {"Cs": [0.01, 0.1, 1.0, 10.0], "gammas": [0.02, 0.1, 0.5]}


def made(n, seed=0):
    """Two noisy classes with a curved boundary, three features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.4 * rng.normal(size=n) > 0, 1, 0)


@pytest.fixture(scope="module")
def table():
    return made(6000)


@pytest.fixture(scope="module")
def searched(table):
    return RejectSVCCV(REJECT, **GRID, cv=3, n_jobs=2).fit(*table)


class TestSchedule:
    def test_of_30_000_rows(self):
        assert Schedule.of(30_000, 50) == Schedule((2000, 5000, 30_000), (50, 12, 3))

    def test_of_6_000_rows(self):
        assert Schedule.of(6000, 50) == Schedule((2000, 6000), (50, 12))

    @pytest.mark.parametrize("rows", [2001, 6000, 15_000, 40_000, 10**6])
    @pytest.mark.parametrize("pairs", [4, 10, 50, 1000])
    def test_rows_grow_and_pairs_drop_out(self, rows, pairs):
        plan = Schedule.of(rows, pairs)
        assert plan.sizes[0] == 2000
        assert plan.sizes[-1] == rows
        assert plan.pairs[0] == pairs
        assert plan.pairs[-1] <= max(6, pairs // 4)
        assert (np.diff(plan.sizes) > 0).all()
        assert (np.diff(plan.pairs) <= 0).all()

    @pytest.mark.parametrize(("rows", "pairs"), [(2000, 50), (10**6, 3)])
    def test_few_rows_or_pairs_are_one_round(self, rows, pairs):
        assert Schedule.of(rows, pairs) == Schedule.full(rows, pairs)

    def test_the_scores_in_memory_do_not_grow_with_all_pairs(self):
        assert Schedule.of(30_000, 50).scores(5) < Schedule.full(30_000, 50).scores(5) / 10


class TestSearch:
    @pytest.mark.long
    def test_the_pair_is_within_a_standard_error_of_the_full_search(self, table, searched):
        full = RejectSVCCV(REJECT, **GRID, cv=3, n_jobs=2, search="full").fit(*table)
        results = full.cv_results_
        at = results["params"].index({"C": searched.C_, "gamma": searched.gamma_})
        splits = np.array([results[f"split{fold}_test_score"] for fold in range(3)])
        best = int(np.argmax(splits.mean(axis=0)))
        error = splits[:, best].std(ddof=1) / np.sqrt(3)
        assert splits[:, best].mean() - splits[:, at].mean() <= error
        assert splits[:, best].mean() - splits.mean(axis=0).min() > 5 * error  # the control: not any pair would do
        assert (results["n_resources"] == 6000).all()

    def test_the_results_say_where_each_pair_dropped_out(self, searched):
        results = searched.cv_results_
        rows, ranks = results["n_resources"], results["rank_test_score"]
        assert (rows == 6000).sum() == 6
        assert ((rows >= 2000) & (rows < 2100)).sum() == 6
        assert np.isfinite(results["mean_test_score"]).all()
        assert ranks[rows == 6000].max() < ranks[rows < 6000].min()
        chosen = results["params"].index({"C": searched.C_, "gamma": searched.gamma_})
        assert rows[chosen] == 6000
        assert results["mean_tuned_score"][chosen] == np.nanmax(results["mean_tuned_score"])
        assert np.isnan(results["mean_tuned_score"][rows < 6000]).all()

    def test_any_number_of_threads_gives_the_same(self, table, searched):
        one = RejectSVCCV(REJECT, **GRID, cv=3, n_jobs=1).fit(*table)
        for name, values in one.cv_results_.items():
            np.testing.assert_array_equal(values, searched.cv_results_[name])

    def test_full_costs_are_those_of_all_fits_on_all_rows(self):
        X, y = made(300)
        clf = RejectSVCCV(REJECT, **GRID, cv=3, search="full").fit(X, y)
        training = Training.of(clf, X, y, None, validator=clone(clf))
        problem = training.posed(1.0, 1.0, all_rows=True).problem
        trains = np.ones((3, 300))
        for fold, (_, test) in enumerate(StratifiedKFold(3).split(X, y)):
            trains[fold, test] = 0
        folds = Folds(training.code, trains, [np.arange(300)] * 3)
        fits = KernelFits(problem, training.tasks, np.array(GRID["gammas"]), Limits(1e-2, 10**7))
        scores = fits.scores(None, folds, np.array(GRID["Cs"])).scores.reshape(4, 3, 3, 300)
        prices = REJECT.of(training.code, training.rule.choose(scores))
        means = np.einsum("cgfn,fn->fcg", prices, 1 - trains).reshape(3, -1) / (1 - trains).sum(axis=1, keepdims=True)
        for fold in range(3):
            np.testing.assert_allclose(clf.cv_results_[f"split{fold}_test_score"], -means[fold], rtol=1e-12)

    def test_auto_is_full_up_to_5000_rows(self, monkeypatch):
        monkeypatch.setattr(halving, "FIRST", 50)
        X, y = made(200)
        found = [RejectSVCCV(REJECT, **GRID, cv=2, search=way).fit(X, y) for way in ("auto", "full", "halving")]
        assert [len(np.unique(clf.cv_results_["n_resources"])) for clf in found] == [1, 1, 2]

    def test_another_word_is_refused(self, table):
        with pytest.raises(ValueError, match="'search' parameter of RejectSVCCV must be a str among"):
            RejectSVCCV(search="half").fit(*table)

    @pytest.mark.parametrize("kernel", ["linear", "precomputed"])
    def test_kernels_without_gamma(self, kernel, monkeypatch):
        monkeypatch.setattr(halving, "FIRST", 50)
        X, y = made(200)
        X = X @ X.T if kernel == "precomputed" else X
        clf = RejectSVCCV(REJECT, Cs=8, cv=2, kernel=kernel, search="halving").fit(X, y)
        rows = clf.cv_results_["n_resources"]
        assert rows.max() == 200
        assert 50 <= rows.min() < 80

    @pytest.mark.parametrize(
        "cv", [ShuffleSplit(3, test_size=0.1, random_state=0), [(np.arange(150), np.arange(150, 155))]]
    )
    def test_any_splitter(self, cv, monkeypatch):
        monkeypatch.setattr(halving, "FIRST", 50)
        X, y = made(200)
        clf = RejectSVCCV(REJECT, **GRID, cv=cv, search="halving").fit(X, y, np.arange(200) % 4)
        assert clf.cv_results_["n_resources"].min() < 80
        assert np.isfinite(clf.best_score_)

    def test_the_scores_of_each_round_are_there(self, monkeypatch):
        monkeypatch.setattr(halving, "FIRST", 60)
        seen = []
        monkeypatch.setattr(rounds.Rounds, "run", recorded(rounds.Rounds.run, seen))
        X, y = made(400)
        RejectSVCCV(REJECT, **GRID, cv=2, search="halving").fit(X, y)
        first, _, last = seen
        assert len(first.rows) < 80
        assert len(last.rows) == 400
        assert last.scores.shape == (4, 3, 400)
        assert set(first.rows) <= set(last.rows)


def recorded(run, seen):
    def running(*given, **settings):
        seen.append(run(*given, **settings))
        return seen[-1]

    return running


class TestTime:
    def test_coarse_to_fine_begins_in_the_middle_and_tries_all(self):
        levels = list(coarse_to_fine(np.ones((5, 2, 10), dtype=bool)))
        assert np.argwhere(levels[0].any(axis=1)).tolist() == [[2, 4]]
        assert [int(level.any(axis=1).sum()) for level in levels] == [1, 2, 12, 35]
        assert (sum(level.astype(int) for level in levels) == 1).all()

    def test_a_round_too_long_is_left_out_and_named(self, monkeypatch):
        X, y = made(6000)
        slow = halving.Rounds.run

        def run(self, rows, *given, **settings):
            found = slow(self, rows, *given, **settings)
            time.sleep(max(0.0, self.line.began + 1.5 - time.monotonic()))  # so that nothing is left of the two seconds
            return found

        monkeypatch.setattr(halving.Rounds, "run", run)
        with pytest.warns(ConvergenceWarning) as warned:
            clf = RejectSVCCV(REJECT, **GRID, cv=3, time_limit=2.0, n_jobs=2).fit(X, y)
        assert "its pairs were compared on 2,0" in str(warned[0].message)
        assert "not on 6,000; raise time_limit=2.0" in str(warned[0].message)
        assert clf.cv_results_["n_resources"].max() < 2100
        assert clf.score(X, y) > -0.15  # the middle of the grid at least; rejecting every row costs 0.2

    @pytest.mark.long
    def test_control_enough_time_changes_no_choice(self, table, searched):
        timed = RejectSVCCV(REJECT, **GRID, cv=3, n_jobs=2, time_limit=600.0).fit(*table)
        assert (timed.C_, timed.gamma_) == (searched.C_, searched.gamma_)


@pytest.mark.parametrize("costs", [None, REJECT], ids=["votes", "costs"])
class TestSeveralClasses:
    """The same rounds, band, progress and limits as for two classes."""

    def test_pairs_drop_out_and_the_best_is_near_that_of_the_full_search(self, costs, monkeypatch):
        monkeypatch.setattr(halving, "FIRST", 100)
        X, y = gaussians(600)
        clf = RejectSVCCV(costs, **GRID, cv=3, search="halving").fit(X, y)
        full = RejectSVCCV(costs, **GRID, cv=3, search="full").fit(X, y)
        rows = clf.cv_results_["n_resources"]
        assert np.unique(rows).tolist() == [107, 600]  # the second round, on 250 rows, leaves all of its pairs
        assert (rows == 600).sum() == 6
        assert (full.cv_results_["n_resources"] == 600).all()
        at = full.cv_results_["params"].index({"C": clf.C_, "gamma": clf.gamma_})
        scores = full.cv_results_["mean_test_score"]
        assert scores[at] > scores.max() - 0.01
        assert scores.min() < scores.max() - 0.05  # the control: not any pair would do

    def test_subsamples_have_every_class(self, costs):  # noqa: ARG002 (of no effect here)
        y = np.repeat([0, 1, 2], [900, 90, 10])
        splits = checked_splits(StratifiedKFold(5), y, None, y, np.ones(1000))
        rows, parts = subsample(splits, keys_of(y, None, 0.02), y, np.ones(1000), 0.02)
        for train in parts.trains:
            assert set(y[rows[train > 0]]) == {0, 1, 2}
        assert len(rows) < 100

    def test_only_pairs_within_a_standard_error_of_the_least_cost_are_tuned(self, costs):
        clf = RejectSVCCV(costs, **GRID, cv=3).fit(*gaussians(300))
        grid = clf._now.grid
        if costs is None:
            assert grid.tuned is None
            return
        assert 0 < grid.near[:, :, -1].sum() < grid.rows.size
        tuned = clf.cv_results_["mean_tuned_score"].reshape(grid.rows.shape)
        np.testing.assert_array_equal(np.isfinite(tuned), grid.near[:, :, -1])

    def test_progress_counts_every_machine(self, costs, monkeypatch):
        monkeypatch.setattr(halving, "FIRST", 100)
        begun, begin = [], FitsLine.begin_round
        monkeypatch.setattr(FitsLine, "begin_round", lambda *given: begun.append(given[1:]) or begin(*given))
        RejectSVCCV(costs, **GRID, cv=3, search="halving").fit(*gaussians(600))
        assert [fits for fits, *_ in begun] == [12 * 9, 6 * 9, 6 * 9]  # pairs, folds and machines
        assert begun[0][2] == [(250, 6 * 9), (600, 6 * 9), (600, 3)]

    def test_a_time_limit_stops_it(self, costs):
        X, y = gaussians(3000)
        began = time.monotonic()
        with pytest.warns(ConvergenceWarning) as warned:
            RejectSVCCV(costs, search="full", time_limit=0.3).fit(X, y)
        assert time.monotonic() - began < 20.0  # seconds of a busy machine; without a limit it takes a minute
        assert re.match(r"RejectSVCCV ran out of time: \d+ of the 250 fits .* fewer Cs and", str(warned[0].message))
