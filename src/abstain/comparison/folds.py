"""Fit each model on the training rows of each fold and predict the test rows."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split as safe_split

from abstain.costs.cuts import Thresholds
from abstain.estimators.fitting.progress import SearchLine
from abstain.estimators.fitting.routing import decider, group_parameters, row_cost_parameters
from abstain.estimators.unwrap import FittedClassifier, decide
from abstain.rules.decisions import Decisions, joined

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]
_OF_ROWS = ("predicted", "score")


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions of one model on held-out rows.

    Attributes
    ----------
    predicted : ndarray of shape (m,)
        Labels, including rejects, fold by fold.
    score : ndarray of shape (m,) or None
        Their scores, oriented to ``classes_[1]``; None if the model has neither a decision function nor probabilities.
        With more than two classes a column for each.
    reject_label : label
        The label of a reject.
    fit_seconds, predict_seconds : float
        Means over the folds.
    thresholds, cut
        The two thresholds on the score and the cut of the forced decisions; None if the folds have different ones.
    decisions : Decisions or None
        All that it decides; None if it is not a rejecting classifier of this library.
    """

    predicted: NDArray[Any]
    reject_label: Any
    fit_seconds: float
    predict_seconds: float
    score: NDArray[np.float64] | None = None
    thresholds: Thresholds | None = None
    cut: float | None = None
    decisions: Decisions | None = None

    def take(self, at: NDArray[np.intp]) -> Self:
        """The same for some of the rows, in this order."""
        parts = {name: getattr(self, name) for name in _OF_ROWS}
        taken: dict[str, Any] = {name: None if part is None else part[at] for name, part in parts.items()}
        return replace(self, **taken, decisions=None if self.decisions is None else self.decisions.take(at))


def held_out(
    models: Mapping[str, Any], X: Any, y: NDArray[Any], folds: Folds, *, groups: Any, row_costs: Any, verbose: bool
) -> list[HeldOut]:
    """Fit all models on all folds, one at a time so that their times can be compared."""
    done, answers = 0, []
    with SearchLine("compare", len(models) * len(folds), shown=verbose) as line:
        for name, model in models.items():
            parts = []
            for at, fold in enumerate(folds):
                try:
                    parts.append(_one(model, X, y, fold, groups=groups, row_costs=row_costs))
                except Exception as error:
                    error.add_note(f"Raised by model {name!r} on fold {at + 1} of {len(folds)} in abstain.compare.")
                    raise
                done += 1
                line.report(done)
            answers.append(_joined(parts))
    return answers


def _one(model: Any, X: Any, y: NDArray[Any], fold: tuple[Any, Any], *, groups: Any, row_costs: Any) -> HeldOut:
    train, test = fold
    model = clone(model)
    X_train, y_train = safe_split(model, X, y, train)
    X_test, _ = safe_split(model, X, y, test, train)
    parameters = group_parameters(model, None if groups is None else groups[train])
    parameters |= {} if row_costs is None else row_cost_parameters(model, "fit", row_costs[train])
    start = time.perf_counter()
    model.fit(X_train, y_train, **parameters)
    fitted = time.perf_counter()
    asked_with = {} if row_costs is None else row_cost_parameters(decider(model), "predict", row_costs[test])
    predicted = np.asarray(decider(model).predict(X_test, **asked_with) if asked_with else model.predict(X_test))
    seconds = fitted - start, time.perf_counter() - fitted
    classifier = FittedClassifier.of(model)
    known: dict[str, Any] = {}
    if asked_with or classifier.rejects:
        decisions = decide(model, X_test, row_costs[test]) if asked_with else decide(model, X_test)
        known = {"score": decisions.score, "decisions": decisions}
    elif hasattr(model, "decision_function") or hasattr(model, "predict_proba"):
        known = {"score": classifier.score(X_test)}
    if classifier.rejects and not asked_with and len(classifier.classes) == 2:
        known |= {"thresholds": classifier.thresholds, "cut": classifier.cut}
    return HeldOut(predicted, classifier.reject_label, *seconds, **known)


def _joined(folds: Sequence[HeldOut]) -> HeldOut:
    """Put the folds of one model together."""
    rows = {name: [getattr(one, name) for one in folds] for name in _OF_ROWS}
    known: dict[str, Any] = {name: None if parts[0] is None else np.concatenate(parts) for name, parts in rows.items()}
    for name in ("fit_seconds", "predict_seconds"):
        known[name] = float(np.mean([getattr(one, name) for one in folds]))
    parts = [one.decisions for one in folds if one.decisions is not None]
    known["decisions"] = joined(parts) if parts else None
    cuts = [(one.thresholds, one.cut) for one in folds]
    thresholds, cut = cuts[0] if all(one == cuts[0] for one in cuts) else (None, None)
    return replace(folds[0], thresholds=thresholds, cut=cut, **known)
