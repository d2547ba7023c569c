"""Every public function of the metrics with two classes, three classes, actions and costs per row: right or refused."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from abstain import Actions, Costs, RejectSVC, metrics
from abstain.metrics import get_scorer
from problems import random_row_costs

CENTRES = np.array([[0.0, 0.0], [1.6, 0.0], [0.0, 1.6]])
TABLE = {"a": {"b": 1.0, "c": 2.0}, "b": {"a": 3.0, "c": 1.0}, "c": {"a": 1.0, "b": 1.5}}
ACTIONS = Actions({"approve": {"a": 0, "b": 5}, "decline": {"a": 1, "b": 0}, "call": 0.5}, rejects=("call",))
OF_ANSWERS = ("error_rate", "selective_error", "selective_accuracy", "sensitivity", "positive_predictivity")
OF_SCORES = ("aurc", "e_aurc", "augrc", "accuracy_reject_curve", "error_reject_curve", "risk_coverage_curve")


class Case:
    """A fitted machine, its rows, and what the brute force needs: the true class, the answer and the cost of each."""

    def __init__(self, kind):
        n = 3 if kind == "three" else 2
        X, at = make_blobs(60 * n, centers=CENTRES[:n], random_state=4)
        y, self.kind = np.array(["a", "b", "c"])[at], kind
        fitted, self.X, self.y = (X[::2], y[::2]), X[1::2], y[1::2]  # training rows would tie on the knots of the loss
        self.row_costs = random_row_costs(np.random.default_rng(2), len(self.y)) if kind == "rows" else None
        three = Costs.from_table(TABLE, reject=0.3)
        self.costs = {"two": Costs(1, 3, 0.4), "three": three, "actions": ACTIONS, "rows": None}[kind]
        self.machine = RejectSVC(self.costs, C=5, pos_label=None if kind in ("three", "actions") else "b")
        self.machine.fit(*fitted, row_costs=self.row_costs)
        self.decisions = self.machine.decide(self.X, row_costs=self.row_costs)
        self.score = self.machine.decision_function(self.X)

    def cost(self, row, answer):
        """The cost of an answer to a row, read from what was stated."""
        truth = self.y[row]
        if self.kind == "actions":
            return {"approve": {"a": 0, "b": 5}, "decline": {"a": 1, "b": 0}}.get(answer, {}).get(truth, 0.5)
        if self.kind == "three":
            return 0.3 if answer == "reject" else TABLE[truth].get(answer, 0.0)
        fp, fn, reject = (1, 3, 0.4) if self.kind == "two" else self.row_costs[row]
        return reject if answer == "reject" else 0.0 if answer == truth else fn if truth == "b" else fp

    @property
    def rejected(self):
        return self.decisions.label == ("call" if self.kind == "actions" else "reject")

    def mean_cost(self):
        return np.mean([self.cost(row, answer) for row, answer in enumerate(self.decisions.label)])

    def rate(self, name, label="b"):
        """A metric of predictions, from its definition."""
        answer, accepted = self.decisions.label, ~self.rejected
        if self.kind == "actions":
            return {"reject_rate": 1 - accepted.mean(), "coverage": accepted.mean()}[name]
        wrong = accepted & (answer != self.y)
        return {
            "reject_rate": 1 - accepted.mean(),
            "coverage": accepted.mean(),
            "error_rate": wrong.mean(),
            "selective_error": wrong.sum() / accepted.sum(),
            "selective_accuracy": 1 - wrong.sum() / accepted.sum(),
            "sensitivity": (answer == label)[self.y == label].sum() / (accepted & (self.y == label)).sum(),
            "positive_predictivity": (self.y == label)[answer == label].mean(),
        }[name]

    def ranked(self):
        """The rows from the most to the least confident, and the answer of each if it must be decided."""
        if self.kind == "three":
            confidence = np.sort(self.score, axis=1) @ [0, -1, 1]
            forced = np.array(["a", "b", "c"])[self.score.argmax(axis=1)]
        else:
            confidence, forced = np.abs(self.score), np.where(self.score > 0, "b", "a")
        assert len(np.unique(confidence)) == len(confidence)  # no ties, so that the brute force needs none
        return np.argsort(-confidence), forced

    def curve(self, name):
        """An area or the points of a curve, by counting the k most confident rows for k = 1, ..., n."""
        order, forced = self.ranked()
        n, wrong = len(order), np.cumsum((forced != self.y)[order])
        k = np.arange(1, n + 1)
        perfect = np.cumsum(np.sort(forced != self.y))
        return {
            "aurc": np.mean(wrong / k),
            "e_aurc": np.mean(wrong / k) - np.mean(perfect / k),
            "augrc": np.mean(wrong / n),
            "risk_coverage_curve": ("coverage", k / n, "risk", wrong / k),
            "accuracy_reject_curve": ("reject_rate", (1 - k / n)[::-1], "accuracy", (1 - wrong / k)[::-1]),
            "error_reject_curve": ("reject_rate", np.append((1 - k / n)[::-1], 1), "error_rate", [*wrong[::-1] / n, 0]),
        }[name]

    def cost_curve(self):
        order, forced = self.ranked()
        n, found = len(order), []
        for k in range(n, -1, -1):
            kept = set(order[:k].tolist())
            found.append(np.mean([self.cost(row, forced[row] if row in kept else "reject") for row in range(n)]))
        return found


KINDS = ("two", "three", "actions", "rows")


@pytest.fixture(scope="module")
def cases():
    found = {kind: Case(kind) for kind in KINDS}
    for case in found.values():
        assert 0.05 < case.rejected.mean() < 0.95  # there are rejects
        assert case.mean_cost() > 0  # and errors
    return found


def the_functions():
    return {name for name in metrics.__all__ if inspect.isfunction(getattr(metrics, name))}


def check_predictions(name, case):
    function, given = getattr(metrics, name), {}
    if case.kind == "three" and name in ("sensitivity", "positive_predictivity"):
        with pytest.raises(ValueError, match="with more than two, pass the class"):
            function(case.y, case.decisions)
        given = {"pos_label": "b"}
    if case.kind == "actions" and name in OF_ANSWERS:
        with pytest.raises(ValueError, match="an action is not an answer that is right or wrong; use mean_cost"):
            function(case.y, case.decisions)
        with pytest.raises(ValueError, match="'approve', 'call', 'decline', which is not a class of y_true"):
            function(case.y, case.decisions.label)
        return
    assert function(case.y, case.decisions, **given) == pytest.approx(case.rate(name))
    given |= {"actions": ACTIONS} if case.kind == "actions" else {} if case.kind == "three" else {"pos_label": "b"}
    assert function(case.y, case.decisions.label, **given) == pytest.approx(case.rate(name))


def check_confusion(name, case):
    function = getattr(metrics, name)
    choices = {"three": ["a", "b", "c", "reject"], "actions": ["approve", "decline", "call"]}.get(
        case.kind, ["a", "reject", "b"]
    )
    expected = [[np.sum((case.y == k) & (case.decisions.label == c)) for c in choices] for k in np.unique(case.y)]
    if name == "action_confusion_matrix":
        if case.kind == "actions":
            assert function(case.y, case.decisions, ACTIONS).tolist() == expected
        else:
            with pytest.raises(ValueError, match=r"not one of the (actions|classes of the actions)"):
                function(case.y, case.decisions, ACTIONS)
            with pytest.raises(ValueError, match=r"for Costs use reject_confusion_matrix|must be an Actions"):
                function(case.y, case.decisions, case.costs)
    elif case.kind == "actions":
        with pytest.raises(ValueError, match="an action is not an answer"):
            function(case.y, case.decisions)
    else:
        assert function(case.y, case.decisions).tolist() == expected


def check_mean_cost(name, case):
    function, of = getattr(metrics, name), (case.y, case.decisions)
    own = random_row_costs(np.random.default_rng(2), len(case.y))
    if case.kind == "rows":
        assert function(*of, row_costs=case.row_costs) == pytest.approx(case.mean_cost())
        assert function(*of, Costs(9, 9, 1), row_costs=case.row_costs) == pytest.approx(case.mean_cost())
        with pytest.raises(ValueError, match="costs has Actions; leave one of the two out"):
            function(*of, ACTIONS, row_costs=own)
        with pytest.raises(ValueError, match="row_costs is for two classes"):
            function(*of, Costs.from_table(TABLE, reject=0.3), row_costs=own)
        return
    assert function(*of, case.costs) == pytest.approx(case.mean_cost())
    if case.kind == "two":
        with pytest.raises(ValueError, match="which is not one of the actions"):
            function(*of, ACTIONS)
        assert function(*of, row_costs=np.tile([1, 3, 0.4], (60, 1))) == pytest.approx(case.mean_cost())
        return
    if case.kind == "actions":
        assert function(*of) == pytest.approx(case.mean_cost())
        with pytest.raises(ValueError, match="an action is not an answer"):
            function(*of, Costs(1, 3, 0.4))
        with pytest.raises(ValueError, match="costs has Actions; leave one of the two out"):
            function(case.y, case.decisions.label, ACTIONS, row_costs=own)
    refused = "an action is not an answer" if case.kind == "actions" else "row_costs is for two classes"
    with pytest.raises(ValueError, match=refused):
        function(*of, row_costs=own)


def check_scores(name, case):
    function = getattr(metrics, name)
    found, expected = function(case.y, case.score), case.curve(name)
    if isinstance(expected, tuple):
        for attribute, values in zip(expected[::2], expected[1::2], strict=True):
            np.testing.assert_allclose(getattr(found, attribute), values, atol=1e-12)
    else:
        assert found == pytest.approx(expected)
    with pytest.raises(TypeError, match="not Decisions; pass their scores"):
        function(case.y, case.decisions)
    if case.kind == "three":
        with pytest.raises(ValueError, match=r"a column for each of the 3 classes of y_true, .* shape is \(90,\)"):
            function(case.y, case.score[:, 0])


def check_cost_curve(name, case):
    banded = name == "bootstrap_band"

    def function(score, costs):
        if not banded:
            return metrics.cost_curve(case.y, score, costs, **given)
        grid = np.arange(len(case.y) + 1) / len(case.y)
        return metrics.bootstrap_band("cost", case.y, score, costs, grid=grid, n_resamples=2, **given)

    given = {} if case.kind in ("three", "actions") else {"pos_label": "b"}
    if case.kind == "actions":
        with pytest.raises(ValueError, match="costs has Actions, and a curve has one reject"):
            function(case.score, ACTIONS)
    elif case.kind == "rows":
        with pytest.raises(ValueError, match="a row of costs for each row, and a curve needs one set for all"):
            function(case.score, case.row_costs)
    else:
        found = function(case.score, case.costs)
        np.testing.assert_allclose(found.estimate if banded else found.mean_cost, case.cost_curve(), atol=1e-12)
    if case.kind == "three":
        with pytest.raises(ValueError, match="costs name 3 classes, so score must have a column for each"):
            function(case.score[:, 0], case.costs)


def check_scorers(name, case):
    assert name == "get_scorer"
    own = random_row_costs(np.random.default_rng(2), len(case.y))
    for metric in ("reject_rate", "coverage", *OF_ANSWERS):
        sign = 1 if metric in ("coverage", "selective_accuracy", "sensitivity", "positive_predictivity") else -1
        scorer = get_scorer(metric, row_costs=case.kind == "rows", pos_label="b" if case.kind == "three" else None)
        if case.kind == "actions" and metric in OF_ANSWERS:
            with pytest.raises(ValueError, match="the estimator chooses between actions"):
                scorer(case.machine, case.X, case.y)
        else:
            given = {"row_costs": case.row_costs} if case.kind == "rows" else {}
            assert scorer(case.machine, case.X, case.y, **given) == pytest.approx(sign * case.rate(metric))
    if case.kind == "rows":
        scorer = get_scorer("mean_cost", row_costs=True)
        assert scorer(case.machine, case.X, case.y, row_costs=case.row_costs) == pytest.approx(-case.mean_cost())
        with pytest.raises(ValueError, match="pass row_costs"):
            scorer(case.machine, case.X, case.y)
    else:
        scorer = get_scorer("mean_cost", case.costs)
        assert scorer(case.machine, case.X, case.y) == pytest.approx(-case.mean_cost())
    if case.kind in ("three", "actions"):
        for metric in ("mean_cost", "reject_rate"):
            with pytest.raises(ValueError, match="takes the place of Costs of two classes, and the estimator"):
                get_scorer(metric, row_costs=True)(case.machine, case.X, case.y, row_costs=own)
    for metric in ("aurc", "e_aurc", "augrc"):
        assert get_scorer(metric)(case.machine, case.X, case.y) == pytest.approx(-case.curve(metric))


CHECKS = {
    **dict.fromkeys(("reject_rate", "coverage", *OF_ANSWERS), check_predictions),
    **dict.fromkeys(OF_SCORES, check_scores),
    **dict.fromkeys(("reject_confusion_matrix", "action_confusion_matrix"), check_confusion),
    **dict.fromkeys(("cost_curve", "bootstrap_band"), check_cost_curve),
    "mean_cost": check_mean_cost,
    "get_scorer": check_scorers,
}


def test_every_function_is_in_the_table():
    assert set(CHECKS) == the_functions()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(CHECKS))
def test_it_is_right_or_says_why_not(name, kind, cases):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="pos_label is not given")
        CHECKS[name](name, cases[kind])
