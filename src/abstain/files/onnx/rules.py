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

from abstain.estimators.novelty.guarded import least_at_worst
from abstain.labels import NO_CLASS
from abstain.rules.class_deciders import Cheapest, Confidence, Margins, Sets
from abstain.rules.deciders import Cuts, PerRow
from abstain.rules.readouts import Ladders, Softmax
from abstain.rules.rule import Rule
from abstain.rules.tuning.sigmoid import FIRST, Lead

if TYPE_CHECKING:
    from abstain.files.onnx.graph import Value


def decision_nodes(rule: Rule, score: Value, withheld: Value | None = None) -> tuple[Value, Value, str]:
    """Return the labels and the rejects of scores in a graph, and the type of the labels.

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
    place = _PLACES[type(rule.decider)](rule, score)
    rejected = place.of(rule.hands_on)
    if withheld is not None:
        at_worst = rule.answers.index(NO_CLASS) if rule.costs is None else least_at_worst(rule.costs)
        place = withheld.where(np.int64(at_worst), place)
        rejected = withheld | rejected
    return place.of(labels), rejected, kind


def by_cost(rule: Rule) -> bool:
    """Whether costs are compared that depend on the score, so that rounding may decide between equal ones."""
    margins = isinstance(rule.decider, Margins) and rule.costs is not None and not rule.costs.symmetric
    return margins or isinstance(rule.decider, Cheapest)


def _names(rule: Rule) -> list[Any]:
    """The labels of the actions, a reject also where the machine never rejects: for the rows that Python refuses.

    There it is the reject label, or the first class if ONNX's type of the classes cannot hold that.
    """
    names, label = list(rule.names.tolist()), rule.labels.reject_label
    if rule.hands_on.any() and not rule.labels.rejects:
        fits = label is not None and not isinstance(names[0], bool) and (isinstance(label, str) or abs(label) < 2**63)
        names[rule.answers.index(NO_CLASS)] = label if fits else rule.labels.classes.tolist()[0]
    return names


def _by_cuts(rule: Any, score: Value) -> Value:
    """The number of cuts below s, an equal one counted if it is closed: the rule of `Levels`."""
    levels = rule.decider.levels
    level: Any = np.int64(0)
    for cut, closed in zip(levels.cuts, levels.closed, strict=True):
        level = (score >= cut if closed else score > cut).cast("i") + level
    return score.graph.apply("Gather", np.array(levels.choices, dtype=np.int64), level)


def _by_margins(rule: Any, score: Value) -> Value:
    """Answer the k of least e_k (1 - P_k) with f_k > cuts_k; of equal ones that of the largest f_k - cuts_k."""
    above = score - rule.decider.cuts
    passed, table = above > 0.0, rule.costs.unitless
    cost = (1.0 - rule.readout.interpolated(score, _where)) * table[:, :-1].max(axis=0)
    gain = passed.where(-cost.at_most(table[0, -1]).at_least(0.0), -np.inf)
    above = gain.equals(gain.across("ReduceMax")).where(above, -np.inf)
    none = above.across("ReduceMax").column() <= 0.0
    return none.where(np.int64(len(table)), above.first("ArgMax"))


def _by_confidence(rule: Any, score: Value) -> Value:
    """The class of the highest score if its confidence, the lead or the score itself, exceeds the cut of this class."""
    cuts, by = rule.decider.cuts, rule.decider.by
    score = score.apply("Round") if by == "votes" else score
    confidence = score.across("ReduceMax")
    if by == "lead":
        confidence = confidence - _top(score, len(cuts))[1].across("ReduceMax")
    place = score.first("ArgMax")
    return (confidence.column() <= place.of(cuts)).where(np.int64(len(cuts)), place)


def _cheapest(rule: Any, score: Value) -> Value:
    """The action of least sum_j P_j cost[j, action], ties to the answers, then to the first: `CostTable.cheapest`."""
    costs = rule.costs
    order = np.argsort(costs.rejecting, kind="stable")
    expected = probability_nodes(rule.readout, score).apply("Gemm", costs.unitless[:, order])
    unknown = expected.across("ReduceSum").column().apply("IsNaN")  # scores so large that probabilities overflow
    at_worst = costs.hands_on.index(True) if any(costs.hands_on) else order[0]
    return unknown.where(np.int64(at_worst), expected.first("ArgMin").of(order))


def _by_sets(rule: Any, score: Value) -> Value:
    """The only class whose lead over the best of the others is at least its cut; several or none are a reject."""
    cuts = rule.decider.cuts
    top, others = _top(score, len(cuts))
    first, second = score.across("ReduceMax"), others.across("ReduceMax")
    inside = (top.where(first - second, score - first) >= cuts).cast("i")
    one = inside.across("ReduceSum").column().equals(np.int64(1))
    return one.where(inside.first("ArgMax"), np.int64(len(cuts)))


def probability_nodes(readout: Any, score: Value) -> Value:
    """As `probabilities` of the readout: a softmax, or by the lead of the likeliest class, or by the ladders."""
    if isinstance(readout, Softmax):
        return score.apply("Softmax", axis=-1)
    if not isinstance(readout, Ladders):
        what = type(readout).__name__
        raise ValueError(f"scores that are read by a {what} have no ONNX graph; use abstain.save.")  # noqa: TRY004
    n = len(readout.tangents)
    if readout.lead is not None:
        low, high = readout.ends
        return _corrected(readout.lead, (score - low) / (high - low), n)
    own = readout.interpolated(score, _where)
    total = own.across("ReduceSum")
    share, scaled = (1.0 - total) / float(n), own / total.at_least(1.0)
    return (total < 1.0).where(own + share, scaled)


def _where(test: Value, then: Any, otherwise: Any) -> Value:
    return test.where(then, otherwise)


def _corrected(lead: Lead, heights: Value, n_classes: int) -> Value:
    """As `Lead`: a softmax, in which the log-odds of the likeliest class against the rest are corrected."""
    power = heights * lead.scale
    top, others = _top(power, n_classes)
    second = others.across("ReduceMax")
    total = (others - second).apply("Exp").across("ReduceSum").apply("Log")
    ahead = power.across("ReduceMax") - second - total
    rest = others.apply("Softmax", axis=-1)
    odds = (ahead * lead.slope + lead.shift).at_least(rest.across("ReduceMax").apply("Log") + FIRST)
    behind = rest * (-odds).apply("Sigmoid")
    return top.where(odds.apply("Sigmoid"), behind)


def _top(values: Value, n_classes: int) -> tuple[Value, Value]:
    """Where the first largest value of each row is, and the values with -inf there."""
    at = values.apply("ArgMax", axis=-1, keepdims=1)
    top = values.graph.apply("Equal", np.arange(n_classes), at)
    return top, top.where(-np.inf, values)


# How each decider says it: (rule, score) -> the position of the choice.
_PLACES: dict[type, Any] = {
    Cuts: _by_cuts,
    Margins: _by_margins,
    Confidence: _by_confidence,
    Cheapest: _cheapest,
    Sets: _by_sets,
}


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
