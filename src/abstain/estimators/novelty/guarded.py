"""A fitted classifier with a guard: its decisions, except that novel rows are rejected."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.costs.cuts import Thresholds
from abstain.costs.table import CostTable
from abstain.estimators.fitting.decide import Fitted
from abstain.estimators.novelty.calibration import Calibration
from abstain.estimators.novelty.guard import Guard
from abstain.estimators.unwrap import decide, final_estimator
from abstain.labels import Labels, positions
from abstain.machines.response_machine import ResponseMachine
from abstain.reject_labels import chosen_reject_label, decoded_dtype
from abstain.rules.class_deciders import Confidence
from abstain.rules.deciders import Cuts, Decider
from abstain.rules.readouts import readout_of
from abstain.rules.rule import Rule

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
        return self.rule.labels.reject_label if self._names is None else self._names[novel_action(self.rule.costs)]

    @property
    def _names(self) -> Any:
        """The names of the actions that the rule chooses between; None if it answers classes."""
        return None if self.rule.costs is None else self.rule.costs.names

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
        ours, own = self.novel_label, None
        if self._names is None:
            label = label.astype(decoded_dtype(self.rule.labels.classes, ours))
            own = getattr(final_estimator(self.estimator), "reject_label_", None) if self.is_ours else None
        renamed = novel if own is None or own == ours else novel | np.asarray(label == own)
        return np.where(renamed, np.array(ours, dtype=label.dtype), label)

    def counted(self, found: Any) -> NDArray[np.int64]:
        """Count decisions of the classifier: each class, then rejects; or each action."""
        if self._names is not None:
            return np.array([np.sum(found.label == name) for name in self._names], dtype=np.int64)
        answered = [np.sum((found.label == known) & ~found.rejected) for known in self.rule.labels.classes.tolist()]
        return np.array([*answered, np.sum(found.rejected)], dtype=np.int64)

    def costs(self, X: Any, y: ArrayLike, row_costs: Any = None) -> NDArray[np.float64]:
        """Return the cost of each row's decision; without costs an error costs 1 and a novel row nothing."""
        found, labels = self.decide(X, row_costs), self.rule.labels
        rule = self.rule.for_rows(row_costs, len(found))
        if self._names is not None:
            choice = positions(found.label, self._names, "the decisions", "the actions")
        else:
            choice = labels.choices(found.label)
        return rule.cost(labels.encode(y), choice)


def machine_and_rule(estimator: Any, reject_label: Any) -> tuple[Any, Any]:
    """Return what scores rows and what decides on them, of any fitted classifier."""
    final = final_estimator(estimator)
    rule = getattr(final, "rule_", None)
    if rule is None or not hasattr(final, "decide"):
        machine = ResponseMachine.of(estimator)
        return machine, _never_rejecting(machine, reject_label)
    if rule.costs is not None and rule.costs.names is not None:
        if not (isinstance(reject_label, str) and reject_label == "auto"):
            raise ValueError(
                f"reject_label={reject_label!r} has no effect with Actions, whose names are predicted; leave it at "
                '"auto".'
            )
        novel_action(rule.costs)
        return final.machine_, rule
    return final.machine_, replace(rule, labels=_rejecting(rule.labels, reject_label))


def novel_action(actions: Any) -> int:
    """Return the position of the action that a novel row gets; an error if none hands the case on."""
    if not actions.rejecting.any():
        raise ValueError(
            f"costs={actions!r} have no action that hands a case on, so that a novel row could not be rejected; name "
            "one in rejects=(...), or add one, as in Actions({..., 'ask': 0.3})."
        )
    return least_at_worst(actions)


def least_at_worst(actions: CostTable) -> int:
    """Return the position of the action, of `rejects` if there are any, that costs least at worst.

    Nothing is known of a novel row, so that no probability weighs the classes. Ties go to the smaller sum of
    its costs, then to the first.
    """
    among = np.flatnonzero(actions.rejecting | ~actions.rejecting.any()).tolist()
    return int(min(among, key=lambda at: (actions.values[:, at].max(), actions.values[:, at].sum())))


def _rejecting(labels: Any, reject_label: Any) -> Any:
    """Return the labels with a reject label: as asked for, else the classifier's own, else the default."""
    auto = isinstance(reject_label, str) and reject_label == "auto"
    if auto and labels.reject_label is not None:
        return replace(labels, rejects=True)
    label = chosen_reject_label(labels.classes, reject_label, rejects=True)
    decoded_dtype(labels.classes, label)
    return replace(labels, reject_label=label, rejects=True)


def _never_rejecting(machine: ResponseMachine, reject_label: Any) -> Rule:
    """Return a rule that answers as a classifier of another library does."""
    labels = Labels.named(np.unique(np.asarray(machine.classifier.classes_)), reject_label=reject_label, rejects=True)
    n = labels.n_classes
    decider: Decider = Confidence(np.full(n, -np.inf))
    if n == 2:
        decider = Cuts.at(Thresholds(0.0, 0.0), 0.0, labels.answers)
    return Rule(labels, None, readout_of(machine, n), decider)
