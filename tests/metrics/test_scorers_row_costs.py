"""Scorers of rows with costs of their own, called and routed."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import Costs, RejectSVC
from abstain.metrics import get_scorer, mean_cost, selective_error
from class_cases import gaussians
from problems import random_row_costs

X, Y = make_classification(90, 4, flip_y=0.2, random_state=5)
ROWS = random_row_costs(np.random.default_rng(1), 90)
FOLDS = StratifiedKFold(3)


def test_decisions_are_by_the_rows_own_costs():
    scorer = get_scorer("mean_cost", row_costs=True)
    clf = RejectSVC(pos_label=0, C=10).fit(X, Y, row_costs=ROWS)
    labels = clf.predict(X, row_costs=ROWS)
    assert scorer(clf, X, Y, row_costs=ROWS) == pytest.approx(clf.score(X, Y, row_costs=ROWS))
    wrong = get_scorer("selective_error", row_costs=True)(clf, X, Y, row_costs=ROWS)
    assert wrong == pytest.approx(-selective_error(Y, labels))
    pipe = make_pipeline(StandardScaler(), RejectSVC(C=10)).fit(X, Y, rejectsvc__row_costs=ROWS)
    own = pipe[-1].predict(pipe[0].transform(X), row_costs=ROWS)
    assert scorer(pipe, X, Y, row_costs=ROWS) == pytest.approx(-mean_cost(Y, own, row_costs=ROWS))
    bartlett = RejectSVC(Costs(reject=0.3), rule="bartlett-wegkamp")
    for other in (LogisticRegression(), bartlett):  # they decide without the rows' costs, and are judged by them
        said = other.fit(X, Y).predict(X)
        assert scorer(other, X, Y, row_costs=ROWS) == pytest.approx(-mean_cost(Y, said, row_costs=ROWS))


def test_a_search_routes_them():
    with sklearn.config_context(enable_metadata_routing=True):
        machine = RejectSVC().set_fit_request(row_costs=True)
        scorer = get_scorer("mean_cost", row_costs=True)
        search = GridSearchCV(machine, {"C": [0.01, 10]}, cv=FOLDS, scoring=scorer).fit(X, Y, row_costs=ROWS)
        routed = cross_validate(machine, X, Y, cv=FOLDS, scoring=scorer, params={"row_costs": ROWS})["test_score"]
    for fold, (train, test) in enumerate(FOLDS.split(X, Y)):
        for at, C in enumerate([0.01, 10]):
            clf = RejectSVC(C=C).fit(X[train], Y[train], row_costs=ROWS[train])
            score = clf.score(X[test], Y[test], row_costs=ROWS[test])
            assert search.cv_results_[f"split{fold}_test_score"][at] == pytest.approx(score)
    assert routed.shape == (3,)


def test_refusals():
    rows = RejectSVC().fit(X, Y, row_costs=ROWS)
    by_row, by_one = get_scorer("mean_cost", row_costs=True), get_scorer("mean_cost", Costs(reject=0.3))
    for call, text in (
        (lambda: by_row(rows, X, Y), "without row_costs; pass row_costs"),
        (lambda: by_one(rows, X, Y, row_costs=ROWS), r"get_scorer\(..., row_costs=True\)"),
        (lambda: get_scorer("mean_cost", Costs(), row_costs=True), "takes the place of costs"),
        (lambda: get_scorer("aurc", row_costs=True), "does not depend on costs"),
        (lambda: get_scorer("mean_cost", row_costs=True, pos_label=0)(rows, X, Y, row_costs=ROWS), "leave it out"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(TypeError, match="cannot be requested"):
        by_row.set_score_request(groups=True)


def test_a_classifier_without_costs_is_scored_by_the_table_of_each_row():
    rng = np.random.default_rng(0)
    X3, Y3 = gaussians(60)
    table = rng.uniform(0.1, 1, (60, 3, 4))
    table[:, range(3), range(3)] = 0
    plain = LogisticRegression().fit(X3, Y3)
    said = plain.predict(X3)
    paid = np.mean([table[row, Y3[row], said[row]] for row in range(60)])
    found = get_scorer("mean_cost", row_costs=True)(plain, X3, Y3, row_costs=table)
    assert found == pytest.approx(-paid)
    assert found != pytest.approx(-table[:, 0, 1].mean())  # control
