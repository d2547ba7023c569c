"""A fitted NoveltyRejector: the decisions of its classifier, except that novel rows are rejected."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import mean_price, refuse_dask
from abstain.costs.table import CostTable
from abstain.dual.proof import Proof
from abstain.estimators.fitting.attributes import fitted
from abstain.estimators.fitting.bases import Model
from abstain.estimators.fitting.decide import Fitted, RejectMixin
from abstain.estimators.fitting.routing import decider, row_cost_parameters
from abstain.estimators.novelty.guard import Calibration, Guard
from abstain.estimators.novelty.training_ranges import SeenColumns
from abstain.estimators.unwrap import decide, final_estimator
from abstain.estimators.wrapping import AroundClassifier, where_classifier_has
from abstain.labels import Labels
from abstain.machines.response_machine import ResponseMachine, sorted_scores
from abstain.rules.decisions import Decisions
from abstain.rules.readouts import readout_of
from abstain.rules.rule import Rule
from abstain.rules.tuning.request import by_confidence


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
        found, guard = self.decided(X, row_costs), self.guard
        if not guard.acts:
            return self.without(found, np.zeros(len(found), dtype=bool))
        unusual = guard.unusual(X)
        return self.without(found, guard.novel(unusual), guard.p_value(unusual))

    def without(self, found: Any, novel: NDArray[np.bool_], p_value: NDArray[np.float64] | None = None) -> Any:
        """Return decisions of the classifier with the novel rows among them rejected."""
        expected, likely = (
            None if known is None else np.where(novel[:, np.newaxis], np.nan, known)
            for known in (found.expected_cost, found.probability)
        )
        label, rejected = self.relabelled(found.label, novel), found.rejected | novel
        novel = novel if found.novel is None else novel | found.novel
        changed = {"label": label, "rejected": rejected, "expected_cost": expected, "probability": likely}
        return replace(found, **changed, labels=self.rule.labels, novel=novel, p_value=p_value)

    def relabelled(self, label: NDArray[Any], novel: NDArray[np.bool_]) -> NDArray[Any]:
        """Return the classifier's labels with our reject label for its rejects and for novel rows."""
        names, own = self.rule.names, self._own_rule
        if label.dtype == names.dtype and (
            not own.labels.rejects or own.labels.reject_label == self.rule.labels.reject_label
        ):
            return np.where(novel, names[novel_action(self.rule)], label) if novel.any() else label
        return names[np.where(novel, novel_action(self.rule), own.labels.choices(label))]

    def counted(self, found: Any) -> NDArray[np.int64]:
        """Count decisions of the classifier: each class, then rejects; or each action."""
        return self.rule.labels.count(self._own_rule.labels.choices(found.label))

    @property
    def _own_rule(self) -> Any:
        """The rule of the classifier, with its reject label."""
        return final_estimator(self.estimator).rule_ if self.is_ours else self.rule


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
    novel_action(rule)
    return final.machine_, replace(rule, labels=rule.labels.rejecting(reject_label))


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


def in_memory(X: Any) -> None:
    """Raise an error for dask arrays and frames."""
    some = "NoveltyRejector(FrozenEstimator(classifier)).fit(some_rows, some_labels)"
    refuse_dask(X, "NoveltyRejector", f"pass it chunk by chunk, and fit the guard on some of the rows, {some}")


class GuardedDecisions(RejectMixin, AroundClassifier):
    """Decisions of an estimator whose `fit` sets `_fitted_`, a `Guarded`."""

    _uses_metadata: ClassVar[bool] = True

    def _for(self, X: Any) -> Any:
        """The fitted value, for rows in memory."""
        in_memory(X)
        return self._now

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each row by the classifier, whether it is novel or not; log-odds if it has probabilities only.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of float64, shape (n_samples,) or (n_samples, n_classes)
        """
        return self._for(X).score(X)

    def predict(self, X: Any, row_costs: Any = None) -> NDArray[Any]:
        """Label of each row by the classifier, `reject_label_` if it is novel; with `Actions`, the action.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to decide on.
        row_costs : array-like or data frame, default=None
            Costs of each row, for a classifier that takes them.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        now = self._for(X)
        if row_costs is not None:
            return np.asarray(now.decide(X, row_costs).label)
        label = np.asarray(now.estimator.predict(X))  # first: it checks the rows
        return np.asarray(now.relabelled(label, now.guard.novel_rows(X)))

    def predict_forced(self, X: Any, row_costs: Any = None) -> NDArray[Any]:
        """The cheapest class for each row by the classifier, also for novel rows."""
        return np.asarray(self._for(X).decided(X, row_costs).forced)

    def reject_mask(self, X: Any, row_costs: Any = None) -> NDArray[np.bool_]:
        """True for the rows that `predict` rejects, as ambiguous or as novel."""
        return np.asarray(self._for(X).decide(X, row_costs).rejected)

    def decide(self, X: Any, row_costs: Any = None) -> Decisions:
        """Decisions with their reasons: those of the classifier, and novel rows rejected.

        ``reason`` is "decided", "ambiguous" or "novel". Of a novel row the expected costs are nan, because nothing is
        known about it.
        """
        return self._for(X).decide(X, row_costs)

    def novelty(self, X: Any) -> NDArray[np.float64]:
        """P-value of each row: small if it is unlike the training rows; novel if it is at most `rate`.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows, in the form that the classifier takes.

        Returns
        -------
        ndarray of float64, shape (n_samples,)
            The share of calibration rows, and the row itself, that are at least as unusual.
        """
        guard = self._for(X).guard
        return np.asarray(guard.p_value(guard.unusual(X)))

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, row_costs: Any = None) -> float:
        """Minus the mean cost of `predict` on labelled rows, of which novel ones pay for a reject.

        Minus the share of rows decided wrongly if no costs were stated; rejecting a novel row then costs nothing.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to decide on.
        y : array-like of shape (n_samples,)
            Their true classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows in the mean.
        row_costs : array-like or data frame, default=None
            Costs of each row, as in `predict`.
        """
        now = self._for(X)
        found = now.decide(X, row_costs)
        rule = now.rule.for_rows(row_costs, len(found))
        return -mean_price(rule.cost(rule.labels.encode(y), rule.labels.choices(found.label)), sample_weight)

    def predict_set(self, X: Any, include: float | None = None, row_costs: Any = None) -> NDArray[np.bool_]:
        """The classes that are not ruled out for each row: all of them for a novel row.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows to decide on.
        include : float or None, default=None
            As in the classifier's own `predict_set`.
        row_costs : array-like or data frame, default=None
            Costs of each row, as in `predict`.

        Returns
        -------
        ndarray of bool, shape (n_samples, n_classes)
        """
        now = self._for(X)
        found = now.decide(X, row_costs)
        sets = now.rule.for_rows(row_costs, len(found)).included(found.score, include)
        return np.asarray(sets | found.novel[:, np.newaxis])

    @where_classifier_has("predict_proba")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes by the classifier, whether a row is novel or not."""
        classifier = self._for(X).estimator
        return sorted_scores(classifier, np.asarray(classifier.predict_proba(X)))

    @property
    def proof_(self) -> Proof:
        """How good the classifier's solution is, if it is certified."""
        return final_estimator(self._now.estimator).proof_

    def _takes_row_costs(self, method: str) -> bool:
        """Whether the classifier's `fit` or `predict` takes costs per row."""
        model = decider(self._now.estimator) if method == "predict" else self.estimator
        return bool(row_cost_parameters(model, method, ()))

    estimator_ = fitted[Model]("estimator", "The fitted classifier.")
    guard_ = fitted[Guard]("guard", "The fitted detector and the scores of the calibration rows.")
    calibration_ = fitted[Calibration]("calibration", "Scores and decisions of the calibration rows.")
    seen_ = fitted[SeenColumns | None]("seen", "What the training rows had in each column.")
