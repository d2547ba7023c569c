"""One way to ask a classifier: another positive class exchanges the costs, and a score on the cut stays where it is."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from abstain import Actions, Costs, Forced, RejectSVC, ThresholdRejector, decide, save, to_onnx
from abstain.estimators.novelty.detectors import transformers_of
from abstain.estimators.unwrap import FittedClassifier
from abstain.metrics import get_scorer
from abstain.plot import AccuracyRejectDisplay, CostCurveDisplay
from abstain.report import report_for
from class_cases import gaussians

COSTS = Costs(1, 5, (0.3, 0.4))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    return X, np.where(X[:, 0] + 0.8 * rng.normal(size=120) > 0.3, "yes", "no")


@pytest.mark.parametrize("own", ["no", "yes"])
@pytest.mark.parametrize("asked", ["no", "yes"])
def test_the_cost_of_the_decisions_does_not_depend_on_the_class_called_positive(rows, own, asked):
    clf = RejectSVC(COSTS, pos_label=own).fit(*rows)
    cost = -clf.score(*rows)
    assert report_for(clf, *rows, pos_label=asked).measures()["mean_cost"] == pytest.approx(cost)
    assert CostCurveDisplay.from_estimator(clf, *rows, pos_label=asked).decided[1] == pytest.approx(cost)
    assert (FittedClassifier.of(clf, asked).costs == COSTS) is (own == asked)


def test_a_score_on_the_cut_goes_the_same_way_whichever_class_is_positive():
    X, y = np.repeat([[0.0], [1.0], [2.0]], 4, axis=0), np.array(["no"] * 6 + ["yes"] * 6)
    new, truth = np.array([[0.0], [1], [1], [1], [2]]), np.array(["no", "no", "no", "yes", "yes"])
    found = []
    for positive in ("no", "yes"):
        tree = ThresholdRejector(DecisionTreeClassifier(), Costs(reject=0.4), cv="train", pos_label=positive).fit(X, y)
        wrong = np.mean(tree.predict_forced(new) != truth)
        accuracy = AccuracyRejectDisplay.from_estimator(tree, new, truth).curve
        found.append((wrong, 1 - accuracy.accuracy[0], get_scorer("aurc")(tree, new, truth)))
    assert found[0] == pytest.approx(found[1])
    assert found[0][0] == pytest.approx(0.2)  # of three rows on the cut, answered "no", one is "yes"
    assert found[0][1] == pytest.approx(0.2)


class Sampler:
    """A step that only resamples training rows, as of imbalanced-learn; new rows must not pass through it."""

    def fit_resample(self, *rows):
        raise AssertionError(rows)


def test_new_rows_skip_what_only_resamples(rows):
    X, y = rows
    scale = StandardScaler().fit(X)
    machine = RejectSVC(COSTS).fit(scale.transform(X), y)
    resampled = Pipeline([("scale", scale), ("sampler", Sampler()), ("machine", machine)])
    plain = Pipeline([("scale", scale), ("machine", machine)])
    np.testing.assert_array_equal(decide(resampled, X).label, decide(plain, X).label)
    for first in (Pipeline([("sampler", Sampler()), ("machine", machine)]), machine):
        np.testing.assert_array_equal(decide(first, X).label, machine.predict(X))
    assert [name for name, _ in transformers_of(resampled)] == ["scale"]


class Resampled(Pipeline):
    """As of imbalanced-learn."""


@pytest.mark.parametrize("write", [save, lambda one, _: to_onnx(one)], ids=["save", "onnx"])
def test_what_only_resamples_is_named_where_a_pipeline_with_it_cannot_be_written(rows, tmp_path, write):
    pytest.importorskip("onnx")
    X, y = rows
    steps = [("scale", StandardScaler().fit(X)), ("over", Sampler()), ("machine", RejectSVC(COSTS).fit(X, y))]
    with pytest.raises(ValueError, match=r"a Pipeline with the step 'over', which only resamples .* its other fitted"):
        write(Resampled(steps), tmp_path / "model")
    write(Pipeline([steps[0], steps[2]]), tmp_path / "model")  # the way out


def search_of(pipeline):
    return GridSearchCV(pipeline, {"machine__C": [1.0]}, cv=2)


@pytest.mark.parametrize("wrap", [lambda one: one, search_of, lambda one: make_pipeline("passthrough", one)])
@pytest.mark.parametrize("machine", [RejectSVC(COSTS), RejectSVC()], ids=["costs", "no costs"])
def test_a_pipeline_decides_as_its_machine_does(rows, wrap, machine):
    X, y = rows
    X = 50.0 * X + 7.0
    model = wrap(Pipeline([("scale", StandardScaler()), ("machine", machine)])).fit(X, y)
    Z = StandardScaler().fit_transform(X)
    alone = RejectSVC(**machine.get_params()).fit(Z, y)
    decisions, expected = decide(model, X), alone.decide(Z)
    for name in ("label", "rejected", "score", "expected_cost", "forced"):
        np.testing.assert_array_equal(getattr(decisions, name), getattr(expected, name))
    np.testing.assert_array_equal(decisions.forced, alone.predict_forced(Z))
    np.testing.assert_array_equal(decisions.rejected, alone.reject_mask(Z))
    assert decisions.rejected.any() == (machine.costs is not None)
    assert set(decisions.forced) == {"no", "yes"}


def test_decisions_keep_the_index_of_a_frame(rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=["a", "b"], index=[f"row {at}" for at in range(len(X))])
    model = make_pipeline(StandardScaler(), RejectSVC(COSTS)).fit(frame, y)
    assert decide(model, frame.iloc[3:5]).to_frame().index.tolist() == ["row 3", "row 4"]
    assert RejectSVC(COSTS).fit(frame, y).decide(frame.iloc[3:5]).to_frame().index.tolist() == ["row 3", "row 4"]
    assert decide(model[-1:], X[:2]).to_frame().index.tolist() == [0, 1]


def test_what_does_not_reject_cannot_decide(rows):
    with pytest.raises(ValueError, match=r"LogisticRegression does not reject. Wrap it in ThresholdRejector"):
        decide(make_pipeline(StandardScaler(), LogisticRegression()).fit(*rows), rows[0])


def test_decide_names_the_way_out_of_forced(rows):
    X, y = rows
    forced = Forced(make_pipeline(StandardScaler(), RejectSVC(COSTS))).fit(X, y)
    with pytest.raises(ValueError, match="Forced decides every row; put its estimator_, which rejects, in its place"):
        decide(forced, X)
    assert decide(forced.estimator_, X).rejected.any()


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, list])
def test_decide_notices_swapped_arguments(rows, kind):
    X, y = rows
    with pytest.raises(ValueError, match=r"estimator and X are swapped; call decide\(estimator, X\)"):
        decide(kind(X), RejectSVC(COSTS).fit(X, y))


def test_actions_that_answer_no_class_rank_the_likeliest():
    table = {"ship": {0: 0, 1: 3, 2: 2}, "scrap": {0: 1, 1: 0, 2: 0.5}, "ask": 0.4}
    X, y = gaussians(150)
    clf = RejectSVC(Actions(table, rejects=("ask",))).fit(X, y)
    score = clf.decision_function(X)
    ranked = FittedClassifier.of(clf).class_scores(score)
    np.testing.assert_array_equal(ranked.argmax(axis=1), score.argmax(axis=1))
    confidence, rejected = ranked.max(axis=1), clf.reject_mask(X)
    assert rejected.any()
    assert confidence[rejected].max() <= confidence[~rejected].min()  # a cut on it rejects as the machine does
