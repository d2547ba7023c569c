"""How a rule of several classes chooses an action, given a score for each class: four ways (see `deciders.py`)."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from abstain.labels import NO_CLASS
from abstain.machines.cross_machine import in_favour
from abstain.machines.kernel_machine import votes
from abstain.rules.deciders import Decider, Floats, with_second
from abstain.rules.tuning.scored_rows import confidence_of


@dataclass(frozen=True, eq=False)
class _ClassCuts(Decider):
    """A cut for each class, which users see as the thresholds."""

    cuts: Floats

    @property
    def thresholds(self) -> Floats:
        """The cuts, one for each class."""
        return self.cuts

    def answer_scores(self, rule: Any, score: Floats) -> Floats:  # noqa: ARG002
        """Return the scores themselves."""
        return score


@dataclass(frozen=True, eq=False)
class Margins(_ClassCuts):
    """Bayes' cuts on the score of each class.

    ::

        the cheapest k with f_k > cuts_k, else reject;      answering k costs e_k (1 - P_k)

    For costs where a wrong answer k costs e_k whatever is true, and rejecting less than half of it: then at most one
    class has P_k > 1 - reject / e_k, and the machines are consistent for that. P_k is made from the score of k alone
    (`Ladders`), so the P_k need not sum to 1; if several classes pass their cuts, the cheapest is answered.

    Attributes
    ----------
    cuts : ndarray of shape (n_classes,)
    """

    def _costs(self, rule: Any, score: Floats, table: Floats) -> Floats:
        """Return e_k (1 - P_k) of each class, and the reject cost, in the unit of the table of costs."""
        reject = table[0, -1]
        cost = np.maximum(table[:, :-1].max(axis=0) * (1.0 - rule.readout.own(score)), 0.0)
        # rounding must not put a cost on the other side of the reject cost than the score is of its cut
        cost = np.where(score > self.cuts, np.minimum(cost, reject), np.maximum(cost, reject))
        return np.concatenate([cost, np.full((*cost.shape[:-1], 1), reject)], axis=-1)

    def choose(self, rule: Any, score: Floats) -> NDArray[np.intp]:
        """Return the cheapest class if one passes its cut, which then costs at most a reject."""
        return np.where((score > self.cuts).any(axis=-1), self.best(rule, score), rule.answers.index(NO_CLASS))

    def best(self, rule: Any, score: Floats) -> NDArray[np.intp]:
        """Return the cheapest class."""
        cost = self._costs(rule, score, rule.costs.unitless)[..., :-1]
        # beyond the ends of the ladders costs tie: there the score decides
        above = np.where(cost == cost.min(axis=-1, keepdims=True), score - self.cuts, -np.inf)
        return np.asarray(np.argmax(above, axis=-1))

    def expected(self, rule: Any, score: Floats) -> Floats:
        """Return e_k (1 - P_k) of each class, and the reject cost."""
        return self._costs(rule, score, rule.costs.values)

    def included(self, rule: Any, score: Floats) -> NDArray[np.bool_]:
        """Return the classes that are not ruled out, each by its own score."""
        ruled = rule.costs.reject_costs / np.max(rule.costs.errors, axis=1)
        named = rule.named(score) | (rule.readout.own(score) >= ruled)
        return with_second(named, rule.is_reject(rule.choose(score)), rule.answer_costs(score))

    def margin(self, rule: Any, score: Floats) -> Floats:  # noqa: ARG002
        """Return the largest distance of a score above its cut."""
        return np.asarray((score - self.cuts).max(axis=1))

    def answer_scores(self, rule: Any, score: Floats) -> Floats:  # noqa: ARG002
        """Return the distance of each score above its cut."""
        return score - self.cuts


@dataclass(frozen=True, eq=False)
class Confidence(_ClassCuts):
    """The class of the highest score, and a reject where its confidence is at most the cut of this class.

    Attributes
    ----------
    cuts : ndarray of shape (n_classes,)
        On the confidence, by the class answered; -inf never rejects, inf always does.
    by : {"lead", "highest", "votes"}, default="lead"
        The confidence: the lead over the second highest score, or the highest score. For "votes" the highest count of
        votes decides, ties to the first class, as in scikit-learn's `SVC`, and nothing is rejected.
    """

    by: Literal["lead", "highest", "votes"] = "lead"
    costs_decide: ClassVar[bool] = False

    @property
    def thresholds(self) -> Floats:
        """The cuts on the confidence, by the class answered."""
        if self.by == "votes":
            raise AttributeError("votes decide here: there are no thresholds without costs.")
        return self.cuts

    def choose(self, rule: Any, score: Floats) -> NDArray[np.intp]:
        """Return the class of the highest score, or the reject."""
        answer = self.best(rule, score)
        if self.by == "votes":
            return answer
        return np.where(confidence_of(score, self.by) > self.cuts[answer], answer, rule.answers.index(NO_CLASS))

    def best(self, rule: Any, score: Floats) -> NDArray[np.intp]:  # noqa: ARG002
        """Return the class of the highest score, ties to the first."""
        return np.asarray(np.argmax(votes(score) if self.by == "votes" else score, axis=-1))

    def included(self, rule: Any, score: Floats) -> NDArray[np.bool_]:
        """Return the answer alone for an accepted row, and the classes that are not ruled out for a rejected one.

        These are behind the first by at most the cut; for the cut on the highest probability, the likeliest classes
        whose probabilities together exceed it.
        """
        if self.by == "votes":
            raise ValueError("predict_set needs costs, got costs=None; state them, as in costs=Costs(reject=0.3).")
        cut = self.cuts[self.best(rule, score)][:, np.newaxis]
        if self.by == "lead":
            return np.asarray(rule.named(score) | (score.max(axis=1, keepdims=True) - score <= cut))
        order = np.argsort(-score, axis=1, kind="stable")
        likely = np.take_along_axis(rule.readout.probabilities(score), order, axis=1)
        before = np.cumsum(likely, axis=1) - likely  # of the classes that are likelier
        found = np.empty(score.shape, dtype=bool)
        np.put_along_axis(found, order, before <= np.exp(cut), axis=1)
        accepted = ~rule.is_reject(rule.choose(score))[:, np.newaxis]  # also where the sums round the other way
        return np.where(accepted, rule.named(score), found | np.isposinf(cut))

    def margin(self, rule: Any, score: Floats) -> Any:
        """Return the confidence beyond the cut; None for votes, which have none."""
        if self.by == "votes":
            return None
        cuts = np.where(np.isneginf(self.cuts), 0.0, self.cuts)  # nothing is rejected there
        return confidence_of(score, self.by) - cuts[self.best(rule, score)]


@dataclass(frozen=True, eq=False)
class Cheapest(Decider):
    """The action of least expected cost under the readout's probabilities (Chow's rule)."""

    def choose(self, rule: Any, score: Floats) -> NDArray[np.intp]:
        """Return the cheapest action; ties go to the answers."""
        return np.asarray(rule.costs.cheapest(rule.readout.probabilities(score)))

    def best(self, rule: Any, score: Floats) -> NDArray[np.intp]:
        """Return the cheapest of the actions that do not hand the case on."""
        return np.asarray(rule.costs.cheapest(rule.readout.probabilities(score), forced=True))


@dataclass(frozen=True, eq=False)
class Sets(_ClassCuts):
    """The only class in the conformal set.

    ::

        set(x) = {k: t_k(x) >= cut_k}          t_k = f_k - max_{j != k} f_j, or the p-value of k

    Attributes
    ----------
    cuts : ndarray of shape (n_classes,)
        On the lead of each class over the best of the others, or on its p-value.
    by_p_value : bool, default=False
        Whether the scores are p-values already.
    """

    by_p_value: bool = False
    costs_decide: ClassVar[bool] = False

    def _in_favour(self, score: Floats) -> Floats:
        return score if self.by_p_value else in_favour(score)

    def included(self, rule: Any, score: Floats) -> NDArray[np.bool_]:  # noqa: ARG002
        """Return the conformal set, which may be empty."""
        return np.asarray(self._in_favour(score) >= self.cuts)

    def choose(self, rule: Any, score: Floats) -> NDArray[np.intp]:
        """Return the only class in the set, or the reject."""
        inside = self.included(rule, score)
        return np.where(inside.sum(axis=-1) == 1, np.argmax(inside, axis=-1), rule.answers.index(NO_CLASS))

    def best(self, rule: Any, score: Floats) -> NDArray[np.intp]:
        """Return the class of the highest score in the set, or of all scores if it is empty."""
        inside = self.included(rule, score)
        among = inside | ~inside.any(axis=-1, keepdims=True)
        return np.asarray(np.argmax(np.where(among, score, -np.inf), axis=-1))

    def margin(self, rule: Any, score: Floats) -> Floats:
        """Return the least distance of a class from its cut, negative where the row is not answered."""
        above = self._in_favour(score) - self.cuts
        return np.asarray(np.where(rule.named(score), above, -above).min(axis=1))
