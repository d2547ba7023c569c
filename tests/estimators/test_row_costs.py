"""RejectSVC and RejectSVCCV with costs per row."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import abstain
from abstain import Costs, LinearRejectSVC, NoveltyRejector, RejectSVC, RejectSVCCV
from problems import random_row_costs

COLUMNS = ["false_positive", "false_negative", "reject"]
ONE = Costs(1, 4, 0.4)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(120, 4, flip_y=0.15, random_state=3)
    return X, y, random_row_costs(np.random.default_rng(0), 120)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("costs", [None, ONE])
def test_equal_costs_for_all_rows_are_costs(data, costs):
    X, y, _ = data
    rows = np.tile([1, 4, 0.4], (120, 1))
    plain, by_row = RejectSVC(ONE, C=3).fit(X, y), RejectSVC(costs, C=3).fit(X, y, row_costs=rows)
    assert by_row.decision_function(X) == pytest.approx(plain.decision_function(X), abs=1e-9)
    assert by_row.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    assert (by_row.sets_ == plain.sets_).all()
    assert (by_row.predict(X, row_costs=rows) == plain.predict(X)).all()
    assert (by_row.reject_mask(X, row_costs=rows) == plain.reject_mask(X)).all()
    assert (by_row.predict_forced(X, row_costs=rows) == plain.predict_forced(X)).all()
    assert by_row.score(X, y, row_costs=rows) == pytest.approx(plain.score(X, y))
    expected = by_row.decide(X, row_costs=rows).expected_cost
    assert expected == pytest.approx(plain.decide(X).expected_cost, abs=1e-9)


def test_twice_the_costs_count_twice(data):
    X, y, _ = data
    twice = np.where(np.arange(120) % 3 == 0, 2.0, 1.0)
    rows = twice[:, np.newaxis] * [1, 4, 0.4]
    weighted = RejectSVC(ONE, C=3).fit(X, y, sample_weight=twice, row_costs=np.tile([1, 4, 0.4], (120, 1)))
    doubled = RejectSVC(ONE, C=3, gamma=weighted.machine_.kernel.gamma).fit(X, y, row_costs=rows)
    assert doubled.decision_function(X) == pytest.approx(weighted.decision_function(X), abs=1e-9)
    # without costs C is for the mean row
    mean = RejectSVC(None, C=3 * twice.mean(), gamma=weighted.machine_.kernel.gamma).fit(X, y, row_costs=rows)
    assert mean.decision_function(X) == pytest.approx(weighted.decision_function(X), abs=1e-9)
    # the control: unweighted rows give another machine
    plain = RejectSVC(ONE, C=3, gamma=weighted.machine_.kernel.gamma).fit(X, y)
    assert np.abs(plain.decision_function(X) - weighted.decision_function(X)).max() > 1e-3


def test_a_row_of_weight_zero_is_left_out(data):
    X, y, rows = data
    weight = (np.arange(120) % 4 > 0).astype(float)
    kept = weight > 0
    whole = RejectSVC(C=3, gamma=0.3).fit(X, y, sample_weight=weight, row_costs=rows)
    part = RejectSVC(C=3, gamma=0.3).fit(X[kept], y[kept], row_costs=rows[kept])
    assert whole.decision_function(X) == pytest.approx(part.decision_function(X), abs=1e-9)


def test_the_positive_class_is_pos_label(data):
    X, y, rows = data
    swapped = rows[:, [1, 0, 2]]
    first, last = RejectSVC(C=3, pos_label=0).fit(X, y, row_costs=swapped), RejectSVC(C=3).fit(X, y, row_costs=rows)
    assert first.decision_function(X) == pytest.approx(last.decision_function(X), abs=1e-9)
    assert (first.predict(X, row_costs=swapped) == last.predict(X, row_costs=rows)).all()
    ours, theirs = first.decide(X, row_costs=swapped), last.decide(X, row_costs=rows)
    assert ours.expected_cost[:, ::-1] == pytest.approx(theirs.expected_cost, abs=1e-9)
    names = np.array(["no", "yes"])[y]
    with pytest.warns(UserWarning, match="'yes' is taken as the positive class"):
        RejectSVC(C=3).fit(X, names, row_costs=rows)


@pytest.mark.parametrize("reject", [0.75, 0.9, 40.0])  # the limit is 1 / (1/1 + 1/3) = 0.75
def test_rows_whose_reject_can_never_pay_are_decided(data, reject):
    X, y, rows = data
    never, limit = rows.copy(), rows.copy()
    never[::7], limit[::7] = [1, 3, reject], [1, 3, 0.75]
    found, stated = RejectSVC(C=3).fit(X, y, row_costs=never), RejectSVC(C=3).fit(X, y, row_costs=limit)
    assert found.decision_function(X) == pytest.approx(stated.decision_function(X), abs=1e-9)
    decided = found.decide(X, row_costs=never)
    assert not decided.rejected[::7].any()
    assert decided.rejected.any()  # the control
    assert (found.predict(X, row_costs=never) == stated.predict(X, row_costs=limit)).all()
    assert (decided.label[::7] == (found.decision_function(X)[::7] > np.log(1 / 3))).all()
    search = RejectSVCCV(Cs=2, gammas=2, cv=3).fit(X, y, row_costs=never)
    assert not search.reject_mask(X, row_costs=never)[::7].any()
    never[14, 2] = np.nan
    with pytest.raises(ValueError, match="got reject=nan at row 14"):
        found.predict(X, row_costs=never)


def test_a_warning_names_the_positive_class_of_a_row_that_is_never_rejected(data):
    X, y, _ = data
    rows = np.tile([1.0, 3.0, 9.0], (120, 1))
    rows[1:] = [1.0, 1.0, 0.2]
    with pytest.warns(UserWarning, match="'yes' is taken as the positive class"):
        RejectSVC(C=3).fit(X, np.array(["no", "yes"])[y], row_costs=rows)


@pytest.mark.parametrize(
    "machine",
    [RejectSVC(C=3), LinearRejectSVC(), RejectSVCCV(Cs=2, gammas=2, cv=3), NoveltyRejector(RejectSVC(C=3), 0.05)],
)
def test_sets_of_classes_by_the_rows_own_costs(data, machine):
    X, y, rows = data
    rows = np.vstack([rows[:-1], [1, 1, 0.8]])  # the last reject can never pay
    clf = machine.fit(X, y, row_costs=rows)
    found, decided = clf.predict_set(X, row_costs=rows), clf.decide(X, row_costs=rows)
    for at in range(120):  # a rejected row has both classes, any other the class decided
        expected = [True, True] if decided.rejected[at] else [decided.label[at] == 0, decided.label[at] == 1]
        assert found[at].tolist() == expected
    assert 0 < decided.rejected.sum() < 120
    with pytest.raises(ValueError, match="pass row_costs for these rows, or state costs"):
        clf.predict_set(X)


def test_sets_by_probability_need_no_costs(data):
    X, y, rows = data
    clf = RejectSVC(C=3).fit(X, y, row_costs=rows)
    p = 1 / (1 + np.exp(-clf.decision_function(X)))
    assert (clf.predict_set(X, include=0.3)[:, 1] == ((p >= 0.3) | (p > 0.5))).all()
    forced = clf.predict_forced(X, row_costs=rows)  # the cheapest class of each row is in its set
    by_row = clf.predict_set(X, include=0.3, row_costs=rows)
    np.testing.assert_array_equal(by_row, np.column_stack([(1 - p >= 0.3) | (forced == 0), (p >= 0.3) | (forced == 1)]))


def test_rows_without_costs(data):
    X, y, rows = data
    clf = RejectSVC(C=3).fit(X, y, row_costs=rows)
    with pytest.raises(ValueError, match="pass row_costs"):
        clf.score(X, y)
    assert not hasattr(clf, "thresholds_")
    stated = RejectSVC(ONE, C=3).fit(X, y, row_costs=rows)
    assert stated.thresholds_ == ONE.score_thresholds()
    assert (stated.predict(X) == stated.predict(X, row_costs=np.tile([1, 4, 0.4], (120, 1)))).all()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda X, y, rows: RejectSVC().fit(X, y).predict(X, row_costs=rows), "fit with costs, with row_costs"),
        (
            lambda X, y, rows: RejectSVC(ONE, rule=abstain.BartlettWegkamp()).fit(X, y, row_costs=rows),
            "symmetric|leave rule out",
        ),
        (
            lambda X, y, rows: RejectSVC(Costs(), rule="bartlett-wegkamp").fit(X, y, row_costs=rows),
            "row_costs needs rule=.chow., got rule='bartlett-wegkamp'; leave rule out",
        ),
    ],
)
def test_errors(data, make, said):
    with pytest.raises(ValueError, match=said):
        make(*data)


def test_the_search_minimises_the_rows_own_costs(data):
    X, y, rows = data
    grid = {"Cs": [0.1, 10.0], "gammas": [0.05, 1.0], "cv": 3, "cuts": "bayes", "tol": 1e-6}
    clf = RejectSVCCV(**grid).fit(X, y, row_costs=rows)
    folds = [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in _folds(y)]
    stakes = rows[:, :2].sum(axis=1)
    for params, score in zip(clf.cv_results_["params"], clf.cv_results_["mean_test_score"], strict=True):
        found = []
        for train, test in folds:
            # C is for the mean row of all training rows of the search
            scaled = params["C"] * stakes[train].mean() / stakes.mean()
            one = RejectSVC(C=scaled, gamma=params["gamma"], tol=1e-6).fit(X[train], y[train], row_costs=rows[train])
            found.append(one.score(X[test], y[test], row_costs=rows[test]))
        assert score == pytest.approx(np.mean(found), abs=1e-9)
    assert clf.C_ in grid["Cs"]


def _folds(y):
    from sklearn.model_selection import StratifiedKFold

    for train, test in StratifiedKFold(3).split(y, y):
        yield np.isin(np.arange(len(y)), train), np.isin(np.arange(len(y)), test)


def test_equal_costs_give_the_search_of_costs(data):
    X, y, _ = data
    rows = np.tile([1, 4, 0.4], (120, 1))
    plain, by_row = RejectSVCCV(ONE, Cs=4, gammas=3).fit(X, y), RejectSVCCV(Cs=4, gammas=3).fit(X, y, row_costs=rows)
    assert by_row.cv_results_["mean_test_score"] == pytest.approx(plain.cv_results_["mean_test_score"], abs=1e-9)
    assert (by_row.C_, by_row.gamma_) == (plain.C_, plain.gamma_)
    assert by_row.best_score_ == pytest.approx(plain.best_score_, abs=1e-9)
    assert (by_row.predict(X, row_costs=rows) == plain.predict(X)).all()
    assert plain.score_shift_ != 0.0  # its score is tuned, and so is that of the rows


@pytest.mark.parametrize("frame", [False, True])
@pytest.mark.usefixtures("routing")
def test_row_costs_are_routed_and_sliced(data, frame):
    X, y, rows = data
    given = pd.DataFrame(rows, columns=COLUMNS) if frame else rows
    machine = RejectSVC(C=3).set_fit_request(row_costs=True).set_predict_request(row_costs=True)
    machine.set_score_request(row_costs=True)
    pipeline = make_pipeline(StandardScaler(), machine).fit(X, y, row_costs=given)
    by_hand = RejectSVC(C=3).fit(StandardScaler().fit_transform(X), y, row_costs=rows)
    scaled = StandardScaler().fit_transform(X)
    assert (pipeline.predict(X, row_costs=given) == by_hand.predict(scaled, row_costs=rows)).all()
    assert (abstain.decide(pipeline, X, row_costs=given).label == pipeline.predict(X, row_costs=given)).all()
    search = GridSearchCV(pipeline, {"rejectsvc__C": [0.1, 1.0]}, cv=3).fit(X, y, row_costs=given)
    scores = cross_validate(pipeline, X, y, params={"row_costs": given}, cv=3)["test_score"]
    for fold, (train, test) in enumerate(_folds(y)):
        one = make_pipeline(StandardScaler(), machine).fit(X[train], y[train], row_costs=rows[train])
        assert scores[fold] == pytest.approx(one.score(X[test], y[test], row_costs=rows[test]))
    assert search.best_score_ <= 0.0
    assert search.score(X, y, row_costs=given) <= 0.0


def test_another_rule_than_chows_refuses_them_at_predict_too(data):
    X, y, rows = data
    even = Costs(1, 1, 0.3)
    bartlett = RejectSVC(even, rule="bartlett-wegkamp").fit(X, y)
    for method in (bartlett.predict, bartlett.decide, bartlett.reject_mask, bartlett.predict_forced):
        with pytest.raises(ValueError, match='fit it with rule="chow"'):
            method(X, row_costs=rows)
    tuned = RejectSVCCV(even, Cs=[1], gammas=[0.2]).fit(X, y)  # the control: tuned cuts are Chow's on the log-odds
    same = np.tile([1, 1, 0.3], (120, 1))
    np.testing.assert_array_equal(tuned.predict(X, row_costs=same), tuned.predict(X))


def test_a_path_and_a_sweep_refuse_them(data):
    X, y, rows = data
    with pytest.raises(ValueError, match="a path has one set of costs for all rows"):
        abstain.reject_svc_path(X, y, ONE, row_costs=rows)
    with pytest.raises(ValueError, match="a sweep varies one set of costs for all rows"):
        abstain.reject_price_sweep(RejectSVC(ONE), X, y, [0.1], row_costs=rows)
