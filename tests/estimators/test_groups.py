"""Groups: rows of one group are never on both sides of a split, at any depth."""

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    LeaveOneGroupOut,
    StratifiedGroupKFold,
    StratifiedKFold,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

import abstain
from abstain import Costs, RejectSVCCV, ThresholdRejector
from abstain.comparison.rules import default_rules

pytestmark = pytest.mark.filterwarnings("ignore:column .* has a standard deviation of:UserWarning")

COSTS = Costs(1, 5, 0.3)
SYMMETRIC = Costs(reject=0.2)
GRID = {"Cs": [0.3, 3.0], "gammas": [0.05, 0.5]}
N, SIZE = 150, 5


@pytest.fixture(scope="module")
def grouped():
    """30 patients with 5 rows each, near each other; the rows are shuffled, and the group is column 0 (times 1e-9)."""
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(N // SIZE), SIZE))
    y = (rng.random(N) < np.where(groups % 2, 0.8, 0.2)).astype(int)
    X = rng.normal(size=(N // SIZE, 3))[groups] + 0.3 * rng.normal(size=(N, 3)) + 0.5 * y[:, np.newaxis]
    return np.c_[1e-9 * groups, X], y, groups


def group_of(X):
    return np.rint(1e9 * np.asarray(X)[:, 0]).astype(int)


class Recorder(ClassifierMixin, BaseEstimator):
    """Counts how often it scores rows of groups that it was fitted on, other than exactly its training rows."""

    leaks, fits = 0, 0

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.groups_, self.rows_ = set(group_of(X)), np.array(X)
        Recorder.fits += 1
        return self

    def decision_function(self, X):
        Recorder.leaks += bool(self.groups_ & set(group_of(X))) and not np.array_equal(X, self.rows_)
        return np.asarray(X)[:, 1]

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


@pytest.fixture
def recorder():
    Recorder.leaks = Recorder.fits = 0
    return Recorder()


class Noting(RejectSVCCV):
    """Notes the groups that it is given, and whether they are those of its rows."""

    given = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None, groups=None):
        Noting.given.append(groups is not None and len(groups) == len(X))
        return super().fit(X, y, sample_weight, groups)


@pytest.fixture
def noting():
    Noting.given = []
    return Noting(COSTS, Cs=[1.0], gammas=[0.1], cv=2)


class TestSearch:
    @pytest.mark.parametrize(
        "cv",
        [GroupKFold(3), StratifiedGroupKFold(3), LeaveOneGroupOut(), GroupShuffleSplit(3, random_state=0)],
        ids=repr,
    )
    def test_a_group_splitter_gives_what_its_splits_give(self, grouped, cv):
        X, y, groups = grouped
        splits = list(cv.split(X, y, groups))
        assert not any(set(groups[train]) & set(groups[test]) for train, test in splits)
        by_groups = RejectSVCCV(COSTS, cv=cv, **GRID).fit(X, y, groups=groups)
        by_splits = RejectSVCCV(COSTS, cv=splits, **GRID).fit(X, y)
        assert by_groups.n_splits_ == len(splits)
        for name, values in by_splits.cv_results_.items():
            if name != "params":
                np.testing.assert_array_equal(by_groups.cv_results_[name], values)
        np.testing.assert_array_equal(by_groups.dual_coef_, by_splits.dual_coef_)

    @pytest.mark.parametrize("cv", [None, 5, 3])
    def test_a_number_means_stratified_groups(self, grouped, cv):
        X, y, groups = grouped
        names = np.array([f"patient {group}" for group in groups])
        splits = list(StratifiedGroupKFold(cv or 5).split(X, y, names))
        ours = RejectSVCCV(COSTS, cv=cv, **GRID).fit(X, y, groups=names.tolist())
        theirs = RejectSVCCV(COSTS, cv=splits, **GRID).fit(X, y)
        np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
        # control: without groups, the same folds have groups on both sides, and other scores
        plain = StratifiedKFold(cv or 5).split(X, y)
        assert any(set(groups[train]) & set(groups[test]) for train, test in plain)
        without = RejectSVCCV(COSTS, cv=cv, **GRID).fit(X, y)
        assert (without.cv_results_["mean_test_score"] != ours.cv_results_["mean_test_score"]).any()


class TestThresholds:
    @pytest.mark.parametrize("method", ["symmetric", "roc", "chow"])
    @pytest.mark.parametrize("cv", [4, GroupKFold(4), "splits"], ids=str)
    @pytest.mark.parametrize("way", [{"costs": COSTS}, {"reject_rate": 0.1}], ids=str)
    def test_no_group_is_scored_by_a_classifier_that_saw_it(self, grouped, recorder, method, cv, way):
        X, y, groups = grouped
        cv = list(GroupKFold(4).split(X, y, groups)) if cv == "splits" else cv
        clf = ThresholdRejector(recorder, method=method, cv=cv, **way)
        clf.fit(X, y, groups=groups)
        assert Recorder.fits > 4 or (method == "chow" and "costs" in way)
        assert Recorder.leaks == 0
        if isinstance(cv, int):
            clf.fit(X, y)  # control: the recorder sees leaks
            assert Recorder.leaks > 0

    def test_shuffled_folds_keep_groups_together(self, grouped, recorder):
        X, y, groups = grouped
        ThresholdRejector(recorder, COSTS, random_state=3).fit(X, y, groups=groups)
        assert (Recorder.fits, Recorder.leaks) == (6, 0)

    @pytest.mark.parametrize("method", ["symmetric", "chow"])
    def test_groups_give_what_splits_give(self, grouped, method):
        X, y, groups = grouped
        options = {"reject_rate": 0.2, "method": method}
        cv = GroupKFold(3)
        ours = ThresholdRejector(SVC(), cv=cv, **options).fit(X, y, groups=groups)
        theirs = ThresholdRejector(SVC(), cv=list(cv.split(X, y, groups)), **options).fit(X, y)
        if method == "symmetric":
            assert ours.thresholds_ == theirs.thresholds_
        else:  # the sigmoid inside a fold has folds of its own, which a list cannot give
            assert ours.thresholds_ != theirs.thresholds_
            assert ours.estimator_.cv is cv

    @pytest.mark.parametrize("cv", [3, "train"])
    @pytest.mark.parametrize("method", ["symmetric", "chow"])
    @pytest.mark.parametrize("wrapped", [False, True], ids=["plain", "in a Pipeline"])
    def test_the_search_inside_gets_the_groups_of_its_rows(self, grouped, noting, cv, method, wrapped):
        X, y, groups = grouped
        model = make_pipeline(StandardScaler(), noting) if wrapped else noting
        ThresholdRejector(model, COSTS, method=method, cv=cv).fit(X, y, groups=groups)
        assert len(Noting.given) >= 1
        assert all(Noting.given)

    def test_a_grid_search_inside_gets_them_if_its_splitter_takes_them(self, grouped, recorder):
        X, y, groups = grouped
        for cv in (GroupKFold(2), 2):
            search = GridSearchCV(recorder, {}, cv=cv, scoring="accuracy")
            ThresholdRejector(search, COSTS, cv=3).fit(X, y, groups=groups)
            assert (Recorder.leaks == 0) == (cv != 2)


class TestCompare:
    @pytest.mark.parametrize("cv", [4, GroupKFold(4)], ids=str)
    def test_no_group_is_on_both_sides_at_any_depth(self, grouped, recorder, noting, cv):
        X, y, groups = grouped
        models = {
            "plain": recorder,
            "tuned": ThresholdRejector(recorder, COSTS, cv=3),
            "sigmoid": make_pipeline(FunctionTransformer(), ThresholdRejector(recorder, COSTS, method="chow", cv=3)),
            "search": make_pipeline(StandardScaler(), noting),
        }
        found = abstain.compare(models, X, y, COSTS, cv=cv, groups=groups)
        assert (len(found.rows), found.n_splits) == (N, 4)
        assert Recorder.leaks == 0
        assert Noting.given == [True] * 4
        abstain.compare({"plain": recorder}, X, y, COSTS, cv=4)  # control
        assert Recorder.leaks > 0

    def test_groups_give_what_splits_give(self, grouped):
        X, y, groups = grouped
        models, cv = {"logistic": LogisticRegression()}, GroupKFold(3)
        one = abstain.compare(models, X, y, COSTS, cv=cv, groups=groups)
        two = abstain.compare(models, X, y, COSTS, cv=list(cv.split(X, y, groups)))
        np.testing.assert_array_equal(one.prices, two.prices)
        plain = abstain.compare(models, X, y, COSTS, cv=3)
        assert (plain.prices != one.prices).any()

    @pytest.mark.parametrize("routing", [False, True])
    def test_the_papers_rules_respect_groups_inside(self, grouped, monkeypatch, routing):
        X, y, groups = grouped
        seen = []

        def split(self, X, y=None, groups=None):
            seen.append(type(self).__name__)
            yield from original(self, X, y, groups)

        original = StratifiedGroupKFold.split
        monkeypatch.setattr(StratifiedGroupKFold, "split", split)
        monkeypatch.setattr(StratifiedKFold, "split", lambda *_: pytest.fail("folds that split groups"))
        with sklearn.config_context(enable_metadata_routing=routing):
            rules = default_rules(SYMMETRIC, grouped=True)
            for rule in rules.values():
                for part in (rule[-1], getattr(rule[-1], "estimator", None)):
                    if isinstance(part, RejectSVCCV):
                        part.set_params(Cs=[1.0], gammas=[0.1])
            rules["embedded, linear"][-1].set_params(param_grid={"C": [0.1]}, estimator__n_starts=1)
            halves = [(np.flatnonzero(groups % 4 < 2), np.flatnonzero(groups % 4 >= 2))]
            abstain.compare(rules, X, y, SYMMETRIC, cv=halves, groups=groups)
            with pytest.raises(pytest.fail.Exception, match="folds that split groups"):  # control
                abstain.compare(rules, X, y, SYMMETRIC, cv=halves)
        assert len(seen) >= len(rules) == 11


class TestRouting:
    def test_a_pipeline_passes_groups_on(self, grouped):
        X, y, groups = grouped
        with sklearn.config_context(enable_metadata_routing=True):
            search = RejectSVCCV(COSTS, cv=GroupKFold(3), **GRID).set_fit_request(groups=True)
            routed = make_pipeline(StandardScaler(), search).fit(X, y, groups=groups)
        direct = RejectSVCCV(COSTS, cv=GroupKFold(3), **GRID).fit(StandardScaler().fit_transform(X), y, groups=groups)
        scores = (clf.cv_results_["mean_test_score"] for clf in (routed[-1], direct))
        np.testing.assert_array_equal(*scores)

    @pytest.mark.parametrize("method", ["symmetric", "chow"])
    def test_the_rejector_passes_groups_on(self, grouped, noting, method):
        X, y, groups = grouped
        with sklearn.config_context(enable_metadata_routing=True):
            inner = make_pipeline(StandardScaler(), noting.set_fit_request(groups=True))
            clf = ThresholdRejector(inner, reject_rate=0.1, method=method, cv=3).set_fit_request(groups=True)
            make_pipeline(StandardScaler(), clf).fit(X, y, groups=groups)
        assert len(Noting.given) >= 4
        assert all(Noting.given)


# what is wrong: the words of the refusal, the folds, the groups
REFUSED = {
    "too few groups": (r"groups must have one label per row, shape \(150,\); its shape is \(149,\)", 3, np.arange(149)),
    "two columns": (r"its shape is \(150, 2\)", 3, np.zeros((150, 2))),
    "a missing group": (r"groups must be labels of one type with none missing", 3, np.r_[np.nan, np.arange(149.0)]),
    "no group for a row": (r"with none missing; give a row", 3, np.array([None, *["a", "b"] * 74, "a"], dtype=object)),
    "no groups": (r"cv=GroupKFold\(.*\) splits by groups; pass groups, one label per row", GroupKFold(3), None),
    "no groups, stratified": (r"cv=StratifiedGroupKFold\(.* pass groups, one", StratifiedGroupKFold(3), None),
    "fewer groups than folds": (
        r"cv=4 makes 4 folds, and groups has only 3 different labels among these 150 rows; use at most one fold per",
        4,
        np.arange(150) % 3,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_with_a_reason(grouped, name):
    X, y, _ = grouped
    words, cv, groups = REFUSED[name]
    for fit in (
        lambda: RejectSVCCV(cv=cv, **GRID).fit(X, y, groups=groups),
        lambda: ThresholdRejector(LinearSVC(), COSTS, cv=cv).fit(X, y, groups=groups),
        lambda: abstain.compare({"one": LinearSVC()}, X, y, COSTS, cv=cv, groups=groups),
    ):
        with pytest.raises(ValueError, match=words):
            fit()


@pytest.mark.parametrize(
    "fit",
    [
        lambda X, y, groups, cv: RejectSVCCV(SYMMETRIC, **GRID, cv=cv).fit(X, y, groups=groups),
        lambda X, y, groups, cv: ThresholdRejector(LogisticRegression(), SYMMETRIC, cv=cv).fit(X, y, groups=groups),
        lambda X, y, groups, cv: abstain.compare({"a": LogisticRegression()}, X, y, SYMMETRIC, cv=cv, groups=groups),
    ],
    ids=["RejectSVCCV", "ThresholdRejector", "compare"],
)
def test_a_splitter_that_splits_groups_is_warned_of(fit, grouped):
    X, y, groups = grouped[0][:, 1:], *grouped[1:]
    with pytest.warns(UserWarning, match=r"cv=StratifiedKFold puts rows of one group both into training .* GroupKFold"):
        fit(X, y, groups, StratifiedKFold(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(X, y, groups, 3)


def test_a_fold_with_one_class_is_said_before_any_fit(grouped):
    X, y, _ = grouped
    order = np.argsort(y, kind="stable")
    folds = [(order[: N // 4], order[N // 4 :]), (order[N // 4 :], order[: N // 4])]
    with pytest.raises(ValueError, match="a fold of cv leaves only one class to fit on; use fewer folds"):
        ThresholdRejector(LogisticRegression(), SYMMETRIC, cv=folds).fit(X, y)
    with pytest.raises(ValueError, match="a fold of cv leaves only one class to fit on; use fewer folds"):
        abstain.compare({"a": LogisticRegression()}, X, y, SYMMETRIC, cv=folds)
