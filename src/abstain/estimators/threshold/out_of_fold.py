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
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples as number_of_rows
from sklearn.utils.validation import has_fit_parameter

from abstain.arguments import row_weights
from abstain.estimators.fitting.routing import group_parameters
from abstain.estimators.fitting.splitting import Groups, parts_of, row_groups, splitter
from abstain.machines.cross_machine import CrossMachine
from abstain.machines.response_machine import ResponseMachine
from abstain.rules.tuning.request import Request

# Reasons why some scores cannot support a promise.
SAME_ROWS = (
    'cv="train" tunes on the rows that the classifier was fitted on, where it makes too few errors; '
    'leave cv out to hold rows out, or use cv="prefit" with other rows.'
)
SAME_SIGMOID = (
    'method="chow" with cv="prefit" fits the sigmoid to the labels of the rows that must certify it; '
    'calibrate the classifier on other rows first, or use method="symmetric".'
)
UNEQUAL_SHARES = (
    "class_error held out a larger share of one class than of another, so that new rows mix the classes otherwise. "
    "Pass X and y that the classifier was not fitted on, or fit again with max_error."
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
    machine : ResponseMachine or CrossMachine
        Around the classifier fitted on all rows, on those without the scores, or given; or around one for each fold.
    score : ndarray of float64, shape (m,) or (m, n_classes), or None
        The scores; None if there is nothing to tune.
    index : ndarray of intp, shape (m,)
        Their rows; a splitter may leave out rows, or score them more than once.
    flaw : str
        Why nothing can be promised on these scores, in other words than that they are not held out; often empty.
    held_out : bool
        Whether the classifier that decides was not fitted on the rows of the scores.
    """

    machine: ResponseMachine | CrossMachine
    score: NDArray[np.float64] | None = None
    index: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    flaw: str = ""
    held_out: bool = False


def is_prefit(settings: Any) -> bool:
    """Return whether the classifier of a ThresholdRejector is already fitted, and stays as it is."""
    if isinstance(settings.cv, str):
        return settings.cv == "prefit"
    return isinstance(settings.estimator, FrozenEstimator)


def fit_and_score(
    settings: Any, X: Any, y: Any, groups: Groups | None, parameters: dict[str, Any], *, request: Request
) -> Scored:
    """Fit the classifier of a ThresholdRejector as its `cv` says, and score rows if there are thresholds to tune."""
    if is_prefit(settings) or isinstance(settings.cv, str):
        return _on_all_rows(settings, X, y, parameters, request)
    return _by_folds(settings, X, y, groups, parameters, request=request)


def fit_parameters(
    settings: Any, weight: NDArray[np.float64] | None, groups: Groups | None, *, tune: bool
) -> dict[str, Any]:
    """Weights and groups for the classifier's `fit`, if it takes them; by metadata routing if that is enabled."""
    if routing_enabled():
        given = {"sample_weight": weight, "groups": groups}
        given = {name: value for name, value in given.items() if value is not None}
        return dict(process_routing(settings, "fit", **given).estimator.fit) if given else {}
    parameters: dict[str, Any] = group_parameters(settings.estimator, groups)
    if weight is None:
        return parameters
    if has_fit_parameter(settings.estimator, "sample_weight"):
        return parameters | {"sample_weight": weight}
    if not tune:
        raise ValueError(
            f"sample_weight has no effect: {type(settings.estimator).__name__}.fit does not accept it, and there are "
            "no thresholds to tune by weights. Leave it out, or let a Pipeline pass it on by metadata routing."
        )
    return parameters


def checked_rows(
    settings: Any, X: Any, sample_weight: Any, groups: Any, *, tune: bool, fits: bool = True
) -> tuple[NDArray[np.float64] | None, Groups | None, dict[str, Any]]:
    """Check weights and groups; give them, and what the classifier's `fit` takes of them if it is fitted."""
    n = number_of_rows(X)
    weight, checked = row_weights(sample_weight, n), row_groups(groups, n)
    return weight, checked, fit_parameters(settings, weight, checked, tune=tune) if fits else {}


def _on_all_rows(settings: Any, X: Any, y: Any, parameters: dict[str, Any], request: Request) -> Scored:
    """For "prefit" or "train": tune on the rows given."""
    prefit, probabilities, tune = is_prefit(settings), request.method.needs_probabilities, request.needs_rows
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
    return Scored(machine, score, np.arange(len(score)), flaw, held_out=not flaw)


def _by_folds(
    settings: Any, X: Any, y: Any, groups: Groups | None, parameters: dict[str, Any], *, request: Request
) -> Scored:
    """For `cv` with folds: score the rows left out of each fold, and fit the classifier on all rows."""
    cv, probabilities, tune = settings.cv, request.method.needs_probabilities, request.needs_rows
    folds = folds_of(settings, y, groups)
    # a list of folds indexes the full set of rows, and there are fewer inside a fold
    inner = folds if not tune or isinstance(cv, Integral) or hasattr(cv, "split") else None
    given = clone(settings.estimator)
    classifier = with_probabilities(given, inner, settings.n_jobs) if probabilities else given
    sigmoid_groups = None if classifier is given else groups
    machine = ResponseMachine.of(classifier, probabilities=probabilities)
    if not tune:
        _fit(classifier, X, y, sigmoid_groups, parameters)
        return Scored(machine)
    parts = parts_of(folds, X, y, groups)
    check_classes(parts, y)
    tasks = (delayed(_fold_score)(machine, (X, y), part, sigmoid_groups, parameters) for part in parts)
    score = np.concatenate(Parallel(n_jobs=settings.n_jobs)(tasks))
    index = np.concatenate([np.asarray(test) for _, test in parts])
    _fit(classifier, X, y, sigmoid_groups, parameters)
    return Scored(machine, score, index)


def check_classes(parts: list[tuple[Any, Any]], y: Any, who: str = "a fold of cv leaves") -> None:
    """Raise an error if a fold has no rows of some class to fit on: it would have no score for it."""
    known = np.unique(np.asarray(y))
    for train, _ in parts:
        found = np.unique(_safe_indexing(y, train))
        if len(found) < min(len(known), 2):
            raise ValueError(f"{who} only one class to fit on; use fewer folds, or a stratified splitter.")
        if len(found) < len(known):
            missing = np.setdiff1d(known, found).tolist()[0]
            raise ValueError(
                f"{who} no rows of the class {missing!r} to fit on; use fewer folds, a stratified "
                "splitter, or more rows of this class."
            )


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


def folds_of(settings: Any, y: Any, groups: Groups | None) -> Any:
    """The folds of `cv`; for an integer, shuffled if there is a `random_state`."""
    state = settings.random_state
    return splitter(settings.cv, y, groups, shuffle=state is not None, random_state=state)


def _fit(classifier: Any, X: Any, y: Any, sigmoid_groups: Groups | None, parameters: dict[str, Any]) -> None:
    """Fit the classifier; the folds of its sigmoid respect the groups, if there is a sigmoid and there are groups."""
    if sigmoid_groups is None:
        classifier.fit(X, y, **parameters)
        return
    folds = splitter(classifier.cv, y, sigmoid_groups)  # CalibratedClassifierCV takes no groups, but it takes splits
    splits = list(folds.split(X, y, sigmoid_groups))
    classifier.set_params(cv=splits).fit(X, y, **parameters).set_params(cv=folds)


def _fold_score(*arguments: Any) -> NDArray[np.float64]:
    return fitted_part(*arguments)[1]  # without the classifier, which another process would send back


def fitted_part(
    machine: ResponseMachine,
    data: tuple[Any, Any],
    part: tuple[Any, Any],
    sigmoid_groups: Groups | None,
    parameters: dict[str, Any],
) -> tuple[ResponseMachine, NDArray[np.float64]]:
    """Fit a clone of the machine's classifier to the first rows of a part; return it with its scores of the others."""
    model, (train, test) = clone(machine.classifier), part
    X_train, y_train = _safe_split(model, *data, train)
    X_test, _ = _safe_split(model, *data, test, train)
    parameters = {name: _safe_indexing(value, train) for name, value in parameters.items()}
    _fit(model, X_train, y_train, None if sigmoid_groups is None else sigmoid_groups[train], parameters)
    found = ResponseMachine(model, machine.method)
    return found, found.score(X_test)
