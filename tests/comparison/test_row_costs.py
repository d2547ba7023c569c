"""`compare` and `mean_cost` with costs per row."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import Costs, RejectSVC, ThresholdRejector, compare, decide
from abstain.metrics.reading import mean_costs
from abstain.costs.row_costs import RowCosts
from abstain.metrics import mean_cost
from problems import random_row_costs

X, Y = make_classification(90, 4, flip_y=0.2, random_state=5)
ROWS = random_row_costs(np.random.default_rng(1), 90)
FOLDS = StratifiedKFold(3)


def test_mean_cost_is_that_of_each_row():
    y_true, y_pred = [0, 0, 1, 1], [1, -1, 0, 1]
    rows = [[3, 1, 0.2], [1, 1, 0.4], [2, 7, 0.1], [5, 5, 1]]
    assert mean_cost(y_true, y_pred, row_costs=rows) == pytest.approx((3 + 0.4 + 7 + 0) / 4)
    assert mean_cost(y_true, y_pred, row_costs=rows, sample_weight=[1, 0, 1, 2]) == pytest.approx(10 / 4)
    assert mean_cost(y_true, y_pred, row_costs=rows, pos_label=0) == pytest.approx((1 + 0.4 + 2) / 4)
    same = mean_cost(y_true, y_pred, row_costs=np.tile([1, 5, 0.25], (4, 1)))
    assert same == mean_cost(y_true, y_pred, Costs(1, 5, 0.25))
    with pytest.raises(ValueError, match="costs=None must be a Costs"):
        mean_cost(y_true, y_pred)
    with pytest.warns(UserWarning, match="'yes' is taken as the positive class"):
        mean_cost(["no", "yes"], ["no", "no"], row_costs=rows[:2])


def test_models_are_fitted_and_judged_by_the_rows_own_costs():
    models = {
        "rows": RejectSVC(C=2),
        "pipeline": make_pipeline(StandardScaler(), RejectSVC(C=2)),
        "one set": RejectSVC(Costs(1, 1, 0.3), C=2),
        "wrapped": ThresholdRejector(LogisticRegression(), Costs(1, 1, 0.3), method="chow"),
        "plain": LogisticRegression(),
    }
    found = compare(models, X, Y, row_costs=ROWS, cv=FOLDS)
    for train, test in FOLDS.split(X, Y):
        rows = RejectSVC(C=2).fit(X[train], Y[train], row_costs=ROWS[train])
        labels = rows.predict(X[test], row_costs=ROWS[test])
        assert found.prices[test, 0].mean() == pytest.approx(mean_cost(Y[test], labels, row_costs=ROWS[test]))
        forced = rows.predict_forced(X[test], row_costs=ROWS[test])
        own = mean_cost(Y[test], forced, row_costs=ROWS[test])
        assert found.forced_prices[0][test].mean() == pytest.approx(own)
        plain = LogisticRegression().fit(X[train], Y[train]).predict(X[test])
        assert found.prices[test, 4].mean() == pytest.approx(mean_cost(Y[test], plain, row_costs=ROWS[test]))
    assert found.blind_prices[:, 0] == pytest.approx(ROWS[:, 2])
    assert found.blind_prices[:, 1] == pytest.approx(np.where(Y == 1, ROWS[:, 1], 0.0))
    assert found.verdict is not None
    assert "each row has its own costs" in str(found)
    assert found.tables[1].rejected > 0


def test_rows_whose_reject_can_never_pay_are_compared():
    rows = ROWS.copy()
    rows[::5] = [1.0, 2.0, 3.0]
    found = compare({"rows": RejectSVC(C=2), "mean": LogisticRegression()}, X, Y, row_costs=rows, cv=FOLDS)
    assert found.blind_prices[:, 0] == pytest.approx(rows[:, 2])
    assert set(found.prices[::5, 0]) <= {0.0, 1.0, 2.0}  # never the 3 of a reject
    assert found.tables[0].rejected > 0
    lowered = mean_costs(RowCosts.of(np.tile([1.0, 2.0, 3.0], (4, 1))))
    assert lowered == Costs(1, 2, 2 / 3)  # the mean reject can never pay either, and 1/1 + 1/2 = 1 / (2/3)


def test_a_search_gets_them_by_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        machine = RejectSVC().set_fit_request(row_costs=True).set_predict_request(row_costs=True)
        search = GridSearchCV(machine.set_score_request(row_costs=True), {"C": [0.1, 2]}, cv=3)
        found = compare({"search": search, "not asked": LogisticRegression()}, X, Y, row_costs=ROWS, cv=FOLDS)
    assert found.tables[0].rejected > 0
    assert np.isfinite(found.mean_cost).all()


def test_errors():
    with pytest.raises(ValueError, match="each of the 90 rows of X; it has 4"):
        compare({"svc": RejectSVC()}, X, Y, row_costs=ROWS[:4])
    with pytest.raises(ValueError, match="costs=None must be a Costs"):
        compare({"svc": RejectSVC()}, X, Y)
    wrapped = ThresholdRejector(LogisticRegression(), Costs(reject=0.3)).fit(X, Y)
    with pytest.raises(ValueError, match="row_costs needs a RejectSVC"):
        decide(wrapped, X, ROWS)
