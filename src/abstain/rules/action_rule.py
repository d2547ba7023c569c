"""From scores to actions: the rule of a machine with `Actions`, and what its `decide` returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from abstain.costs.actions import Actions
from abstain.costs.levels import Levels
from abstain.labels import Labels
from abstain.rules.rule import Decisions

__all__ = ["ActionDecisions", "ActionRule", "refuse_actions"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ActionDecisions(Decisions):
    """Decisions between actions on n rows.

    As `Decisions`, except: `label` is the name of the action; `expected_cost` has a column per action, in the order of
    ``actions.names``; `rejected` is true for the actions in ``actions.rejects``, and `forced` the cheapest of the
    others.

    Attributes
    ----------
    actions : Actions
        The actions and their costs.
    """

    actions: Actions

    def to_frame(self) -> Any:
        """The decisions as a pandas DataFrame: the index of the rows, and the expected cost of each action as a column.

        Its attribute ``attrs["score"]`` is the class that high scores mean.
        """
        frame = super().to_frame()
        frame.attrs = {"score": self.scored_class}
        return frame

    def _columns(self) -> dict[str, NDArray[Any]]:
        costs = zip(self.actions.names, self.expected_cost.T, strict=True)
        return {"label": self.label, "rejected": self.rejected, "reason": self.reason, "score": self.score} | {
            f"cost_{name}": cost for name, cost in costs
        }


@dataclass(frozen=True, eq=False)
class ActionRule:
    """Turns log-odds into actions. Scores and cuts are oriented to ``classes[1]``, which is ``costs.labels[1]``.

    Attributes
    ----------
    labels : Labels
        The two classes; the reject label is None, because actions have names of their own.
    costs : Actions
        The costs of the actions.
    thresholds : Levels
        The cuts on the score, and the action between each two.
    forced_thresholds : Levels
        The same for the actions that are not rejects.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain import Actions
    >>> from abstain.rules.action_rule import ActionRule
    >>> actions = Actions({"no": {"no": 0, "yes": 5}, "yes": {"no": 1, "yes": 0}, "ask": 0.3})
    >>> rule = ActionRule.of(actions, ["no", "yes"])
    >>> rule.predict(np.array([-4.0, 0.0, 4.0]))
    array(['no', 'ask', 'yes'], dtype='<U3')
    """

    labels: Labels
    costs: Actions
    thresholds: Levels
    forced_thresholds: Levels
    unit: ClassVar[float] = 1.0  # the score is the log-odds
    costs_decide: ClassVar[bool] = True

    @classmethod
    def of(cls, actions: Actions, y: ArrayLike, pos_label: Any = None, reject_label: Any = "auto") -> ActionRule:
        """Give Bayes' rule on the log-odds for the classes of y; an error if the actions name other classes."""
        if not (isinstance(reject_label, str) and reject_label == "auto"):
            raise ValueError(
                f"reject_label={reject_label!r} has no effect with Actions, whose names are predicted; leave it at "
                '"auto".'
            )
        labels = Labels.of(y, pos_label=pos_label, rejects=False)
        actions.check_classes(labels.classes.tolist())
        return cls(replace(labels, reject_label=None), actions, actions.levels(), actions.levels(forced=True))

    @property
    def cut(self) -> float:
        """The first score at which the forced choice changes; nan if it never does."""
        return self.forced_thresholds.cuts[0] if self.forced_thresholds.cuts else np.nan

    @property
    def names(self) -> NDArray[Any]:
        """The actions as an array: of objects if some are strings and others numbers."""
        texts = {isinstance(name, str) for name in self.costs.names}
        return np.array(self.costs.names, dtype=object if len(texts) > 1 else None)

    def choose(self, score: NDArray[np.float64]) -> NDArray[np.int8]:
        """Give the position of the cheapest action in ``costs.names``."""
        return self.thresholds.decide(score)

    def is_reject(self, choice: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Whether each choice is one of the actions that hand the case on."""
        return self.costs.rejecting[choice]

    def predict(self, score: NDArray[np.float64]) -> NDArray[Any]:
        """Give the name of the cheapest action for each score."""
        return self.names[self.choose(score)]

    def forced(self, score: NDArray[np.float64]) -> NDArray[Any]:
        """Give the cheapest of the actions that are not rejects for each score."""
        return self.names[self.forced_thresholds.decide(score)]

    def decide(
        self, score: NDArray[np.float64], probability: NDArray[np.float64] | None = None, index: Any = None
    ) -> ActionDecisions:
        """Give the decisions with the expected cost of all actions, from P(``classes[1]``) or the score."""
        choice = self.choose(score)
        return ActionDecisions(
            label=self.names[choice],
            rejected=self.is_reject(choice),
            score=score,
            expected_cost=self.expected_cost(score, probability),
            forced=self.forced(score),
            labels=self.labels,
            index=index,
            actions=self.costs,
        )

    def cost_of(self, y: ArrayLike, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the cost of each row's action, given the true labels."""
        return self.prices(self.labels.encode(y), self.choose(score))

    def prices(self, sign: NDArray[np.int8], choice: NDArray[np.int8]) -> NDArray[np.float64]:
        """Give the cost of each choice, given the true sign."""
        return self.costs.prices(sign, choice)

    def expected_cost(
        self, score: NDArray[np.float64], probability: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Give the expected cost of each action, in the order of ``costs.names``."""
        return self.costs.expected(expit(score) if probability is None else probability)


def refuse_actions(rule: Any, place: str, instead: str) -> None:
    """Raise an error if this is the rule of a machine with `Actions`, which `place` does not support."""
    if isinstance(rule, ActionRule):
        raise ValueError(f"Actions are not supported by {place} yet; use {instead}.")  # noqa: TRY004 (it is a value)
