"""Drift of fitted models: every kind of classifier and of rows that a NoveltyRejector takes."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from abstain import Actions, Costs, NoveltyRejector, RejectSVC, drift
from abstain.comparison.batch_counts import DriftCounts, lacking
from abstain.estimators.unwrap import decide
from abstain.preprocessing import default_pipeline

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 2))
Y = np.where(X[:, 0] + 0.3 * rng.normal(size=400) > 0, "yes", "no")
THREE = np.digitize(X[:, 0], [-0.5, 0.5])
SAME = rng.normal(size=(60, 2))
ACTIONS = Actions({"go": {"no": 0, "yes": 5}, "stop": {"no": 1, "yes": 0}, "call": 0.3}, rejects=("call",))
COSTS = Costs(reject=0.2)


def machine(costs=COSTS):
    return make_pipeline(StandardScaler(), RejectSVC(costs, pos_label=None if costs is ACTIONS else "yes"))


MODELS = {
    "two classes": (machine(), X, Y),
    "several classes": (RejectSVC(COSTS), X, THREE),
    "actions": (machine(ACTIONS), X, Y),
    "without rejects": (LogisticRegression(), X, Y),
    "frozen": (FrozenEstimator(machine().fit(X, Y)), X, Y),
    "sparse": (make_pipeline(MaxAbsScaler(), RejectSVC(COSTS, pos_label="yes")), csr_array(X), Y),
}


@pytest.mark.parametrize("name", MODELS)
def test_rows_alike_are_not_drift_and_shifted_ones_are(name):
    estimator, rows, y = MODELS[name]
    model = NoveltyRejector(estimator, random_state=0).fit(rows, y)
    same, moved = (type(rows)(batch) if name == "sparse" else batch for batch in (SAME, SAME + 2))
    found = drift(model, same)
    assert not found.drifted
    assert drift(model, moved).drifted
    counts = DriftCounts.of(model, same)
    assert (counts.choices is None) == (name == "frozen")
    if name not in ("frozen", "without rejects"):
        own = decide(model.estimator_, same)
        np.testing.assert_array_equal(counts.choices, model._fitted_.counted(own))
    if name == "without rejects":
        assert counts.choices.tolist() == [*np.unique(model.predict_forced(same), return_counts=True)[1], 0]


def test_steps_in_front_of_the_guard_transform_the_rows():
    plain = NoveltyRejector(RejectSVC(COSTS, pos_label="yes"), random_state=0)
    model = make_pipeline(StandardScaler(), plain).fit(X, Y)
    assert drift(model, SAME).tests == drift(model[-1], model[0].transform(SAME)).tests
    assert drift(model[-1], 5 * SAME).drifted


def test_categories_and_gaps_of_a_frame_are_compared_with_all_training_rows():
    frame = pd.DataFrame({"number": X[:, 0], "text": rng.choice(["a", "b", "c"], size=400)})
    model = NoveltyRejector(default_pipeline(RejectSVC(COSTS, pos_label="yes"), ["number"], ["text"]), random_state=0)
    model.fit(frame, Y)
    batch = frame.sample(60, random_state=0)
    assert not drift(model, batch).drifted
    found = {test.name: test for test in drift(model, batch.assign(text="a", number=np.nan)).significant}
    assert found["column 'text'"].label == ("text", "a")
    assert found["column 'text'"].before == np.mean(frame["text"] == "a")
    assert (found["column 'number'"].here, found["column 'number'"].before) == (1.0, 0.0)


def test_a_class_may_have_the_name_of_rejects():
    y = np.where(Y == "yes", "reject", "no")
    named = NoveltyRejector(RejectSVC(COSTS, pos_label="reject", reject_label="?"), random_state=0).fit(X, y)
    other = NoveltyRejector(machine()[-1], random_state=0).fit(X, Y)
    assert DriftCounts.of(named, SAME).choices[[0, 1, 2]].tolist() == DriftCounts.of(other, SAME).choices.tolist()
    assert not drift(named, SAME).drifted


def test_rows_of_weight_0_are_not_compared_with():
    rows = np.vstack([X, np.full_like(X, 9.0)])
    weight = np.repeat([1.0, 0.0], len(X))
    model = NoveltyRejector(LogisticRegression(), random_state=0).fit(rows, np.tile(Y, 2), sample_weight=weight)
    assert model.seen_.rows == len(X)
    assert model.seen_[0].largest == X[:, 0].max()
    assert lacking(model) == len(model.guard_.scores) / len(X)


def test_a_classifier_that_one_row_more_turns_around_gives_no_alarm():
    y = np.where(np.arange(400) % 2, "yes", "no")
    y[0] = "yes"  # the most frequent class by two rows: without the calibration rows it is often the other one
    models = [NoveltyRejector(DummyClassifier(), random_state=seed).fit(X, y) for seed in range(8)]
    kept = [model.calibration_.choices is not None for model in models]
    assert 0 < sum(kept) < len(kept)
    assert not any(drift(model, SAME).drifted for model in models)


def test_a_guard_inside_a_guard_rejects_novel_rows_in_the_batch_and_gives_no_alarm():
    model = NoveltyRejector(NoveltyRejector(LogisticRegression(), 0.45, random_state=1), random_state=1)
    assert not drift(model.fit(X, Y), np.random.default_rng(1).normal(size=(300, 2))).drifted
    assert model.calibration_.choices[-1] > 0.2 * len(model.guard_.scores)


def test_rare_classes_that_training_needs_give_no_alarm():
    y = np.repeat(np.arange(26), [200, *[8] * 25])
    rows, batch = (np.column_stack([3.0 * y, np.ones(400)]) + 0.1 * rng.normal(size=(400, 2)) for _ in range(2))
    for refit in (True, False):
        model = NoveltyRejector(KNeighborsClassifier(1), random_state=0, refit=refit).fit(rows, y)
        assert model.calibration_.choices.sum() < len(model.guard_.scores)
        decisions = {test.kind: test.p_value for test in drift(model, batch).tests}["decisions"]
        assert decisions > 0.05
    one = np.tile(batch[y == 1], (8, 1))
    assert {test.kind: test.p_value for test in drift(model, one).tests}["decisions"] < 0.05
