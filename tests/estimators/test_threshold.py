"""ThresholdRejector: any classifier made to reject, asked in one way, tuned on the right scores."""

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from abstain import Costs, ThresholdRejector, Thresholds
from abstain.machines.response_machine import log_odds
from abstain.rules.tuning.methods import roc_thresholds
from abstain.rules.tuning.scored_rows import ScoredRows
from one_score import Counting, first_column, symmetric_thresholds, symmetric_within

ASYMMETRIC = Costs(false_positive=1, false_negative=5, reject=0.3)


class TestAsking:
    def test_nothing_asked_nothing_rejected(self, data):
        X, y = data
        clf, plain = ThresholdRejector(LogisticRegression()).fit(X, y), LogisticRegression().fit(X, y)
        np.testing.assert_array_equal(clf.predict(X), plain.predict(X))
        np.testing.assert_array_equal(clf.predict_forced(X), plain.predict(X))
        np.testing.assert_array_equal(clf.decision_function(X), plain.decision_function(X))
        assert clf.thresholds_ == Thresholds(0, 0)
        assert clf.score(X, y) == pytest.approx(plain.score(X, y) - 1)
        assert clf.certificate_ is None

    @pytest.mark.parametrize(
        ("ways", "text"),
        [
            ({"costs": ASYMMETRIC, "reject_rate": 0.1}, "costs and reject_rate are given together"),
            ({"max_error": 0.1, "reject_rate": 0.1}, "reject_rate and max_error are given together"),
            ({"costs": ASYMMETRIC, "max_error": 0.1}, "costs and max_error .* give only one of costs"),
            ({"costs": 0.3}, r"costs=0\.3 must be a Costs, not a float"),
            ({"reject_rate": 1.1}, r"reject_rate=1\.1 must lie in \[0, 1\]"),
            ({"reject_rate": (0.1, 0.2, 0.3)}, r"must be one share or the pair \(negative, positive\)"),
            ({"reject_rate": (0.1, "x")}, r"reject_rate\[1\]='x' must be a real number"),
            ({"max_error": 0}, r"max_error=0 must lie between 0 and 1, both excluded"),
            ({"max_error": (0.1, 1)}, r"max_error=\(0\.1, 1\) must lie between"),
            ({"max_error": 0.1, "confidence": 1.0}, r"confidence=1\.0 must lie between"),
            ({"max_error": 0.1, "method": "roc"}, 'method="roc" chooses its two thresholds by the labels'),
            ({"max_error": 0.1, "cv": "train"}, 'cv="train" tunes on the rows'),
            ({"costs": ASYMMETRIC, "method": "naive"}, "method='naive' must be one of auto, symmetric, roc, chow"),
            ({"costs": ASYMMETRIC, "cv": "once"}, "The 'cv' parameter"),
        ],
    )
    def test_what_cannot_be_asked(self, data, ways, text):
        with pytest.raises(ValueError, match=text):
            ThresholdRejector(LogisticRegression(), **ways).fit(*data)

    def test_an_estimator_without_a_score(self, data):
        with pytest.raises(ValueError, match="The 'estimator' parameter"):
            ThresholdRejector(StandardScaler(), ASYMMETRIC).fit(*data)


class TestWhichScores:
    """Held out by folds (GRKC08), the training rows' own (FR02), or those of a fitted classifier."""

    @pytest.mark.parametrize(("method", "tuned"), [("symmetric", symmetric_thresholds), ("roc", roc_thresholds)])
    @pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()], ids=["score", "probability"])
    def test_each_cv_tunes_on_its_own(self, data, method, tuned, model):
        X, y = data
        response = "decision_function" if hasattr(model, "decision_function") else "predict_proba"

        def expected(values):
            values = values if values.ndim == 1 else log_odds(values)
            return tuned(ScoredRows.of(values, y, cut=0.0), ASYMMETRIC)

        fitted = clone(model).fit(X, y)
        shuffled = StratifiedKFold(4, shuffle=True, random_state=1)
        own = expected(getattr(fitted, response)(X))
        folds = expected(cross_val_predict(model, X, y, cv=5, method=response))
        others = expected(cross_val_predict(model, X, y, cv=shuffled, method=response))
        assert len({own, folds, others}) == 3  # control: they are different scores

        def found(estimator=model, **options):
            return ThresholdRejector(estimator, ASYMMETRIC, method=method, **options).fit(X, y)

        assert found(cv="train").thresholds_ == own
        assert found(fitted, cv="prefit").thresholds_ == own
        assert found().thresholds_ == folds
        with joblib.parallel_config("threading"):
            assert found(n_jobs=2).thresholds_ == folds
        assert found(cv=shuffled).thresholds_ == others
        assert found(cv=list(shuffled.split(X, y))).thresholds_ == others
        assert found(cv=4, random_state=1).thresholds_ == others
        assert found().response_method_ == response
        np.testing.assert_allclose(found().decision_function(X), found(cv="train").decision_function(X))

    def test_rows_may_be_scored_twice_or_never(self, data):
        X, y = data
        for cv in (RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0), ShuffleSplit(2, random_state=0)):
            assert ThresholdRejector(LogisticRegression(), ASYMMETRIC, cv=cv).fit(X, y).thresholds_.rejects

    def test_a_fold_with_one_class_is_refused(self, data):
        X, y = data
        folds = [(np.flatnonzero(y == 0), np.flatnonzero(y == 1))]
        with pytest.raises(ValueError, match="a fold of cv leaves only one class to fit on"):
            ThresholdRejector(GaussianNB(), ASYMMETRIC, cv=folds).fit(X, y)

    def test_prefit_is_never_fitted_again(self):
        X, y = first_column()
        model = Counting().fit(X, y)
        before = Counting.fits
        clf = ThresholdRejector(model, reject_rate=0.2, cv="prefit").fit(X, y)
        assert clf.estimator_ is model
        assert 0.2 - 2 / len(y) <= np.mean(clf.reject_mask(X)) < 0.2
        again = clf.retune(X, y, costs=Costs(reject=0.1))
        assert Counting.fits == before
        assert again.thresholds_ == ThresholdRejector(model, Costs(reject=0.1), cv="prefit").fit(X, y).thresholds_

    def test_prefit_must_be_fitted(self, data):
        with pytest.raises(NotFittedError):
            ThresholdRejector(LogisticRegression(), ASYMMETRIC, cv="prefit").fit(*data)

    def test_prefit_knows_its_classes(self):
        X, y = first_column()
        names = np.array(["a", "b"])
        model = Counting().fit(X, names[y])
        some = y == 1  # one class is enough to tune on
        clf = ThresholdRejector(model, reject_rate=0.5, cv="prefit").fit(X[some], names[y[some]])
        assert clf.classes_.tolist() == ["a", "b"]
        with pytest.raises(ValueError, match="'c', which is not one of the classes 'a', 'b'"):
            ThresholdRejector(model, reject_rate=0.5, cv="prefit").fit(X, np.array(["a", "c"])[y])


class TestRetune:
    def test_the_kept_scores_serve_again(self, data):
        X, y = data
        clf = ThresholdRejector(LogisticRegression(), ASYMMETRIC).fit(X, y)
        before = clf.thresholds_
        other = clf.retune(reject_rate=0.25)
        assert other.thresholds_ == ThresholdRejector(LogisticRegression(), reject_rate=0.25).fit(X, y).thresholds_
        assert other.estimator_ is clf.estimator_
        assert (other.costs, other.reject_rate) == (None, 0.25)
        assert clf.thresholds_ == before  # the one it was called on stays as it is
        assert clf.costs == ASYMMETRIC
        assert not clf.retune().thresholds_.rejects

    def test_labels_follow_what_is_asked(self, data):
        X, y = data
        plain = ThresholdRejector(LogisticRegression()).fit(X, y.astype(bool))
        assert plain.predict(X).dtype == bool
        other = plain.retune(X, y.astype(bool), reject_rate=0.3)
        assert set(other.predict(X).tolist()) == {-1, 0, 1}

    def test_other_rows_and_weights(self):
        X, y = first_column()
        clf = ThresholdRejector(Counting(), ASYMMETRIC).fit(X, y)
        new, truth = first_column(seed=1)
        weight = np.random.default_rng(0).integers(1, 4, len(truth))
        rows = ScoredRows.of(new[:, 0], truth, weight, cut=0.0)
        assert clf.retune(new, truth, weight, reject_rate=0.1).thresholds_ == symmetric_within(rows, 0.1)

    def test_what_cannot_be_retuned(self, data):
        X, y = data
        with pytest.raises(ValueError, match="retune needs X and y"):
            ThresholdRejector(LogisticRegression()).fit(X, y).retune(reject_rate=0.1)
        own = ThresholdRejector(LogisticRegression(), ASYMMETRIC, cv="train").fit(X, y)
        with pytest.raises(ValueError, match='cv="train" tunes on the rows'):
            own.retune(max_error=0.4)
        weighted = ThresholdRejector(LogisticRegression(), ASYMMETRIC).fit(X, y, np.linspace(1, 2, len(y)))
        with pytest.raises(ValueError, match="cannot be certified with sample_weight"):
            weighted.retune(X, y, np.linspace(1, 2, len(y)), max_error=0.4)
        with pytest.raises(ValueError, match="given together"):
            own.retune(costs=ASYMMETRIC, reject_rate=0.1)
        with pytest.raises(NotFittedError):
            ThresholdRejector(LogisticRegression()).retune(reject_rate=0.1)


def test_another_method_than_that_of_the_fit_is_refused_by_retune_if_its_scores_do_not_suit(data):
    clf = ThresholdRejector(LogisticRegression(), ASYMMETRIC).fit(*data)
    with pytest.raises(ValueError, match="method='chow' needs probabilities, and fit used the decision function"):
        clf.set_params(method="chow").retune(costs=ASYMMETRIC)
