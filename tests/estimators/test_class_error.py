"""`ThresholdRejector(class_error=...)`: what it promises holds, and where it cannot be promised it is refused."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GroupKFold, ShuffleSplit, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from abstain import Costs, Forced, RejectSVC, ThresholdRejector
from abstain.machines.cross_machine import ClassCalibration
from class_cases import gaussians

RATES = {"benign": 0.1, "malignant": 0.05}


def drawn(n, n_features=30, seed=0):
    """Two classes of which few features tell anything, so that a classifier with little to learn from overfits."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = random.normal(size=(n, n_features))
    X[:, 0] += 1.5 * y
    return X, np.array(["benign", "malignant"])[y]


def promised(X, y, seed):
    model = RidgeClassifier(alpha=1e-6)
    return ThresholdRejector(model, class_error=RATES, calibration_size=0.4, random_state=seed).fit(X, y).predict_set


def crossed(X, y, seed):
    model = RidgeClassifier(alpha=1e-6)
    return ThresholdRejector(model, class_error=RATES, conformal="cross", random_state=seed).fit(X, y).predict_set


def on_its_own_rows(X, y, _):
    """The control: calibration on the rows that the classifier was fitted on, given as if it were not."""
    model = RidgeClassifier(alpha=1e-6).fit(X, y)
    return ThresholdRejector(model, class_error=RATES, cv="prefit").fit(X, y).predict_set


def refitted(X, y, _):
    """The control that is refused: scores of folds, and a classifier that is then fitted on all rows."""
    held_out = cross_val_predict(RidgeClassifier(alpha=1e-6), X, y, cv=5, method="decision_function")
    rows, model = ClassCalibration.of([(held_out, 1 + (y == "malignant"))], 2), RidgeClassifier(alpha=1e-6).fit(X, y)
    return lambda new: rows.p_values([model.decision_function(new)]) > [*RATES.values()]


def misses(way, repeats, n, n_features=30):
    """The mean share of each class whose set lacks it, over many calibrations, and its standard error."""
    found = []
    for seed in range(repeats):
        new, truth = drawn(200, n_features, 10_000 + seed)
        inside = way(*drawn(n, n_features, seed), seed)(new)
        found.append([1 - inside[truth == label, k].mean() for k, label in enumerate(RATES)])
    return np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(repeats)


@pytest.mark.long
def test_each_class_keeps_its_rate_and_the_controls_do_not():
    missed, noise = misses(promised, 150, 200)
    exact = np.array([4 / 41, 2 / 41])  # 40 calibration rows of each class: floor(rate 41) / 41
    assert (np.abs(missed - exact) < 4 * noise).all(), (missed, noise)
    for control, n_features in ((on_its_own_rows, 30), (refitted, 80)):
        broken, noise = misses(control, 30, 80, n_features)
        assert (broken > [*RATES.values()] + 8 * noise).any(), (control, broken, noise)


def test_cross_stays_below_its_bound():
    X, y = drawn(80)
    bound = ThresholdRejector(GaussianNB(), class_error=RATES, conformal="cross").fit(X, y).certificate_
    assert (bound.folds, bound.n_rows) == (5, {"benign": 40, "malignant": 40})  # every row serves
    missed, noise = misses(crossed, 20, 80)
    assert (missed <= [*bound.upper_bound.values()] + 4 * noise).all()


def test_cross_is_the_pooled_formula():
    X, y = drawn(120, 3)
    new, _ = drawn(60, 3, 1)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    clf = ThresholdRejector(LogisticRegression(), class_error=RATES, conformal="cross", cv=folds).fit(X, y)
    counts, known = np.zeros((60, 2)), np.zeros(2)
    for train, test in folds.split(X, y):
        model = LogisticRegression().fit(X[train], y[train])
        for k, sign in enumerate((-1, 1)):
            own = sign * model.decision_function(X[test])[y[test] == [*RATES][k]]
            counts[:, k] += (own <= (sign * model.decision_function(new))[:, np.newaxis]).sum(axis=1)
            known[k] += len(own)
    inside = (1 + counts) / (1 + known) > [*RATES.values()]
    np.testing.assert_array_equal(clf.predict_set(new), inside)
    np.testing.assert_array_equal(clf.reject_mask(new), inside.sum(axis=1) != 1)
    answered = ~clf.reject_mask(new)
    np.testing.assert_array_equal(clf.predict(new)[answered], np.array([*RATES])[np.argmax(inside, axis=1)][answered])
    again = clf.retune(class_error=0.4)
    np.testing.assert_array_equal(again.predict_set(new), (1 + counts) / (1 + known) > 0.4)
    assert not hasattr(clf, "predict_proba"), "its p-values rank rows otherwise"
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(clf)).predict(new), clf.predict(new))  # noqa: S301 (ours)
    assert clf.n_features_in_ == 3


@pytest.mark.parametrize("conformal", ["split", "cross"])
@pytest.mark.parametrize(
    "classifier",
    [
        LogisticRegression(),
        SVC(),
        RejectSVC(Costs(reject=0.2)),
        RejectSVC(),
        GaussianNB(),
        RandomForestClassifier(10, random_state=0),
        KNeighborsClassifier(5),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
def test_around_every_kind_of_classifier(classifier, conformal):
    X, y = gaussians(300)
    names = np.array(["ant", "bee", "cow"])[y]
    for labels, keep in ((names, y >= 0), (names, y < 2)):
        rates = dict.fromkeys(np.unique(labels[keep]).tolist(), 0.1)
        clf = ThresholdRejector(clone(classifier), class_error=rates, conformal=conformal, random_state=0)
        found = clf.fit(X[keep], labels[keep]).decide(X[keep])
        inside = clf.predict_set(X[keep])
        np.testing.assert_array_equal(found.rejected, inside.sum(axis=1) != 1)
        np.testing.assert_array_equal(found.label[~found.rejected], found.forced[~found.rejected])
        np.testing.assert_array_equal(clf.predict_forced(X[keep]), found.forced)
        assert np.isnan(found.expected_cost).all()
        wrong = ~found.rejected & (found.label != labels[keep])
        assert clf.score(X[keep], labels[keep]) == pytest.approx(-wrong.mean())
        assert clf.method_ == "conformal"


def test_forced_agrees_with_its_scores_around_it():
    X, y = gaussians(300)
    clf = Forced(ThresholdRejector(LogisticRegression(), class_error={0: 0.4, 1: 0.03, 2: 0.1}, random_state=0))
    clf.fit(X, y)
    inner = clf.estimator_
    assert (inner.predict_forced(X) != np.argmax(inner.decision_function(X), axis=1)).any()
    np.testing.assert_array_equal(np.argmax(clf.decision_function(X), axis=1), clf.predict(X))


def test_the_calibration_rows_are_not_fitted_on():
    X, y = drawn(400, 2)

    class Remembering(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            self.seen_, self.weights_ = X, sample_weight
            return super().fit(X, y, sample_weight)

    weight = np.arange(400.0)
    clf = ThresholdRejector(Remembering(), class_error=RATES, random_state=0).fit(X, y, sample_weight=weight)
    held = clf.certificate_.n_rows
    assert held == {"benign": 59, "malignant": 59}  # 0.1 (59 + 1) = 6 and 0.05 (59 + 1) = 3: the next after a quarter
    assert len(clf.estimator_.seen_) == 400 - 1 - 118  # the row of weight 0 is left out
    fitted_on = {tuple(row) for row in clf.estimator_.seen_}
    scores = {float(s) for s in clf._fitted_.rows.score}
    left = [row for row in X if tuple(row) not in fitted_on]
    assert {float(s) for s in clf.estimator_.decision_function(left)} >= scores
    assert (clf._fitted_.rows.weight == 1).all()
    assert set(clf.estimator_.weights_) <= set(weight)


@pytest.mark.parametrize(("size", "rows"), [(None, [29, 39]), (0.5, [50, 50]), (80, [40, 40])])
def test_the_number_of_calibration_rows(size, rows):
    X, y = drawn(200, 2)
    clf = ThresholdRejector(GaussianNB(), class_error=RATES, calibration_size=size, random_state=0).fit(X, y)
    assert [*clf.certificate_.n_rows.values()] == rows


def test_whole_groups_are_held_out():
    X, y = drawn(400, 2)
    groups = np.arange(400) // 8

    class Remembering(GaussianNB):
        def fit(self, X, y):
            self.seen_ = X
            return super().fit(X, y)

    clf = ThresholdRejector(Remembering(), class_error=RATES, random_state=0).fit(X, y, groups=groups)
    seen = {tuple(row) for row in clf.estimator_.seen_}
    inside = np.array([tuple(row) in seen for row in X]).reshape(-1, 8)
    assert (inside.all(axis=1) | ~inside.any(axis=1)).all()
    assert 0.2 < 1 - inside.mean() < 0.4
    assert not inside.reshape(-1).all()
    with pytest.raises(ValueError, match="at least two groups"):
        clf.fit(X, y, groups=np.zeros(400))


def test_prefit_and_retune():
    X, y = drawn(200, 2)
    new, truth = drawn(150, 2, 1)
    model = LogisticRegression().fit(X, y)
    clf = ThresholdRejector(model, class_error=RATES, cv="prefit").fit(new, truth)
    assert clf.certificate_.n_rows == {"benign": 75, "malignant": 75}
    wider = clf.retune(class_error=0.3)
    direct = ThresholdRejector(model, class_error=0.3, cv="prefit").fit(new, truth)
    assert wider.certificate_ == direct.certificate_
    assert wider.class_error == 0.3
    assert clf.retune(reject_rate=0.1).reject_rate == 0.1
    budget = ThresholdRejector(LogisticRegression(), reject_rate=0.1).fit(X, y)
    with pytest.raises(ValueError, match="the classifier that decides was fitted on their rows"):
        budget.retune(class_error=RATES)
    assert budget.retune(new, truth, class_error=RATES).certificate_.n_rows == {"benign": 75, "malignant": 75}
    split = ThresholdRejector(LogisticRegression(), class_error=RATES, random_state=0).fit(X, y)
    back = split.retune(reject_rate=0.4).retune(class_error=RATES)
    assert back.certificate_ == split.certificate_
    with pytest.raises(ValueError, match="sample_weight has no effect"):
        budget.retune(new, truth, np.ones(150), class_error=RATES)
    crossed = ThresholdRejector(LogisticRegression(), class_error=RATES, conformal="cross").fit(X, y)
    with pytest.raises(ValueError, match="leave out X and y"):
        crossed.retune(new, truth, class_error=RATES)
    with pytest.raises(ValueError, match="only class_error can be stated"):
        crossed.retune(reject_rate=0.1)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"class_error": {"benign": 0.1}}, "has no rate for the class 'malignant'; name every class"),
        ({"class_error": {"benign": 0.1, "malignant": 0.1, "odd": 0.1}}, "names 'odd', which is not one"),
        ({"class_error": (0.1, 0.2)}, r"class_error=\(0.1, 0.2\) must be one rate for all classes, or a dict"),
        ({"class_error": 0.0}, "must lie between 0 and 1, both excluded: at a rate of 0"),
        ({"class_error": {"benign": 1.0, "malignant": 0.1}}, "must lie between 0 and 1"),
        ({"class_error": 1.5}, r"class_error=1.5 must lie in \[0, 1\]"),
        ({"class_error": 0.1, "max_error": 0.1}, "max_error and class_error are given together"),
        ({"class_error": 0.1, "costs": Costs(reject=0.2)}, "costs and class_error are given together"),
        ({"class_error": 0.1, "method": "chow"}, "class_error has its own method"),
        ({"class_error": 0.1, "cv": "train"}, "tunes on the rows that the classifier was fitted on"),
        ({"class_error": 0.1, "cv": 10}, "cv=10: scores of folds would belong to other classifiers"),
        ({"class_error": 0.1, "cv": StratifiedKFold(5)}, "scores of folds would belong to other classifiers"),
        ({"class_error": 0.1, "cv": "prefit", "conformal": "cross"}, "leave one out"),
        ({"class_error": 0.1, "conformal": "cross", "cv": ShuffleSplit(3)}, "scores some rows more than once"),
        ({"class_error": 0.1, "conformal": "cross", "cv": GroupKFold(3)}, "pass groups"),
        ({"class_error": 0.1, "conformal": "both"}, "'conformal' parameter"),
        ({"class_error": 0.1, "calibration_size": 1.0}, "'calibration_size' parameter"),
        ({"class_error": 0.001}, "'benign' needs at least 999 calibration rows .* Use at least 1998 rows"),
        ({"class_error": 0.02, "calibration_size": 0.2}, "needs at least 49 calibration rows .* there are 20"),
        ({"class_error": 0.1, "calibration_size": 199}, "the calibration rows leave only one class to fit on"),
    ],
)
def test_what_cannot_be_promised_is_refused(parameters, words):
    X, y = drawn(200, 2)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match=words):
        ThresholdRejector(model, **parameters).fit(X, y)


def test_weights_that_nothing_uses_are_refused():
    X, y = drawn(100, 2)
    weight = np.ones(100)
    with pytest.raises(ValueError, match="sample_weight has no effect"):
        ThresholdRejector(KNeighborsClassifier(), class_error=0.1).fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match="sample_weight has no effect"):
        ThresholdRejector(GaussianNB().fit(X, y), class_error=0.1, cv="prefit").fit(X, y, sample_weight=weight)


def test_a_rate_below_every_number_of_rows_is_refused_at_once():
    X, y = drawn(100, 2)
    for rate in (1e-9, 1e-300, 5e-324):
        with pytest.raises(ValueError, match=r"needs at least 9{9}"):
            ThresholdRejector(GaussianNB(), class_error=rate).fit(X, y)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_accepts_it():
    def failed(**parameters):
        checked = ThresholdRejector(LogisticRegression(), **parameters)
        results = check_estimator(checked, on_fail=None, on_skip=None)
        return {result["check_name"] for result in results if result["status"] == "failed"}

    # rows of weight 0, or repeated ones, change which rows are held out; others count a reject as a wrong answer
    weights = {"check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"}
    assert failed(class_error=0.5, random_state=0) - weights == failed(reject_rate=0.4)
