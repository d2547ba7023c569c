"""From scores to decisions: labels, costs and cuts in one value, and what `decide` returns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.costs.costs import Costs
from abstain.costs.thresholds import Thresholds
from abstain.labels import Labels
from abstain.losses.margin_loss import MarginLoss
from abstain.rules.decisions_frame import DecidedRows

__all__ = ["Decisions", "Rule"]


@dataclass(frozen=True, eq=False, repr=False)
class Decisions(DecidedRows):
    """Decisions on n rows.

    Attributes
    ----------
    label : ndarray of shape (n,)
        What `predict` returns: a class, or the reject label.
    rejected : ndarray of bool, shape (n,)
        True where the row was rejected.
    score : ndarray of float64, shape (n,)
        The decision function. High scores mean ``labels.classes[1]``, the class that sorts last, whichever class is the
        positive one; `RejectSVC` gives the log-odds of that class (see `scored_class`).
    expected_cost : ndarray of float64, shape (n, 3)
        Expected cost of deciding for the negative class, of rejecting, and of deciding for the positive class, in
        this order, with P = 1 / (1 + exp(-score)). P is accurate only near the thresholds, where decisions change; far
        from them it is not a calibrated probability. A `ThresholdRejector` uses the wrapped classifier's own
        probabilities instead. nan without costs or without probabilities.
    forced : ndarray of shape (n,)
        What `predict_forced` returns: the cheaper of the two classes, also where the row was rejected.
    labels : Labels
        The classes, sorted, the positive and the negative one, and the reject label. The metrics of `abstain.metrics`
        read them if they are given the decisions as `y_pred`.
    index : pandas.Index or None, default=None
        The index of the data frame that the rows came from; None for other input.
    novel : ndarray of bool, shape (n,), or None, default=None
        True where a `NoveltyRejector` rejected the row as unlike the training rows; None of other estimators. Nothing
        is known of the costs of such a row: its `expected_cost` is nan.
    costs_decide : bool, default=True
        Whether each label has the least of the expected costs and `forced` the lesser of the two answers'. False where
        other thresholds decide, such as tuned ones of a `ThresholdRejector` or Bartlett and Wegkamp's: the expected
        costs are then for information.
    """

    label: NDArray[Any]
    rejected: NDArray[np.bool_]
    score: NDArray[np.float64]
    expected_cost: NDArray[np.float64]
    forced: NDArray[Any]
    labels: Labels
    index: Any = None
    novel: NDArray[np.bool_] | None = None
    costs_decide: bool = True

    @property
    def scored_class(self) -> Any:
        """The class that high scores mean: ``classes_[1]``, not necessarily the positive class."""
        return self.labels.classes.tolist()[1]

    def to_frame(self) -> Any:
        """The decisions as a pandas DataFrame: the index of the rows, and the three expected costs as columns.

        Its ``attrs`` name the classes: "score" the one that high scores mean, "cost_negative" and "cost_positive" those
        that are answered at these costs.
        """
        frame = super().to_frame()
        frame.attrs |= {"score": self.scored_class}
        frame.attrs |= {"cost_negative": self.labels.negative, "cost_positive": self.labels.positive}
        return frame

    def _columns(self) -> dict[str, NDArray[Any]]:
        costs = zip(("negative", "reject", "positive"), self.expected_cost.T, strict=True)
        return {"label": self.label, "rejected": self.rejected, "reason": self.reason, "score": self.score} | {
            f"cost_{action}": cost for action, cost in costs
        }


@dataclass(frozen=True, eq=False)
class Rule:
    """Turns scores into decisions. Scores and cuts are oriented to ``classes[1]``; costs name the positive class.

    ::

        classes[1] if score > thresholds.upper; classes[0] if score < thresholds.lower; else reject

    Attributes
    ----------
    labels : Labels
        The two classes, the positive one, and the reject label.
    thresholds : Thresholds
        On the score.
    cut : float
        The score at which the forced choice changes from ``classes[0]`` to ``classes[1]``.
    costs : Costs or None, default=None
        The costs of the decisions; if None, an error costs 1.
    unit : float, default=nan
        The log-odds of ``classes[1]`` per unit of score; nan if the score is not related to probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain import Thresholds
    >>> from abstain.labels import Labels
    >>> from abstain.rules.rule import Rule
    >>> rule = Rule(Labels.of(["no", "yes"], rejects=True), Thresholds(-1.0, 2.0), cut=0.0)
    >>> rule.predict(np.array([-3.0, 1.0, 4.0]))
    array(['no', 'reject', 'yes'], dtype='<U6')
    """

    labels: Labels
    thresholds: Thresholds
    cut: float
    costs: Costs | None = None
    unit: float = math.nan

    @classmethod
    def of_loss(cls, loss: MarginLoss, labels: Labels, costs: Costs | None) -> Rule:
        """Give the decision rule of a machine trained with `loss`, which is the loss of `oriented_costs`."""
        return cls(labels, loss.thresholds, loss.cut, costs, loss.unit)

    @property
    def costs_decide(self) -> bool:
        """Whether the thresholds are Bayes' on the log-odds, so that the label has the least of the expected costs."""
        if self.costs is None:
            return False
        bayes = oriented_costs(self.costs, self.labels).score_thresholds()
        own = self.unit * np.array([self.thresholds.lower, self.thresholds.upper])
        return bool(np.allclose(own, [bayes.lower, bayes.upper], rtol=1e-6, atol=1e-6))

    def choose(self, score: NDArray[np.float64]) -> NDArray[np.int8]:
        """Give -1 for ``classes[0]``, 0 for reject and +1 for ``classes[1]``."""
        return self.thresholds.decide(score)

    def predict(self, score: NDArray[np.float64]) -> NDArray[Any]:
        """Give the label for each score: a class or the reject label."""
        return self.labels.decode(self.choose(score))

    def forced(self, score: NDArray[np.float64]) -> NDArray[Any]:
        """Give the cheaper of the two classes for each score."""
        return self.labels.classes[(score > self.cut).astype(np.intp)]

    def decide(
        self, score: NDArray[np.float64], probability: NDArray[np.float64] | None = None, index: Any = None
    ) -> Decisions:
        """Give the decisions with their expected costs, from the probability of ``classes[1]`` or the score."""
        choice = self.choose(score)
        label, expected = self.labels.decode(choice), self.expected_cost(score, probability)
        decided = {"index": index, "costs_decide": self.costs_decide}
        return Decisions(label, choice == 0, score, expected, self.forced(score), self.labels, **decided)

    def cost_of(self, y: ArrayLike, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the cost of each row's decision, given the true labels; without costs an error costs 1."""
        return self.prices(self.labels.encode(y), self.choose(score))

    def prices(self, sign: NDArray[np.int8], choice: NDArray[np.int8]) -> NDArray[np.float64]:
        """Give the cost of each choice, given the true sign; without costs an error costs 1."""
        if self.costs is None:
            return (choice == -sign).astype(np.float64)
        return oriented_costs(self.costs, self.labels).prices(sign, choice)

    def is_reject(self, choice: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Whether each choice is a reject."""
        return np.asarray(choice == 0)

    def expected_cost(
        self, score: NDArray[np.float64], probability: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Give the expected cost of deciding for the negative class, rejecting, and deciding for the positive class."""
        if self.costs is None:
            return np.full((len(score), 3), np.nan)
        if probability is None:
            # of -|log-odds|: exp may underflow to 0, but never overflows
            log_odds = self.unit * score
            small = np.exp(-np.abs(log_odds))
            probability = np.where(log_odds > 0, 1.0, small) / (1.0 + small)
        expected = oriented_costs(self.costs, self.labels).expected(probability)
        return expected[:, :: self.labels.orientation]


def oriented_costs(costs: Costs, labels: Labels) -> Costs:
    """Give the costs with ``classes[1]`` as the positive class, as scores are oriented."""
    return costs if labels.orientation > 0 else costs.swapped()
