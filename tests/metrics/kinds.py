"""Decisions at every kind of costs, and their costs and counts by loops over the rows, without the library."""

from dataclasses import replace

import numpy as np
from sklearn.datasets import make_blobs

from abstain import Actions, Costs, RejectSVC
from problems import random_row_costs

CENTRES = np.array([[0.0, 0.0], [1.6, 0.0], [0.0, 1.6]])
TABLE = {"a": {"b": 1.0, "c": 2.0}, "b": {"a": 3.0, "c": 1.0}, "c": {"a": 1.0, "b": 1.5}}
# "call" and "visit" hand the case on; the actions of the answers are the classes
STATED = {
    "actions": {"approve": {"a": 0, "b": 5}, "decline": {"a": 1, "b": 0}, "call": 0.5, "visit": {"a": 0.6, "b": 0.4}},
    "answers": {"b": {"a": 1, "b": 0}, "call": 0.4, "a": {"a": 0, "b": 3}},
    "actions of three": {
        "approve": {"a": 0, "b": 3, "c": 4},
        "decline": {"a": 2, "b": 0, "c": 1},
        "call": 0.6,
        "visit": {"a": 1, "b": 0.5, "c": 0.2},
    },
    "answers of three": {
        "c": {"a": 1, "b": 2, "c": 0},
        "call": 0.4,
        "a": {"a": 0, "b": 3, "c": 1},
        "b": {"a": 2, "b": 0, "c": 1},
    },
}
COSTS = {
    "two": Costs(1, 3, 0.4),
    "three": Costs.from_table(TABLE, reject=0.3),
    **{kind: Actions(table, rejects={"call", "visit"} & {*table}) for kind, table in STATED.items()},
}
LAYOUT = {"two": ["a", "reject", "b"], "three": ["a", "b", "c", "reject"], **STATED}
KINDS = [f"{kind}{rows}" for kind in COSTS for rows in ("", " by row")]


class Case:
    """A fitted machine, held-out rows and its decisions on them, at one kind of costs."""

    def __init__(self, kind):
        self.kind, self.by_row = kind.removesuffix(" by row"), kind.endswith(" by row")
        self.named, self.has_answers = self.kind in STATED, not self.kind.startswith("actions")
        n = 3 if "three" in self.kind else 2
        X, at = make_blobs(60 * n, centers=CENTRES[:n], random_state=4)
        y, rng = np.array(["a", "b", "c"])[at], np.random.default_rng(2)
        fitted, self.X, self.y = (X[::2], y[::2]), X[1::2], y[1::2]  # training rows would tie on the knots of the loss
        self.costs, self.row_costs, self.actions = COSTS[self.kind], None, [*LAYOUT[self.kind]]
        self.classes, self.handed = "abc"[:n], {"reject", "call", "visit"}
        self.positive = {"pos_label": "b"} if self.kind == "two" else {}
        own = self.costs if self.named or not self.by_row else None
        given, asked = {}, {}
        if self.by_row:
            rows = self._row_costs(rng, len(y), n)
            given, self.row_costs = {"row_costs": rows[::2]}, rows[1::2]
            asked = {"row_costs": self.row_costs}
        self.machine = RejectSVC(own, C=5, **self.positive).fit(*fitted, **given)
        self.decisions = self.machine.decide(self.X, **asked)
        self.score = self.machine.decision_function(self.X)

    def _row_costs(self, rng, rows, n):
        if self.kind == "two":  # read as columns
            return random_row_costs(rng, rows)
        table = rng.uniform(0.1, 2.0, (rows, n, len(self.actions)))
        if not self.named:
            table[:, range(n), range(n)] = 0.0
            table[..., -1] /= 3
        return table

    @property
    def taken(self):
        return self.decisions.label

    def as_labels(self):
        """What reads the names of the actions, where decisions would say it."""
        return {"actions": self.costs} if self.named else self.positive

    def with_one_other(self):
        """The same with another action on one row: the control."""
        case, label = object.__new__(Case), self.taken.copy()
        case.__dict__.update(self.__dict__)
        row = int(np.flatnonzero(~self.rejected)[0])
        label[row] = next(name for name in self.actions if name in self.handed)
        case.decisions = replace(self.decisions, label=label)
        return case

    def cost(self, row, action):
        """The cost of an action on a row, read from what was stated."""
        truth = self.y[row]
        if self.by_row and self.kind != "two":
            return self.row_costs[row][self.classes.index(truth)][self.actions.index(action)]
        if self.named:
            stated = STATED[self.kind][action]
            return stated[truth] if isinstance(stated, dict) else stated
        if self.kind == "three":
            return 0.3 if action == "reject" else TABLE[truth].get(action, 0.0)
        fp, fn, reject = self.row_costs[row] if self.by_row else (1, 3, 0.4)
        return reject if action == "reject" else 0.0 if action == truth else fn if truth == "b" else fp

    @property
    def rejected(self):
        return np.array([action in self.handed for action in self.taken])

    def mean_cost(self):
        return np.mean([self.cost(row, action) for row, action in enumerate(self.taken)])

    def confusion(self):
        return [[sum((self.y == k) & (self.taken == action)) for action in self.actions] for k in self.classes]

    def rate(self, name, label="b"):
        """A metric of predictions, from its definition."""
        rows = [(truth, action, action in self.handed) for truth, action in zip(self.y, self.taken, strict=True)]
        accepted = [(truth, action) for truth, action, handed in rows if not handed]
        wrong = sum(truth != action for truth, action in accepted)
        of_class = [action for truth, action in accepted if truth == label]
        answered = [truth for truth, action in accepted if action == label]
        return {
            "reject_rate": 1 - len(accepted) / len(rows),
            "coverage": len(accepted) / len(rows),
            "error_rate": wrong / len(rows),
            "selective_error": wrong / len(accepted),
            "selective_accuracy": 1 - wrong / len(accepted),
            "sensitivity": of_class.count(label) / len(of_class),
            "positive_predictivity": answered.count(label) / max(len(answered), 1),
        }[name]

    def ranked(self):
        """The rows from the most to the least confident, and the class of each if it must be decided."""
        if len(self.classes) == 3:
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
        """The mean cost where the k most confident rows are decided, for k = n, ..., 0."""
        (order, forced), reject = self.ranked(), next(name for name in self.actions if name in self.handed)
        paid = np.array([[self.cost(row, forced[row]), self.cost(row, reject)] for row in order])
        n = len(order)
        return [(paid[:k, 0].sum() + paid[k:, 1].sum()) / n for k in range(n, -1, -1)]
