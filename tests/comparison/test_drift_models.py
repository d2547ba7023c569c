"""Drift of fitted models: every kind of classifier and of rows that a NoveltyRejector takes."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from abstain import Actions, Costs, NoveltyRejector, RejectSVC, drift
from abstain.comparison.batch_counts import DriftCounts
from abstain.estimators.calibration import counted
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
        np.testing.assert_array_equal(counts.choices, counted(own.label, own.rejected, model.rule_))
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
