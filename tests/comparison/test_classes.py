"""`compare` for several classes and for actions: every number by a count of its own, and refusals with a way out."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold

from abstain import Costs, RejectSVC, ThresholdRejector, compare
from abstain.metrics.reading import mean_costs
from abstain.comparison.rules import default_rules, left_out
from abstain.comparison.text import as_html
from abstain.costs.row_costs import RowCosts
from action_cases import CREDIT
from class_cases import GENERAL, gaussians, paid
from problems import random_row_costs

X, CODE = gaussians(120)
NAMES = np.array(["cold", "flu", "pneumonia", "reject"])
Y = NAMES[CODE]
REJECT = (0.3, 0.5, 0.4)
COSTS = Costs.from_matrix(GENERAL, labels=NAMES[:3].tolist(), reject=REJECT)
FOLDS = StratifiedKFold(3)
TWO, SIGN = make_classification(90, 4, flip_y=0.2, random_state=5)
CREDITS = np.array(["bad", "good"])[SIGN]
TABLE = np.array([[5, 0, 0.3, 0.2], [0, 1, 0.3, 0.4]])  # rows bad, good; columns the actions of CREDIT


class Nearest(ClassifierMixin, BaseEstimator):
    """Learns nothing: the class of the direction, or a reject near the origin."""

    def __init__(self, radius=0.0):
        self.radius = radius

    def fit(self, X, y):  # noqa: ARG002 (learns nothing)
        self.classes_ = NAMES[:3]
        return self

    def code(self, X):
        towards = X @ np.array([[0.0, -0.87, 0.87], [1.0, -0.5, -0.5]])
        return np.where(np.linalg.norm(X, axis=1) < self.radius, 3, towards.argmax(axis=1))

    def predict(self, X):
        return NAMES[self.code(X)]


def test_every_number_against_a_count_of_its_own():
    models = {"wide": Nearest(1.0), "none": Nearest(), "svm": RejectSVC(COSTS)}
    found = compare(models, X, Y, COSTS, cv=FOLDS)
    frame = found.to_frame()
    for name, radius in (("wide", 1.0), ("none", 0.0)):
        choice = Nearest(radius).code(X)
        accepted, wrong = choice < 3, (choice < 3) & (choice != CODE)
        row = frame.loc[name]
        assert row["mean_cost"] == pytest.approx(paid(GENERAL, REJECT, CODE, choice))
        assert row["reject_rate"] == pytest.approx(1 - accepted.mean())
        assert row["selective_error"] == pytest.approx(wrong[accepted].mean())
        by_class = [wrong[accepted & (k == CODE)].mean() for k in range(3)]
        assert row["worst_class_error"] == pytest.approx(max(by_class))
    svm = np.empty(len(X), dtype=int)
    forced = np.empty(len(X), dtype=int)
    for train, test in FOLDS.split(X, Y):
        machine = RejectSVC(COSTS).fit(X[train], Y[train])
        svm[test] = [NAMES.tolist().index(label) for label in machine.predict(X[test])]
        forced[test] = [NAMES.tolist().index(label) for label in machine.predict_forced(X[test])]
    assert found.mean_cost[2] == pytest.approx(paid(GENERAL, REJECT, CODE, svm))
    assert found.forced_prices[2].mean() == pytest.approx(paid(GENERAL, REJECT, CODE, forced))
    assert found.scores[2].shape == (120, 3)


def test_the_verdict_is_against_rejecting_all_one_class_for_all_and_no_rejects():
    found = compare({"svm": RejectSVC(COSTS), "plain": LogisticRegression()}, X, Y, COSTS, cv=FOLDS)
    alternatives = dict(found.verdict.alternatives)
    for code, label in enumerate(NAMES[:3]):
        everywhere = paid(GENERAL, REJECT, CODE, np.full(len(CODE), code))
        assert alternatives.pop(f"deciding {str(label)!r} for every row") == pytest.approx(everywhere)
    rejecting = paid(GENERAL, REJECT, CODE, np.full(len(CODE), 3))
    assert alternatives.pop("rejecting every row") == pytest.approx(rejecting)
    assert set(alternatives) == {"svm, deciding every row without rejects", "plain"}
    assert "error 1 to 5, reject 0.3 to 0.5" in str(found)
    assert "worst class" in str(found)
    assert "worst class" not in as_html(found)


def test_one_price_for_all_and_repeated_rows():
    once = compare({"near": Nearest(0.5)}, X, Y, Costs(reject=0.2), cv=FOLDS)
    twice = RepeatedStratifiedKFold(n_splits=3, n_repeats=2)
    often = compare({"near": Nearest(0.5)}, X, Y, Costs(reject=0.2), cv=twice)
    choice = Nearest(0.5).code(X)
    assert once.mean_cost[0] == often.mean_cost[0] == pytest.approx(paid(1 - np.eye(3), 0.2, CODE, choice))
    np.testing.assert_allclose(often.tables[0].counts, once.tables[0].counts)
    repeated = compare({"svm": RejectSVC(COSTS)}, X, Y, COSTS, cv=twice)
    assert repeated.scores[0].shape == (120, 3)


def test_actions_are_priced_by_their_table():
    models = {"svm": RejectSVC(CREDIT), "chow": ThresholdRejector(LogisticRegression(), CREDIT, method="chow")}
    found = compare(models, TWO, CREDITS, CREDIT, cv=FOLDS)
    taken, forced = np.empty((2, 90), dtype=int)
    for train, test in FOLDS.split(TWO, CREDITS):
        machine = RejectSVC(CREDIT).fit(TWO[train], CREDITS[train])
        taken[test] = [CREDIT.names.index(name) for name in machine.predict(TWO[test])]
        forced[test] = [CREDIT.names.index(name) for name in machine.predict_forced(TWO[test])]
    assert found.mean_cost[0] == pytest.approx(TABLE[SIGN, taken].mean())
    assert found.forced_prices[0].mean() == pytest.approx(TABLE[SIGN, forced].mean())
    frame = found.to_frame()
    assert frame.loc["svm", "share_visit"] == pytest.approx((taken == 3).mean())
    assert frame.loc["svm", "reject_rate"] == pytest.approx((taken >= 2).mean())
    alternatives = dict(found.verdict.alternatives)
    for at, name in enumerate(CREDIT.names):
        assert alternatives[f"taking {name!r} for every row"] == pytest.approx(TABLE[SIGN, at].mean())
    assert "4 actions: approve, decline, call, visit" in str(found)


def test_refusals_name_the_model_and_the_way_out():
    with pytest.raises(ValueError, match="not one of the actions") as caught:
        compare({"plain": LogisticRegression()}, TWO, CREDITS, CREDIT)
    assert "predictions of model 'plain'" in caught.value.__notes__[0]
    for call, text in (
        (lambda: compare({"a": Nearest()}, X, Y, Costs(1, 5, 0.3)), "name them all: Costs.from_table"),
        (lambda: compare({"a": Nearest()}, X, Y, COSTS, pos_label="flu"), "pos_label='flu' is for two classes"),
        (lambda: compare({"a": Nearest()}, X, Y, row_costs=np.ones((120, 3))), "row_costs is for two classes"),
        (lambda: compare({"a": Nearest()}, TWO, CREDITS, CREDIT, row_costs=np.ones((90, 3))), "leave one of the two"),
        (lambda: compare({"a": Nearest()}, X[CODE > 0], Y[CODE > 0], COSTS), "'cold' is not in both"),
        (lambda: compare({"a": Nearest()}, X, Y, COSTS, cv=[(np.flatnonzero(CODE), [0])]), "leaves 2 of 3 classes"),
    ):
        with pytest.raises(ValueError, match=text):
            call()


def test_the_default_rules_fit_the_kind_of_costs():
    of_classes = default_rules(COSTS, machines=("svm",))
    assert {"double hinge", "double hinge, Bayes' cuts", "SVM with costs, no rejects", "SVM"} <= set(of_classes)
    assert {"SVM, cut on the lead", "SVM, Chow on Platt"} <= set(of_classes)
    some = {name: of_classes[name] for name in ("double hinge", "SVM with costs, no rejects")}
    found = compare(some, X, Y, COSTS, cv=2)
    assert found.tables[0].rejected > 0
    assert found.tables[1].rejected == 0
    assert set(left_out(COSTS)) == {"Bartlett-Wegkamp", "embedded, linear"}
    of_actions = default_rules(CREDIT, machines=("svm", "logistic"))
    assert list(of_actions) == ["tangent hinge", "SVM, Chow on Platt", "logistic, Chow"]
    logistic = of_actions["logistic, Chow"].fit(TWO, CREDITS)
    assert set(logistic.predict(TWO)) <= set(CREDIT.names)
    assert logistic[-1].choice_.chosen.best["C"] > 0.001  # chosen by the mean cost, not the first


def test_the_default_rules_of_rows_have_one_that_uses_their_costs():
    rows = random_row_costs(np.random.default_rng(1), 90)
    own = RowCosts.of(rows)
    assert mean_costs(own).false_positive == pytest.approx(rows[:, 0].mean())
    never = [[100, 1, 99, 0.01], [1, 100, 0.01, 99]]  # a reject of each row can pay, at their means it cannot
    with pytest.raises(ValueError, match="can never pay"):
        Costs(50.5, 50.5, (49.505, 49.505))
    assert not mean_costs(RowCosts.of(never)).rejects
    rules = default_rules(own, pos_label=1, machines=("svm", "logistic"))
    found = compare(rules, TWO, SIGN, row_costs=rows, cv=FOLDS)
    alone = compare({"double hinge": rules["double hinge"]}, TWO, SIGN, row_costs=rows, cv=FOLDS)
    np.testing.assert_array_equal(found.prices[:, 0], alone.prices[:, 0])
    assert (found.prices[:, 0] != found.prices[:, 1]).any()  # control: the one at the mean costs differs
    with sklearn.config_context(enable_metadata_routing=True):
        routed = default_rules(own, pos_label=1, machines=("svm",))
        again = compare({"double hinge": routed["double hinge"]}, TWO, SIGN, row_costs=rows, cv=FOLDS)
    np.testing.assert_array_equal(again.prices, alone.prices)


def test_many_classes_are_not_taken_for_quantities(recwarn):
    code = np.arange(84) % 21
    rows = np.eye(21)[code]
    compare({"plain": LogisticRegression()}, rows, code, Costs(reject=0.2), cv=2)
    assert not [one for one in recwarn if "regression problem" in str(one.message)]


def test_too_few_rows_for_the_folds_name_cv():
    few = np.arange(9) % 3
    text = "cv=5 cannot split these rows: n_splits=5 .* Use fewer folds, or add rows"
    with pytest.raises(ValueError, match=text):
        compare({"plain": LogisticRegression()}, X[:9], few, Costs(reject=0.2))
    with pytest.raises(ValueError, match=text):
        ThresholdRejector(LogisticRegression(), Costs(reject=0.2)).fit(X[:9], few)
