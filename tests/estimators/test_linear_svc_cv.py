"""LinearRejectSVCCV against RejectSVCCV with the linear kernel, against refits of its folds, and its limits."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold, RepeatedStratifiedKFold, StratifiedKFold

from abstain import Actions, Costs, LinearRejectSVC, LinearRejectSVCCV, RejectSVCCV
from abstain.solvers import linear_cross_validation, linear_wide
from abstain.solvers.linear import LinearNewton
from class_cases import GENERAL, gaussians, table_costs

X, Y = make_classification(400, 6, n_informative=4, flip_y=0.15, class_sep=0.8, random_state=3)
ROWS = np.column_stack([np.linspace(0.5, 2.0, 400), np.linspace(2.0, 0.5, 400), np.full(400, 0.25)])
ACTIONS = Actions({"treat": {0: 1.0, 1: 0.0}, "wait": {0: 0.0, 1: 5.0}, "test": {0: 0.3, 1: 0.5}})
CS = [0.01, 0.1, 1.0]
FINE = {"Cs": CS, "cv": 3, "tol": 1e-8}

CASES = {
    "costs": (Costs(reject=0.2), {}, {}),
    "unequal costs": (Costs(1, 4, 0.4), {"pos_label": 0, "class_weight": "balanced"}, {}),
    "no costs": (None, {}, {}),
    "actions": (ACTIONS, {}, {}),
    "weights": (Costs(reject=0.2), {"class_weight": {0: 2.0}}, {"sample_weight": np.arange(400) % 3 / 2.0}),
    "row costs": (None, {}, {"row_costs": ROWS}),
    "groups": (Costs(reject=0.2), {"cuts": "bayes"}, {"groups": np.arange(400) // 4}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_search_is_that_of_the_kernel_machine(case):
    costs, parameters, given = CASES[case]
    ours = LinearRejectSVCCV(costs, **FINE, **parameters).fit(X, Y, **given)
    other = RejectSVCCV(costs, kernel="linear", Cs=CS, cv=3, tol=1e-9, **parameters).fit(X, Y, **given)
    for name in ("mean_test_score", "split0_test_score", "mean_tuned_score"):
        # RejectSVCCV's search never goes below 1e-4, which decides one or two rows differently
        theirs = other.cv_results_.get(name)
        if theirs is not None:
            np.testing.assert_allclose(ours.cv_results_[name], theirs, atol=0.02)
    assert abs(ours.best_score_ - other.best_score_) < 0.02
    assert ours.n_splits_ == other.n_splits_ == 3
    assert [*ours.cv_results_] == [*other.cv_results_]


@pytest.mark.parametrize("make", [np.asarray, csr_array, np.float32], ids=["dense", "CSR", "float32"])
def test_costs_are_those_of_machines_fitted_to_the_folds(make):
    costs, rows = Costs(reject=0.2), make(X)
    clf = LinearRejectSVCCV(costs, **FINE).fit(rows, Y)
    for fold, (train, test) in enumerate(StratifiedKFold(3).split(X, Y)):
        for at, C in enumerate(CS):
            alone = LinearRejectSVC(costs, C=C, tol=1e-8).fit(rows[train], Y[train])
            assert abs(alone.score(rows[test], Y[test]) - clf.cv_results_[f"split{fold}_test_score"][at]) < 1e-12
    whole = LinearRejectSVC(costs, C=clf.C_, tol=1e-8).fit(rows, Y)
    tuned = clf.score_scale_ * whole.decision_function(rows) + clf.score_shift_
    np.testing.assert_allclose(clf.decision_function(rows), tuned, atol=1e-12)
    assert clf.C_ in CS


def test_several_classes_are_those_of_machines_fitted_to_the_folds():
    X3, Y3 = gaussians(90)
    for costs in (None, table_costs(GENERAL, 0.4)):
        clf = LinearRejectSVCCV(costs, **FINE).fit(X3, Y3)
        for fold, (train, test) in enumerate(StratifiedKFold(3).split(X3, Y3)):
            alone = LinearRejectSVC(costs, C=CS[-1], tol=1e-8).fit(X3[train], Y3[train])
            found = clf.cv_results_[f"split{fold}_test_score"][-1]
            assert abs(alone.score(X3[test], Y3[test]) - found) < 1e-12
        assert clf.coef_.shape == (3, 2)
        assert len(clf.proofs_) == 3


def test_best_score_is_of_rows_that_the_choice_has_not_seen():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((120, 40))
    y = rng.permutation(np.repeat([0, 1], 60))
    clf = LinearRejectSVCCV(Cs=8, cv=4).fit(noise, y)
    assert clf.best_score_ <= clf.cv_results_["mean_test_score"].max()
    repeated = LinearRejectSVCCV(Cs=2, cv=RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)).fit(X, Y)
    assert repeated._fitted_.grid.shared is not None


def test_warm_starts_save_steps(monkeypatch):
    steps = []
    solve = LinearNewton.solve

    def counted(self, *given):
        found = solve(self, *given)
        steps.append(found.iterations)
        return found

    rows, y = make_classification(4000, 10, flip_y=0.1, random_state=0)

    def total(Cs):
        steps.clear()
        LinearRejectSVCCV(Costs(reject=0.2), Cs=Cs, cv=2).fit(rows, y)
        return sum(steps[: 2 * len(Cs)])  # the last fit comes after them

    monkeypatch.setattr(LinearNewton, "solve", counted)
    Cs = np.logspace(-2, 3, 6)
    assert total(Cs) < 0.7 * sum(total([C]) for C in Cs)


def test_rows_are_not_copied(monkeypatch):
    seen = []
    sums = linear_cross_validation.LocalSums
    monkeypatch.setattr(linear_cross_validation, "LocalSums", lambda one, *rest: seen.append(one.X) or sums(one, *rest))
    read = linear_wide.native_data
    monkeypatch.setattr(linear_wide, "native_data", lambda rows, centre: seen.append(rows) or read(rows, centre))
    LinearRejectSVCCV(Cs=2, cv=2).fit(X, Y)
    assert len(seen) == 5  # two folds: interior point steps at one C, Newton steps at the next; and the last fit
    assert all(np.shares_memory(rows, X) for rows in seen)


def test_groups_stay_together():
    groups = np.arange(400) // 4
    by_number = LinearRejectSVCCV(Costs(reject=0.2), Cs=2, cv=GroupKFold(4)).fit(X, Y, groups=groups)
    assert by_number.n_splits_ == 4
    with pytest.raises(ValueError, match="splits by groups; pass groups"):
        LinearRejectSVCCV(cv=GroupKFold(4)).fit(X, Y)


@pytest.mark.parametrize("late", [1, 4, 7], ids=["in the first fold", "in the second fold", "in the third fold"])
def test_folds_that_run_out_of_time_count_as_not_tried(late, monkeypatch):
    begun = []

    def seconds(limits):
        begun.append(limits)
        return 0.0 if len(begun) > 2 * late else 1e9  # asked twice for each fit

    monkeypatch.setattr("abstain.solvers.cross_validation.Limits.seconds", property(seconds))
    with pytest.warns(ConvergenceWarning, match=r"LinearRejectSVCCV ran out of time: \d of the 9 fits .* fewer Cs\."):
        clf = LinearRejectSVCCV(Costs(reject=0.2), Cs=CS, cv=3, time_limit=1e9).fit(X, Y)
    known = np.isfinite([clf.cv_results_[f"split{fold}_test_score"] for fold in range(3)])
    whole = late // 3
    assert known[:whole].all()
    assert not known[max(1, whole) :].any()
    assert known[0].sum() == (3 if whole else late)
    assert clf.status_ == "optimal"


def test_a_time_limit_holds():
    wide, y = make_classification(20_000, 100, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"(ran out of time|status 'time_limit').* raise time_limit=0\.2"):
        LinearRejectSVCCV(Cs=10, tol=1e-12, time_limit=0.2).fit(wide, y)


def test_progress_counts_the_fits(capsys, monkeypatch):
    monkeypatch.setattr("abstain.estimators.fitting.progress.QUIET_SECONDS", -1.0)
    LinearRejectSVCCV(Cs=2, cv=2, verbose=True).fit(X, Y)
    assert "LinearRejectSVCCV: 4 of 4 fits" in capsys.readouterr().err
    X3, Y3 = gaussians(60)
    LinearRejectSVCCV(Cs=2, cv=2, verbose=True).fit(X3, Y3)
    assert "LinearRejectSVCCV: 12 of 12 fits" in capsys.readouterr().err


def test_bad_arguments_are_refused():
    for bad, message in ({"Cs": []}, "at least one"), ({"Cs": [-1.0]}, r"Cs\[0\]"), ({"cuts": "x"}, "'cuts' parameter"):
        with pytest.raises(ValueError, match=message):
            LinearRejectSVCCV(**bad).fit(X, Y)
    with pytest.raises(ValueError, match=r"row_costs must have shape \(n, 3, 4\), for the classes"):
        LinearRejectSVCCV().fit(*gaussians(60), row_costs=ROWS[:60])
    with pytest.raises(ValueError, match="overflow"):
        LinearRejectSVCCV(Cs=[1.0, 1e308]).fit(X, Y, sample_weight=np.full(400, 1e3))


def test_a_failed_fit_changes_nothing():
    clf = LinearRejectSVCCV(Cs=2, cv=KFold(2)).fit(X, Y)
    before = clf.decision_function(X)
    with pytest.raises(ValueError, match="fold"):
        clf.fit(X[:, :3], Y, sample_weight=(np.arange(400) < 200).astype(float))
    np.testing.assert_array_equal(clf.decision_function(X), before)
    assert str(clone(clf).get_params()) == str(clf.get_params())
