"""From the scores of several classes to decisions: by votes without costs, by cuts or by expected cost with them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.class_labels import ClassLabels
from abstain.costs.class_costs import ClassCosts
from abstain.machines.class_machine import votes
from abstain.rules.decisions_frame import DecidedRows
from abstain.rules.tuning.class_lead import Lead

__all__ = ["ClassDecisions", "ClassRule", "Ladder", "VoteRule", "with_second"]


@dataclass(frozen=True, eq=False, repr=False)
class ClassDecisions(DecidedRows):
    """Decisions on n rows, of any number of classes.

    Attributes
    ----------
    label : ndarray of shape (n,)
        What `predict` returns: a class, or the reject label.
    rejected : ndarray of bool, shape (n,)
        True where the row was rejected.
    score : ndarray of float64, shape (n, n_classes)
        The decision function.
    expected_cost : ndarray of float64, shape (n, n_classes + 1)
        Expected cost of answering each class and, last, of rejecting; nan without costs. They decide unless
        `costs_decide` is False.
    forced : ndarray of shape (n,)
        What `predict_forced` returns: the cheapest class, also where the row was rejected.
    labels : ClassLabels
        The classes, sorted, and the reject label.
    index : pandas.Index or None, default=None
        The index of the data frame that the rows came from; None for other input.
    novel : ndarray of bool, shape (n,), or None, default=None
        True where a `NoveltyRejector` rejected the row as unlike the training rows; None of other estimators. Nothing
        is known of the costs of such a row: its `expected_cost` is nan.
    costs_decide : bool, default=True
        Whether each label has the least of the expected costs and `forced` the least of the answers. False where
        something else decides, such as tuned cuts on the confidence: the expected costs are then for information.
    """

    label: NDArray[Any]
    rejected: NDArray[np.bool_]
    score: NDArray[np.float64]
    expected_cost: NDArray[np.float64]
    forced: NDArray[Any]
    labels: ClassLabels
    index: Any = None
    novel: NDArray[np.bool_] | None = None
    costs_decide: bool = True

    def _columns(self) -> dict[str, NDArray[Any]]:
        names = [str(label) for label in self.labels.classes.tolist()]
        scores = {f"score_{name}": column for name, column in zip(names, self.score.T, strict=True)}
        costs = {f"cost_{name}": cost for name, cost in zip([*names, "reject"], self.expected_cost.T, strict=True)}
        return {"label": self.label, "rejected": self.rejected, "reason": self.reason} | scores | costs


@dataclass(frozen=True)
class Ladder:
    """The probability of a class as a function of its own score: straight lines between known points.

    ::

        0 where the loss of the other rows ends,  p where the score passes a tangent at p,  1 where its own loss ends

    A machine that has learnt everything puts a row on one of the two ends if its probability lies beyond the tangents;
    between them the score is the log-odds. So the ends stand for "surely not" and "surely", as far as can be known.
    """

    scores: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __call__(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the probability at each score."""
        return np.interp(score, self.scores, self.probabilities)


class _Deciding(ABC):
    """What the two rules share; `choose` gives 1, ..., n for a class and 0 for a reject."""

    labels: ClassLabels
    costs: ClassCosts | None
    costs_decide: ClassVar[bool]  # whether the label has the least of the expected costs

    def is_reject(self, choice: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Give True where the choice is a reject."""
        return np.asarray(choice == 0)

    @abstractmethod
    def choose(self, score: NDArray[np.float64]) -> NDArray[np.intp]:
        """Give 1, ..., n for a class and 0 for a reject."""

    @abstractmethod
    def best(self, score: NDArray[np.float64]) -> NDArray[np.intp]:
        """Give 1, ..., n for the cheapest class, never a reject."""

    @abstractmethod
    def expected_cost(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the expected cost of answering each class, and of a reject."""

    def predict(self, score: NDArray[np.float64]) -> NDArray[Any]:
        """Give the label for each row of scores: a class or the reject label."""
        return self.labels.decode(self.choose(score))

    def forced(self, score: NDArray[np.float64]) -> NDArray[Any]:
        """Give the cheapest class for each row of scores."""
        return self.labels.classes[self.best(score) - 1]

    def decide(self, score: NDArray[np.float64], probability: Any = None, index: Any = None) -> ClassDecisions:
        """Give the decisions with their expected costs."""
        del probability  # of two classes
        choice, expected = self.choose(score), self.expected_cost(score)
        label, forced = self.labels.decode(choice), self.forced(score)
        decided = {"index": index, "costs_decide": self.costs_decide}
        return ClassDecisions(label, choice == 0, score, expected, forced, self.labels, **decided)

    def _named(self, score: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Give the class of the forced answer as a set."""
        return self.best(score)[:, np.newaxis] == np.arange(1, self.labels.n_classes + 1)

    def cost_of(self, y: ArrayLike, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the cost of each row's decision, given the true labels; without costs an error costs 1."""
        truth, choice = self.labels.encode(y), self.choose(score)
        return (choice != truth).astype(np.float64) if self.costs is None else self.costs.prices(truth, choice)


@dataclass(frozen=True, eq=False)
class VoteRule(_Deciding):
    """The class with the most votes of the pairs, ties to the first, as in `SVC`; rejects nothing.

    Attributes
    ----------
    labels : ClassLabels
    """

    labels: ClassLabels
    costs: None = None
    costs_decide: ClassVar[bool] = False

    def choose(self, score: NDArray[np.float64]) -> NDArray[np.intp]:
        """Give 1, ..., n for the class."""
        return self.best(score)

    def best(self, score: NDArray[np.float64]) -> NDArray[np.intp]:
        """Give 1, ..., n for the class."""
        return np.asarray(np.argmax(votes(score), axis=1) + 1)

    def expected_cost(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give nan, for want of costs."""
        return np.full((len(score), self.labels.n_classes + 1), np.nan)

    def included(self, *_: Any) -> NDArray[np.bool_]:
        """Refuse: without costs the scores say nothing of probabilities."""
        raise ValueError("predict_set needs costs, got costs=None; state them, as in costs=Costs(reject=0.3).")


@dataclass(frozen=True, eq=False)
class ClassRule(_Deciding):
    """Turns the scores of one-vs-rest machines into decisions.

    ::

        Bayes' cuts      the cheapest k with f_k > cuts_k, else reject;      answering k costs e_k (1 - P_k)
        expected cost    the action of least sum_j P_j cost[j, action]

    Bayes' cuts are for costs where a wrong answer k costs e_k whatever is true, and rejecting less than half of it:
    then at most one class has P_k > 1 - reject / e_k, and the machines are consistent for that. P_k is made from the
    score of k alone (`Ladder`), so the P_k need not sum to 1; if several classes pass their cuts, the cheapest is
    answered. For other costs P is made from all scores (ladders, then normalised), which no theorem covers. With a
    `lead`, fitted to held-out scores, decisions are by expected cost for all costs, under ::

        P = lead(g),   g_k the score of k on its ladder, from 0 (surely not) to 1 (surely)

    a softmax in which the log-odds of the likeliest class, its lead over all others, are corrected (`Lead`).

    Attributes
    ----------
    labels : ClassLabels
    costs : ClassCosts
    ladders : tuple of Ladder
        One for each class.
    cuts : ndarray of shape (n_classes,) or None
        Bayes' cuts on the scores; None if the decision is by expected cost.
    lead : Lead or None, default=None
        The probabilities as a function of g, if it was tuned.
    """

    labels: ClassLabels
    costs: ClassCosts
    ladders: tuple[Ladder, ...]
    cuts: NDArray[np.float64] | None
    lead: Lead | None = None
    costs_decide: ClassVar[bool] = True

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """Bayes' cuts on the scores; they do not exist where the decision is by expected cost."""
        if self.by_cost:
            raise AttributeError("decisions are by expected cost here, not by a cut for each class; see decide().")
        return np.asarray(self.cuts)

    @property
    def by_cost(self) -> bool:
        """Whether decisions are by expected cost, not by Bayes' cuts."""
        return self.cuts is None or self.lead is not None

    def tuned(self, lead: Lead) -> ClassRule:
        """Give the rule with probabilities fitted to held-out scores."""
        return replace(self, lead=lead)

    def heights(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the scores on their ladders, from 0 to 1 and beyond."""
        low, high = np.array([(ladder.scores[0], ladder.scores[-1]) for ladder in self.ladders]).T
        return np.asarray((score - low) / (high - low))

    def probabilities(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give rough probabilities of all classes, which sum to 1."""
        if self.lead is not None:
            return self.lead(self.heights(score))
        own = self._own(score)
        total = own.sum(axis=-1, keepdims=True)
        # what the classes leave open is shared evenly, which makes rejecting cheaper
        return np.asarray(np.where(total < 1.0, own + (1.0 - total) / own.shape[-1], own / np.maximum(total, 1.0)))

    def expected_cost(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the expected cost of answering each class and, last, of rejecting."""
        if self.by_cost:
            return self.costs.expected(self.probabilities(score))
        return self._at_cuts(score, self.costs.table())

    def _at_cuts(self, score: NDArray[np.float64], table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give e_k (1 - P_k) of each class, and the reject cost, in the unit of the table of costs."""
        reject = table[0, -1]
        cost = np.maximum(table[:, :-1].max(axis=0) * (1.0 - self._own(score)), 0.0)
        # rounding must not put a cost on the other side of the reject cost than the score is of its cut
        cost = np.where(score > self.thresholds, np.minimum(cost, reject), np.maximum(cost, reject))
        return np.concatenate([cost, np.full((*cost.shape[:-1], 1), reject)], axis=-1)

    def choose(self, score: NDArray[np.float64]) -> NDArray[np.intp]:
        """Give 1, ..., n for a class and 0 for a reject; the classes are on the last axis of the scores."""
        if not self.by_cost:
            passed = (score > self.thresholds).any(axis=-1)  # a class that passes costs at most a reject
            return np.where(passed, self.best(score), 0)
        return self.costs.cheapest(self.probabilities(score))

    def best(self, score: NDArray[np.float64]) -> NDArray[np.intp]:
        """Give 1, ..., n for the cheapest class, never a reject."""
        if self.by_cost:
            return self.costs.cheapest(self.probabilities(score), forced=True)
        cost = self._at_cuts(score, self.costs.unitless)[..., :-1]
        # beyond the ends of the ladders costs tie: there the score decides
        above = np.where(cost == cost.min(axis=-1, keepdims=True), score - self.thresholds, -np.inf)
        return np.asarray(np.argmax(above, axis=-1) + 1)

    def included(self, score: NDArray[np.float64], include: float | None) -> NDArray[np.bool_]:
        """Give the classes that are not ruled out, or with `include` the likeliest and every k with P_k >= include.

        ::

            k is ruled out if P_k < reject_k / max_j errors[k, j]: missing it would cost less than rejecting
        """
        named = self._named(score)
        if include is not None:
            return np.asarray(named | (self.probabilities(score) >= include))
        likely = self._own(score) if self.lead is None else self.probabilities(score)
        named |= likely >= self.costs.reject_costs / np.max(self.costs.errors, axis=1)
        return with_second(named, self.choose(score) == 0, self.expected_cost(score)[:, :-1])

    def _own(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.stack([ladder(score[..., k]) for k, ladder in enumerate(self.ladders)], axis=-1)


def with_second(
    named: NDArray[np.bool_], rejected: NDArray[np.bool_], cost: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Add the next cheapest class where a rejected row names one alone: that would be an answer.

    Each of several other classes may be ruled out by itself, and all of them together be too likely to answer.
    """
    alone = (rejected & (named.sum(axis=1) == 1))[:, np.newaxis]
    second = np.argmin(np.where(named, np.inf, cost), axis=1)[:, np.newaxis]
    return np.asarray(named | alone & (np.arange(named.shape[1]) == second))
