"""From scores to decisions: labels, costs, what scores mean (a readout) and how an action is chosen (a decider)."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import real_number
from abstain.costs.per_row import row_table
from abstain.costs.table import CostTable
from abstain.labels import NO_CLASS, Labels
from abstain.losses.margin_loss import MarginLoss
from abstain.losses.tangent_hinge import own_cuts, spread, task_tangents
from abstain.rules.class_deciders import Cheapest, Confidence, Margins
from abstain.rules.deciders import Cuts, Decider, PerRow
from abstain.rules.decisions import Decisions
from abstain.rules.readouts import Ladders, LogOdds, Readout, Unknown

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rule:
    """Turns scores into decisions.

    Attributes
    ----------
    labels : Labels
        The classes, the positive one of two, and the reject label.
    costs : CostTable or None
        The costs for these classes; if None, an error costs 1.
    readout : Readout
        What the scores mean.
    decider : Decider
        How an action is chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain import Costs
    >>> from abstain.labels import Labels
    >>> from abstain.rules.rule import bayes_rule
    >>> rule = bayes_rule(Costs(reject=0.2), Labels.of(["no", "yes"], rejects=True))
    >>> rule.predict(np.array([-3.0, 1.0, 4.0]))
    array(['no', 'reject', 'yes'], dtype='<U6')
    """

    labels: Labels
    costs: CostTable | None
    readout: Readout
    decider: Decider

    @property
    def answers(self) -> tuple[int, ...]:
        """The class that each action answers, or -1."""
        return self.labels.answers

    @property
    def hands_on(self) -> NDArray[np.bool_]:
        """Whether each action hands the case on."""
        return np.array(self.labels.hands_on)

    @property
    def names(self) -> NDArray[Any]:
        """The actions as `predict` returns them."""
        return self.labels.actions

    @property
    def thresholds(self) -> Any:
        """The cuts as users see them: `Thresholds` of two classes, an array of more, levels of actions."""
        return self.decider.thresholds

    @property
    def cut(self) -> Any:
        """The score at which the forced choice between two classes changes."""
        return self.decider.cut  # type: ignore[attr-defined]

    @property
    def costs_decide(self) -> bool:
        """Whether the label has the least of the expected costs: not with thresholds other than Bayes'."""
        if self.costs is None or not isinstance(self.decider, Cuts):
            return self.costs is not None and self.decider.costs_decide
        own, bayes = self.decider.levels, self.costs.levels()
        if np.shape(own.cuts) != np.shape(bayes.cuts) or not self.readout.known:
            return False
        return bool(np.allclose(self.readout.unit * np.asarray(own.cuts), np.asarray(bayes.cuts), rtol=1e-6, atol=1e-6))

    def choose(self, score: Floats) -> NDArray[np.intp]:
        """Return the position of the action chosen for each score, in the order of `answers`."""
        return self.decider.choose(self, score)

    def best(self, score: Floats) -> NDArray[np.intp]:
        """Return the best action that does not hand the case on."""
        return self.decider.best(self, score)

    def is_reject(self, choice: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return whether each choice hands the case on."""
        return self.hands_on[choice]

    def predict(self, score: Floats) -> NDArray[Any]:
        """Return the label for each score: a class, the reject label, or the name of an action."""
        return self.names[self.choose(score)]

    def forced(self, score: Floats) -> NDArray[Any]:
        """Return the best answer for each score; never a reject."""
        return self.labels.forced(self.best(score))

    def decide(self, score: Floats, probability: Floats | None = None, index: Any = None) -> Decisions:
        """Return the decisions with their expected costs, from the probabilities of all classes or from the scores."""
        choice, expected = self.choose(score), self.expected_cost(score, probability)
        known = self.readout.probabilities(score) if probability is None and self.readout.known else probability
        return Decisions(
            label=self.names[choice],
            rejected=self.is_reject(choice),
            score=score,
            expected_cost=expected,
            forced=self.forced(score),
            labels=self.labels,
            index=index,
            costs_decide=self.costs_decide,
            costs=self.costs,
            probability=None if known is None or np.isnan(known).all() else known,
            confidence=self.decider.confidence(self, score) if np.isnan(expected).all() else None,
        )

    def cost_of(self, y: ArrayLike, score: Floats) -> Floats:
        """Return the cost of each row's decision, given the true labels."""
        return self.cost(self.labels.encode(y), self.choose(score))

    def cost(self, truth: NDArray[np.intp], choice: NDArray[np.intp]) -> Floats:
        """Return the cost of each choice, given the true class; without costs an error costs 1 and a reject nothing."""
        if self.costs is not None:
            return self.costs.of(truth, choice)
        answer = np.array(self.answers)[choice]
        return ((answer != truth) & (answer != NO_CLASS)).astype(np.float64)

    def expected_cost(self, score: Floats, probability: Floats | None = None) -> Floats:
        """Return the expected cost of each action; nan without costs."""
        if self.costs is None:
            return np.full((len(score), len(self.answers)), np.nan)
        return self.decider.expected(self, score) if probability is None else self.costs.means(probability)

    def answer_costs(self, score: Floats) -> Floats:
        """Return the expected cost of answering each class, in the order of the classes."""
        expected = self.expected_cost(score)
        return expected[..., [self.answers.index(k) for k in range(self.labels.n_classes)]]

    def answered(self, choice: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return the class that each choice answers as a set."""
        return np.array(self.answers)[choice][..., np.newaxis] == np.arange(self.labels.n_classes)

    def named(self, score: Floats) -> NDArray[np.bool_]:
        """Return the class of the forced answer as a set."""
        return self.answered(self.best(score))

    def included(self, score: Floats, include: float | None = None) -> NDArray[np.bool_]:
        """Return the classes that are not ruled out, shape (n, n_classes) (Ha 1997; Zhang, Wang & Qiao 2018).

        With `include`, the forced answer and every class with a probability of at least `include`.
        """
        if include is not None and not 0.0 < real_number("include", include) <= 1.0:
            raise ValueError(f"include={include!r} must be a probability above 0, at most 1; None uses the lower cuts.")
        self.labels.refuse_actions(
            "predict_set is undefined for Actions: an action is not a set of classes; decide returns the expected "
            "cost of each action."
        )
        if include is None:
            return self.decider.included(self, score)
        if not self.readout.known:
            raise ValueError(
                f"include={include!r} needs probabilities, which these scores do not give; state costs, or pass None."
            )
        likely = self.readout.probabilities(score)
        own = likely == likely.max(axis=-1, keepdims=True) if isinstance(self.decider, PerRow) else self.named(score)
        return np.asarray(own | (likely >= include))

    def tuned(self, lead: Any) -> "Rule":
        """Return the rule of several classes with probabilities fitted to held-out scores."""
        decider = self.decider if isinstance(self.decider, PerRow) else Cheapest()
        return replace(self, readout=replace(self.readout, lead=lead), decider=decider)  # type: ignore[type-var]

    @property
    def takes_rows(self) -> bool:
        """Whether rows with costs of their own can be decided: scores are probabilities, and costs decide."""
        return self.readout.known and (isinstance(self.decider, PerRow) or self.costs_decide)

    def for_rows(self, row_costs: Any, n: int | None) -> "Rule":
        """Return the rule that decides n rows, by their own costs if they are given."""
        return self if row_costs is None else self.of_rows(row_table(row_costs, self.labels, self.costs, n))

    def of_rows(self, costs: CostTable) -> "Rule":
        """Return the rule that decides rows with these costs, in the order of its scores.

        ::

            classes[1] if log-odds > delta_high of the row; classes[0] if log-odds < delta_low of the row; else reject
        """
        if not self.readout.known:
            raise ValueError(
                "row_costs needs scores that are probabilities, and these are not; fit with costs, with row_costs or, "
                'around another classifier, with method="chow".'
            )
        if not isinstance(self.decider, PerRow) and not self.costs_decide:
            raise ValueError(
                "row_costs needs a machine that decides by Chow's rule, and this one decides by another; fit it with "
                'rule="chow" or method="chow".'
            )
        if costs.n_classes > 2:
            return replace(self, costs=costs, readout=self.readout.of_rows(costs), decider=Cheapest())
        levels, forced = (costs.levels(forced=forced).in_units(self.readout.unit) for forced in (False, True))
        return replace(self, costs=costs, decider=Cuts(levels, forced))


def bayes_rule(
    costs: CostTable | None, labels: Labels, loss: MarginLoss | None = None, *, by_row: bool = False
) -> "Rule":
    """Return the rule of a machine trained for these costs.

    Parameters
    ----------
    costs : CostTable or None
        For these classes; None if none were stated.
    labels : Labels
    loss : MarginLoss or None, default=None
        The loss of two classes if it is not the double hinge of the costs: its thresholds and unit then count.
    by_row : bool, default=False
        Whether the machine was trained with costs per row.
    """
    if labels.n_classes == 2:
        if by_row and costs is None:
            return Rule(labels, None, LogOdds(1.0), PerRow())
        if loss is not None:
            return Rule(labels, costs, LogOdds(loss.unit), Cuts.at(loss.thresholds, loss.cut, labels.answers))
        if costs is None:
            raise ValueError("a rule of two classes without costs needs the loss of its machine.")
        return Rule(labels, costs, LogOdds(1.0), Cuts(costs.levels(), costs.levels(forced=True)))
    if costs is None and by_row:
        return Rule(labels, None, Ladders(np.zeros((labels.n_classes, 1)), by_row=True), PerRow())
    if costs is None:
        return Rule(labels, None, Unknown(), Confidence(np.full(labels.n_classes, -np.inf), by="votes"))
    cuts = None if by_row else own_cuts(costs)
    tangents = spread(costs) if by_row else task_tangents(costs)  # as the losses of the rows have them
    return Rule(labels, costs, Ladders(tangents, by_row=by_row), Cheapest() if cuts is None else Margins(cuts))
