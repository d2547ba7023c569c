"""How a rule chooses an action, given scores: five ways, each with the same methods.

::

    Cuts          one score of two classes against increasing cuts
    Margins       the cheapest class of those whose score exceeds its cut, else reject
    Confidence    the class of the highest score, if its confidence exceeds a cut, else reject
    Cheapest      the action of least expected cost
    Sets          the only class in a conformal set; several or none are a reject

Two classes are decided by comparing the score with a cut, never by expected costs: ties, thresholds and graphs depend
on it. The others are in `class_deciders.py`. To add a way, write a class with these methods; each is given the `Rule`,
which has labels, costs and readout.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from abstain.costs.cuts import Levels, Thresholds
from abstain.labels import NO_CLASS

Floats = NDArray[np.float64]
MISSING = (
    "this machine was fitted with row_costs and without costs, so it has no thresholds of its own; pass row_costs for "
    "these rows, or state costs for rows without them, as in RejectSVC(Costs(reject=0.3))."
)


class Decider(ABC):
    """How a rule chooses an action. Choices are positions among the actions of ``rule.answers``."""

    costs_decide: ClassVar[bool] = True  # whether the choice has the least of the expected costs

    @abstractmethod
    def choose(self, rule: Any, score: Floats) -> NDArray[np.intp]:
        """Return the action for each score."""

    @abstractmethod
    def best(self, rule: Any, score: Floats) -> NDArray[np.intp]:
        """Return the best of the actions that do not hand the case on."""

    def expected(self, rule: Any, score: Floats) -> Floats:
        """Return the expected cost of each action."""
        return np.asarray(rule.costs.means(rule.readout.probabilities(score)))

    def included(self, rule: Any, score: Floats) -> NDArray[np.bool_]:
        """Return the classes that are not ruled out: missing them would cost at least as much as rejecting."""
        likely = rule.readout.probabilities(score)
        ruled = rule.costs.reject_costs / np.max(rule.costs.errors, axis=-1)
        named = rule.named(score) | (likely >= ruled)
        return with_second(named, rule.is_reject(rule.choose(score)), rule.answer_costs(score))

    def margin(self, rule: Any, score: Floats) -> Floats:
        """Return how far each row of several classes is from a reject: above 0 where it is answered."""
        expected = rule.expected_cost(score)
        handed = np.where(rule.hands_on, expected, np.inf).min(axis=-1)
        return np.asarray(handed - np.where(rule.hands_on, np.inf, expected).min(axis=-1))

    def confidence(self, rule: Any, score: Floats) -> Any:
        """Return how sure each answer is: of two classes the distance from the cut, of more from a reject, or None."""
        return np.abs(score - rule.cut) if score.ndim == 1 else self.margin(rule, score)

    def answer_scores(self, rule: Any, score: Floats) -> Floats:
        """Return a score for each of several classes, of which the highest is mostly the forced answer."""
        return -rule.answer_costs(score)

    @property
    def thresholds(self) -> Any:
        """The cuts, as users see them."""
        raise AttributeError("decisions are by expected cost here, not by a cut for each class; see decide().")


@dataclass(frozen=True, eq=False)
class Cuts(Decider):
    """Increasing cuts on one score of two classes.

    Attributes
    ----------
    levels : Levels
        The cuts, and the action between each two; per row with costs per row.
    forced : Levels
        The same for the actions that do not hand the case on.
    """

    levels: Levels
    forced: Levels

    @classmethod
    def at(cls, thresholds: Thresholds, cut: float, answers: tuple[int, ...]) -> "Cuts":
        """Return the cuts of two thresholds, and of the forced choice, on a score for the class that sorts last."""
        first, reject, last = (answers.index(code) for code in (0, NO_CLASS, 1))
        levels = Levels((thresholds.upper,), (first, last), (False,))
        if thresholds.rejects:
            levels = Levels((thresholds.lower, thresholds.upper), (first, reject, last), (True, False))
        return cls(levels, Levels((cut,), (first, last), (False,)))

    @property
    def thresholds(self) -> Any:
        """The two thresholds of answers and a reject; of several actions all levels."""
        cuts = self.levels.cuts
        plain = isinstance(cuts, tuple) and 1 <= len(cuts) <= 2 and len(self.forced.cuts) == 1
        return Thresholds(cuts[0], cuts[-1]) if plain else self.levels

    @property
    def cut(self) -> Any:
        """The first score at which the forced choice changes; nan if it never does."""
        cuts = self.forced.cuts
        return cuts[..., 0] if isinstance(cuts, np.ndarray) else cuts[0] if cuts else np.nan

    def choose(self, rule: Any, score: Floats) -> NDArray[np.intp]:  # noqa: ARG002 (as every decider)
        """Return the action between two cuts."""
        return self.levels.decide(score)

    def best(self, rule: Any, score: Floats) -> NDArray[np.intp]:  # noqa: ARG002
        """Return the action by the forced cuts."""
        return self.forced.decide(score)

    def included(self, rule: Any, score: Floats) -> NDArray[np.bool_]:
        """Return both classes for a rejected row, and the class decided for any other."""
        choice = rule.choose(score)
        return np.asarray(rule.is_reject(choice)[:, np.newaxis] | rule.answered(choice))


@dataclass(frozen=True, eq=False)
class PerRow(Decider):
    """Nothing yet: the machine was fitted with costs per row alone, and decides rows that come with theirs."""

    @property
    def thresholds(self) -> Any:
        """There are none without the costs of a row."""
        raise AttributeError(MISSING)

    cut = thresholds

    def choose(self, rule: Any, score: Floats) -> NDArray[np.intp]:  # noqa: ARG002
        """Refuse: the costs of these rows are missing."""
        raise ValueError(MISSING)

    best = expected = included = margin = choose  # type: ignore[assignment]


def with_second(named: NDArray[np.bool_], rejected: NDArray[np.bool_], cost: Floats) -> NDArray[np.bool_]:
    """Add the next cheapest class where a rejected row names one alone: that would be an answer.

    Each of several other classes may be ruled out by itself, and all of them together be too likely to answer.
    """
    alone = (rejected & (named.sum(axis=1) == 1))[:, np.newaxis]
    second = np.argmin(np.where(named, np.inf, cost), axis=1)[:, np.newaxis]
    return np.asarray(named | alone & (np.arange(named.shape[1]) == second))
