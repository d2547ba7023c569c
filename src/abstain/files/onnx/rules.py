"""A rule as ONNX nodes, from scores to labels and rejects, by what decides.

::

    cuts on one score        the number of cuts below it
    margins per class        the cheapest k with f_k > cut_k
    confidence               the class of the highest score, if its confidence exceeds the cut of this class
    cheapest                 the choice of least expected cost
    sets                     the only class whose lead reaches its cut

Each gives the position of a row's choice among the actions of the rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from abstain.estimators.novelty.guarded import least_at_worst
from abstain.labels import NO_CLASS
from abstain.rules.class_deciders import Cheapest, Confidence, Margins, Sets
from abstain.rules.deciders import Cuts, PerRow
from abstain.rules.readouts import Ladders, Softmax
from abstain.rules.rule import Rule
from abstain.rules.tuning.class_lead import FIRST, Lead

if TYPE_CHECKING:
    from abstain.files.onnx.graph import Graph

__all__ = ["by_cost", "decision_nodes"]


def decision_nodes(graph: Graph, rule: Any, score: str, withheld: str | None = None) -> tuple[str, str, str]:
    """Return the labels and the rejects by the scores of `score_nodes`, and the type of the labels.

    Rows that are `withheld`, because they are novel or Python would refuse them, are rejected, whatever their score.
    """
    if isinstance(rule.decider, PerRow):
        raise ValueError(  # noqa: TRY004 (a fitted machine without costs)
            "a graph has no input for the costs of a row, and this machine was fitted with row_costs and without "
            "costs; state costs and fit again."
        )
    kind, labels = _typed(_names(rule))
    if type(rule.decider) not in _PLACES:
        raise ValueError(f"decisions by a {type(rule.decider).__name__} have no ONNX graph; use abstain.save.")
    place = _PLACES[type(rule.decider)](graph, rule, score)
    rejected = graph.apply("Gather", graph.constant(rule.hands_on), place)
    if withheld is not None:
        at_worst = rule.answers.index(NO_CLASS) if not _is_named(rule) else least_at_worst(rule.costs)
        place = graph.apply("Where", withheld, np.int64(at_worst), place)
        rejected = graph.apply("Or", withheld, rejected)
    return graph.apply("Gather", graph.constant(labels), place), rejected, kind


def by_cost(rule: Rule) -> bool:
    """Whether costs are compared that depend on the score, so that rounding may decide between equal ones."""
    margins = isinstance(rule.decider, Margins) and rule.costs is not None and not rule.costs.symmetric
    return margins or isinstance(rule.decider, Cheapest)


def _is_named(rule: Rule) -> bool:
    return rule.costs is not None and rule.costs.names is not None


def _names(rule: Rule) -> list[Any]:
    """The labels of the actions, a reject also where the machine never rejects: for the rows that Python refuses."""
    if _is_named(rule):
        return list(rule.names.tolist())
    known, reject = rule.labels.classes.tolist(), _reject_label(rule.labels)
    return [reject if answer == NO_CLASS else known[answer] for answer in rule.answers]


def _by_cuts(graph: Graph, rule: Rule, score: str) -> str:
    """The number of cuts below s, an equal one counted if it is closed: the rule of `Levels`."""
    levels: Any = rule.decider.levels  # type: ignore[attr-defined]
    level: Any = np.int64(0)
    for cut, closed in zip(levels.cuts, levels.closed, strict=True):
        above = graph.apply("GreaterOrEqual" if closed else "Greater", score, cut)
        level = graph.apply("Add", graph.cast(above, "i"), level)
    return graph.apply("Gather", graph.constant(np.array(levels.choices, dtype=np.int64)), level)


def _by_margins(graph: Graph, rule: Any, score: str) -> str:
    """Answer the k of least e_k (1 - P_k) with f_k > cuts_k; of equal ones that of the largest f_k - cuts_k."""
    above = graph.apply("Sub", score, rule.decider.cuts)
    passed = graph.apply("Greater", above, 0.0)
    table = rule.costs.unitless
    open_part = graph.apply("Sub", 1.0, _on_ladders(graph, rule.readout, score))
    cost = graph.apply("Mul", open_part, table[:, :-1].max(axis=0))
    cost = graph.apply("Max", graph.apply("Min", cost, table[0, -1]), 0.0)
    gain = graph.apply("Where", passed, graph.apply("Neg", cost), -np.inf)
    least = graph.apply("Equal", gain, graph.across("ReduceMax", gain))
    above = graph.apply("Where", least, above, -np.inf)
    none = graph.apply("LessOrEqual", graph.column(graph.across("ReduceMax", above)), 0.0)
    return graph.apply("Where", none, np.int64(len(table)), _first(graph, "ArgMax", above))


def _by_confidence(graph: Graph, rule: Any, score: str) -> str:
    """The class of the highest score if its confidence, the lead or the score itself, exceeds the cut of this class."""
    cuts, by = rule.decider.cuts, rule.decider.by
    score = graph.apply("Round", score) if by == "votes" else score
    confidence = graph.across("ReduceMax", score)
    if by == "lead":
        others = graph.across("ReduceMax", _top(graph, score, len(cuts))[1])
        confidence = graph.apply("Sub", confidence, others)
    place = _first(graph, "ArgMax", score)
    rejected = graph.apply("LessOrEqual", graph.column(confidence), graph.apply("Gather", graph.constant(cuts), place))
    return graph.apply("Where", rejected, np.int64(len(cuts)), place)


def _cheapest(graph: Graph, rule: Any, score: str) -> str:
    """The action of least sum_j P_j cost[j, action], ties to the answers, then to the first: `CostTable.cheapest`."""
    costs = rule.costs
    order = np.argsort(costs.rejecting, kind="stable")
    expected = graph.apply("Gemm", _probabilities(graph, rule.readout, score), costs.unitless[:, order])
    total = graph.column(graph.across("ReduceSum", expected))
    unknown = graph.apply("IsNaN", total)  # scores so large that the probabilities overflow
    place = graph.apply("Gather", graph.constant(order), _first(graph, "ArgMin", expected))
    at_worst = costs.hands_on.index(True) if any(costs.hands_on) else order[0]
    return graph.apply("Where", unknown, np.int64(at_worst), place)


def _by_sets(graph: Graph, rule: Any, score: str) -> str:
    """The only class whose lead over the best of the others is at least its cut; several or none are a reject."""
    cuts = rule.decider.cuts
    top, others = _top(graph, score, len(cuts))
    first, second = graph.across("ReduceMax", score), graph.across("ReduceMax", others)
    lead = graph.apply("Where", top, graph.apply("Sub", first, second), graph.apply("Sub", score, first))
    inside = graph.cast(graph.apply("GreaterOrEqual", lead, cuts), "i")
    one = graph.apply("Equal", graph.column(graph.across("ReduceSum", inside)), np.int64(1))
    return graph.apply("Where", one, _first(graph, "ArgMax", inside), np.int64(len(cuts)))


def _first(graph: Graph, operation: str, values: str) -> str:
    """The first place of the largest or smallest value of each row, as a vector."""
    return graph.column(graph.apply(operation, values, axis=-1, keepdims=1))


def _probabilities(graph: Graph, readout: Any, score: str) -> str:
    """As `probabilities` of the readout: a softmax, or by the lead of the likeliest class, or by the ladders."""
    if isinstance(readout, Softmax):
        return graph.apply("Softmax", score, axis=-1)
    if not isinstance(readout, Ladders):
        what = type(readout).__name__
        raise ValueError(f"scores that are read by a {what} have no ONNX graph; use abstain.save.")  # noqa: TRY004
    n = len(readout.tangents)
    if readout.lead is not None:
        low, high = readout.ends
        return _corrected(graph, readout.lead, graph.apply("Div", graph.apply("Sub", score, low), high - low), n)
    own = _on_ladders(graph, readout, score)
    total = graph.across("ReduceSum", own)
    share = graph.apply("Div", graph.apply("Sub", 1.0, total), float(n))
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


def _on_ladders(graph: Graph, ladders: Ladders, score: str) -> str:
    """Straight lines between the points of each class, by the same operations as `Ladders.own`."""
    low, high = (end[:, np.newaxis] for end in ladders.ends)
    points = np.hstack([low, ladders.tangents, high])
    values = np.hstack([0.0 * low, expit(ladders.tangents), 1.0 + 0.0 * high])
    found = graph.apply("Where", graph.apply("Less", score, points[:, 0]), 0.0, 1.0)
    for at in range(points.shape[1] - 1):
        a, b, rise = points[:, at], points[:, at + 1], values[:, at + 1] - values[:, at]
        share = graph.apply("Div", graph.apply("Sub", score, a), np.where(b > a, b - a, 1.0))
        inside = graph.apply("And", graph.apply("GreaterOrEqual", score, a), graph.apply("Less", score, b))
        line = graph.apply("Add", graph.apply("Mul", share, rise), values[:, at])
        found = graph.apply("Where", inside, line, found)
    return found


# How each decider says it: (graph, rule, score) -> the position of the choice.
_PLACES: dict[type, Any] = {
    Cuts: _by_cuts,
    Margins: _by_margins,
    Confidence: _by_confidence,
    Cheapest: _cheapest,
    Sets: _by_sets,
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
