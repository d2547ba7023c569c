"""report_for: what the estimator decides is what the report counts, whatever is wrapped around it."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import BartlettWegkamp, Costs, RejectSVC, RejectSVCCV, ThresholdRejector
from abstain.report import report_for

X, labels = make_classification(200, 5, flip_y=0.2, random_state=0)
y = np.array(["no", "yes"])[labels]
COSTS = Costs(1, 2, 0.3)
MACHINES = {
    "svc": (RejectSVC(COSTS), True),
    "first is positive": (RejectSVC(COSTS, pos_label="no"), True),
    "pipeline": (make_pipeline(StandardScaler(), RejectSVC(COSTS)), True),
    "search": (GridSearchCV(make_pipeline(StandardScaler(), RejectSVC(COSTS)), {"rejectsvc__C": [0.1, 1]}, cv=2), True),
    "tuned cuts": (RejectSVCCV(COSTS, Cs=3, gammas=2, pos_label="yes"), True),
    "tuned cuts, first is positive": (RejectSVCCV(COSTS, Cs=3, gammas=2, pos_label="no"), True),
    "other rule": (RejectSVC(Costs(reject=0.3), rule=BartlettWegkamp(0.4)), False),
    "wrapped": (ThresholdRejector(LogisticRegression(), COSTS), False),
}


@pytest.mark.parametrize(("machine", "follows"), MACHINES.values(), ids=MACHINES.keys())
def test_the_counts_are_those_of_predict(machine, follows):
    machine.fit(X, y)
    predicted = machine.predict(X)
    report = report_for(machine, X, y, data_facts={"Held out": "no"})
    counts = [[np.sum((y == t) & (predicted == p)) for p in ("no", "reject", "yes")] for t in ("no", "yes")]
    np.testing.assert_array_equal(report.slider.upwards(report.table.counts), counts)
    assert report.measures()["mean_cost"] == pytest.approx(-machine.score(X, y))
    final = getattr(machine, "best_estimator_", machine)
    forced = final.predict_forced(X) if hasattr(final, "predict_forced") else None
    if forced is not None:
        np.testing.assert_array_equal(np.array(["no", "yes"])[(report.slider.forced > 0).astype(int)], forced)
    assert report.slider.follows_price is follows
    assert ("Held out", "no") in report.data_facts
    assert ("Rows of yes", str(np.sum(y == "yes"))) in report.data_facts


def test_facts_of_the_machine():
    facts = dict(report_for(RejectSVC(COSTS, C=3).fit(X, y), X, y).model_facts)
    assert (facts["Machine"], facts["C"], facts["Solver's status"]) == ("RejectSVC", "3", "optimal")
    assert int(facts["Support vectors"]) <= 200


def test_other_costs_than_those_trained_for_keep_the_thresholds():
    clf = RejectSVC(COSTS).fit(X, y)
    report = report_for(clf, X, y, Costs(1, 2, 0.2))
    assert not report.slider.follows_price
    np.testing.assert_array_equal(report.table.counts[:, 1], report_for(clf, X, y).table.counts[:, 1])


def test_what_cannot_be_reported_is_said():
    with pytest.raises(ValueError, match="trained without costs; a report needs costs: pass them"):
        report_for(RejectSVC().fit(X, y), X, y)
    with pytest.raises(ValueError, match=r"LogisticRegression has none\. Fit it first, or wrap another"):
        report_for(LogisticRegression().fit(X, y), X, y)


def test_rows_of_a_frame_are_called_by_its_index():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, index=pd.Index([f"p{i}" for i in range(200)], name="patient"))
    clf = RejectSVC(COSTS).fit(X, y)
    report = report_for(clf, frame, y)
    assert (report.heading, {one.name for one in report.listed}) == (
        "patient",
        set(frame.index[clf.decide(frame).queue[:100]]),
    )
    assert report_for(clf, frame, y, row_names=range(200)).heading == "row"
