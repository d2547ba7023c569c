"""A fitted classifier inside Pipelines and searches, as used by metrics, displays, reports and commands."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from abstain.arguments import refuse_lazy
from abstain.labels import NO_CLASS
from abstain.machines.response_machine import sorted_scores
from abstain.reject_labels import default_reject_label, free_label
from abstain.rules.deciders import MISSING, PerRow
from abstain.rules.decisions import Decisions


def decide(estimator: Any, X: Any, row_costs: Any = None) -> Decisions:
    """Decisions of a fitted classifier with their reasons, also inside Pipelines and searches.

    scikit-learn's Pipeline passes on `predict` and `decision_function`, but not `decide`, `reject_mask` and
    `predict_forced`. These are ``decide(pipeline, X)``, its ``rejected`` and its ``forced``.

    Parameters
    ----------
    estimator : classifier of this library, or Pipeline or search around one
        Fitted.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Rows as the whole `estimator` takes them.
    row_costs : array-like or data frame, default=None
        Costs of each row, as in `RejectSVC.fit`.

    Returns
    -------
    Decisions
        With the index of X if it is a pandas DataFrame.

    Examples
    --------
    >>> import abstain
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> machine = abstain.RejectSVC(abstain.Costs(reject=0.2), C=10, kernel="linear")
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> model = make_pipeline(StandardScaler(), machine).fit(X, y)
    >>> decisions = abstain.decide(model, [[-3.0], [3.0], [8.0]])
    >>> decisions.label, decisions.rejected, decisions.forced
    (array([ 0, -1,  1]), array([False,  True, False]), array([0, 1, 1]))
    """
    if hasattr(X, "fit") and not hasattr(estimator, "fit"):
        raise ValueError("estimator and X are swapped; call decide(estimator, X).")
    index = X.index if hasattr(X, "iloc") else None
    estimator, X = reached(estimator, X, "decide")
    if not hasattr(estimator, "decide"):
        kind = type(estimator).__name__
        if hasattr(final_estimator(getattr(estimator, "estimator_", None)), "decide"):
            raise ValueError(
                f"estimator must reject, but {kind} decides every row; put its estimator_, which rejects, in its place."
            )
        raise ValueError(
            f"estimator must be a fitted classifier of this library, or a Pipeline or search around one; {kind} does "
            "not reject. Wrap it in ThresholdRejector."
        )
    given = {} if row_costs is None else {"row_costs": row_costs}
    return replace(estimator.decide(X, **given), index=index)


def reached(estimator: Any, X: Any, name: str) -> tuple[Any, Any]:
    """Return the first estimator inside Pipelines and searches with this attribute, or the last; X as it takes it."""
    refuse_lazy(X)
    while not (hasattr(estimator, name) or hasattr(type(estimator), name)):  # which may not be fitted
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            before = transforming(estimator.steps[:-1])
            X = X if X is None or not before else Pipeline(before).transform(X)
            estimator = estimator[-1]
        else:
            break
    return estimator, X


def transforming(steps: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return the steps of a Pipeline that new rows pass through: those that only resample are for training rows."""
    return [(name, one) for name, one in steps if hasattr(one, "transform") or not hasattr(one, "fit_resample")]


def resampling(steps: list[tuple[str, Any]]) -> list[str]:
    """Return the names of the steps that only resample."""
    return [name for name, _ in steps if name not in dict(transforming(steps))]


def unguarded(estimator: Any) -> Any:
    """Return the fitted classifier, Pipeline or search behind a guard; the estimator itself if it has none."""
    while hasattr(estimator, "guard_"):
        estimator = estimator.estimator_
    return estimator


def final_estimator(estimator: Any) -> Any:
    """Return the classifier inside Pipelines and fitted searches."""
    while True:
        if hasattr(estimator, "steps"):
            estimator = estimator[-1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            return estimator


@dataclass(frozen=True, eq=False)
class FittedClassifier:
    """A fitted classifier with one interface to its score, cuts and positive class.

    Attributes
    ----------
    estimator : object
        As given; it takes the rows.
    final : object
        The classifier inside Pipelines and searches.
    positive : label
        The positive class; None for more than two.
    """

    estimator: Any
    final: Any
    positive: Any

    @classmethod
    def of_two(cls, estimator: Any, pos_label: Any = None) -> Self:
        """Unwrap a classifier of two classes; more are an error."""
        if (count := len(np.asarray(estimator.classes_))) > 2:
            raise ValueError(f"estimator has {count} classes, and this is defined for two: it has one score and cuts.")
        return cls.of(estimator, pos_label)

    @classmethod
    def of(cls, estimator: Any, pos_label: Any = None) -> Self:
        """Unwrap a classifier; the positive class is `pos_label`, else the classifier's own, else the last of two."""
        final = final_estimator(estimator)
        classes = np.asarray(estimator.classes_).tolist()
        if len(classes) > 2:
            if pos_label is not None:
                raise ValueError(
                    f"pos_label={pos_label!r} is for two classes; the estimator has {len(classes)}, so leave it out."
                )
            return cls(estimator, final, None)
        own = _own_positive(final)
        positive = pos_label if pos_label is not None else own if own is not None else classes[-1]
        if positive not in classes:
            raise ValueError(f"pos_label={positive!r} is not one of the classes {classes}; give one of them.")
        return cls(estimator, final, positive)

    @property
    def assumed(self) -> bool:
        """Whether the classifier has no positive class of its own, so that without a `pos_label` it is the last one."""
        return _own_positive(self.final) is None

    @property
    def name(self) -> str:
        """The class name of the classifier inside Pipelines and searches."""
        return type(self.final).__name__

    @property
    def rule(self) -> Any:
        """Its `Rule`, if it is a classifier of this library."""
        return getattr(self.final, "rule_", None)

    @property
    def classes(self) -> list[Any]:
        """The classes, sorted."""
        return list(np.asarray(self.estimator.classes_).tolist())

    @property
    def negative(self) -> Any:
        """The other class."""
        return next(label for label in self.classes if label != self.positive)

    @property
    def orientation(self) -> int:
        """+1 if high scores mean the positive class, -1 if low ones do."""
        return 1 if self.positive == self.classes[-1] else -1

    @property
    def costs(self) -> Any:
        """The costs that it uses to decide, if any were stated, with `positive` as the positive class."""
        costs = None if self.rule is None else self.rule.costs
        if costs is None or self.positive is None:
            return costs
        return costs.plain(same=self.positive == self.rule.labels.positive)

    @property
    def thresholds(self) -> Any:
        """The thresholds on its score, oriented to ``classes_[1]``."""
        return self.rule_for().thresholds

    def rule_for(self, n: int | None = None, row_costs: Any = None) -> Any:
        """Return the rule that decides n rows, by their own costs if they are given; an error if it has none."""
        rule = self.rule
        if rule is None:
            raise ValueError(
                f"estimator must be a fitted classifier with thresholds_; {self.name} has none. Fit it first, "
                "or wrap another library's classifier in ThresholdRejector."
            )
        if row_costs is None:
            if isinstance(rule.decider, PerRow):
                raise ValueError(MISSING)
            return rule
        if rule.labels.sides and self.positive != rule.labels.positive:
            raise ValueError(
                f"pos_label={self.positive!r} is not the positive class of the machine, {rule.labels.positive!r}, by "
                "which it reads row_costs; leave it out, or fit the machine with that pos_label."
            )
        return rule.for_rows(row_costs, n)

    @property
    def cut(self) -> float:
        """The cut of the forced choice on the score, oriented to ``classes_[1]``."""
        return self.even_cut if self.rule is None else self.rule.cut

    @property
    def even_cut(self) -> float:
        """Where the score makes both classes equally likely: 0 on a decision function, 0.5 on a probability."""
        return 0.0 if hasattr(self.estimator, "decision_function") else 0.5

    @property
    def rejects(self) -> bool:
        """Whether it may reject; with `Actions`, whether some of them hand the case on."""
        return self.rule is not None and self.rule.labels.rejects

    @property
    def reject_label(self) -> Any:
        """The label of a rejected row; if it never rejects, any label that is not a class."""
        own = None if self.rule is None else self.rule.labels.reject_label
        if own is not None:
            return own
        classes = np.asarray(self.estimator.classes_)
        try:
            return default_reject_label(classes)
        except ValueError:
            return free_label(classes)

    def score(self, X: Any) -> NDArray[np.float64]:
        """Return the decision function, or the probability if there is none, oriented to ``classes_[1]``.

        With more than two classes, a column for each.
        """
        if hasattr(self.estimator, "decision_function"):
            return sorted_scores(self.estimator, np.asarray(self.estimator.decision_function(X), dtype=np.float64))
        found = sorted_scores(self.estimator, np.asarray(self.estimator.predict_proba(X), dtype=np.float64))
        return found[:, 1] if found.shape[1] == 2 else found

    def class_scores(self, score: NDArray[np.float64], rule: Any = None) -> NDArray[np.float64]:
        """Turn scores of several classes into others, the highest for the forced choice, shape (n, n_classes).

        With costs, its lead grows with the confidence by which the rule rejects, and the other classes have 0 ::

            log(1 + exp(v))     v = max_k f_k - cut_k, the expected cost of rejecting less that of the forced choice,
                                or for cuts on the confidence of the answer k: confidence - cut_k,
                                or for a set of classes the least distance of a score from its cut

        so that curves by the lead pass through the decisions. Otherwise it is the score itself. `rule` is that of rows
        with costs of their own.
        """
        rule = self.rule if rule is None else rule
        margin = None if rule is None else rule.decider.margin(rule, score)
        if margin is None or np.isnan(margin).any():
            return score
        found = np.zeros_like(score)
        answer = np.array(rule.answers)[rule.best(score)]
        at = np.where(answer == NO_CLASS, score.argmax(axis=1), answer)[:, np.newaxis]  # actions may answer no class
        np.put_along_axis(found, at, np.logaddexp(0.0, margin)[:, np.newaxis], axis=1)
        return found

    def towards_positive(self, score: NDArray[np.float64], cut: float) -> tuple[NDArray[np.float64], float]:
        """Orient scores and their cut to the positive class.

        A score on the cut means ``classes_[0]``. If that is the positive class, the score is moved above the negated
        cut by one floating-point number, so that it still does.
        """
        if self.orientation > 0:
            return score, cut
        return np.where(score == cut, np.nextafter(-cut, np.inf), -score), -cut


def _own_positive(final: Any) -> Any:
    rule = getattr(final, "rule_", None)
    return rule.labels.positive if rule is not None else getattr(final, "pos_label", None)
