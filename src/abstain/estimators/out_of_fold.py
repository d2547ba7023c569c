"""Fit the classifier of a ThresholdRejector, and score rows that it was not fitted on."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from abstain.machines.response_machine import ResponseMachine
from abstain.rules.methods import METHODS

# Reasons why some scores cannot certify an error.
SAME_ROWS = (
    'cv="train" tunes on the rows that the classifier was fitted on, where it makes too few errors; '
    'use folds, or cv="prefit" with other rows.'
)
SAME_SIGMOID = (
    'method="chow" with cv="prefit" fits the sigmoid to the labels of the rows that must certify it; '
    'calibrate the classifier on other rows first, or use method="symmetric".'
)
ROWS_TWICE = (
    "the splitter given as cv scores some rows more than once, but the test needs independent rows; "
    "use one that scores each row once, such as StratifiedKFold."
)


@dataclass(frozen=True, eq=False)
class Scored:
    """A machine around a fitted classifier, and scores to tune its thresholds on.

    Attributes
    ----------
    machine : ResponseMachine
        Around the classifier fitted on all rows, or the classifier given.
    score : ndarray of float64, shape (m,), or None
        The scores; None if there is nothing to tune.
    index : ndarray of intp, shape (m,)
        Their rows; a splitter may leave out rows, or score them more than once.
    flaw : str
        Why no error can be certified on these scores; empty if one can.
    """

    machine: ResponseMachine
    score: NDArray[np.float64] | None = None
    index: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    flaw: str = ""


def fit_and_score(settings: Any, X: Any, y: Any, parameters: dict[str, Any], *, tune: bool) -> Scored:
    """Fit the classifier of a ThresholdRejector as its `cv` says, and score rows if there are thresholds to tune."""
    return (_on_all_rows if isinstance(settings.cv, str) else _by_folds)(settings, X, y, parameters, tune=tune)


def fit_parameters(settings: Any, weight: NDArray[np.float64], *, tune: bool) -> dict[str, Any]:
    """The weights for the classifier's `fit`, if it takes them; by metadata routing if that is enabled."""
    if routing_enabled():
        return dict(process_routing(settings, "fit", sample_weight=weight).estimator.fit)
    if has_fit_parameter(settings.estimator, "sample_weight"):
        return {"sample_weight": weight}
    if not tune:
        raise ValueError(
            f"sample_weight has no effect: {type(settings.estimator).__name__}.fit does not accept it, and there are "
            "no thresholds to tune. Leave it out, or let a Pipeline pass it on by metadata routing."
        )
    return {}


def _on_all_rows(settings: Any, X: Any, y: Any, parameters: dict[str, Any], *, tune: bool) -> Scored:
    """For `cv` = "prefit" or "train": tune on the rows given."""
    prefit, probabilities = settings.cv == "prefit", METHODS[settings.method].needs_probabilities
    flaw = "" if prefit else SAME_ROWS
    given = settings.estimator if prefit else clone(settings.estimator).fit(X, y, **parameters)
    classifier = with_probabilities(given, None, None) if probabilities else given
    if classifier is not given:
        classifier.fit(X, y, **parameters)
        flaw = flaw or SAME_SIGMOID
    machine = ResponseMachine.of(classifier, probabilities=probabilities)
    if not tune:
        return Scored(machine)
    score = machine.score(X)
    return Scored(machine, score, np.arange(len(score)), flaw)


def _by_folds(settings: Any, X: Any, y: Any, parameters: dict[str, Any], *, tune: bool) -> Scored:
    """For `cv` with folds: score the rows left out of each fold, and fit the classifier on all rows."""
    cv, probabilities = settings.cv, METHODS[settings.method].needs_probabilities
    folds = _splitter(cv, y, settings.random_state)
    # a list of folds indexes the full set of rows, and there are fewer inside a fold
    inner = folds if not tune or isinstance(cv, Integral) or hasattr(cv, "split") else None
    classifier = clone(settings.estimator)
    classifier = with_probabilities(classifier, inner, settings.n_jobs) if probabilities else classifier
    machine = ResponseMachine.of(classifier, probabilities=probabilities)
    if not tune:
        classifier.fit(X, y, **parameters)
        return Scored(machine)
    parts = list(folds.split(X, y))
    tasks = (delayed(_fold)(machine, (X, y), part, parameters) for part in parts)
    score = np.concatenate(Parallel(n_jobs=settings.n_jobs)(tasks))
    index = np.concatenate([np.asarray(test) for _, test in parts])
    flaw = "" if len(np.unique(index)) == len(index) else ROWS_TWICE
    classifier.fit(X, y, **parameters)
    return Scored(machine, score, index, flaw)


def with_probabilities(classifier: Any, cv: Any, n_jobs: int | None) -> Any:
    """The classifier, with Platt's sigmoid on its score if it has no probabilities.

    The sigmoid is fitted on held-out scores and the classifier on all rows; if the classifier is already fitted, the
    sigmoid is fitted on the rows given.
    """
    if hasattr(classifier, "predict_proba"):
        return classifier
    if hasattr(classifier, "classes_"):
        return CalibratedClassifierCV(FrozenEstimator(classifier))
    return CalibratedClassifierCV(classifier, cv=cv, ensemble=False, n_jobs=n_jobs)


def _splitter(cv: Any, y: Any, random_state: Any) -> Any:
    """The folds as scikit-learn makes them from `cv`; for an integer, shuffled if there is a `random_state`."""
    if random_state is not None and isinstance(cv, Integral):
        return StratifiedKFold(int(cv), shuffle=True, random_state=random_state)
    return check_cv(cv, y, classifier=True)


def _fold(
    machine: ResponseMachine, data: tuple[Any, Any], part: tuple[Any, Any], parameters: dict[str, Any]
) -> NDArray[np.float64]:
    """Scores of the rows left out of one fold."""
    model, (train, test) = clone(machine.classifier), part
    X_train, y_train = _safe_split(model, *data, train)
    X_test, _ = _safe_split(model, *data, test, train)
    model.fit(X_train, y_train, **{name: _safe_indexing(value, train) for name, value in parameters.items()})
    if len(model.classes_) != 2:
        raise ValueError("a fold of cv leaves only one class to fit on; use fewer folds, or a stratified splitter.")
    return ResponseMachine(model, machine.method).score(X_test)
