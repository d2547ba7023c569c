"""A rule as ONNX nodes, from scores to labels and rejects, by what decides; and the guard of a NoveltyRejector.

::

    cuts on one score        the number of cuts below it
    margins per class        the cheapest k with f_k > cut_k
    confidence               the class of the highest score, if its confidence exceeds the cut of this class
    cheapest                 the choice of least expected cost
    sets                     the only class whose lead reaches its cut

Each gives the position of a row's choice among the actions of the rule.

A guard is the detector's score of each row, its p-value, and which rows are novel::

    s(x) = -score_samples(x);  p(x) = (1 + #{calibration scores >= s(x)}) / (m + 1);  novel if p(x) <= rate

Scores that differ by rounding count as equal (`Guard.levels`): a calibration row itself has the same p-value as in
Python, whichever way its score is rounded.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from abstain.estimators.novelty.guard import Guard, largest_cell
from abstain.estimators.novelty.guarded import least_at_worst
from abstain.estimators.novelty.novelty_detector import FAINTEST, FAR, FittedDetector, NoveltyDetector
from abstain.estimators.svm.one_class import OneClassSVM
from abstain.files.format.errors import no_graph
from abstain.files.onnx.scores import Scoring, probability_nodes, top_of, where
from abstain.files.onnx.steps import Table, through, transformers_in
from abstain.labels import NO_CLASS
from abstain.rules.class_deciders import Cheapest, Confidence, Margins, Sets
from abstain.rules.deciders import Cuts, PerRow
from abstain.rules.rule import Rule

if TYPE_CHECKING:
    from abstain.files.onnx.graph import Value


def decision_nodes(rule: Rule, score: "Value", withheld: "Value | None" = None) -> "tuple[Value, Value, str]":
    """Return the labels and the rejects of scores in a graph, and the type of the labels.

    Rows that are `withheld`, because they are novel or Python would refuse them, are rejected, whatever their score.
    """
    if isinstance(rule.decider, PerRow):
        what = "a graph has no input for the costs of a row, and this machine was fitted with row_costs and without"
        raise ValueError(f"{what} costs; state costs and fit again.")  # noqa: TRY004 (a fitted machine without costs)
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


def _by_cuts(rule: Any, score: "Value") -> "Value":
    """The number of cuts below s, an equal one counted if it is closed: the rule of `Levels`."""
    levels = rule.decider.levels
    level: Any = np.int64(0)
    for cut, closed in zip(levels.cuts, levels.closed, strict=True):
        level = (score >= cut if closed else score > cut).cast("i") + level
    return score.graph.apply("Gather", np.array(levels.choices, dtype=np.int64), level)


def _by_margins(rule: Any, score: "Value") -> "Value":
    """Answer the k of least e_k (1 - P_k) with f_k > cuts_k; of equal ones that of the largest f_k - cuts_k."""
    above = score - rule.decider.cuts
    passed, table = above > 0.0, rule.costs.unitless
    cost = (1.0 - rule.readout.interpolated(score, where)) * table[:, :-1].max(axis=0)
    gain = passed.where(-cost.at_most(table[0, -1]).at_least(0.0), -np.inf)
    above = gain.equals(gain.across("ReduceMax")).where(above, -np.inf)
    none = above.across("ReduceMax").column() <= 0.0
    return none.where(np.int64(len(table)), above.first("ArgMax"))


def _by_confidence(rule: Any, score: "Value") -> "Value":
    """The class of the highest score if its confidence, the lead or the score itself, exceeds the cut of this class."""
    cuts, by = rule.decider.cuts, rule.decider.by
    score = score.apply("Round") if by == "votes" else score
    confidence = score.across("ReduceMax")
    if by == "lead":
        confidence = confidence - top_of(score, len(cuts))[1].across("ReduceMax")
    place = score.first("ArgMax")
    return (confidence.column() <= place.of(cuts)).where(np.int64(len(cuts)), place)


def _cheapest(rule: Any, score: "Value") -> "Value":
    """The action of least sum_j P_j cost[j, action], ties to the answers, then to the first: `CostTable.cheapest`."""
    costs = rule.costs
    order = np.argsort(costs.rejecting, kind="stable")
    expected = probability_nodes(rule.readout, score).apply("Gemm", costs.unitless[:, order])
    unknown = expected.across("ReduceSum").column().apply("IsNaN")  # scores so large that probabilities overflow
    at_worst = costs.hands_on.index(True) if any(costs.hands_on) else order[0]
    return unknown.where(np.int64(at_worst), expected.first("ArgMin").of(order))


def _by_sets(rule: Any, score: "Value") -> "Value":
    """The only class whose lead over the best of the others is at least its cut; several or none are a reject."""
    cuts = rule.decider.cuts
    top, others = top_of(score, len(cuts))
    first, second = score.across("ReduceMax"), others.across("ReduceMax")
    inside = (top.where(first - second, score - first) >= cuts).cast("i")
    one = inside.across("ReduceSum").column().equals(np.int64(1))
    return one.where(inside.first("ArgMax"), np.int64(len(cuts)))


# How each decider says it: (rule, score) -> the position of the choice.
_PLACES = {Cuts: _by_cuts, Margins: _by_margins, Confidence: _by_confidence, Cheapest: _cheapest, Sets: _by_sets}


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


def split(estimator: Any) -> tuple[list[Any], Any]:
    """Return the transformers before the last step, and the last step; of anything but a Pipeline, itself."""
    if type(estimator) is not Pipeline:
        return [], estimator
    return [step for _, step in estimator.steps[:-1]], estimator.steps[-1][1]


def detector_scoring(guard: Guard) -> Scoring:
    """Return the sums that show how usual a row is; an error for detectors without a graph."""
    _, last = split(guard.detector)
    found = Scoring.of(last.machine_) if type(last) in (NoveltyDetector, OneClassSVM) else None
    if found is None:
        what = f"has a {type(last).__name__} as detector of novel rows"
        raise no_graph(what, "; leave detector=None, or give an abstain.OneClassSVM")
    return replace(found, biases=np.zeros(1))


def guard_nodes(guard: Guard, table: Table) -> "tuple[Value, Value]":
    """Return the p-value of each row, and whether it is novel."""
    scoring = detector_scoring(guard)
    before, last = split(guard.detector)
    X = through(before, table).numbers()
    unusual = _unusual(last._fitted_, scoring, X) if type(last) is NoveltyDetector else -scoring.score(X)
    overflown = unusual.apply("IsNaN") | unusual.apply("IsInf")
    beyond = ~(abs(X) <= largest_cell(last))  # as `Guard` requires it
    known = ~(overflown | beyond.any().column())
    unusual = known.where(unusual, np.inf)
    low, high = guard.levels
    above = _count_below(high, unusual)
    p_value = (np.int64(1 + guard.m) - above).cast("f") / (guard.m + 1.0)
    reached = _count_below(np.nextafter(low, -np.inf), unusual)
    tied = known & (reached > above)  # as unusual as a calibration row
    p_value = tied.where(p_value.at_least(guard.least_known), p_value)
    return p_value, p_value <= guard.rate


def _unusual(now: FittedDetector, scoring: Scoring, X: "Value") -> "Value":
    """Return what `FittedDetector.unusual` does."""
    columns = now.columns
    logged = columns.floor > 0.0
    x, f = X - columns.origin, np.where(logged, columns.floor, 1.0)
    below = (x - f).at_most(0.0) / f
    log = x.at_least(f).apply("Log") + below
    u = X.graph.constant(logged).where(log, x)
    z = (u - columns.centre) / columns.spread
    residual = abs(z.apply("Gemm", np.ascontiguousarray(now.residuals))).across("ReduceMax").column()
    near = scoring.score(z.at_most(FAR).at_least(-FAR)) / float(scoring.coef.sum())
    near = near.at_most(1.0).at_least(FAINTEST)
    sizes = residual, (-near.apply("Log")).apply("Sqrt")
    units = zip(sizes, now.units.tolist(), now.excess.tolist(), strict=True)
    first, second = ((size / unit).apply("Log") / excess for size, unit, excess in units)
    v = first.at_least(second)
    return v.at_most(0.0).apply("Exp") + v.at_least(0.0)


def _count_below(scores: Any, values: "Value") -> "Value":
    """The number of the increasing `scores` below each value, by halving: no matrix of rows and scores is made."""
    depth = len(scores).bit_length()
    padded = values.graph.constant(np.append(scores, np.full(2**depth - len(scores), np.inf)))
    found = values.apply("IsNaN").cast("i")  # 0 for every row
    for half in reversed(range(depth)):
        further = found + np.int64(2**half)
        passed = (further - np.int64(1)).of(padded) < values
        found = passed.where(further, found)
    return found


def check_encoders(before: list[Any], detector: Any) -> None:
    """Raise an error if the detector's own encoders do not know all categories of the classifier's and would refuse.

    Python rejects a row with such a category as novel; in a graph it would be a row of no category.
    """
    for known, fewer in zip(_encoders(before), _encoders(split(detector)[0]), strict=False):
        lists = [repr([column.tolist() for column in one.categories_]) for one in (known, fewer)]
        if fewer.handle_unknown == "error" and lists[0] != lists[1]:
            what = f"the {type(fewer).__name__} of the detector of novel rows was fitted to fewer rows and does not"
            way = "use handle_unknown='ignore' (of an OrdinalEncoder 'use_encoded_value'), or list the categories"
            raise ValueError(f"{what} know all categories of the classifier's, which has no ONNX graph; {way}.")


def _encoders(steps: list[Any]) -> list[Any]:
    return [one for step in steps for one in transformers_in(step) if hasattr(one, "categories_")]
