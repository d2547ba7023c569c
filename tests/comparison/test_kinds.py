"""`compare` at every kind of costs: every number by a count of its own, fitting default rules, and refusals."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import Costs, RejectSVC, ThresholdRejector, compare, decide
from abstain.comparison.rules import default_rules, left_out
from abstain.comparison.verdict import judge_of
from abstain.costs.per_row import mean_costs, row_table
from abstain.labels import Labels
from abstain.metrics import mean_cost
from action_cases import CREDIT
from class_cases import GENERAL, gaussians
from looping import quick
from metrics.kinds import KINDS, Case
from problems import random_row_costs

X, CODE = gaussians(120)
NAMES = np.array(["cold", "flu", "pneumonia"])
Y = NAMES[CODE]
COSTS = Costs.from_matrix(GENERAL, labels=NAMES.tolist(), reject=(0.3, 0.5, 0.4))
FOLDS = StratifiedKFold(3)
TWO, SIGN = make_classification(90, 4, flip_y=0.2, random_state=5)
CREDITS = np.array(["bad", "good"])[SIGN]
ROWS = random_row_costs(np.random.default_rng(1), 90)


def of_two(rows):
    return row_table(rows, Labels.named([0, 1], rejects=True))


class Known(ClassifierMixin, BaseEstimator):
    """Learns nothing: what it says about each row, whose first feature is its number, is given."""

    def __init__(self, said, classes):
        self.said, self.classes = said, classes

    def fit(self, X, y):  # noqa: ARG002 (learns nothing)
        self.classes_ = np.array([*self.classes])
        return self

    def predict(self, X):
        return np.array(self.said)[X[:, 0].astype(int)]


@pytest.fixture(scope="module")
def cases():
    return {kind: Case(kind) for kind in KINDS}


def compared(case, cv=FOLDS):
    """The decisions of a case, and the first handed-on action for every row, compared."""
    numbers = np.arange(len(case.y), dtype=float)[:, np.newaxis]
    handed = next(name for name in case.actions if name in case.handed)
    every = np.array([handed] * len(case.y), dtype=case.taken.dtype)
    models = {"own": Known(case.taken, case.classes), "silent": Known(every, case.classes)}
    own = None if case.kind == "two" and case.by_row else case.costs
    return compare(models, numbers, case.y, own, row_costs=case.row_costs, cv=cv, **case.positive)


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_against_a_count_of_its_own(kind, cases):
    case, found = cases[kind], compared(cases[kind])
    paid = [case.cost(row, action) for row, action in enumerate(case.taken)]
    np.testing.assert_allclose(found.prices[:, 0], paid)
    assert (found.prices[:, 1] != paid).any()  # control: the other model pays something else
    assert found.tables[0].counts.tolist() == case.confusion()
    row = found.to_frame().loc["own"]
    assert (row["mean_cost"], row["reject_rate"]) == pytest.approx((case.mean_cost(), case.rate("reject_rate")))
    if case.named:
        for name in case.actions:
            assert row[f"share_{name}"] == pytest.approx(np.mean(case.taken == name))
    else:
        of_class = ("sensitivity", "positive_predictivity") if case.kind == "two" else ()
        for name in ("error_rate", "selective_error", *of_class):
            assert row[name] == pytest.approx(case.rate(name))
    if case.kind == "three":
        assert row["worst_class_error"] == pytest.approx(max(1 - case.rate("sensitivity", k) for k in case.classes))
    alternatives = dict(zip(found.blind_names, found.blind_prices.T, strict=True))
    assert len(alternatives) == len(case.actions)
    for name in case.actions:
        title = "rejecting every row" if name == "reject" else f"deciding {name!r} for every row"
        title = title if not case.named else f"taking {name!r} for every row"
        np.testing.assert_allclose(alternatives[title], [case.cost(row, name) for row in range(len(case.y))])
    assert found.verdict.cost == pytest.approx(found.mean_cost.min())
    assert ("each row has its own costs" in str(found)) is case.by_row
    assert "own" in found._repr_html_()


@pytest.mark.parametrize("kind", ["three", "two by row", "actions by row"])
def test_repeated_rows_are_averaged(kind, cases):
    once, often = compared(cases[kind]), compared(cases[kind], RepeatedStratifiedKFold(n_splits=3, n_repeats=2))
    np.testing.assert_allclose(often.prices, once.prices)
    np.testing.assert_allclose(often.tables[0].counts, once.tables[0].counts)


def test_counts_of_rows_with_their_own_costs_have_no_mean_cost(cases):
    with pytest.raises(ValueError, match="each row has its own costs, which counts do not have"):
        compared(cases["actions by row"]).tables[0].mean_cost  # noqa: B018 (the look-up is the test)


def test_machines_of_this_library_have_forced_decisions_and_scores():
    found = compare({"svm": RejectSVC(COSTS), "plain": LogisticRegression()}, X, Y, COSTS, cv=FOLDS)
    forced = np.empty(len(X), dtype=object)
    for train, test in FOLDS.split(X, Y):
        forced[test] = RejectSVC(COSTS).fit(X[train], Y[train]).predict_forced(X[test])
    paid = [GENERAL[truth, NAMES.tolist().index(said)] for truth, said in zip(CODE, forced, strict=True)]
    np.testing.assert_allclose(found.forced_prices[0], paid)
    assert found.scores[0].shape == (120, 3)
    assert {"svm, deciding every row without rejects", "plain"} <= {name for name, _ in found.verdict.alternatives}
    assert "error 1 to 5, reject 0.3 to 0.5" in str(found)
    assert "worst class" in str(found)
    assert "worst class" not in found._repr_html_()
    actions = compare({"svm": RejectSVC(CREDIT)}, TWO, CREDITS, CREDIT, cv=FOLDS)
    assert actions.forced_prices[0].shape == (90,)
    assert "4 actions: approve, decline, call, visit" in str(actions)


def test_models_are_fitted_and_judged_by_the_rows_own_costs():
    models = {
        "rows": RejectSVC(C=2),
        "pipeline": make_pipeline(StandardScaler(), RejectSVC(C=2)),
        "one set": RejectSVC(Costs(1, 1, 0.3), C=2),
        "wrapped": ThresholdRejector(LogisticRegression(), Costs(1, 1, 0.3), method="chow"),
        "plain": LogisticRegression(),
    }
    never = ROWS.copy()
    never[::5] = [1.0, 2.0, 3.0]
    found = compare(models, TWO, SIGN, row_costs=never, cv=FOLDS)
    for train, test in FOLDS.split(TWO, SIGN):
        rows = RejectSVC(C=2).fit(TWO[train], SIGN[train], row_costs=never[train])
        labels = rows.predict(TWO[test], row_costs=never[test])
        assert found.prices[test, 0].mean() == pytest.approx(mean_cost(SIGN[test], labels, row_costs=never[test]))
        forced = rows.predict_forced(TWO[test], row_costs=never[test])
        own = mean_cost(SIGN[test], forced, row_costs=never[test])
        assert found.forced_prices[0][test].mean() == pytest.approx(own)
        plain = LogisticRegression().fit(TWO[train], SIGN[train]).predict(TWO[test])
        assert found.prices[test, 4].mean() == pytest.approx(mean_cost(SIGN[test], plain, row_costs=never[test]))
    assert set(found.prices[::5, 0]) <= {0.0, 1.0, 2.0}  # never the 3 of a reject, which can never pay
    assert found.tables[0].rejected > 0
    assert found.tables[1].rejected > 0
    lowered = mean_costs(of_two(np.tile([1.0, 2.0, 3.0], (4, 1))))
    assert lowered == Costs(1, 2, 2 / 3)  # the mean reject can never pay either, and 1/1 + 1/2 = 1 / (2/3)


def test_a_search_gets_row_costs_by_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        machine = RejectSVC().set_fit_request(row_costs=True).set_predict_request(row_costs=True)
        search = GridSearchCV(machine.set_score_request(row_costs=True), {"C": [0.1, 2]}, cv=3)
        found = compare({"search": search, "not asked": LogisticRegression()}, TWO, SIGN, row_costs=ROWS, cv=FOLDS)
    assert found.tables[0].rejected > 0
    assert np.isfinite(found.mean_cost).all()


def test_a_judge_may_know_a_class_that_no_row_has():
    judge = judge_of(["b", "b"], Costs(1, 5, 0.3), pos_label="b", classes=["a", "b"])
    assert judge.classes == ("a", "b")
    assert [*judge.blind([0])] == ["rejecting every row", "deciding 'a' for every row", "deciding 'b' for every row"]
    assert judge.outcomes(["a", "reject"], "reject", [0, 1]).cost.tolist() == [5, 0.3]


def test_refusals_name_the_model_and_the_way_out():
    plain = {"plain": LogisticRegression()}
    with pytest.raises(ValueError, match="not one of the actions") as caught:
        compare(plain, TWO, CREDITS, CREDIT)
    assert "predictions of model 'plain'" in caught.value.__notes__[0]
    wrapped = ThresholdRejector(LogisticRegression(), Costs(reject=0.3)).fit(TWO, SIGN)
    for call, text in (
        (lambda: compare(plain, X, Y, Costs(1, 5, 0.3)), "name them all: Costs.from_table"),
        (lambda: compare(plain, X, Y, COSTS, pos_label="flu"), "pos_label='flu' is for two classes"),
        (lambda: compare(plain, X, Y, row_costs=np.ones((120, 3))), r"shape \(n, 3, 4\), .* is \(120, 3\)"),
        (lambda: compare(plain, TWO, CREDITS, CREDIT, row_costs=np.ones((90, 3))), r"shape \(n, 2, 4\)"),
        (lambda: compare(None, X, Y, COSTS, row_costs=np.ones((120, 3, 4))), "0 for correct answers"),
        (lambda: compare(plain, X[CODE > 0], Y[CODE > 0], COSTS), "the class 'cold', but y has .* or add rows"),
        (lambda: compare(plain, X, Y, COSTS, cv=[(np.flatnonzero(CODE), [0])]), "leaves 2 of 3 classes"),
        (lambda: compare(plain, TWO, SIGN, row_costs=ROWS[:4]), "each of the 90 rows of X; it has 4"),
        (lambda: compare(plain, TWO, SIGN), "costs=None must be a Costs"),
        (lambda: decide(wrapped, TWO, ROWS), "row_costs"),
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
    own = of_two(rows)
    assert mean_costs(own).false_positive == pytest.approx(rows[:, 0].mean())
    never = [[100, 1, 99, 0.01], [1, 100, 0.01, 99]]  # a reject of each row can pay, at their means it cannot
    with pytest.raises(ValueError, match="can never pay"):
        Costs(50.5, 50.5, (49.505, 49.505))
    assert not mean_costs(of_two(never)).rejects
    rules = default_rules(own, pos_label=1, machines=("svm", "logistic"))
    found = compare(rules, TWO, SIGN, row_costs=rows, cv=FOLDS)
    alone = compare({"double hinge": rules["double hinge"]}, TWO, SIGN, row_costs=rows, cv=FOLDS)
    np.testing.assert_array_equal(found.prices[:, 0], alone.prices[:, 0])
    assert (found.prices[:, 0] != found.prices[:, 1]).any()  # control: the one at the mean costs differs
    with sklearn.config_context(enable_metadata_routing=True):
        routed = default_rules(own, pos_label=1, machines=("svm",))
        again = compare({"double hinge": routed["double hinge"]}, TWO, SIGN, row_costs=rows, cv=FOLDS)
    np.testing.assert_array_equal(again.prices, alone.prices)


@pytest.mark.parametrize("routing", [False, True])
def test_the_rules_at_the_mean_costs_are_fitted_and_decide_by_these_alone(routing):
    own = of_two(ROWS)
    rules = default_rules(own, pos_label=1, machines=("svm", "logistic"))
    at_means = {name: rule for name, rule in rules.items() if name.endswith(", mean costs")}
    with sklearn.config_context(enable_metadata_routing=routing):
        found = compare(at_means, TWO, SIGN, row_costs=ROWS, cv=FOLDS)
    assert len(at_means) == 2
    for at, rule in enumerate(at_means.values()):
        for train, test in FOLDS.split(TWO, SIGN):
            answers = clone(rule).fit(TWO[train], SIGN[train]).predict(TWO[test])
            expected = mean_cost(SIGN[test], answers, row_costs=ROWS[test])
            assert found.prices[test, at].mean() == pytest.approx(expected)


@pytest.mark.parametrize(
    "kind", quick([kind for kind in KINDS if "row" in kind and kind != "two by row"], "actions of three by row")
)
def test_the_default_rules_of_every_kind_of_rows_decide_by_them(kind, cases):
    case = cases[kind]
    judge = judge_of(case.y, case.costs if case.named else None, case.row_costs)
    rules = default_rules(judge.costs, machines=("svm", "logistic"))
    own, mean, chow, logistic = rules
    assert mean.endswith(", mean costs")
    assert logistic == "logistic, Chow, mean costs"
    found = compare(rules, case.X, case.y, judge.costs if case.named else None, row_costs=case.row_costs, cv=FOLDS)
    for at, name in ((0, own), (2, chow)):
        for train, test in FOLDS.split(case.X, case.y):
            scaled = StandardScaler().fit(case.X[train]).transform(case.X)
            machine = clone(rules[name][-1]).fit(scaled[train], case.y[train], row_costs=case.row_costs[train])
            said = machine.predict(scaled[test], row_costs=case.row_costs[test])
            paid = [case.cost(row, action) for row, action in zip(test, said, strict=True)]
            np.testing.assert_allclose(found.prices[test, at], paid)
    assert (found.prices[:, 0] != found.prices[:, 1]).any()  # control: the one at the mean costs differs
    assert [name for name, _ in left_out(judge.costs).items()] == ["Bartlett-Wegkamp", "embedded, linear"]


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


@pytest.mark.parametrize("by_row", [False, True])
def test_the_positive_class_may_be_the_first(by_row):
    said = np.where(np.arange(90) % 4 == 0, "reject", np.where(TWO[:, 0] > 0, "good", "bad"))
    numbers, fixed = np.arange(90.0)[:, np.newaxis], (1.0, 5.0, 0.3)
    costs = {"row_costs": ROWS} if by_row else {"costs": Costs(*fixed)}
    found = compare({"said": Known(said, CREDITS)}, numbers, CREDITS, pos_label="bad", cv=FOLDS, **costs)
    rows = zip(ROWS if by_row else [fixed] * 90, CREDITS, said, strict=True)
    paid = [c[2] if say == "reject" else 0 if say == y else c[1] if y == "bad" else c[0] for c, y, say in rows]
    np.testing.assert_allclose(found.prices[:, 0], paid)
    assert found.classes == ("good", "bad")
    assert found.tables[0].counts[1, 0] == np.sum((CREDITS == "bad") & (said == "good"))
    assert mean_cost(CREDITS, said, pos_label="bad", **costs) == pytest.approx(np.mean(paid))
    other = mean_cost(CREDITS, said, pos_label="good", **costs)
    assert other != pytest.approx(np.mean(paid))  # control
    if not by_row:
        named = Costs.from_table({"bad": {"good": 5}, "good": {"bad": 1}}, reject=0.3)
        assert found.tables[0].mean_cost(named) == pytest.approx(np.mean(paid))
        assert found.tables[0].mean_cost(Costs(*fixed)) == pytest.approx(np.mean(paid))
