"""The folds of a search: what its means count, masks and repeated rows in `cv`, rows of weight 0, unfinished fits."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, PredefinedSplit, RepeatedStratifiedKFold, StratifiedKFold

from abstain import Costs, LinearRejectSVCCV, RejectSVC, RejectSVCCV, ThresholdRejector, compare, load, save
from abstain.candidates.search import MachineSearch
from abstain.estimators.fitting.splitting import Splits
from abstain.estimators.search.held_out import HeldOutRows, Pricing
from abstain.solvers.cross_validation import KernelFits

COSTS = Costs(reject=0.25)
SHAPE = {"n_informative": 3, "n_redundant": 0, "random_state": 1}
X, Y = make_classification(150, 4, flip_y=0.2, **SHAPE)
X3, Y3 = make_classification(150, 4, n_classes=3, n_clusters_per_class=1, **SHAPE)
WEIGHT = np.random.default_rng(0).integers(1, 4, 150).astype(float)
UNEQUAL = PredefinedSplit(np.repeat([0, 1, 2], [90, 40, 20]))
KINDS = {
    "two classes": (RejectSVCCV, {"Cs": [1.0], "gammas": [0.3]}, Y),
    "linear": (LinearRejectSVCCV, {"Cs": [1.0]}, Y),
    "three classes": (RejectSVCCV, {"Cs": [1.0], "gammas": [0.3]}, Y3),
    "linear, three classes": (LinearRejectSVCCV, {"Cs": [1.0]}, Y3),
}


def searched(kind, cv, weight=None, rows=None, **others):
    cls, parameters, y = KINDS[kind]
    all_rows, rows = (X3 if y is Y3 else X), slice(None) if rows is None else rows
    weight = None if weight is None else weight[rows]
    return cls(COSTS, **parameters | others, cv=cv).fit(all_rows[rows], y[rows], sample_weight=weight)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["even", "weighted"])
def test_means_are_over_held_out_rows(kind, weight):
    """Against machines fitted fold by fold; a mean over folds of these sizes is another number."""
    cls, parameters, y = KINDS[kind]
    rows = X3 if y is Y3 else X
    found = searched(kind, UNEQUAL, weight, cuts="bayes")
    held = np.ones(len(y)) if weight is None else weight
    one = {"C": 1.0} | ({"gamma": found.gamma_} if "gammas" in parameters else {})
    rejected, paid, means = np.zeros(len(y)), np.zeros(len(y)), []
    for train, test in UNEQUAL.split():
        machine = cls.__bases__[1](COSTS, **one, tol=1e-6).fit(rows[train], y[train], sample_weight=held[train])
        rejected[test] = machine.reject_mask(rows[test])
        wrong = machine.predict(rows[test]) != y[test]
        paid[test] = np.where(rejected[test] > 0, 0.25, wrong)
        means.append(np.average(paid[test], weights=held[test]))
    assert found.cv_reject_rate_ == pytest.approx(np.average(rejected, weights=held), abs=0.02)
    assert -found.cv_results_["mean_test_score"][0] == pytest.approx(np.average(paid, weights=held), abs=0.006)
    assert found.best_score_ == pytest.approx(found.cv_results_["mean_test_score"][0])
    mass = np.array([held[:90].sum(), held[90:130].sum(), held[130:].sum()])
    splits = np.array([found.cv_results_[f"split{k}_test_score"][0] for k in range(3)])
    assert found.best_score_ == pytest.approx(np.average(splits, weights=mass))
    deviation = np.sqrt(np.average((splits - found.best_score_) ** 2, weights=mass))
    assert found.cv_results_["std_test_score"][0] == pytest.approx(deviation)
    assert abs(np.mean(means) - np.average(paid, weights=held)) > 1e-3  # the control: a mean over folds differs


@pytest.mark.parametrize("kind", KINDS)
def test_a_loaded_search_has_the_same_scores(kind, tmp_path):
    found = searched(kind, 4, WEIGHT, Cs=[0.01, 0.1, 1.0])  # folds of 38 and 37 rows
    save(found, tmp_path / "model")
    again = load(tmp_path / "model")
    assert (again.C_, again.best_score_) == (found.C_, found.best_score_)
    for name in ("mean_test_score", "std_test_score", "rank_test_score"):
        np.testing.assert_array_equal(again.cv_results_[name], found.cv_results_[name])


def test_the_best_of_three_classes_is_judged_by_folds_of_its_own_repeat():
    """Labels without meaning: folds that saw the rows in another repeat would choose what suits these."""
    repeats = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    found = searched("three classes", repeats)._fitted_.grid
    assert found.shared[0].tolist() == [True, False, False, True, True, True]


FOLDS = [*StratifiedKFold(3).split(X, Y)]
MASKS = [tuple(np.isin(np.arange(150), part) for part in pair) for pair in FOLDS]
SMALL = RejectSVCCV(Cs=[0.1, 1.0], gammas=[0.3])
WITH_CV = {
    "RejectSVCCV": lambda cv, y: RejectSVCCV(COSTS, Cs=[0.1, 1.0], gammas=[0.3], cv=cv).fit(X, y).best_score_,
    "LinearRejectSVCCV": lambda cv, y: LinearRejectSVCCV(COSTS, Cs=[0.1, 1.0], cv=cv).fit(X, y).best_score_,
    "symmetric": lambda cv, y: (
        ThresholdRejector(LogisticRegression(), COSTS, method="symmetric", cv=cv).fit(X, y).predict(X).tolist()
    ),
    "sigmoid": lambda cv, y: ThresholdRejector(RejectSVC(), COSTS, method="chow", cv=cv).fit(X, y).predict(X).tolist(),
    "compare": lambda cv, y: compare({"one": RejectSVC(COSTS)}, X, y, COSTS, cv=cv).prices.tolist(),
    "MachineSearch": lambda cv, y: MachineSearch(COSTS, ("svm", "logistic"), svm=SMALL, cv=cv).fit(X, y).choice_.cost,
}


@pytest.mark.parametrize("name", WITH_CV)
def test_masks_are_the_rows_they_mark(name):
    numbers, masks = WITH_CV[name](FOLDS, Y), WITH_CV[name](MASKS, Y)
    assert masks == numbers
    assert WITH_CV[name](iter(MASKS), Y) == numbers  # an iterator can be read once


BAD = {
    "a mask of other rows": ([(np.ones(9, dtype=bool), [0])], r"cv has a mask of 9 rows; .* each of the 150 rows"),
    "rows beyond the last": ([(np.arange(150), [150])], r"cv has the row 150, but there are 150 rows"),
    "no numbers": ([(["a", "b"], [0])], r"cv must have whole row numbers or masks"),
    "a matrix": ([(np.zeros((2, 2), dtype=int), [0])], r"cv must have a list of row numbers .* shape \(2, 2\)"),
}


@pytest.mark.parametrize("name", WITH_CV)
@pytest.mark.parametrize("case", BAD)
def test_parts_that_mean_no_rows_are_refused(case, name):
    folds, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        WITH_CV[name](folds, Y)


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_given_twice_counts_twice(kind):
    """As rows of double weight do where they train and where they test."""
    twice = np.flatnonzero(WEIGHT > 1)
    repeated = [tuple(np.concatenate([part, np.intersect1d(part, twice)]) for part in pair) for pair in FOLDS]
    doubled = searched(kind, FOLDS, np.where(WEIGHT > 1, 2.0, 1.0), Cs=[0.1, 1.0])
    once, found = searched(kind, FOLDS, Cs=[0.1, 1.0]), searched(kind, repeated, Cs=[0.1, 1.0])
    for at in range(3):
        name = f"split{at}_test_score"
        np.testing.assert_allclose(found.cv_results_[name], doubled.cv_results_[name], rtol=1e-9)
    assert not np.allclose(found.cv_results_["mean_test_score"], once.cv_results_["mean_test_score"])


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_weight_0_are_in_no_fold_of_a_number(kind):
    """Also if they come last, where they would be the whole test part of a fold."""
    weight = np.where(np.arange(150) < 90, WEIGHT, 0.0)
    with_them, without = searched(kind, 3, weight), searched(kind, 3, weight, rows=np.arange(90))
    assert (with_them.best_score_, with_them.cv_reject_rate_) == pytest.approx(
        (without.best_score_, without.cv_reject_rate_)
    )
    with pytest.raises(ValueError, match=r"fold 2 of cv=.* no test rows with weight; use fewer folds, or leave out"):
        searched(kind, KFold(3), weight)


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_of_weight_0_is_an_error(kind):
    y = KINDS[kind][2]
    with pytest.raises(ValueError, match=r"all rows of the class 1 have weight zero"):
        searched(kind, 3, (y != 1).astype(float))


def test_a_stopped_search_of_classes_counts_only_the_folds_that_finished(monkeypatch):
    """Unfinished machines score 0 everywhere, which most rules reject."""
    whole = KernelFits.scores

    def stopped(self, *given, **line):
        found = whole(self, *given, **line)
        found.ended[:, 1:] = 0
        found.total[:, :, :, found.ends[1] :] = 0.0
        return found

    cv = [*StratifiedKFold(3).split(X3, Y3)]
    alone = searched("three classes", cv[:1], cuts="bayes")
    monkeypatch.setattr(KernelFits, "scores", stopped)
    with pytest.warns(ConvergenceWarning, match="2 of the 3 fits of its search count as not tried"):
        found = searched("three classes", cv)
    assert (found.cv_reject_rate_, found.best_score_) == (alone.cv_reject_rate_, alone.best_score_)
    assert found.cv_reject_rate_ * 0.25 <= -found.best_score_


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_in_which_nothing_finished_says_so(kind):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = searched(kind, 3, time_limit=1e-9)
    assert any("None finished: the middle of the grid is taken untried" in str(one.message) for one in caught)
    assert np.isnan(found.best_score_)
    assert np.isnan(found.cv_reject_rate_)
    assert found.status_ == "time_limit"


def test_the_fold_that_is_judged_has_no_part_in_which_pairs_may_be_tuned():
    """Turning the labels of a fold's test rows changes what is near the best of all rows, but not without that fold."""
    from abstain.labels import Labels
    from abstain.rules.rule import bayes_rule

    rng = np.random.default_rng(0)
    code = (rng.random(120) >= 0.5).astype(np.intp)
    tests = np.zeros((3, 120))
    tests[np.arange(120) % 3, np.arange(120)] = 1.0
    splits = Splits.of((tests == 0).astype(np.int32), tests)
    row = np.nonzero(tests)[1]
    scores = (2 * code - 1)[row] * rng.normal(0.7, 0.2, (8, 1, 1)) + rng.normal(size=(8, 1, 120))
    labels = Labels.of([0, 1], rejects=True)
    rule = bayes_rule(COSTS, labels)

    def near(truth):
        rows = HeldOutRows.of(scores, splits, truth, np.ones(3, dtype=bool))
        return rows.near_best(np.zeros(8), Pricing(rule, truth), 3)

    before, after = near(code), near(np.where(tests[0] > 0, 1 - code, code))
    np.testing.assert_array_equal(before[:, 0], after[:, 0])
    assert (before[:, 3] != after[:, 3]).any()
    assert before[:, 0].any()
    assert not before[:, 0].all()
