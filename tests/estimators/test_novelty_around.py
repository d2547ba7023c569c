"""NoveltyRejector around every kind of classifier, and what works with it: metrics, comparisons, displays, tables."""

from typing import ClassVar

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, make_blobs
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import abstain
from abstain import (
    Actions,
    Costs,
    EmbeddedRejectSVC,
    Forced,
    LinearRejectSVC,
    LinearRejectSVCCV,
    NoveltyRejector,
    RejectSVC,
    RejectSVCCV,
    ThresholdRejector,
)
from abstain.metrics import get_scorer

COSTS = Costs(reject=0.2)
X, Y = make_blobs(300, centers=[[-1, 0], [1, 0]], random_state=0)
X3, Y3 = load_iris(return_X_y=True)
TWO = [
    RejectSVC(COSTS),
    RejectSVC(),
    RejectSVCCV(COSTS, Cs=[1], gammas=[1]),
    LinearRejectSVC(COSTS),
    LinearRejectSVCCV(COSTS, Cs=[1]),
    EmbeddedRejectSVC(0.2, n_starts=1),
    ThresholdRejector(LogisticRegression(), COSTS),
    ThresholdRejector(RandomForestClassifier(5, random_state=0), reject_rate=0.2),
    ThresholdRejector(LogisticRegression(), class_error=0.1, random_state=0),
    Forced(RejectSVC(COSTS)),
    LogisticRegression(),
    RandomForestClassifier(5, random_state=0),
    SVC(),
    make_pipeline(StandardScaler(), RejectSVC(COSTS)),
    GridSearchCV(make_pipeline(StandardScaler(), RejectSVC(COSTS)), {"rejectsvc__C": [1, 3]}, cv=2),
    NoveltyRejector(LogisticRegression(), 0.05, random_state=1),
]
THREE = [
    RejectSVC(COSTS),
    RejectSVC(),
    LinearRejectSVC(COSTS),
    ThresholdRejector(LogisticRegression(max_iter=1000), COSTS),
    ThresholdRejector(LogisticRegression(max_iter=1000), class_error=0.2, random_state=0),
    LogisticRegression(max_iter=1000),
    SVC(),
    make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0)),
]


def cases():
    for estimator in TWO:
        yield pytest.param(estimator, X, Y, id=f"two {type(estimator).__name__}")
    for estimator in THREE:
        yield pytest.param(estimator, X3, Y3, id=f"three {type(estimator).__name__}")


@pytest.mark.parametrize(("estimator", "rows", "y"), [*cases()])
def test_decisions_are_the_classifiers_except_for_novel_rows(estimator, rows, y):
    model = NoveltyRejector(estimator, rate=0.05, random_state=0).fit(rows, y)
    at = np.arange(0, len(rows), len(rows) // 40)[:40]
    some = np.concatenate([rows[at], 50 + rows[:5]])
    alone, found = np.asarray(model.estimator_.predict(some)), model.decide(some)
    novel = found.reason == "novel"
    assert novel[-5:].all()
    assert not novel[:40].all()
    np.testing.assert_array_equal(found.label, np.where(novel, model.reject_label_, alone))
    np.testing.assert_array_equal(found.label, model.predict(some))
    np.testing.assert_array_equal(found.rejected, found.label == model.reject_label_)
    np.testing.assert_array_equal(found.rejected, model.reject_mask(some))
    np.testing.assert_array_equal(found.rejected, found.reason != "decided")
    np.testing.assert_array_equal(found.score, model.decision_function(some))
    np.testing.assert_array_equal(found.forced, model.predict_forced(some))
    assert set(found.forced) <= set(model.classes_)
    assert np.isnan(found.expected_cost[novel]).all()
    assert found.label.dtype == model.predict(some[:1]).dtype
    assert hasattr(model, "predict_proba") == hasattr(model.estimator_, "predict_proba")
    if found.score.ndim == 1 or model.rule_.costs is not None:
        assert model.predict_set(some)[novel].all()
    counts = model.calibration_.choices
    assert counts.sum() == model.guard_.m
    assert len(counts) == len(model.classes_) + 1
    # what is paid: a reject for each novel row, nothing without costs
    truth = y[np.r_[at, :5]]
    costs = getattr(model.rule_, "costs", None)
    paid = np.where(found.rejected, 0.0 if costs is None else 0.2, found.label != truth)
    assert model.score(some, truth) == pytest.approx(-paid.mean())
    # and the same from outside
    again = abstain.decide(make_pipeline(StandardScaler(with_mean=False, with_std=False), model).fit(rows, y), some)
    np.testing.assert_array_equal(again.label, found.label)
    fitted = abstain.estimators.unwrap.FittedClassifier.of(model)
    assert fitted.rejects
    assert fitted.reject_label == model.reject_label_
    np.testing.assert_array_equal(fitted.score(some), found.score)
    rate = get_scorer("reject_rate")(model, some, truth)
    assert rate == pytest.approx(-found.rejected.mean())


@pytest.mark.parametrize("estimator", [RejectSVC(COSTS), LogisticRegression()], ids=repr)
def test_a_reject_label_of_your_own_is_used_for_both_kinds_of_rejects(estimator):
    names = np.array(["no", "yes"])[Y]
    model = NoveltyRejector(estimator, 0.05, reject_label="ask a doctor", random_state=0).fit(X, names)
    found = model.decide(np.vstack([X, 50 + X[:3]]))
    assert {*found.label[found.rejected]} == {"ask a doctor"}
    assert {*found.label[~found.rejected]} == {"no", "yes"}
    assert model.reject_label_ == found.labels.reject_label == "ask a doctor"
    with pytest.raises(ValueError, match="reject_label='yes' is one of the classes"):
        NoveltyRejector(estimator, 0.05, reject_label="yes").fit(X, names)


class TestActions:
    TABLE: ClassVar[dict] = {"0": {0: 0, 1: 5}, "1": {0: 1, 1: 0}, "call": 0.3, "visit": {0: 0.4, 1: 0.2}}
    ACTIONS = Actions(TABLE, rejects=("visit", "call"))

    def test_a_novel_row_gets_the_reject_that_costs_least_at_worst(self):
        model = NoveltyRejector(RejectSVC(self.ACTIONS), 0.05, random_state=0).fit(X, Y)
        found = model.decide(np.vstack([X[:20], 50 + X[:5]]))
        assert (found.label[-5:] == "call").all()
        assert (found.reason[-5:] == "novel").all()
        assert model.score(50 + X[:5], Y[:5]) == pytest.approx(-0.3)
        np.testing.assert_array_equal(found.label[:20], model.estimator_.predict(X[:20]))
        assert model.calibration_.choices.shape == (4,)
        assert model.calibration_.choices.sum() == model.guard_.m
        assert {*found.to_frame()["reason"]} <= {"decided", "ambiguous", "novel"}

    def test_without_a_reject_there_is_an_error_with_the_way_out(self):
        table = {name: cost for name, cost in self.TABLE.items() if name in "01"}
        with pytest.raises(ValueError, match=r"no action that hands a case on.*name one in rejects"):
            NoveltyRejector(RejectSVC(Actions(table, rejects=())), 0.05).fit(X, Y)
        with pytest.raises(ValueError, match="reject_label='no' has no effect with Actions"):
            NoveltyRejector(RejectSVC(self.ACTIONS), 0.05, reject_label="no").fit(X, Y)


class TestRowCosts:
    COSTS = np.column_stack([np.ones(300), np.where(np.arange(300) % 2, 9.0, 1.0), np.full(300, 0.2)])

    @pytest.mark.parametrize("estimator", [RejectSVC(), make_pipeline(StandardScaler(), RejectSVC())], ids=["", "pipe"])
    @pytest.mark.parametrize("refit", [True, False])
    def test_they_reach_the_classifier(self, estimator, refit):
        model = NoveltyRejector(estimator, 0.05, refit=refit, random_state=0).fit(X, Y, row_costs=self.COSTS)
        found = abstain.decide(model, X, self.COSTS)
        alone = abstain.decide(model.estimator_, X, self.COSTS)
        novel = found.reason == "novel"
        np.testing.assert_array_equal(found.label[~novel], alone.label[~novel])
        np.testing.assert_array_equal(found.label, model.predict(X, row_costs=self.COSTS))
        assert model.calibration_.choices.sum() == model.guard_.m
        assert model.score(50 + X, Y, row_costs=self.COSTS) == pytest.approx(-0.2)
        scored = get_scorer("mean_cost", row_costs=True)(model, X, Y, row_costs=self.COSTS)
        assert scored == pytest.approx(model.score(X, Y, row_costs=self.COSTS))

    def test_a_search_routes_them(self):
        with sklearn.config_context(enable_metadata_routing=True):
            inner = RejectSVC().set_fit_request(row_costs=True)
            model = NoveltyRejector(inner, 0.05, random_state=0).set_fit_request(row_costs=True)
            scorer = get_scorer("mean_cost", row_costs=True)
            search = GridSearchCV(model, {"estimator__C": [0.1, 1.0]}, cv=2, scoring=scorer)
            search.fit(X, Y, row_costs=self.COSTS)
        assert search.best_score_ > -0.3
        assert search.best_estimator_.calibration_.choices is not None

    def test_a_classifier_without_them_is_an_error_and_compare_passes_it_none(self):
        model = NoveltyRejector(LogisticRegression(), 0.05, random_state=0)
        with pytest.raises(ValueError, match=r"row_costs .*LogisticRegression takes none"):
            model.fit(X, Y, row_costs=self.COSTS)
        models = {"plain": model, "by row": NoveltyRejector(RejectSVC(), 0.05, random_state=0)}
        frame = abstain.compare(models, X, Y, row_costs=self.COSTS, cv=2).to_frame()
        assert np.isfinite(frame["mean_cost"]).all()


def test_compare_counts_novel_rows_as_rejects():
    models = {"guarded": NoveltyRejector(LogisticRegression(), 0.2, random_state=0), "alone": LogisticRegression()}
    frame = abstain.compare(models, X, Y, COSTS, cv=2).to_frame()
    assert frame.loc["guarded", "reject_rate"] > 0.05
    assert frame.loc["alone", "reject_rate"] == 0.0


class TestTables:
    @pytest.mark.parametrize("library", ["pandas", "polars"])
    @pytest.mark.parametrize("around", [False, True])
    def test_data_frames_with_text(self, library, around):
        frames = pytest.importorskip(library)
        rng = np.random.default_rng(0)
        columns = {"size": rng.normal(size=300), "colour": np.array(["red", "green"])[rng.integers(0, 2, 300)]}
        y = (columns["size"] > 0).astype(int)
        encoder = OneHotEncoder(handle_unknown="ignore")
        ready = make_column_transformer((StandardScaler(), ["size"]), (encoder, ["colour"]))
        pipe = make_pipeline(ready, LogisticRegression())
        model = NoveltyRejector(ThresholdRejector(pipe, COSTS) if around else pipe, 0.05, random_state=0)
        frame = frames.DataFrame(columns)
        model.fit(frame, y)
        assert np.mean(model.decide(frame).reason == "novel") < 0.15
        assert (model.decide(frames.DataFrame(columns | {"size": 100 + columns["size"]})).reason == "novel").all()
        assert model.feature_names_in_.tolist() == ["size", "colour"]
        if library == "pandas":
            assert model.decide(frame.iloc[5:8]).to_frame().index.tolist() == [5, 6, 7]

    def test_text_without_preprocessing_says_where_to_put_it(self):
        class Reads(LogisticRegression):
            def fit(self, X, y):
                return super().fit((np.asarray(X) == "a").astype(float), y)

        rows = np.array([["a"], ["b"]] * 150, dtype=object)
        with pytest.raises(ValueError, match=r"cannot be fitted to these rows.*into one Pipeline"):
            NoveltyRejector(Reads(), 0.05).fit(rows, [0, 1] * 150)

    def test_sparse_rows(self):
        rows = sparse.random(400, 30, 0.2, format="csr", random_state=0)
        y = (np.asarray(rows.sum(axis=1)).ravel() > 3).astype(int)
        for given in (rows, rows.tocoo()):
            model = NoveltyRejector(LinearRejectSVC(COSTS), 0.05, random_state=0).fit(given, y)
            assert np.mean(model.decide(given).reason == "novel") < 0.15
            assert np.mean(model.decide(30 * given).reason == "novel") > 0.9

    def test_missing_values_where_the_classifier_takes_them(self):
        holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
        for detector in (None, IsolationForest(n_estimators=20)):
            model = NoveltyRejector(HistGradientBoostingClassifier(max_iter=5), 0.05, detector, random_state=0)
            found = model.fit(holes, Y).decide(np.vstack([holes[:30], [[np.nan, 1e300], [1e60, -1e60]]]))
            assert not (found.reason[:30] == "novel").all()
            assert (found.reason[30:] == "novel").all()
        with pytest.raises(ValueError, match="NaN"):
            NoveltyRejector(LogisticRegression(), 0.05, random_state=0).fit(X, Y).predict(holes)

    def test_what_it_does_not_take_is_an_error(self):
        with pytest.raises(ValueError, match="takes kernel values between rows"):
            NoveltyRejector(RejectSVC(kernel="precomputed")).fit(X @ X.T, Y)
        array = pytest.importorskip("dask.array")
        model = NoveltyRejector(LinearRejectSVC(COSTS), 0.05, random_state=0).fit(X, Y)
        lazy = array.from_array(X, chunks=(100, 2))
        for asked in (model.predict, model.decide, model.novelty, lambda rows: clone(model).fit(rows, Y)):
            with pytest.raises(TypeError, match=r"takes rows in memory.*FrozenEstimator"):
                asked(lazy)


def test_weights_and_groups_are_routed_as_metadata():
    weight, groups = np.ones(300), np.arange(300) // 5
    with sklearn.config_context(enable_metadata_routing=True):
        inner = RejectSVCCV(COSTS, Cs=[1], gammas=[1]).set_fit_request(sample_weight=True, groups=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        model = NoveltyRejector(make_pipeline(scaler, inner), 0.05, random_state=0)
        model.fit(X, Y, sample_weight=weight, groups=groups)
        silent = NoveltyRejector(LogisticRegression(), 0.05)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError):
            silent.fit(X, Y, sample_weight=weight)
    assert model.guard_.m >= 60
    with pytest.raises(ValueError, match="sample_weight has no effect"):
        NoveltyRejector(make_pipeline(StandardScaler(), RejectSVC()), 0.05).fit(X, Y, sample_weight=weight)


def test_a_search_tunes_the_rate_and_the_classifier():
    grid = {"rate": [0.05, 0.2], "estimator__C": [0.1, 1.0]}
    found = GridSearchCV(NoveltyRejector(RejectSVC(COSTS), random_state=0), grid, cv=2).fit(X, Y)
    assert found.best_params_["rate"] == 0.05  # rejecting more of the same rows costs more
    assert abstain.decide(found, 50 + X[:3]).reason.tolist() == ["novel"] * 3


def test_displays_draw_it():
    pytest.importorskip("matplotlib").use("agg")
    model = NoveltyRejector(RejectSVC(COSTS), 0.05, random_state=0).fit(X, Y)
    abstain.plot.RejectRegionDisplay.from_estimator(model, X, Y, grid_resolution=10)
    drawn = abstain.plot.RiskCoverageDisplay.from_estimator(model, X, Y)
    alone = abstain.plot.RiskCoverageDisplay.from_estimator(model.estimator_, X, Y)
    np.testing.assert_array_equal(drawn.curve.risk, alone.curve.risk)  # a curve of scores leaves novelty out
