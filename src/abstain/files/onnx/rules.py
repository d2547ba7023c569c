"""A rule as ONNX nodes, from scores to labels and rejects, by what decides.

::

    cuts on one score        the number of cuts below it
    margins per class        the cheapest k with f_k > cut_k
    confidence               the class of the highest score, if its confidence exceeds the cut of this class
    cheapest                 the choice of least expected cost
    sets                     the only class whose lead reaches its cut

Each gives the place of a row's choice among the labels: the classes in order, then the reject; or the actions.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstain.costs.levels import Levels
from abstain.estimators.novelty.guarded import least_at_worst
from abstain.rules.action_rule import ActionRule
from abstain.rules.class_rule import ClassRule, Ladder, VoteRule
from abstain.rules.lead_rule import LeadRule
from abstain.rules.probability_rule import ProbabilityRule
from abstain.rules.row_rule import RowRule
from abstain.rules.rule import Rule
from abstain.rules.set_rule import SetRule
from abstain.rules.tuning.class_lead import FIRST, Lead

if TYPE_CHECKING:
    from abstain.files.onnx.graph import Graph

__all__ = ["by_cost", "decision_nodes"]


def decision_nodes(graph: Graph, rule: Any, score: str, withheld: str | None = None) -> tuple[str, str, str]:
    """Return the labels and the rejects by the scores of `score_nodes`, and the type of the labels.

    Rows that are `withheld`, because they are novel or Python would refuse them, are rejected, whatever their score.
    """
    if type(rule) is RowRule:
        raise ValueError(
            "a graph decides all rows by one set of costs, and this machine was fitted with row_costs and without "
            "costs; state costs and fit again."
        )
    if type(rule) not in _PLACES:
        raise ValueError(f"a {type(rule).__name__} has no ONNX graph; use abstain.save, or decide where Python runs.")
    names, hands_on, at_worst = _choices(rule)
    kind, labels = _typed(names)
    place = _PLACES[type(rule)](graph, rule, score)
    rejected = graph.apply("Gather", graph.constant(np.array(hands_on)), place)
    if withheld is not None:
        place = graph.apply("Where", withheld, np.int64(at_worst), place)
        rejected = graph.apply("Or", withheld, rejected)
    return graph.apply("Gather", graph.constant(labels), place), rejected, kind


def by_cost(rule: Any) -> bool:
    """Whether costs are compared that depend on the score, so that rounding may decide between equal ones."""
    return type(rule) is ProbabilityRule or (type(rule) is ClassRule and (rule.by_cost or not rule.costs.symmetric))


def _choices(rule: Any) -> tuple[list[Any], list[bool], int]:
    """Return the names of the choices, which of them hand the case on, and the place of one for withheld rows."""
    if type(rule) is ActionRule:
        return list(rule.costs.names), rule.costs.rejecting.tolist(), least_at_worst(rule.costs)
    classes = rule.labels.classes.tolist()
    return [*classes, _reject_label(rule.labels)], [*[False] * len(classes), True], len(classes)


def _levels(rule: Rule) -> Levels:
    """The thresholds of a rule as cuts between the places of the two classes and, last, of the reject."""
    lower, upper = rule.thresholds.lower, rule.thresholds.upper
    return Levels((lower, upper), (0, 2, 1), (True, False)) if lower < upper else Levels((upper,), (0, 1), (False,))


def _by_cuts(graph: Graph, levels: Levels, score: str) -> str:
    """The number of cuts below s, an equal one counted if it is closed: the rule of `Levels`."""
    level: Any = np.int64(0)
    for cut, closed in zip(levels.cuts, levels.closed, strict=True):
        above = graph.apply("GreaterOrEqual" if closed else "Greater", score, cut)
        level = graph.apply("Add", graph.cast(above, "i"), level)
    return graph.apply("Gather", graph.constant(np.array(levels.choices, dtype=np.int64)), level)


def _by_margins(graph: Graph, rule: ClassRule, score: str) -> str:
    """Answer the k of least e_k (1 - P_k) with f_k > cuts_k; of equal ones that of the largest f_k - cuts_k."""
    above = graph.apply("Sub", score, rule.thresholds)
    passed = graph.apply("Greater", above, 0.0)
    table = rule.costs.unitless
    open_part = graph.apply("Sub", 1.0, _on_ladders(graph, rule.ladders, score))
    cost = graph.apply("Mul", open_part, table[:, :-1].max(axis=0))
    cost = graph.apply("Max", graph.apply("Min", cost, table[0, -1]), 0.0)
    gain = graph.apply("Where", passed, graph.apply("Neg", cost), -np.inf)
    least = graph.apply("Equal", gain, graph.across("ReduceMax", gain))
    above = graph.apply("Where", least, above, -np.inf)
    none = graph.apply("LessOrEqual", graph.column(graph.across("ReduceMax", above)), 0.0)
    return graph.apply("Where", none, np.int64(len(table)), _first(graph, "ArgMax", above))


def _by_confidence(graph: Graph, score: str, cuts: NDArray[np.float64], by: str) -> str:
    """The class of the highest score if its confidence, the lead or the score itself, exceeds the cut of this class."""
    confidence = graph.across("ReduceMax", score)
    if by == "lead":
        others = graph.across("ReduceMax", _top(graph, score, len(cuts))[1])
        confidence = graph.apply("Sub", confidence, others)
    place = _first(graph, "ArgMax", score)
    rejected = graph.apply("LessOrEqual", graph.column(confidence), graph.apply("Gather", graph.constant(cuts), place))
    return graph.apply("Where", rejected, np.int64(len(cuts)), place)


def _cheapest(graph: Graph, probability: str, table: NDArray[np.float64]) -> str:
    """The choice of least sum_j P_j cost[j, choice]; ties go to the first, and the reject is the last."""
    expected = graph.apply("Gemm", probability, table)
    total = graph.column(graph.across("ReduceSum", expected))
    unknown = graph.apply("IsNaN", total)  # scores so large that the probabilities overflow
    return graph.apply("Where", unknown, np.int64(len(table)), _first(graph, "ArgMin", expected))


def _by_sets(graph: Graph, cuts: NDArray[np.float64], score: str) -> str:
    """The only class whose lead over the best of the others is at least its cut; several or none are a reject."""
    top, others = _top(graph, score, len(cuts))
    first, second = graph.across("ReduceMax", score), graph.across("ReduceMax", others)
    lead = graph.apply("Where", top, graph.apply("Sub", first, second), graph.apply("Sub", score, first))
    inside = graph.cast(graph.apply("GreaterOrEqual", lead, cuts), "i")
    one = graph.apply("Equal", graph.column(graph.across("ReduceSum", inside)), np.int64(1))
    return graph.apply("Where", one, _first(graph, "ArgMax", inside), np.int64(len(cuts)))


def _first(graph: Graph, operation: str, values: str) -> str:
    """The first place of the largest or smallest value of each row, as a vector."""
    return graph.column(graph.apply(operation, values, axis=-1, keepdims=1))


def _probabilities(graph: Graph, rule: ClassRule, score: str) -> str:
    """As `ClassRule.probabilities`: by the lead of the likeliest class, or by the ladders, normalised."""
    if rule.lead is not None:
        low, high = np.array([(ladder.scores[0], ladder.scores[-1]) for ladder in rule.ladders]).T
        return _corrected(graph, rule.lead, graph.apply("Div", graph.apply("Sub", score, low), high - low), len(low))
    own = _on_ladders(graph, rule.ladders, score)
    total = graph.across("ReduceSum", own)
    share = graph.apply("Div", graph.apply("Sub", 1.0, total), float(len(rule.ladders)))
    scaled = graph.apply("Div", own, graph.apply("Max", total, 1.0))
    return graph.apply("Where", graph.apply("Less", total, 1.0), graph.apply("Add", own, share), scaled)


def _corrected(graph: Graph, lead: Lead, heights: str, n_classes: int) -> str:
    """As `Lead`: a softmax, in which the log-odds of the likeliest class against the rest are corrected."""
    power = graph.apply("Mul", heights, lead.scale)
    top, others = _top(graph, power, n_classes)
    second = graph.across("ReduceMax", others)
    terms = graph.apply("Exp", graph.apply("Sub", others, second))
    total = graph.apply("Log", graph.across("ReduceSum", terms))
    ahead = graph.apply("Sub", graph.apply("Sub", graph.across("ReduceMax", power), second), total)
    rest = graph.apply("Softmax", others, axis=-1)
    odds = graph.apply("Add", graph.apply("Mul", ahead, lead.slope), lead.shift)
    odds = graph.apply("Max", odds, graph.apply("Add", graph.apply("Log", graph.across("ReduceMax", rest)), FIRST))
    behind = graph.apply("Mul", rest, graph.apply("Sigmoid", graph.apply("Neg", odds)))
    return graph.apply("Where", top, graph.apply("Sigmoid", odds), behind)


def _top(graph: Graph, values: str, n_classes: int) -> tuple[str, str]:
    """Where the first largest value of each row is, and the values with -inf there."""
    at = graph.apply("ArgMax", values, axis=-1, keepdims=1)
    top = graph.apply("Equal", np.arange(n_classes), at)
    return top, graph.apply("Where", top, -np.inf, values)


def _on_ladders(graph: Graph, ladders: tuple[Ladder, ...], score: str) -> str:
    """Straight lines between the points of each class, by the same operations as `np.interp`."""
    columns = []
    for k, ladder in enumerate(ladders):
        column = graph.apply("Gather", score, np.array([k]), axis=1)
        points = list(zip(ladder.scores, ladder.probabilities, strict=True))
        value = graph.constant(points[0][1])
        for (left, low), (right, high) in pairwise(points):
            if right > left:
                along = graph.apply("Mul", graph.apply("Sub", column, left), (high - low) / (right - left))
                value = _from(graph, column, left, graph.apply("Add", along, low), value)
        columns.append(_from(graph, column, points[-1][0], graph.constant(points[-1][1]), value))
    return graph.joined(columns)


def _from(graph: Graph, score: str, at: float, above: str, below: str) -> str:
    return graph.apply("Where", graph.apply("GreaterOrEqual", score, at), above, below)


def _votes(graph: Graph, rule: VoteRule, score: str) -> str:
    """The class with the most votes, ties to the first; nothing is rejected."""
    return _by_confidence(graph, graph.apply("Round", score), np.full(rule.labels.n_classes, -np.inf), "highest")


def _classes(graph: Graph, rule: ClassRule, score: str) -> str:
    if not rule.by_cost:
        return _by_margins(graph, rule, score)
    return _cheapest(graph, _probabilities(graph, rule, score), rule.costs.unitless)


def _likeliest(graph: Graph, rule: ProbabilityRule, score: str) -> str:
    return _cheapest(graph, graph.apply("Softmax", score, axis=-1), rule.costs.unitless)


# What each kind of rule says: (graph, rule, score) -> the place of the choice.
_PLACES: dict[type, Callable[[Graph, Any, str], str]] = {
    Rule: lambda graph, rule, score: _by_cuts(graph, _levels(rule), score),
    ActionRule: lambda graph, rule, score: _by_cuts(graph, rule.thresholds, score),
    LeadRule: lambda graph, rule, score: _by_confidence(graph, score, rule.cuts, rule.by),
    SetRule: lambda graph, rule, score: _by_sets(graph, rule.cuts, score),
    VoteRule: _votes,
    ClassRule: _classes,
    ProbabilityRule: _likeliest,
}


def _reject_label(labels: Any) -> Any:
    """The reject label; the first class if nothing is rejected and ONNX's type of the classes cannot hold it.

    Also a machine without costs has one: for the rows that Python refuses to decide.
    """
    label, first = labels.reject_label, labels.classes.tolist()[0]
    if labels.rejects:
        return label
    fits = label is not None and not isinstance(first, bool) and (isinstance(label, str) or abs(label) < 2**63)
    return label if fits else first


def _typed(names: list[Any]) -> tuple[str, NDArray[Any]]:
    """Return the names as an array, and the letter of its type."""
    if all(isinstance(name, str) for name in names):
        return "U", np.array(names, dtype=object)
    if any(isinstance(name, str) for name in names):
        raise ValueError(f"labels {names} are texts and numbers, and ONNX takes one type; use strings for all of them.")
    if all(isinstance(name, bool) for name in names):
        return "b", np.array(names)
    if any(isinstance(name, float) for name in names):
        return "f", np.array(names, dtype=np.float64)
    if not all(-(2**63) <= name < 2**63 for name in names):
        raise ValueError(f"classes {names} do not fit in ONNX's int64; use other labels.")
    return "i", np.array(names, dtype=np.int64)
