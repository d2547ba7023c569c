"""Any number of named actions, each with a cost per class: a table of costs by another constructor."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from abstain.costs.action_labels import ActionLabels
from abstain.costs.answers import MOST
from abstain.costs.cuts import EQUALITY, log_ratio
from abstain.costs.reading import EXAMPLE, action_costs, checked_name, classes_named, handed_on
from abstain.costs.table import CostTable
from abstain.html import html_table
from abstain.labels import NO_CLASS, Labels

_MOST = 60  # the solver takes losses with fewer than 60 knots


class Actions(CostTable):
    """The cost of each of several actions, given the true class; checked on construction, never changed.

    Taken wherever `Costs` are. `predict` then returns the name of the cheapest action. `Costs` is the case "answer one
    of the classes, or reject".

    An action that is more expensive than the cheapest of the others at every probability is an error. One that only
    ties with others is allowed and never chosen; of equal ones, the first is chosen.

    Parameters
    ----------
    table : dict of action to float or dict
        The cost of each action: one number, or one for each class, by name. Finite numbers >= 0.
    rejects : sequence of actions or None, default=None
        The actions that hand the case on: `reject_mask`, `reject_rate` and `coverage` count them as rejects, and
        `predict_forced` returns the cheapest of the others (if all actions are rejects, of all). None: the actions that
        are not names of classes.

    Attributes
    ----------
    names : tuple
        The actions, in the order of `table`.
    labels : tuple
        The classes, sorted.
    costs : tuple of tuples of float
        The costs of each action, one for each class of `labels`.

    Examples
    --------
    >>> from abstain import Actions
    >>> actions = Actions(
    ...     {
    ...         "approve": {"good": 0, "bad": 5},
    ...         "decline": {"good": 1, "bad": 0},
    ...         "call": 0.3,
    ...         "visit": {"good": 0.4, "bad": 0.2},
    ...     },
    ...     rejects=("call", "visit"),
    ... )
    >>> actions.order  # by increasing probability of "good", the class that sorts last
    ('decline', 'visit', 'call', 'approve')
    >>> [round(p, 3) for p in actions.crossings()]
    [0.25, 0.5, 0.94]
    >>> actions.mean_cost(["good", "bad", "bad"], ["approve", "call", "visit"])
    0.16666666666666666
    """

    labels: tuple[Any, ...]
    names: tuple[Any, ...]

    def __init__(self, table: Mapping[Any, Any], rejects: Iterable[Any] | None = None) -> None:
        if not isinstance(table, Mapping) or not table:
            raise ValueError(f"table={table!r} must map each action to its cost, as in {EXAMPLE}.")
        stated = {checked_name(action): cost for action, cost in table.items()}
        labels, names = classes_named(table), tuple(stated)
        costs = np.array([action_costs(action, cost, labels) for action, cost in stated.items()])
        if len(names) > _MOST:
            raise ValueError(f"table has {len(names)} actions; at most {_MOST} are supported; leave some out.")
        rejected = handed_on(rejects, names, labels)
        answers = tuple(labels.index(name) if name in labels else NO_CLASS for name in names)
        self.filled(labels, answers, costs.T, names, tuple(name in rejected for name in names))
        self._check_used(table)

    @property
    def costs(self) -> tuple[tuple[float, ...], ...]:
        """The costs of each action, one for each class of `labels`."""
        return tuple(map(tuple, self.values.T.tolist()))

    @property
    def rejects(self) -> tuple[Any, ...]:
        """The actions that hand the case on."""
        return tuple(name for name, hands_on in zip(self.names, self.hands_on, strict=True) if hands_on)

    def __repr__(self) -> str:
        return super().__repr__() if self.per_row else f"Actions({self.to_dict()!r}, rejects={self.rejects!r})"

    def to_dict(self) -> dict[Any, Any]:
        """Return the costs in the form of the parameter `table`; equal costs of all classes as one number."""
        rows = zip(self.names, self.costs, strict=True)
        return {name: row[0] if len(set(row)) == 1 else dict(zip(self.labels, row, strict=True)) for name, row in rows}

    @property
    def order(self) -> tuple[Any, ...]:
        """The actions of two classes that are ever the cheapest, by increasing probability of ``labels[1]``."""
        return tuple(self.names[at] for at in self._of_two("order").choices)

    def crossings(self) -> tuple[float, ...]:
        """Return the probabilities of ``labels[1]``, of two classes, at which the cheapest action changes."""
        return tuple(float(expit(cut)) for cut in self._of_two("crossings").cuts)

    def _of_two(self, what: str) -> Any:
        if self.n_classes > 2:
            raise AttributeError(f"{what} is a line of two classes, and these actions are for {self.n_classes}.")
        return self.levels()

    def labels_of(self, y: ArrayLike, *, pos_label: Any = None, reject_label: Any = "auto", rejects: bool) -> Labels:  # noqa: ARG002
        """Return the labels of y, with the names of the actions."""
        found = Labels.of(y, pos_label=pos_label, rejects=False)
        return ActionLabels.over(found, reject_label, self.names, self.answers, self.hands_on)

    def facts(self) -> dict[str, Any]:
        """Return the actions that hand the case on, as the command line prints them."""
        return {"hand the case on": [str(name) for name in self.rejects]}

    def in_words(self) -> str:
        """Return the names of the actions in a few words."""
        names = [str(name)[:60] for name in self.names[:MOST]] + ["..."] * (self.n_actions > MOST)
        own = "each row has its own costs: " if self.per_row else ""
        return f"{own}{self.n_actions} actions: {', '.join(names)}"

    def _repr_html_(self) -> str:
        """Return the actions as a table, for notebooks."""
        columns = ["action", *(f"cost if {label}" for label in self.labels), "hands on"]
        rows = [(str(name), *row, name in self.rejects) for name, row in zip(self.names, self.costs, strict=True)]
        if self.n_classes == 2:
            spans = zip((0.0, *self.crossings()), (*self.crossings(), 1.0), strict=True)
            ends = dict(zip(self.order, ("{:.3g} to {:.3g}".format(*span) for span in spans), strict=True))
            columns.append(f"cheapest at P({self.labels[1]})")
            rows = [(*row, ends.get(name, "–")) for name, row in zip(self.names, rows, strict=True)]
        return html_table("Cost of each action", tuple(columns), rows)

    def _check_used(self, table: Any) -> None:
        """Raise an error if an action costs more than the cheapest of the others, whatever the probabilities."""
        spare = [_excess(self.costs, at) for at in range(self.n_actions)]
        for name, costs, excess in zip(self.names, self.costs, spare, strict=True):
            if excess <= EQUALITY * max(costs):
                continue
            way = f"if all its costs fell by more than {excess:.12g}"
            if len(set(costs)) == 1:
                way = f"below {costs[0] - excess:.12g}"
            raise ValueError(
                f"table[{name!r}]={self.to_dict()[name]!r} is never the cheapest action: another one costs less at "
                f"every probability. It would be used {way}; lower it, or leave the action out."
            )
        best = [at for at in range(self.n_actions) if (self.values[:, at] <= self.values.min(axis=1)).all()]
        if best:
            raise ValueError(
                f"table={table!r}: {self.names[best[0]]!r} is the cheapest action whatever the class, so there is "
                "nothing to decide; give at least two actions, each cheaper than the others for one of the classes."
            )


def _excess(costs: Sequence[tuple[float, ...]], at: int) -> float:
    """Return the least difference, over all probabilities, between the cost of an action and that of the cheapest.

    Of two classes the corners are known: the ends, and where two of the others cost the same. Of more it is a linear
    program::

        min m   s.t.   sum_j P_j (c_at(j) - c_b(j)) <= m for all others b,   sum_j P_j = 1,   P >= 0
    """
    others = np.array([cost for b, cost in enumerate(costs) if b != at])
    if not len(others):
        return 0.0
    more: NDArray[np.float64] = np.array(costs[at]) - others
    if more.shape[1] == 2:
        pairs = np.array([(*a, *b) for a, b in combinations(others.tolist(), 2)]).reshape(-1, 4)
        odds = np.column_stack([pairs[:, 2] - pairs[:, 0], pairs[:, 1] - pairs[:, 3]])
        odds = np.abs(odds[(np.sign(odds[:, 0]) == np.sign(odds[:, 1])) & (odds != 0).all(axis=1)])
        crossings = log_ratio(odds[:, 0], odds[:, 1])
        points = np.array([[1.0, 0.0], [0.0, 1.0], *np.column_stack([expit(-crossings), expit(crossings)])])
        return float((points @ more.T).max(axis=1).min())
    from scipy.optimize import linprog  # slow to import

    unit = float(np.abs(more).max()) or 1.0
    n = more.shape[1]
    bounds = [*([(0.0, None)] * n), (None, None)]
    above = np.column_stack([more / unit, -np.ones(len(more))])
    total = np.append(np.ones(n), 0.0)[np.newaxis]
    found = linprog(np.append(np.zeros(n), 1.0), above, np.zeros(len(more)), total, [1.0], bounds)
    least = float(found.fun) * unit
    return 0.0 if abs(least) <= 1e-9 * unit else least
