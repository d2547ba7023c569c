"""The rules as ONNX nodes: from scores to labels and rejects, one function for each kind of rule.

A rule gives the place of each row's label in a list of labels, and whether it is a reject.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstain.costs.actions import Actions
from abstain.estimators.novelty.guarded import novel_action
from abstain.files.onnx.steps import kinds
from abstain.rules.action_rule import ActionRule
from abstain.rules.class_rule import ClassRule, Ladder, VoteRule
from abstain.rules.lead_rule import LeadRule
from abstain.rules.rule import Rule
from abstain.rules.set_rule import SetRule
from abstain.rules.tuning.class_lead import FIRST, Lead

if TYPE_CHECKING:
    from abstain.files.onnx.graph import Graph

__all__ = ["decision_nodes", "label_list"]

LAST = -1  # axis


def decision_nodes(graph: Graph, rule: Any, score: str, withheld: str | None = None) -> tuple[str, str, int]:
    """Give the labels and the rejects by the scores of `score_nodes`, and the type of the labels.

    Rows that are `withheld`, because they are novel or Python would refuse them, are rejected, whatever their score.
    """
    if type(rule) not in _NODES:
        raise ValueError(f"a {type(rule).__name__} has no graph; use abstain.save, or decide where Python runs.")
    kind, names = label_list(rule)
    place, rejected = _NODES[type(rule)](graph, rule, score)
    if withheld is not None:
        place = graph.apply("Where", withheld, graph.constant(np.int64(_reject_place(rule))), place)
        rejected = graph.apply("Or", withheld, rejected)
    return graph.apply("Gather", graph.constant(names), place), rejected, kinds()[kind]


def _reject_place(rule: Any) -> int:
    """The place in `label_list` of the label of a row that is withheld."""
    if isinstance(rule, ActionRule):
        actions = rule.costs
        return novel_action(actions if actions.rejecting.any() else Actions(actions.to_dict(), rejects=actions.names))
    return 1 if isinstance(rule, Rule) else 0


def _of_thresholds(graph: Graph, rule: Rule, score: str) -> tuple[str, str]:
    """+1 if s > upper; else -1 if s < lower or lower == upper; else reject: exactly the rule of `Thresholds`."""
    thresholds = rule.thresholds
    above = graph.apply("Greater", score, graph.constant(thresholds.upper))
    below = graph.apply("Not", above)
    if thresholds.rejects:
        below = graph.apply("Less", score, graph.constant(thresholds.lower))
    rejected = graph.apply("Not", graph.apply("Or", above, below))
    place = graph.apply("Where", above, graph.constant(np.int64(2)), graph.constant(np.int64(0)))
    return graph.apply("Where", rejected, graph.constant(np.int64(1)), place), rejected


def _of_levels(graph: Graph, rule: ActionRule, score: str) -> tuple[str, str]:
    """The number of cuts below s, an equal one counted if it is closed: the rule of `Levels`."""
    levels, counts = rule.thresholds, []
    for cut, closed in zip(levels.cuts, levels.closed, strict=True):
        above = graph.apply("GreaterOrEqual" if closed else "Greater", score, graph.constant(cut))
        counts.append(graph.apply("Cast", above, to=kinds()["i"]))
    level = reduce(lambda total, count: graph.apply("Add", total, count), counts)
    place = graph.apply("Gather", graph.constant(np.array(levels.choices, dtype=np.int64)), level)
    return place, graph.apply("Gather", graph.constant(rule.costs.rejecting), place)


def _of_votes(graph: Graph, rule: VoteRule, score: str) -> tuple[str, str]:
    """The class with the most votes, ties to the first; nothing is rejected."""
    votes = graph.apply("Round", score)
    place = _column(graph, graph.apply("ArgMax", votes, axis=LAST, keepdims=1))
    most = graph.constant(np.int64(rule.labels.n_classes))
    return graph.apply("Add", place, graph.constant(np.int64(1))), graph.apply("Greater", place, most)


def _of_classes(graph: Graph, rule: ClassRule, score: str) -> tuple[str, str]:
    return (_of_expected_cost if rule.by_cost else _of_cuts)(graph, rule, score)


def _of_cuts(graph: Graph, rule: ClassRule, score: str) -> tuple[str, str]:
    """Answer the k of least e_k (1 - P_k) with f_k > cuts_k; of equal ones that of the largest f_k - cuts_k."""
    above = graph.apply("Sub", score, graph.constant(rule.thresholds))
    passed = graph.apply("Greater", above, graph.constant(0.0))
    open_part = graph.apply("Sub", graph.constant(1.0), _on_ladders(graph, rule.ladders, score))
    table = rule.costs.unitless
    cost = graph.apply("Mul", open_part, graph.constant(table[:, :-1].max(axis=0)))
    cost = graph.apply("Max", graph.apply("Min", cost, graph.constant(table[0, -1])), graph.constant(0.0))
    gain = graph.apply("Where", passed, graph.apply("Neg", cost), graph.constant(-np.inf))
    least = graph.apply("Equal", gain, _most(graph, gain))
    above = graph.apply("Where", least, above, graph.constant(-np.inf))
    place = _column(graph, graph.apply("ArgMax", above, axis=LAST, keepdims=1))
    none = graph.apply("LessOrEqual", _column(graph, _most(graph, above)), graph.constant(0.0))
    return _answer(graph, place, none)


def _of_expected_cost(graph: Graph, rule: ClassRule, score: str) -> tuple[str, str]:
    """The action of least sum_j P_j cost[j, action]; ties go to the first, and the reject is the last."""
    expected = graph.apply("Gemm", _probabilities(graph, rule, score), graph.constant(rule.costs.unitless))
    place = _column(graph, graph.apply("ArgMin", expected, axis=LAST, keepdims=1))
    n_classes = graph.constant(np.int64(rule.labels.n_classes))
    total = graph.apply("ReduceSum", expected, graph.constant(np.array([LAST])), keepdims=1)
    unknown = graph.apply("IsNaN", _column(graph, total))  # scores so large that the probabilities overflow
    return _answer(graph, place, graph.apply("Or", unknown, graph.apply("Equal", place, n_classes)))


def _column(graph: Graph, reduced: str) -> str:
    """The only column, as a vector: onnxruntime keeps all columns of a reduced matrix without rows."""
    return graph.apply("Gather", reduced, graph.constant(np.int64(0)), axis=1)


def _of_lead(graph: Graph, rule: LeadRule, score: str) -> tuple[str, str]:
    """The class of the highest score if its confidence, the lead or the score itself, exceeds the cut of this class."""
    confidence = _most(graph, score)
    if rule.by == "lead":
        confidence = graph.apply("Sub", confidence, _most(graph, _top(graph, score, rule.labels.n_classes)[1]))
    place = _column(graph, graph.apply("ArgMax", score, axis=LAST, keepdims=1))
    cut = graph.apply("Gather", graph.constant(rule.cuts), place)
    return _answer(graph, place, graph.apply("LessOrEqual", _column(graph, confidence), cut))


def _of_sets(graph: Graph, rule: SetRule, score: str) -> tuple[str, str]:
    """The only class whose lead over the best of the others is at least its cut; several or none are a reject."""
    top, others = _top(graph, score, rule.labels.n_classes)
    first, second = _most(graph, score), _most(graph, others)
    lead = graph.apply("Where", top, graph.apply("Sub", first, second), graph.apply("Sub", score, first))
    inside = graph.apply("Cast", graph.apply("GreaterOrEqual", lead, graph.constant(rule.cuts)), to=kinds()["i"])
    count = graph.apply("ReduceSum", inside, graph.constant(np.array([LAST])), keepdims=1)
    place = _column(graph, graph.apply("ArgMax", inside, axis=LAST, keepdims=1))
    one = graph.apply("Equal", _column(graph, count), graph.constant(np.int64(1)))
    return _answer(graph, place, graph.apply("Not", one))


def _answer(graph: Graph, place: str, rejected: str) -> tuple[str, str]:
    """1, ..., n for a class and 0 for a reject."""
    answered = graph.apply("Add", place, graph.constant(np.int64(1)))
    return graph.apply("Where", rejected, graph.constant(np.int64(0)), answered), rejected


def _probabilities(graph: Graph, rule: ClassRule, score: str) -> str:
    """As `ClassRule.probabilities`: by the lead of the likeliest class, or by the ladders, normalised."""
    if rule.lead is not None:
        low, high = np.array([(ladder.scores[0], ladder.scores[-1]) for ladder in rule.ladders]).T
        height = graph.apply("Sub", score, graph.constant(low))
        height = graph.apply("Div", height, graph.constant(high - low))
        return _corrected(graph, rule.lead, height, len(low))
    own = _on_ladders(graph, rule.ladders, score)
    total = graph.apply("ReduceSum", own, graph.constant(np.array([LAST])), keepdims=1)
    one = graph.constant(1.0)
    share = graph.apply("Div", graph.apply("Sub", one, total), graph.constant(float(len(rule.ladders))))
    spread = graph.apply("Add", own, share)
    scaled = graph.apply("Div", own, graph.apply("Max", total, one))
    return graph.apply("Where", graph.apply("Less", total, one), spread, scaled)


def _corrected(graph: Graph, lead: Lead, heights: str, n_classes: int) -> str:
    """As `Lead`: a softmax, in which the log-odds of the likeliest class against the rest are corrected."""
    power = graph.apply("Mul", heights, graph.constant(lead.scale))
    top, others = _top(graph, power, n_classes)
    second = _most(graph, others)
    terms = graph.apply("Exp", graph.apply("Sub", others, second))
    total = graph.apply("Log", graph.apply("ReduceSum", terms, graph.constant(np.array([LAST])), keepdims=1))
    ahead = graph.apply("Sub", graph.apply("Sub", _most(graph, power), second), total)
    rest = graph.apply("Softmax", others, axis=LAST)
    odds = graph.apply("Add", graph.apply("Mul", ahead, graph.constant(lead.slope)), graph.constant(lead.shift))
    least = graph.apply("Add", graph.apply("Log", _most(graph, rest)), graph.constant(FIRST))
    odds = graph.apply("Max", odds, least)
    behind = graph.apply("Mul", rest, graph.apply("Sigmoid", graph.apply("Neg", odds)))
    return graph.apply("Where", top, graph.apply("Sigmoid", odds), behind)


def _top(graph: Graph, values: str, n_classes: int) -> tuple[str, str]:
    """Where the first largest value of each row is, and the values with -inf there."""
    at = graph.apply("ArgMax", values, axis=LAST, keepdims=1)
    top = graph.apply("Equal", graph.constant(np.arange(n_classes)), at)
    return top, graph.apply("Where", top, graph.constant(-np.inf), values)


def _most(graph: Graph, values: str) -> str:
    return graph.apply("ReduceMax", values, graph.constant(np.array([LAST])), keepdims=1)


def _on_ladders(graph: Graph, ladders: tuple[Ladder, ...], score: str) -> str:
    """Straight lines between the points of each class, by the same operations as `np.interp`."""
    columns = []
    for k, ladder in enumerate(ladders):
        column = graph.apply("Gather", score, graph.constant(np.array([k])), axis=1)
        points = list(zip(ladder.scores, ladder.probabilities, strict=True))
        value = graph.constant(points[0][1])
        for (left, low), (right, high) in pairwise(points):
            if right > left:
                along = graph.apply("Sub", column, graph.constant(left))
                along = graph.apply("Mul", along, graph.constant((high - low) / (right - left)))
                line = graph.apply("Add", along, graph.constant(low))
                value = _from(graph, column, left, line, value)
        columns.append(_from(graph, column, points[-1][0], graph.constant(points[-1][1]), value))
    return graph.apply("Concat", *columns, axis=1)


def _from(graph: Graph, score: str, at: float, above: str, below: str) -> str:
    return graph.apply("Where", graph.apply("GreaterOrEqual", score, graph.constant(at)), above, below)


# One function per kind of rule: (graph, rule, score) -> (place of the label in `label_list`, rejected).
_NODES: dict[type, Callable[[Graph, Any, str], tuple[str, str]]] = {
    Rule: _of_thresholds,
    ActionRule: _of_levels,
    VoteRule: _of_votes,
    ClassRule: _of_classes,
    LeadRule: _of_lead,
    SetRule: _of_sets,
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


def label_list(rule: Any) -> tuple[str, NDArray[Any]]:
    """The type of the labels, and the labels in the order that the functions above count them."""
    if isinstance(rule, ActionRule):
        values = list(rule.costs.names)
    else:
        classes = rule.labels.classes.tolist()
        reject = _reject_label(rule.labels)
        values = [classes[0], reject, classes[1]] if isinstance(rule, Rule) else [reject, *classes]
    if all(isinstance(name, str) for name in values):
        return "U", np.array(values, dtype=object)
    if any(isinstance(name, str) for name in values):
        raise ValueError(f"labels {values} are texts and numbers, and ONNX takes one type; name all of them by texts.")
    if all(isinstance(name, bool) for name in values):
        return "b", np.array(values)
    if any(isinstance(name, float) for name in values):
        return "f", np.array(values, dtype=np.float64)
    if not all(-(2**63) <= name < 2**63 for name in values):
        raise ValueError(f"classes {values} do not fit in ONNX's int64; use other labels.")
    return "i", np.array(values, dtype=np.int64)
