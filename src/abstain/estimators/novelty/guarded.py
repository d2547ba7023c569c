"""A fitted classifier with a guard: its decisions, except that novel rows are rejected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.costs.table import CostTable
from abstain.estimators.fitting.decide import Fitted
from abstain.estimators.novelty.guard import Calibration, Guard
from abstain.estimators.unwrap import decide, final_estimator
from abstain.labels import Labels
from abstain.machines.response_machine import ResponseMachine
from abstain.reject_labels import chosen_reject_label, decoded_dtype, is_auto
from abstain.rules.readouts import readout_of
from abstain.rules.rule import Rule
from abstain.rules.tuning.placing import by_confidence

__all__ = ["Guarded", "novel_action"]


@dataclass(frozen=True, eq=False)
class Guarded(Fitted):
    """A fitted `NoveltyRejector`.

    Attributes
    ----------
    machine : object
        That of the classifier; a `ResponseMachine` around it if it is not of this library.
    rule : Rule
        That of the classifier, with the reject label of the `NoveltyRejector`; one that rejects nothing if the
        classifier has none.
    estimator : classifier
        Fitted, with its Pipeline or search.
    guard : Guard
        Says which rows are novel.
    calibration : Calibration
        Scores and decisions of the calibration rows.
    seen : SeenColumns or None
        What the training rows had in each column.
    """

    estimator: Any
    guard: Guard
    calibration: Calibration
    seen: Any = None

    @property
    def is_ours(self) -> bool:
        """Whether the classifier is of this library, with a rule of its own."""
        return getattr(self.machine, "classifier", None) is not self.estimator

    @property
    def novel_label(self) -> Any:
        """The label of a novel row: the reject label, or the action of `novel_action`."""
        return self.rule.names.tolist()[novel_action(self.rule)]

    def score(self, X: Any) -> NDArray[np.float64]:
        """Return the score of the classifier, whether a row is novel or not."""
        method = "decision_function" if self.is_ours else self.machine.method
        return ResponseMachine(self.estimator, method).score(X)

    def decided(self, X: Any, row_costs: Any = None) -> Any:
        """Return the decisions of the classifier alone."""
        if self.is_ours or row_costs is not None:  # others take no row_costs, which `decide` says
            return decide(self.estimator, X, row_costs)
        label = np.asarray(self.estimator.predict(X))
        found = self.rule.decide(self.score(X), index=X.index if hasattr(X, "iloc") else None)
        return replace(found, label=label, forced=label)

    def decide(self, X: Any, row_costs: Any = None) -> Any:
        """Return the decisions, with novel rows rejected."""
        return self.without(self.decided(X, row_costs), self.guard.novel_rows(X))

    def without(self, found: Any, novel: NDArray[np.bool_]) -> Any:
        """Return decisions of the classifier with the novel rows among them rejected."""
        expected = np.where(novel[:, np.newaxis], np.nan, found.expected_cost)
        label, rejected = self.relabelled(found.label, novel), found.rejected | novel
        novel = novel if found.novel is None else novel | found.novel
        labels = self.rule.labels
        return replace(found, label=label, rejected=rejected, expected_cost=expected, labels=labels, novel=novel)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the labels, with novel rows rejected."""
        label = np.asarray(self.estimator.predict(X))  # first: it checks the rows
        return self.relabelled(label, self.guard.novel_rows(X))

    def relabelled(self, label: NDArray[Any], novel: NDArray[np.bool_]) -> NDArray[Any]:
        """Return the classifier's labels with our reject label for its rejects and for novel rows."""
        own = final_estimator(self.estimator).rule_ if self.is_ours else self.rule
        return self.rule.names[np.where(novel, novel_action(self.rule), own.positions(label))]

    def counted(self, found: Any) -> NDArray[np.int64]:
        """Count decisions of the classifier: each class, then rejects; or each action."""
        if not self.rule.answering:
            return np.array([np.sum(found.label == name) for name in self.rule.names.tolist()], dtype=np.int64)
        answered = [np.sum((found.label == known) & ~found.rejected) for known in self.rule.labels.classes.tolist()]
        return np.array([*answered, np.sum(found.rejected)], dtype=np.int64)

    def costs(self, X: Any, y: ArrayLike, row_costs: Any = None) -> NDArray[np.float64]:
        """Return the cost of each row's decision; without costs an error costs 1 and a novel row nothing."""
        found = self.decide(X, row_costs)
        rule = self.rule.for_rows(row_costs, len(found))
        return rule.cost(rule.labels.encode(y), rule.positions(found.label))


def machine_and_rule(estimator: Any, reject_label: Any) -> tuple[Any, Any]:
    """Return what scores rows and what decides on them, of any fitted classifier."""
    final = final_estimator(estimator)
    rule = getattr(final, "rule_", None)
    if rule is None or not hasattr(final, "decide"):
        machine = ResponseMachine.of(estimator)
        classes = np.unique(np.asarray(machine.classifier.classes_))
        labels = Labels.named(classes, reject_label=reject_label, rejects=True)
        never = by_confidence(labels, np.full(labels.n_classes, -np.inf))
        return machine, Rule(labels, None, readout_of(machine, labels.n_classes), never)
    if rule.answering:
        return final.machine_, replace(rule, labels=_rejecting(rule.labels, reject_label))
    if not is_auto(reject_label):
        raise ValueError(
            f"reject_label={reject_label!r} has no effect with Actions, whose names are predicted; leave it at "
            '"auto".'
        )
    novel_action(rule)
    return final.machine_, rule


def novel_action(rule: Rule) -> int:
    """Return the position of the action that a novel row gets; an error if none hands the case on."""
    if not rule.hands_on.any():
        raise ValueError(
            f"costs={rule.costs!r} have no action that hands a case on, so that a novel row could not be rejected; "
            "name one in rejects=(...), or add one, as in Actions({..., 'ask': 0.3})."
        )
    return int(np.argmax(rule.hands_on)) if rule.costs is None else least_at_worst(rule.costs)


def least_at_worst(actions: CostTable) -> int:
    """Return the position of the action, of `rejects` if there are any, that costs least at worst.

    Nothing is known of a novel row, so that no probability weighs the classes. Ties go to the smaller sum of
    its costs, then to the first.
    """
    among = np.flatnonzero(actions.rejecting | ~actions.rejecting.any()).tolist()
    return int(min(among, key=lambda at: (actions.values[:, at].max(), actions.values[:, at].sum())))


def _rejecting(labels: Labels, reject_label: Any) -> Labels:
    """Return the labels with a reject label: as asked for, else the classifier's own, else the default."""
    if is_auto(reject_label) and labels.reject_label is not None:
        return replace(labels, rejects=True)
    label = chosen_reject_label(labels.classes, reject_label, rejects=True)
    decoded_dtype(labels.classes, label)
    return replace(labels, reject_label=label, rejects=True)
