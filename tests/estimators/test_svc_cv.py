"""RejectSVCCV finds what a grid search over RejectSVC finds; its own certificate is the fit at the end."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import Costs, RejectSVC, RejectSVCCV
from abstain.gamma import resolve_gamma

ASYMMETRIC = Costs(1, 5, 0.3)
CS, GAMMAS = [0.03, 0.3, 3.0, 30.0], [0.05, 0.2, 0.8]
# A search stopped at ten times tol may decide a few rows of a fold otherwise than a fit to tol does.
FLIPS = 3


@pytest.fixture(scope="module")
def rows(data):
    return data[0] / 8, data[1]


def split_scores(results, folds):
    return np.array([results[f"split{fold}_test_score"] for fold in range(folds)])


def by_hand(X, y, folds, costs, pairs, weight=None, **options):
    """Minus the mean cost of every fold and pair: a RejectSVC of its own for each, to 1e-6."""
    weight = np.ones(len(y)) if weight is None else weight
    scores = []
    for train, test in folds:
        fits = [RejectSVC(costs, C=C, gamma=gamma, tol=1e-6, **options) for C, gamma in pairs]
        fitted = [fit.fit(X[train], y[train], weight[train]) for fit in fits]
        scores.append([fit.score(X[test], y[test], weight[test]) for fit in fitted])
    return np.array(scores)


PAIRS = [(C, gamma) for C in CS for gamma in GAMMAS]


def test_the_rejects_of_held_out_rows_are_counted_for_the_chosen_pair(rows):
    X, y = rows
    found = RejectSVCCV(ASYMMETRIC, Cs=CS, gammas=GAMMAS, cv=3).fit(X, y)
    machine = RejectSVC(ASYMMETRIC, C=found.C_, gamma=found.gamma_)
    shares = [
        np.mean(clone(machine).fit(X[train], y[train]).reject_mask(X[test]))
        for train, test in StratifiedKFold(3).split(X, y)
    ]
    assert 0 < found.cv_reject_rate_ < 1
    assert found.cv_reject_rate_ == pytest.approx(np.mean(shares), abs=FLIPS / len(y))


class TestAgainstGridSearch:
    @pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
    @pytest.mark.parametrize("costs", [None, Costs(reject=0.2), ASYMMETRIC], ids=str)
    def test_the_same_scores_but_for_few_decisions(self, rows, costs, kernel):
        X, y = rows
        Cs, gammas = CS if kernel != "poly" else CS[:2], GAMMAS[:2] if kernel == "poly" else GAMMAS
        ours = RejectSVCCV(costs, kernel=kernel, Cs=Cs, gammas=gammas).fit(X, y)
        grid = {"C": Cs} if kernel == "linear" else {"C": Cs, "gamma": gammas}
        theirs = GridSearchCV(RejectSVC(costs, kernel=kernel), grid, cv=StratifiedKFold(5)).fit(X, y)
        assert ours.cv_results_["params"] == theirs.cv_results_["params"]
        dearest = 1.0 if costs is None else max(costs.false_positive, costs.false_negative)
        here, there = split_scores(ours.cv_results_, 5), split_scores(theirs.cv_results_, 5)
        assert np.abs(here - there).max() <= FLIPS * dearest / 30 + 1e-12  # 30 rows in a fold
        assert np.mean(np.abs(here - there) > 1e-12) < 0.15
        # by their scores, our choice is as good as their best, within the noise of the folds
        chosen = {"C": ours.C_} if kernel == "linear" else {"C": ours.C_, "gamma": ours.gamma_}
        at = theirs.cv_results_["params"].index(chosen)
        noise = there[:, theirs.best_index_].std(ddof=1) / np.sqrt(5)
        assert theirs.cv_results_["mean_test_score"][at] >= theirs.best_score_ - noise

    def test_in_double_precision_and_to_a_fine_tolerance_the_same_scores(self, rows):
        X, y = rows
        X, folds = csr_array(X), list(StratifiedKFold(5).split(X, y))
        ours = RejectSVCCV(ASYMMETRIC, Cs=CS, gammas=GAMMAS, tol=1e-5).fit(X, y)
        np.testing.assert_allclose(
            split_scores(ours.cv_results_, 5), by_hand(X, y, folds, ASYMMETRIC, PAIRS), rtol=0, atol=1e-12
        )

    def test_control_other_folds_give_other_scores(self, rows):
        X, y = rows
        folds = list(KFold(5, shuffle=True, random_state=0).split(X, y))
        ours = RejectSVCCV(ASYMMETRIC, Cs=CS, gammas=GAMMAS).fit(X, y)
        difference = np.abs(split_scores(ours.cv_results_, 5) - by_hand(X, y, folds, ASYMMETRIC, PAIRS))
        assert np.mean(difference > 1e-9) > 0.3

    def test_results_have_scikit_learns_form(self, rows):
        X, y = rows
        ours = RejectSVCCV(ASYMMETRIC, Cs=CS, gammas=GAMMAS).fit(X, y)
        theirs = GridSearchCV(RejectSVC(ASYMMETRIC), {"C": CS, "gamma": GAMMAS}).fit(X, y)
        times = {"mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time"}
        assert set(ours.cv_results_) - {"mean_tuned_score"} == set(theirs.cv_results_) - times | {"n_resources"}
        for name in set(theirs.cv_results_) - times:
            values = ours.cv_results_[name]
            assert len(values) == len(theirs.cv_results_[name]) == 12
            assert type(values) is type(theirs.cv_results_[name]), name
        folds = split_scores(ours.cv_results_, 5)
        np.testing.assert_allclose(ours.cv_results_["mean_test_score"], folds.mean(axis=0))
        np.testing.assert_allclose(ours.cv_results_["std_test_score"], folds.std(axis=0))
        assert ours.cv_results_["rank_test_score"].dtype == theirs.cv_results_["rank_test_score"].dtype
        best = int(np.argmax(ours.cv_results_["mean_test_score"]))
        assert ours.cv_results_["rank_test_score"][best] == 1
        assert ours.n_splits_ == 5


class TestWhatIsAsked:
    """Weights, classes, kernels and folds in the search are those of the fits it stands for."""

    def same(self, X, y, folds, weight=None, flips=1, costs=ASYMMETRIC, **options):
        cv = list(folds)
        ours = RejectSVCCV(costs, Cs=CS, gammas=GAMMAS, cv=cv, tol=1e-5, **options).fit(X, y, weight)
        expected = by_hand(X, y, cv, costs, PAIRS, weight, **options)
        difference = np.abs(split_scores(ours.cv_results_, len(cv)) - expected)
        assert np.sum(difference > 1e-9) <= flips
        return ours

    @pytest.fixture
    def folds(self, rows):
        return list(StratifiedKFold(3).split(*rows))

    def test_sample_weights_some_of_them_zero(self, rows, folds):
        rng = np.random.default_rng(0)
        weight = rng.exponential(size=len(rows[1])) * (rng.random(len(rows[1])) < 0.8)
        self.same(*rows, folds, weight)

    def test_class_weights(self, rows, folds):
        self.same(*rows, folds, class_weight={0: 1.0, 1: 4.0})

    def test_balanced_class_weights_count_the_training_rows_of_each_fold(self, rows):
        X, y = rows
        zeros, ones = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
        few, many = np.r_[zeros[:15], ones[:50]], np.r_[zeros[15:60], ones[50:60]]  # 15 : 50 against 45 : 10
        weight = np.random.default_rng(0).exponential(size=len(y))
        for sample_weight in (None, weight):
            self.same(X, y, [(few, many), (many, few)], sample_weight, class_weight="balanced")

    @pytest.mark.parametrize("pos_label", ["no", "yes"])
    def test_labels_and_the_positive_class(self, rows, folds, pos_label):
        y = np.where(rows[1] == 1, "yes", "no")
        clf = self.same(rows[0], y, folds, pos_label=pos_label, reject_label="ask")
        assert clf.reject_label_ == "ask"
        assert set(clf.predict(rows[0])) == {"no", "yes", "ask"}

    def test_the_rule_of_bartlett_and_wegkamp(self, rows, folds):
        self.same(*rows, folds, costs=Costs(reject=0.2), rule="bartlett-wegkamp")

    def test_sparse_rows(self, rows, folds):
        self.same(csr_array(rows[0]), rows[1], folds, flips=0)

    def test_folds_of_any_shape(self, rows):
        # rows in no fold, rows tested twice, a fold that trains on few
        n = np.arange(len(rows[1]))
        folds = [(n[:40], n[50:120]), (n[60:], n[:60]), (n[::2], n[1::2]), (n[20:90], n[100:140])]
        assert self.same(*rows, folds).n_splits_ == 4

    def test_folds_of_a_generator_and_of_a_splitter(self, rows):
        splitter = KFold(4, shuffle=True, random_state=1)
        one = RejectSVCCV(ASYMMETRIC, Cs=CS, gammas=GAMMAS, cv=splitter).fit(*rows)
        two = RejectSVCCV(ASYMMETRIC, Cs=CS, gammas=GAMMAS, cv=splitter.split(*rows)).fit(*rows)
        np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])

    @pytest.mark.parametrize("given", ["precomputed", "callable"])
    def test_kernels_of_ones_own(self, rows, given):
        X, y = rows

        def kernel(a, b):
            return rbf_kernel(a, b, gamma=0.2)

        if given == "precomputed":
            ours, theirs, X = RejectSVCCV(ASYMMETRIC, kernel=given), RejectSVC(ASYMMETRIC, kernel=given), kernel(X, X)
        else:
            ours, theirs = RejectSVCCV(ASYMMETRIC, kernel=kernel), RejectSVC(ASYMMETRIC, kernel=kernel)
        ours = ours.set_params(Cs=CS, tol=1e-5).fit(X, y)
        search = GridSearchCV(theirs, {"C": CS}).fit(X, y)
        scores = (fitted.cv_results_["mean_test_score"] for fitted in (ours, search))
        np.testing.assert_allclose(*scores, atol=1e-12)
        assert np.isnan(ours.gamma_)
        assert "param_gamma" not in ours.cv_results_

    def test_the_linear_kernel_has_no_gamma(self, rows):
        clf = RejectSVCCV(ASYMMETRIC, kernel="linear", Cs=CS, gammas=GAMMAS).fit(*rows)
        assert np.isnan(clf.gamma_)
        assert clf.cv_results_["params"] == [{"C": C} for C in CS]
        assert clf.coef_.shape == (1, 4)


class TestChoice:
    def test_the_last_fit_is_that_of_the_pair(self, rows):
        X, y = rows
        weight = np.random.default_rng(0).exponential(size=len(y))
        clf = RejectSVCCV(ASYMMETRIC, Cs=CS, gammas=GAMMAS).fit(X, y, weight)
        plain = RejectSVC(ASYMMETRIC, C=clf.C_, gamma=clf.gamma_).fit(X, y, weight)
        for name in ("support_", "sets_", "objective_"):
            np.testing.assert_array_equal(getattr(clf, name), getattr(plain, name))
        scale, shift = clf.score_scale_, clf.score_shift_
        np.testing.assert_array_equal(clf.dual_coef_, scale * plain.dual_coef_)
        np.testing.assert_array_equal(clf.intercept_, scale * plain.intercept_ + shift)
        assert (clf.C_, clf.gamma_) in PAIRS
        assert clf.duality_gap_ < 1e-9

    def test_ties_go_to_the_smaller_C_then_the_smaller_gamma(self):
        # far apart: no pair makes a mistake or rejects
        rng = np.random.default_rng(0)
        y = np.arange(60) % 2
        X = rng.normal(size=(60, 2)) + 30 * y[:, np.newaxis]
        clf = RejectSVCCV(Costs(reject=0.2), Cs=[100, 10, 1000], gammas=[0.02, 0.005, 0.01]).fit(X, y)
        assert clf.best_score_ == 0.0
        assert (clf.C_, clf.gamma_) == (10.0, 0.005)
        assert set(clf.cv_results_["rank_test_score"]) == {1}

    def test_folds_that_test_the_same_rows_do_not_choose_for_each_other(self, rows):
        X, y = rows
        folds = list(StratifiedKFold(3).split(X, y))
        clf = RejectSVCCV(ASYMMETRIC, Cs=CS, gammas=GAMMAS, cuts="bayes")
        once, twice = (clone(clf).set_params(cv=cv).fit(X, y) for cv in (folds, folds * 2))
        assert twice.best_score_ == pytest.approx(once.best_score_)
        assert once.best_score_ < once.cv_results_["mean_test_score"].max() - 1e-6  # control: the choice matters

    @pytest.mark.parametrize("cuts", ["tuned", "bayes"])
    @pytest.mark.parametrize("unit", [2.0**-40, 2.0**40])
    def test_the_unit_of_the_costs_changes_nothing(self, rows, cuts, unit):
        X, y = rows
        costs = (Costs(1, 5, 0.3), Costs(unit, 5 * unit, 0.3 * unit))
        one, other = (RejectSVCCV(stated, Cs=CS, gammas=GAMMAS, cuts=cuts).fit(X, y) for stated in costs)
        assert (other.C_, other.gamma_, other.cv_reject_rate_) == (one.C_, one.gamma_, one.cv_reject_rate_)
        assert other.best_score_ == pytest.approx(unit * one.best_score_)
        ranks = [clf.cv_results_["rank_test_score"] for clf in (one, other)]
        assert len(set(ranks[0])) > 2  # control
        np.testing.assert_array_equal(*ranks)

    def test_numbers_stand_for_grids(self, rows):
        X, y = rows
        weight = np.random.default_rng(0).exponential(size=len(y))
        clf = RejectSVCCV(Cs=4, gammas=3, cv=2).fit(X, y, weight)
        scale = resolve_gamma("scale", X, weight)
        np.testing.assert_allclose(np.unique(clf.cv_results_["param_C"]), np.logspace(-2, 3, 4))
        np.testing.assert_allclose(np.unique(clf.cv_results_["param_gamma"]), scale * np.array([1 / 16, 1.0, 16.0]))
        assert RejectSVCCV(Cs=1, gammas=1, cv=2).fit(X, y).gamma_ == resolve_gamma("scale", X)

    def test_the_defaults_are_ten_by_five_by_five(self, rows):
        clf = RejectSVCCV().fit(*rows)
        assert len(clf.cv_results_["params"]) == 50
        assert clf.n_splits_ == 5
        np.testing.assert_allclose(np.unique(clf.cv_results_["param_C"]), np.logspace(-2, 3, 10))
        expected = resolve_gamma("scale", rows[0]) * 4.0 ** np.arange(-2, 3)
        np.testing.assert_allclose(np.unique(clf.cv_results_["param_gamma"]), expected)

    def test_words_for_gamma_and_repeated_values(self, rows):
        X, y = rows
        clf = RejectSVCCV(Cs=[1, 1.0, 2], gammas=["scale", "auto", 0.25], cv=2).fit(X, y)  # auto: 1 / 4
        expected = np.sort([resolve_gamma("scale", X), 0.25])
        np.testing.assert_allclose(np.unique(clf.cv_results_["param_gamma"]), expected)
        assert len(clf.cv_results_["params"]) == 4

    def test_one_and_two_threads_give_the_same_bits(self, rows):
        one, two = (RejectSVCCV(ASYMMETRIC, n_jobs=jobs).fit(*rows) for jobs in (1, 2))
        for name in ("mean_test_score", "split0_test_score", "split4_test_score"):
            np.testing.assert_array_equal(one.cv_results_[name], two.cv_results_[name])
        np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)

    def test_in_a_pipeline_and_cloned(self, rows):
        clf = make_pipeline(StandardScaler(), RejectSVCCV(ASYMMETRIC, Cs=CS, gammas=GAMMAS))
        assert clone(clf).fit(*rows).score(*rows) == clf.fit(*rows).score(*rows)

    def test_a_tolerance_out_of_reach_ends(self, rows):
        # single precision cannot meet it: the search must not go round in circles (its last fit is exact)
        with pytest.warns(ConvergenceWarning, match="inaccurate"):
            clf = RejectSVCCV(ASYMMETRIC, Cs=[1.0, 1000.0], gammas=[0.05], tol=1e-300).fit(*rows)
        assert clf.duality_gap_ < 1e-9


# kernel, its options, the factor of the rows, and the order of the kernel values, beyond single precision (3e38, 1e-45)
EXTREME = {
    "linear, 1e50": ({"kernel": "linear"}, 1e25, 1e50),
    "linear, 1e-50": ({"kernel": "linear"}, 1e-25, 1e-50),
    "poly, 1e60": ({"kernel": "poly", "degree": 5, "coef0": 1e12}, 1e6, 1e60),
    "poly, some above 3e38": ({"kernel": "poly", "degree": 3, "coef0": 1e12}, 1e6, 1e36),
    "poly, 1e128": ({"kernel": "poly", "degree": 8, "coef0": 1e16}, 1e8, 1e128),
    "poly, 1e-80": ({"kernel": "poly", "degree": 5, "coef0": 1e-16}, 1e-8, 1e-80),
    "precomputed, 1e39": ({"kernel": "precomputed"}, 1.0, 1e39),
}


@pytest.mark.parametrize("name", EXTREME)
def test_kernel_values_beyond_single_precision(rows, name):
    options, factor, order = EXTREME[name]
    X, y = factor * rows[0], rows[1]
    Cs, given = [0.01 / order, 1.0 / order], options["kernel"] == "precomputed"
    X = order * rbf_kernel(X) if given else X
    folds = list(StratifiedKFold(3).split(X, y))
    clf = RejectSVCCV(ASYMMETRIC, Cs=Cs, gammas=[1.0], cv=folds, tol=1e-5, **options).fit(X, y)  # no warning
    scores = split_scores(clf.cv_results_, 3)
    expected = []
    for train, test in folds:
        fits = [RejectSVC(ASYMMETRIC, C=C, gamma=1.0, tol=1e-6, **options) for C in Cs]
        columns = train if given else slice(None)
        fitted = [fit.fit(X[train][:, columns], y[train]) for fit in fits]
        expected.append([fit.score(X[test][:, columns], y[test]) for fit in fitted])
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)
    assert np.ptp(scores, axis=1).max() > 0.02  # C matters, so the fits are not all 0
    best = RejectSVC(ASYMMETRIC, C=clf.C_, gamma=1.0, tol=1e-5, **options).fit(X, y)
    assert Cs.index(clf.C_) == np.argmax(np.mean(expected, axis=0))
    np.testing.assert_array_equal(clf.dual_coef_, clf.score_scale_ * best.dual_coef_)


@pytest.mark.parametrize("largest", [1e6, 1e8])
def test_a_large_step_in_C_leaves_no_rounding_behind(rows, largest):
    # the start is scaled with C: what single precision makes of F there must not stay
    X, y = rows
    folds = list(StratifiedKFold(3).split(X, y))
    ours = RejectSVCCV(ASYMMETRIC, Cs=[1.0, largest], gammas=[20.0], cv=folds).fit(X, y)
    expected = by_hand(X, y, folds, ASYMMETRIC, [(1.0, 20.0), (largest, 20.0)])
    assert np.sum(np.abs(split_scores(ours.cv_results_, 3) - expected) > 1e-9) <= 1  # a row may lie on a threshold


def test_a_bias_that_the_optimum_leaves_open_is_chosen_as_in_a_fit():
    """Balanced classes at small C: every row is at its bound, and an interval of biases is optimal."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 2))
    y = (X[:, 0] + 0.5 * rng.standard_normal(150) > 1).astype(int)
    search = RejectSVCCV(Cs=[0.01, 0.1], gammas=[0.1], class_weight="balanced").fit(X, y)
    alone = RejectSVC(C=0.01, gamma=0.1, class_weight="balanced")
    folds = StratifiedKFold(5).split(X, y)
    scores = [np.mean(alone.fit(X[train], y[train]).predict(X[test]) == y[test]) - 1 for train, test in folds]
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(scores))
