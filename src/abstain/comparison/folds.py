"""Fit each model on the training rows of each fold and predict the test rows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split as safe_split

from abstain.costs.row_costs import RowCosts
from abstain.costs.thresholds import Thresholds
from abstain.estimators.fitting.progress import SearchLine
from abstain.estimators.fitting.routing import decider, row_cost_parameters
from abstain.estimators.fitting.splitting import Groups, group_parameters
from abstain.estimators.unwrap import FittedClassifier, decide

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


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
    class_scores : ndarray of shape (m, n_classes) or None
        Of more than two classes, scores whose lead is the confidence by which the rule of each row's fold rejects.
    forced : ndarray of shape (m,) or None
        Its forced decisions, at the cut of its rule; None if it is not a rejecting classifier of this library.
    reject_label : label
        The label of a reject.
    fit_seconds, predict_seconds : float
        Means over the folds.
    novel : ndarray of bool, shape (m,), or None
        The rows that its guard rejects; None if it has none.
    thresholds, cut
        The two thresholds on the score and the cut of the forced decisions; None if the folds have different ones.
    """

    predicted: NDArray[Any]
    score: NDArray[np.float64] | None
    forced: NDArray[Any] | None
    reject_label: Any
    fit_seconds: float
    predict_seconds: float
    novel: NDArray[np.bool_] | None = None
    thresholds: Thresholds | None = None
    cut: float | None = None
    class_scores: NDArray[np.float64] | None = None

    def take(self, at: NDArray[np.intp]) -> Self:
        """The same for some of the rows, in this order."""
        parts = {name: getattr(self, name) for name in ("predicted", "score", "forced", "novel", "class_scores")}
        taken: dict[str, Any] = {name: None if part is None else part[at] for name, part in parts.items()}
        return replace(self, **taken)


def held_out(
    models: Mapping[str, Any],
    X: Any,
    y: NDArray[Any],
    groups: Groups | None,
    folds: Folds,
    *,
    verbose: bool,
    row_costs: RowCosts | None = None,
) -> list[HeldOut]:
    """Fit all models on all folds, one at a time so that their times can be compared."""
    done = 0
    answers = []
    with SearchLine("compare", len(models) * len(folds), shown=verbose) as line:
        for name, model in models.items():
            parts = []
            for at, fold in enumerate(folds):
                try:
                    parts.append(_one(model, X, y, groups, fold, row_costs=row_costs))
                except Exception as error:
                    error.add_note(f"Raised by model {name!r} on fold {at + 1} of {len(folds)} in abstain.compare.")
                    raise
                done += 1
                line.report(done)
            predicted, scores, forced, labels, fit, predict, unlike, cuts, ranked = zip(*parts, strict=True)
            seconds = float(np.mean(fit)), float(np.mean(predict))
            score, decided, novel, by_class = (
                None if parts[0] is None else np.concatenate(parts) for parts in (scores, forced, unlike, ranked)
            )
            thresholds, cut = cuts[0] if all(one == cuts[0] for one in cuts) else (None, None)
            known = (score, decided, labels[0], *seconds, novel, thresholds, cut, by_class)
            answers.append(HeldOut(np.concatenate(predicted), *known))
    return answers


def _one(
    model: Any,
    X: Any,
    y: NDArray[Any],
    groups: Groups | None,
    fold: tuple[NDArray[np.intp], NDArray[np.intp]],
    *,
    row_costs: RowCosts | None,
) -> tuple[Any, ...]:
    train, test = fold
    model = clone(model)
    X_train, y_train = safe_split(model, X, y, train)
    X_test, _ = safe_split(model, X, y, test, train)
    parameters = group_parameters(model, None if groups is None else groups[train])
    known = None if row_costs is None else row_costs.table()
    parameters |= {} if known is None else row_cost_parameters(model, "fit", known[train])
    start = time.perf_counter()
    model.fit(X_train, y_train, **parameters)
    fitted = time.perf_counter()
    asked_with = {} if known is None else row_cost_parameters(decider(model), "predict", known[test])
    predicted = np.asarray(decider(model).predict(X_test, **asked_with) if asked_with else model.predict(X_test))
    asked = time.perf_counter()
    classifier = FittedClassifier.of_any(model)
    forced: NDArray[Any] | None = None
    score: NDArray[np.float64] | None = None
    novel: NDArray[np.bool_] | None = None
    cuts: Sequence[Any] = (None, None)
    ranked: NDArray[np.float64] | None = None
    if asked_with and known is not None:
        decisions = decide(model, X_test, known[test])
        forced, score, novel = decisions.forced, decisions.score, decisions.novel
    elif classifier.rejects:
        decisions = decide(model, X_test)
        forced, score, novel = decisions.forced, decisions.score, decisions.novel
        if len(classifier.classes) == 2:
            cuts = classifier.thresholds, classifier.cut
        else:
            ranked = classifier.class_scores(score)
    elif hasattr(model, "decision_function") or hasattr(model, "predict_proba"):
        score = classifier.score(X_test)
    return predicted, score, forced, classifier.reject_label, fitted - start, asked - fitted, novel, tuple(cuts), ranked
