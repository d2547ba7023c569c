"""ThresholdRejector around classifiers of several classes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import abstain
from abstain import Actions, Costs, RejectSVC
from abstain.metrics import ClassTable, get_scorer, mean_cost, reject_rate
from abstain.rules.class_deciders import Confidence
from abstain.rules.tuning.methods import cheapest_cut, cheapest_cuts, cuts_within
from abstain.rules.tuning.scored_rows import ScoredRows
from class_cases import GENERAL, gaussians, rejector, table_costs

X, Y = gaussians(300)
NEW, TRUE = gaussians(400, seed=1)
PRICE, NAMED = Costs(reject=0.2), table_costs(GENERAL, 0.4)
NAMES = np.array(["ant", "bee", "cow"])


class TestDecisions:
    def test_nothing_asked_nothing_rejected(self):
        clf, plain = rejector().fit(X, NAMES[Y]), LogisticRegression().fit(X, NAMES[Y])
        np.testing.assert_array_equal(clf.predict(NEW), plain.predict(NEW))
        np.testing.assert_array_equal(clf.predict_forced(NEW), plain.predict(NEW))
        np.testing.assert_array_equal(clf.decision_function(NEW), plain.decision_function(NEW))
        np.testing.assert_array_equal(clf.predict_proba(NEW), plain.predict_proba(NEW))
        assert not clf.reject_mask(NEW).any()
        assert clf.score(NEW, NAMES[TRUE]) == pytest.approx(plain.score(NEW, NAMES[TRUE]) - 1)

    @pytest.mark.parametrize(("method", "placed"), [("symmetric", cheapest_cut), ("roc", cheapest_cuts)])
    @pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()], ids=["score", "probability"])
    def test_each_cv_tunes_on_its_own_scores(self, method, placed, model):
        response = "decision_function" if hasattr(model, "decision_function") else "predict_log_proba"
        costs = NAMED  # also costs that differ by class
        fitted, folds = clone(model).fit(X, Y), StratifiedKFold(4, shuffle=True, random_state=1)

        def expected(score):
            return placed(ScoredRows.of(score, Y).answered("lead"), costs)

        def found(estimator=model, **options):
            return rejector(estimator, costs=costs, method=method, **options).fit(X, Y).thresholds_

        own = expected(getattr(fitted, response)(X))
        held_out = expected(cross_val_predict(model, X, Y, cv=folds, method=response))
        assert not np.array_equal(own, held_out)
        np.testing.assert_allclose(found(cv="train"), own)
        np.testing.assert_allclose(found(fitted, cv="prefit"), own)
        for cv in (folds, [*folds.split(X, Y)]):
            np.testing.assert_allclose(found(cv=cv), held_out)
        np.testing.assert_allclose(found(cv=4, random_state=1), held_out)

    @pytest.mark.parametrize("costs", [PRICE, NAMED, table_costs(1 - np.eye(3), 0.6)], ids=["even", "general", "high"])
    def test_chow_takes_the_cheapest_action(self, costs):
        clf = rejector(costs=costs, method="chow").fit(X, Y)
        table = (1 - np.eye(3)) if costs is PRICE else np.array(costs.errors)
        cost = clf.predict_proba(NEW) @ np.column_stack([table, np.full(3, costs.reject)])
        record = clf.decide(NEW)
        np.testing.assert_allclose(record.expected_cost, cost)
        np.testing.assert_array_equal(record.label, np.array([0, 1, 2, -1])[cost.argmin(axis=1)])
        np.testing.assert_array_equal(clf.predict_forced(NEW), cost[:, :3].argmin(axis=1))
        assert record.rejected.any()
        assert clf._fitted_.rows is None  # nothing is tuned

    def test_chow_calibrates_what_has_no_probabilities(self):
        clf = rejector(LinearSVC(), costs=NAMED, method="chow").fit(X, Y)
        same = CalibratedClassifierCV(LinearSVC(), cv=5, ensemble=False).fit(X, Y)
        np.testing.assert_allclose(clf.predict_proba(NEW), same.predict_proba(NEW))
        np.testing.assert_allclose(np.exp(clf.decision_function(NEW)), same.predict_proba(NEW))

    def test_without_costs_chow_cuts_the_largest_probability(self):
        clf = rejector(reject_rate=0.25, method="chow", cv="train").fit(X, Y)
        largest = clf.predict_proba(X).max(axis=1)
        assert largest[clf.reject_mask(X)].max() < largest[~clf.reject_mask(X)].min()
        assert clf.reject_mask(X).sum() == 74  # with a new row 75 of 301, at most 0.25

    def test_what_auto_takes(self):
        for request in ({"costs": PRICE}, {"reject_rate": 0.1}, {"max_error": 0.5}, {}):
            assert rejector(random_state=0, **request).fit(X, Y).method_ == "symmetric"
        assert rejector(costs=NAMED).fit(X, Y).method_ == "roc"

    def test_why_auto_does_not_take_chow_and_who_should(self):
        def cost(model, method):
            return -rejector(model, costs=NAMED, method=method).fit(X, Y).score(NEW, TRUE)

        copies = np.column_stack([X[:, 0]] * 5 + [X[:, 1]] * 5)  # naive Bayes takes them for independent evidence
        again = np.column_stack([NEW[:, 0]] * 5 + [NEW[:, 1]] * 5)
        sure = [
            -rejector(GaussianNB(), costs=NAMED, method=method).fit(copies, Y).score(again, TRUE)
            for method in ("roc", "chow")
        ]
        assert sure[0] < sure[1]
        assert cost(LogisticRegression(), "chow") < cost(LogisticRegression(), "roc")  # whose model is the right one

    def test_expected_costs_of_scores_come_from_the_probabilities(self):
        clf = rejector(costs=PRICE).fit(X, Y)
        expected = clf.predict_proba(NEW) @ np.column_stack([1 - np.eye(3), np.full(3, 0.2)])
        np.testing.assert_allclose(clf.decide(NEW).expected_cost, expected)
        assert np.isnan(rejector(LinearSVC(), costs=PRICE).fit(X, Y).decide(NEW).expected_cost).all()

    def test_sets(self):
        clf = rejector(costs=PRICE).fit(X, Y)
        sets = clf.predict_set(NEW)
        np.testing.assert_array_equal(sets.sum(axis=1) > 1, clf.reject_mask(NEW))
        two = rejector(costs=PRICE).fit(X[Y < 2], Y[Y < 2])
        np.testing.assert_array_equal(two.predict_set(NEW).all(axis=1), two.reject_mask(NEW))

    def test_sets_of_actions_are_refused(self):
        actions = Actions({"yes": {0: 1, 1: 0}, "no": {0: 0, 1: 1}, "ask": 0.2})
        clf = rejector(costs=actions).fit(X[Y < 2], Y[Y < 2])
        with pytest.raises(ValueError, match="predict_set is undefined for Actions: an action is not a set of classes"):
            clf.predict_set(NEW)
        with pytest.raises(ValueError, match="but y has 2"):
            rejector(costs=actions).fit(X, Y)

    @pytest.mark.parametrize("labels", [NAMES, np.array([0, 1, 2]), np.array([-3, 4, 9]), np.array([1.0, 2.0, 5.0])])
    def test_labels_of_every_kind(self, labels):
        clf = rejector(reject_rate={labels[1]: 0.3}, cv="train").fit(X, labels[Y])
        number = rejector(reject_rate={1: 0.3}, cv="train").fit(X, Y)
        np.testing.assert_array_equal(clf.reject_mask(X), number.reject_mask(X))
        assert set(clf.predict(X).tolist()) == {*labels.tolist(), clf.reject_label_}
        assert clf.predict(X).dtype.kind == labels.dtype.kind


class TestBudgets:
    @pytest.mark.parametrize("method", ["symmetric", "chow"])
    @pytest.mark.parametrize("model", [LogisticRegression(), RandomForestClassifier(7, random_state=0)], ids=str)
    def test_never_exceeded_on_the_rows_tuned_on(self, model, method):
        fitted = clone(model).fit(X, Y)  # a small forest has many ties
        for share in (0.05, 0.2, 0.5):
            clf = rejector(fitted, reject_rate=share, method=method, cv="prefit").fit(NEW, TRUE)
            assert clf.reject_mask(NEW).mean() <= share
        shares = {0: 0.1, 2: 0.4}
        clf = rejector(fitted, reject_rate=shares, method=method, cv="prefit").fit(NEW, TRUE)
        forced, rejected = clf.predict_forced(NEW), clf.reject_mask(NEW)
        assert rejected.any()
        for label in range(3):
            assert rejected[forced == label].mean() <= shares.get(label, 0.0)

    def test_by_class_answered_of_two_classes(self):
        two, names = Y < 2, NAMES[Y]
        for y, (first, last) in ((names, ("ant", "bee")), (Y == 1, (False, True)), (Y, (0, 1))):
            clf = rejector(reject_rate={last: 0.3, first: 0.1}, cv="train").fit(X[two], y[two])
            forced, rejected = clf.predict_forced(X[two]), clf.reject_mask(X[two])
            for label, share in ((first, 0.1), (last, 0.3)):
                assert share - 0.03 <= rejected[forced == label].mean() <= share
        pair = rejector(reject_rate=(0.1, 0.3), cv="train").fit(X[two], Y[two])  # control: by the true class
        assert pair.thresholds_ != clf.thresholds_

    def test_weights_count(self):
        weight = np.random.default_rng(0).uniform(0.1, 3, len(Y))
        clf = rejector(LogisticRegression(), reject_rate=0.3, cv="train").fit(X, Y, weight)
        model = LogisticRegression().fit(X, Y, weight)
        rows = ScoredRows.of(model.decision_function(X), Y, weight).answered("lead")
        np.testing.assert_array_equal(clf.thresholds_, cuts_within(rows, 0.3))
        assert weight @ clf.reject_mask(X) <= 0.3 * weight.sum()


class TestCeilings:
    def test_the_error_of_new_rows_is_within_the_ceiling(self):
        many, truth = gaussians(4000, seed=5)
        fitted = LogisticRegression().fit(X, Y)
        clf = rejector(fitted, max_error={0: 0.1, 1: 0.1, 2: 0.15}, cv="prefit").fit(*gaussians(2000, seed=6))
        table = ClassTable.of(truth, clf.decide(many))
        assert (1 - table.class_predictivity <= [0.1, 0.1, 0.15]).all()
        assert 1 - np.mean(fitted.predict(many) == truth) > 0.15  # control: it needs the rejects
        assert clf.certificate_.upper_bound.keys() == {0, 1, 2}

    def test_a_pair_is_by_the_true_class_and_a_dict_by_the_answer(self):
        rng = np.random.default_rng(0)
        y = (rng.random(3000) < 0.1).astype(int)  # rare, so that one error in ten answers "1" is few of the others
        Z = (2.4 * (2 * y - 1) + 1.3 * rng.normal(size=3000))[:, np.newaxis]
        model = LogisticRegression().fit(Z, y)
        pair = rejector(model, max_error=(0.02, 0.1), cv="prefit").fit(Z, y)
        named = rejector(model, max_error={0: 0.02, 1: 0.1}, cv="prefit").fit(Z, y)
        accepted = ~named.reject_mask(Z)
        answered = named.predict(Z)
        for label in (0, 1):
            own = answered == label
            assert named.certificate_.accepted[label] == own.sum()
            assert named.certificate_.errors[label] == np.sum(y[own] != label)
        assert pair.certificate_.accepted == tuple(np.bincount(y[~pair.reject_mask(Z)]))
        assert named.certificate_.coverage == accepted.mean()

    def test_classes_that_are_not_named_are_all_accepted(self):
        clf = rejector(max_error={1: 0.3}, random_state=0).fit(X, Y)
        forced, rejected = clf.predict_forced(NEW), clf.reject_mask(NEW)
        assert not rejected[forced != 1].any()
        assert clf.certificate_.max_error == {1: 0.3}

    def test_too_few_rows_say_how_many(self):
        with pytest.raises(ValueError, match=r"max_error=0\.001 .* needs at least 2302 .* there are 300"):
            rejector(max_error=0.001).fit(X, Y)
        with pytest.raises(ValueError, match=r"max_error\['bee'\]=0\.01, one of 1 .* answered 'bee': even without"):
            rejector(max_error={"bee": 0.01}).fit(X, NAMES[Y])


class TestRetune:
    def test_other_requests_on_the_same_scores(self):
        model = LogisticRegression().fit(X, Y)
        clf = rejector(model, costs=PRICE, cv="prefit").fit(NEW, TRUE)
        for request in ({"reject_rate": 0.2}, {"reject_rate": {2: 0.5}}, {"max_error": 0.3}, {"max_error": {0: 0.3}}):
            again, anew = clf.retune(**request), rejector(model, **request, cv="prefit").fit(NEW, TRUE)
            np.testing.assert_array_equal(again.thresholds_, anew.thresholds_)
            assert again.certificate_ == anew.certificate_
            assert again.estimator_ is clf.estimator_
        with pytest.raises(ValueError, match="method='chow' needs probabilities, and fit used the decision function"):
            clf.set_params(method="chow").retune(costs=NAMED)
        clf.set_params(method="auto")
        assert not clf.retune().reject_mask(NEW).any()

    def test_other_rows(self):
        clf = rejector(costs=PRICE).fit(X, Y).retune(NEW, TRUE, reject_rate=0.2)
        assert clf.reject_mask(NEW).sum() == len(NEW) // 5 - 1

    def test_from_chow(self):
        clf = rejector(costs=NAMED, method="chow").fit(X, Y)
        assert clf.retune(NEW, TRUE, reject_rate=0.1).reject_mask(NEW).sum() == len(NEW) // 10 - 1
        np.testing.assert_array_equal(clf.retune(costs=NAMED).predict(NEW), clf.predict(NEW))


class TestElsewhere:
    def test_groups_stay_together(self):
        groups = np.arange(len(Y)) // 5
        clf = rejector(costs=PRICE).fit(X, Y, groups=groups)
        assert not np.array_equal(clf.thresholds_, rejector(costs=PRICE).fit(X, Y).thresholds_)

    def test_pipelines_frames_and_decide(self):
        frame, names = pd.DataFrame(X, columns=["one", "two"]), NAMES[Y]
        for model in (
            make_pipeline(StandardScaler(), rejector(costs=PRICE)),
            rejector(make_pipeline(StandardScaler(), LogisticRegression()), costs=PRICE),
        ):
            record = abstain.decide(model.fit(frame, names), frame)
            np.testing.assert_array_equal(record.label, model.predict(frame))
            assert record.to_frame().index.equals(frame.index)
            assert mean_cost(names, record, PRICE) == pytest.approx(-model.score(frame, names))
            assert reject_rate(names, record) == record.rejected.mean()

    @pytest.mark.parametrize("name", ["mean_cost", "coverage", "aurc"])
    def test_scorers(self, name):
        clf = rejector(costs=PRICE).fit(X, Y)
        scorer = get_scorer(name, **({"costs": PRICE} if name == "mean_cost" else {}))
        value = scorer(clf, NEW, TRUE)
        assert np.isfinite(value)
        if name == "mean_cost":
            assert value == pytest.approx(clf.score(NEW, TRUE))
        search = GridSearchCV(clf, {"estimator__C": [0.1, 1.0]}, scoring=scorer, cv=2).fit(X, Y)
        assert np.isfinite(search.best_score_)

    def test_around_machines_of_this_library_and_svc(self):
        for model in (RejectSVC(), RejectSVC(PRICE), SVC(), RandomForestClassifier(5, random_state=0)):
            clf = rejector(model, reject_rate=0.2, cv="train").fit(X, Y)
            assert 0 < clf.reject_mask(X).mean() <= 0.2
        assert isinstance(clf.rule_.decider, Confidence)
