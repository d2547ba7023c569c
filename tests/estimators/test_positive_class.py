"""Which class an error costs more for: named, chosen by pos_label, or assumed with a warning."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from abstain import Costs, Forced, RejectSVC, RejectSVCCV, ThresholdRejector, compare, load, reject_svc_path, save
from abstain.metrics import RejectTable, cost_curve, get_scorer, mean_cost, sensitivity
from abstain.report import Report, report_for

# a missed disease costs 5 and a healthy person taken for ill 1; "disease" sorts first
TABLE = {"disease": {"healthy": 5}, "healthy": {"disease": 1}}
NAMED, MISSED = Costs.from_table(TABLE, reject=0.3), Costs(false_positive=1, false_negative=5, reject=0.3)
MAKERS = {
    "RejectSVC": RejectSVC,
    "RejectSVCCV": lambda costs, **kw: RejectSVCCV(costs, Cs=[1, 10], gammas=[0.1], cv=2, **kw),
    **{
        method: lambda costs, method=method, **kw: ThresholdRejector(LogisticRegression(), costs, method=method, **kw)
        for method in ("auto", "symmetric", "roc", "chow")
    },
}


@pytest.fixture
def rows(data):
    X, y = data
    return X, np.array(["healthy", "disease"])[y]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
class TestEveryEstimator:
    def test_costs_by_name_are_those_of_the_class_named(self, rows, make):
        X, y = rows
        named, chosen = make(NAMED).fit(X, y), make(MISSED, pos_label="disease").fit(X, y)
        np.testing.assert_array_equal(named.predict(X), chosen.predict(X))
        np.testing.assert_array_equal(named.predict_forced(X), chosen.predict_forced(X))
        assert named.score(X, y) == chosen.score(X, y)
        # the columns are by the positive class, which pos_label alone chooses
        np.testing.assert_allclose(named.decide(X).expected_cost, chosen.decide(X).expected_cost[:, ::-1])
        turned = make(NAMED, pos_label="disease").fit(X, y)
        np.testing.assert_array_equal(turned.predict(X), named.predict(X))
        np.testing.assert_allclose(turned.decide(X).expected_cost, chosen.decide(X).expected_cost)
        with pytest.warns(UserWarning, match="'healthy' is taken as the positive class"):
            assumed = make(MISSED).fit(X, y)
        assert (assumed.predict(X) != named.predict(X)).any()  # control: it prices a missed healthy person

    def test_files_keep_the_names(self, rows, make, tmp_path):
        X, y = rows
        saved = make(NAMED).fit(X, y)
        save(saved, tmp_path / "model")
        again = load(tmp_path / "model")
        assert again.costs == NAMED
        np.testing.assert_array_equal(again.predict(X), saved.predict(X))

    def test_the_sort_order_decides_only_with_a_warning(self, rows, make):
        X, y = rows
        text = r"pos_label is not given.*false_negative=5 is the cost of deciding 'disease' when 'healthy' is true"
        with pytest.warns(UserWarning, match=text + r".*pos_label='disease', or name .*Costs\.from_table") as caught:
            make(MISSED).fit(X, y)
        assert {one.filename for one in caught} == {__file__}
        with pytest.warns(UserWarning, match="pos_label is not given"):
            make(Costs(reject=(0.2, 0.3))).fit(X, y)
        quiet = [(NAMED, None), (MISSED, "healthy"), (Costs(reject=0.2), None)]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for costs, pos_label in quiet:
                make(costs, pos_label=pos_label).fit(X, y)
            make(MISSED).fit(X, (y == "disease").astype(int))


def test_pairs_by_class_are_assumed_with_a_warning(rows):
    X, y = rows
    with pytest.warns(UserWarning, match=r"reject_rate=\(0\.1, 0\.2\) is for the \(negative, positive\) class: 'heal"):
        ThresholdRejector(LogisticRegression(), reject_rate=(0.1, 0.2)).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ThresholdRejector(LogisticRegression(), reject_rate=(0.1, 0.2), pos_label="disease").fit(X, y)
        ThresholdRejector(LogisticRegression(), reject_rate=0.2).fit(X, y)


def test_the_path_of_costs_by_name(rows):
    X, y = rows
    named = reject_svc_path(X[:30], y[:30], NAMED, C_max=2, pos_label="disease")
    chosen = reject_svc_path(X[:30], y[:30], MISSED, C_max=2, pos_label="disease")
    np.testing.assert_allclose(named.at(1.0)[0], chosen.at(1.0)[0])
    with pytest.warns(UserWarning, match="pos_label is not given"):
        reject_svc_path(X[:30], y[:30], MISSED, C_max=2)


class TestMeasures:
    def test_decisions_have_the_positive_class_and_the_reject_label(self, rows):
        X, y = rows
        clf = RejectSVC(MISSED, pos_label="disease", reject_label="ask").fit(X, y)
        decided = clf.decide(X)
        assert decided.rejected.any()
        expected = {"pos_label": "disease", "reject_label": "ask"}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert mean_cost(y, decided, MISSED) == mean_cost(y, clf.predict(X), MISSED, **expected) == -clf.score(X, y)
            assert MISSED.mean_cost(y, decided) == -clf.score(X, y)
        assert sensitivity(y, decided) == sensitivity(y, clf.predict(X), **expected)
        assert sensitivity(y, decided) != sensitivity(y, clf.predict(X), reject_label="ask")  # control
        assert sensitivity(y, decided, pos_label="healthy") == sensitivity(y, clf.predict(X), reject_label="ask")
        with pytest.raises(ValueError, match="y_pred contains 'ask'"):
            sensitivity(y, clf.predict(X))

    def test_costs_by_name_in_every_measure(self, rows):
        X, y = rows
        clf = RejectSVC(NAMED).fit(X, y)
        cost, answers, score = -clf.score(X, y), clf.predict(X), clf.decision_function(X)
        assert mean_cost(y, answers, NAMED) == cost
        for pos_label in ("disease", "healthy"):
            assert mean_cost(y, answers, NAMED, pos_label=pos_label) == cost
            assert RejectTable.of(y, answers, pos_label=pos_label).mean_cost(NAMED) == pytest.approx(cost)
            assert get_scorer("mean_cost", NAMED, pos_label=pos_label)(clf, X, y) == pytest.approx(-cost)
            towards = score if pos_label == "healthy" else -score
            named = cost_curve(y, towards, NAMED, pos_label=pos_label)
            plain = cost_curve(y, towards, NAMED.with_positive(pos_label), pos_label=pos_label)
            np.testing.assert_allclose(named.mean_cost, plain.mean_cost)
            assert report_for(clf, X, y, pos_label=pos_label).measures()["mean_cost"] == pytest.approx(cost)
            other = report_for(clf, X, y, NAMED, pos_label=pos_label)
            assert other.measures()["mean_cost"] == pytest.approx(cost)
        with pytest.raises(ValueError, match=r"this table has no classes; make it by RejectTable\.of"):
            RejectTable(np.ones((2, 3))).mean_cost(NAMED)

    def test_an_assumed_class_is_said(self, rows):
        X, y = rows
        score, truth = np.linspace(-1, 1, len(y)), (y == "healthy").astype(int)
        foreign = LogisticRegression().fit(X, y)
        calls = [
            lambda y, **kw: mean_cost(y, y, MISSED, **kw),
            lambda y, **kw: MISSED.mean_cost(y, y, **kw),
            lambda y, **kw: cost_curve(y, score, MISSED, **kw),
            lambda y, **kw: Report.of(y, score, MISSED, MISSED.score_thresholds(), **kw),
            lambda y, **kw: compare({"one": LogisticRegression()}, X, y, MISSED, cv=2, **kw),
        ]
        for call in calls:
            with pytest.warns(UserWarning, match="pos_label is not given"):
                call(y)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                call(y, pos_label="disease")
                call(truth)
        with pytest.warns(UserWarning, match="pos_label is not given"):
            get_scorer("mean_cost", MISSED)(foreign, X, y)

    def test_compare_prices_by_name(self, rows):
        X, y = rows
        models = {"one": RejectSVC(NAMED), "two": LogisticRegression()}
        named = compare(models, X, y, NAMED, cv=3)
        chosen = compare(models, X, y, MISSED, cv=3, pos_label="disease")
        np.testing.assert_array_equal(named.prices, chosen.prices)


class TestEncodedLabels:
    """scikit-learn's tools replace labels by 0 and 1, and then neither names nor pos_label mean anything."""

    def test_they_are_an_error_with_the_way_out(self, rows):
        X, y = rows
        for clf in (RejectSVC(NAMED), RejectSVC(MISSED, pos_label="disease")):
            with pytest.raises(ValueError, match=r"wrap the classifier in abstain\.Forced\(classifier, classes="):
                cross_val_predict(clf, X, y, cv=2, method="decision_function")

    @pytest.mark.parametrize("clf", [RejectSVC(NAMED), RejectSVC(MISSED, pos_label="disease")], ids=["named", "chosen"])
    def test_forced_with_the_names_is_right(self, rows, clf):
        X, y = rows
        forced = Forced(clf, classes=["healthy", "disease"])
        scores = cross_val_predict(forced, X, y, cv=2, method="decision_function")
        answers = cross_val_predict(Forced(clf), X, y, cv=2)
        np.testing.assert_array_equal(np.where(scores > 0, "healthy", "disease"), answers)
        bagged = BaggingClassifier(forced, n_estimators=3, random_state=0, bootstrap=False).fit(X, y)
        np.testing.assert_array_equal(bagged.predict(X), clf.fit(X, y).predict_forced(X))
        wrong = RejectSVC(MISSED).fit(X, (y == "healthy").astype(int)).predict_forced(X)
        assert (np.where(wrong, "healthy", "disease") != bagged.predict(X)).any()  # control: the other orientation

    def test_labels_that_are_neither_names_nor_positions_are_refused(self, rows):
        X, y = rows
        with pytest.raises(ValueError, match=r"neither classes=\['disease', 'healthy'\] nor their positions"):
            Forced(RejectSVC(NAMED), classes=["healthy", "disease"]).fit(X, np.where(y == "disease", 1, 2))
        with pytest.raises(ValueError, match="must be the classes, two or more"):
            Forced(RejectSVC(NAMED), classes=["disease"]).fit(X, y)


def test_the_class_of_the_score_is_named_whichever_is_positive(rows):
    X, y = rows
    for pos_label, negative in (("disease", "healthy"), ("healthy", "disease")):
        clf = RejectSVC(Costs(1, 2, 0.3), C=10, pos_label=pos_label).fit(X, y)
        decided = clf.decide(X)
        high = decided.score > clf.rule_.cut
        assert 0 < high.sum() < len(high)
        assert {decided.scored_class} == {"healthy"} == set(clf.predict_forced(X)[high])
        assert (decided.labels.positive, decided.labels.negative) == (pos_label, negative)
        frame = decided.to_frame()
        assert frame.attrs == {"score": "healthy"}
        costs = [f"cost_{one}" for one in (negative, "reject", pos_label)]
        assert [name for name in frame if name.startswith("cost")] == costs
