"""Any number of actions, each with a cost per class, and Bayes' rule for them.

The cost of an action a at the probability p of the class that sorts last is a line, and the cheapest action the lower
envelope of these lines::

    c_a(p) = (1 - p) c_a(first class) + p c_a(last class)

In the plane of the two costs the actions of the envelope are the corners of the lower left convex hull.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.utils import check_consistent_length

from abstain.arguments import mean_price
from abstain.costs.action_tables import EXAMPLE, checked_name, classes_named, costs_of, handed_on, positions
from abstain.costs.cost_tables import in_own_unit
from abstain.costs.levels import Levels
from abstain.costs.thresholds import log_ratio
from abstain.html import html_table
from abstain.labels import Labels

__all__ = ["Actions"]

# An action that is cheaper than its neighbours by at most this share of their costs counts as a tie.
_EQUALITY = 1e-12
_MOST = 60  # the solver takes losses with fewer than 60 knots


@dataclass(frozen=True, init=False, repr=False)
class Actions:
    """The cost of each of several actions, given the true class; validated on construction.

    Accepted in place of `Costs` by `RejectSVC`, `RejectSVCCV`, ``ThresholdRejector(method="chow")`` and the metrics
    `mean_cost`, `reject_rate` and `coverage`. `predict` then gives the name of the cheapest action. `Costs` is the case
    "answer one of the two classes, or reject".

    An action that is more expensive than the cheapest of the others at every probability is an error. One that only
    ties with others is allowed and never chosen; of equal ones, the first is chosen.

    Parameters
    ----------
    table : dict of action to float or dict
        The cost of each action: one number, or one for each of the two classes, by name. Finite numbers >= 0.
    rejects : sequence of actions or None, default=None
        The actions that hand the case on: `reject_mask`, `reject_rate` and `coverage` count them as rejects, and
        `predict_forced` gives the cheapest of the others (if all actions are rejects, of all). None: the actions that
        are not names of classes.

    Attributes
    ----------
    names : tuple
        The actions, in the order of `table`.
    labels : (label, label)
        The two classes, sorted.
    costs : tuple of (float, float)
        The costs of each action if ``labels[0]`` and if ``labels[1]`` is true.

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

    names: tuple[Any, ...]
    labels: tuple[Any, Any]
    costs: tuple[tuple[float, float], ...]
    rejects: tuple[Any, ...]

    def __init__(self, table: Mapping[Any, Any], rejects: Iterable[Any] | None = None) -> None:
        if not isinstance(table, Mapping) or not table:
            raise ValueError(f"table={table!r} must map each action to its cost, as in {EXAMPLE}.")
        named = {checked_name(action): cost for action, cost in table.items()}
        labels = classes_named(table)
        costs = tuple(costs_of(action, cost, labels) for action, cost in named.items())
        names = tuple(named)
        if len(names) > _MOST:
            raise ValueError(f"table has {len(names)} actions; at most {_MOST} are supported; leave some out.")
        values = {"names": names, "labels": labels, "costs": costs, "rejects": handed_on(rejects, names, labels)}
        for name, value in values.items():
            object.__setattr__(self, name, value)
        order = _envelope(costs, range(len(costs)))
        for at in range(len(costs)):
            self._check_used(at, order)
        if len(order) < 2:
            raise ValueError(
                f"table={table!r}: {names[order[0]]!r} is the cheapest action whatever the class, so there is nothing "
                "to decide; give at least two actions, each cheaper than the others for one of the classes."
            )

    def __repr__(self) -> str:
        return f"Actions({self.to_dict()!r}, rejects={self.rejects!r})"

    def to_dict(self) -> dict[Any, Any]:
        """Return the costs in the form of the parameter `table`; equal costs of both classes as one number."""
        rows = zip(self.names, self.costs, strict=True)
        return {name: a if a == b else dict(zip(self.labels, (a, b), strict=True)) for name, (a, b) in rows}

    @property
    def order(self) -> tuple[Any, ...]:
        """The actions that are ever the cheapest, by increasing probability of ``labels[1]``."""
        return tuple(self.names[at] for at in _envelope(self.costs, range(len(self.costs))))

    def crossings(self) -> tuple[float, ...]:
        """Return the probabilities of ``labels[1]`` at which the cheapest action changes, increasing."""
        return tuple(float(expit(cut)) for cut in self.levels().cuts)

    def levels(self, *, forced: bool = False) -> Levels:
        """Return the cheapest action on the log-odds of ``labels[1]``; with `forced`, of those that are not rejects.

        ::

            action b follows a at  log((c_b(first) - c_a(first)) / (c_a(last) - c_b(last)))

        On a cut both cost the same: the one that is a reject is chosen, otherwise the lower one, as in `Thresholds`.
        """
        rejects = self.rejecting
        among = range(len(self.costs)) if not forced or rejects.all() else np.flatnonzero(~rejects).tolist()
        costs = [(first, last) for first, last in in_own_unit(self.table()).T.tolist()]
        order = _envelope(costs, among)
        pairs = list(pairwise(order))
        cuts = tuple(_crossing(costs[a], costs[b]) for a, b in pairs)
        # Very close to 0 or 1, rounding may swap two in the last digit.
        increasing = tuple(np.maximum.accumulate(cuts).tolist())
        return Levels(increasing, tuple(order), tuple(bool(rejects[b] and not rejects[a]) for a, b in pairs))

    @property
    def rejecting(self) -> NDArray[np.bool_]:
        """Whether each action is one of `rejects`, in the order of `names`."""
        return np.array([name in self.rejects for name in self.names], dtype=bool)

    def table(self) -> NDArray[np.float64]:
        """Return all costs, (2, n_actions): rows the true classes in the order of `labels`, columns actions."""
        return np.array(self.costs).T

    def prices(self, sign: ArrayLike, choice: ArrayLike) -> NDArray[np.float64]:
        """Return the cost of each choice, a position in `names`, given the true sign: +1 for ``labels[1]``."""
        truth = (np.asarray(sign, dtype=np.int8) > 0).astype(np.intp)  # broadcast against the choices
        priced: NDArray[np.float64] = self.table()[truth, np.asarray(choice, dtype=np.intp)]
        return priced

    def expected(self, probability: ArrayLike) -> NDArray[np.float64]:
        """Return the expected cost of each action, on the last axis, at each probability of ``labels[1]``."""
        p = np.asarray(probability, dtype=np.float64)[..., np.newaxis]
        first, last = self.table()
        return np.asarray((1.0 - p) * first + p * last)

    def encode(self, y_true: ArrayLike, taken: Any) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Return the signs of true classes, +1 for ``labels[1]``, and the positions of the actions taken in `names`."""
        truth = positions(y_true, self.labels, "y_true", "the classes of the actions")
        decided = isinstance(getattr(taken, "labels", None), Labels)  # the result of `decide`
        choice = positions(taken.label if decided else taken, self.names, "y_pred", "the actions")
        check_consistent_length(truth, choice)
        if truth.size == 0:
            raise ValueError("y_true is empty; a metric needs at least one row.")
        return 2 * truth - np.int8(1), choice

    def mean_cost(self, y_true: ArrayLike, taken: Any, *, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean cost of the actions taken.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            The true classes.
        taken : array-like of shape (n_samples,), or the result of `decide`
            The actions, by name.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the mean.
        """
        prices = self.prices(*self.encode(y_true, taken))
        return mean_price(prices, sample_weight)

    def check_classes(self, classes: Sequence[Any]) -> None:
        """Raise an error unless these are the two classes that the actions name."""
        if unknown := [label for label in classes if label not in self.labels]:
            raise ValueError(
                f"costs={self!r} have costs for the classes {[*self.labels]}, but y has {unknown[0]!r}; name the "
                "classes of y (0 and 1 where scikit-learn encodes them)."
            )
        if missing := [label for label in self.labels if label not in classes]:
            raise ValueError(
                f"costs={self!r} have costs for the class {missing[0]!r}, which y does not contain; name the classes "
                "of y, or add rows of that class."
            )

    def _repr_html_(self) -> str:
        """Return the actions as a table, for notebooks."""
        first, last = self.labels
        ends = dict(zip(self.order, zip((0.0, *self.crossings()), (*self.crossings(), 1.0), strict=True), strict=True))
        rows = [
            (str(name), *costs, name in self.rejects, "{:.3g} to {:.3g}".format(*ends[name]) if name in ends else "–")
            for name, costs in zip(self.names, self.costs, strict=True)
        ]
        columns = ("action", f"cost if {first}", f"cost if {last}", "hands on", f"cheapest at P({last})")
        return html_table("Cost of each action", columns, rows)

    def _check_used(self, at: int, order: list[int]) -> None:
        """Raise an error if an action costs more than the envelope everywhere: at its corners, as it is concave."""
        excess = _excess(self.costs[at], [self.costs[used] for used in order])
        if at in order or excess <= _EQUALITY * max(self.costs[at]):
            return
        name, (first, last) = self.names[at], self.costs[at]
        stated, way = f"table[{name!r}]={self.to_dict()[name]!r}", f"if both its costs fell by more than {excess:.12g}"
        if first == last:
            way = f"below {first - excess:.12g}"
        raise ValueError(
            f"{stated} is never the cheapest action: another one costs less at every probability. It would be used "
            f"{way}; lower it, or leave the action out."
        )


def _envelope(costs: Sequence[tuple[float, float]], among: Iterable[int]) -> list[int]:
    """The actions that are cheapest somewhere, by increasing probability of the last class (Andrew's chain).

    b between a and c is on the envelope if it is below the line through them::

        (first_b - first_a) / (first_c - first_a) + (last_b - last_c) / (last_a - last_c) < 1
    """
    chain: list[int] = []
    for at in sorted(among, key=lambda at: costs[at]):  # stable: of equal actions the first
        if chain and costs[at][1] >= costs[chain[-1]][1]:
            continue  # at least as expensive as the one before, whatever the class
        while len(chain) > 1 and not _below(costs[chain[-1]], costs[chain[-2]], costs[at]):
            chain.pop()
        chain.append(at)
    return chain


def _below(b: tuple[float, float], a: tuple[float, float], c: tuple[float, float]) -> bool:
    return (b[0] - a[0]) / (c[0] - a[0]) + (b[1] - c[1]) / (a[1] - c[1]) < 1.0 - _EQUALITY


def _crossing(a: tuple[float, float], b: tuple[float, float]) -> float:
    odds = b[0] - a[0], a[1] - b[1]
    rounding = 4.0 * np.finfo(np.float64).eps * max(*a, *b)
    return 0.0 if abs(odds[0] - odds[1]) <= rounding else log_ratio(*odds)  # 0.4 - 0.3 and 0.3 - 0.2 are equal


def _excess(cost: tuple[float, float], corners: Sequence[tuple[float, float]]) -> float:
    """The least difference over all probabilities between the cost of an action and that of the cheapest corner."""
    cuts = [_crossing(a, b) for a, b in pairwise(corners)]
    excess = []
    for weights in ((1.0, 0.0), (0.0, 1.0), *((float(expit(-cut)), float(expit(cut))) for cut in cuts)):
        best = min(weights[0] * first + weights[1] * last for first, last in corners)
        excess.append(weights[0] * cost[0] + weights[1] * cost[1] - best)
    return min(excess)
