"""The detector of a guard: the preprocessing of the classifier, then an outlier detector."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from abstain.estimators.one_class import OneClassSVM

__all__ = ["default_detector", "fitted_detector", "transformers_of", "unique_names"]


def default_detector() -> Any:
    """Make the detector of rows whose columns have a standard deviation of 1."""
    return OneClassSVM(nu=0.05, gamma="scale")


def transformers_of(estimator: Any) -> list[tuple[str, Any]]:
    """Give the steps before the classifier, not fitted, also inside searches and estimators around a Pipeline."""
    if isinstance(estimator, Pipeline):
        return [*estimator.steps[:-1], *transformers_of(estimator.steps[-1][1])]
    inner = getattr(estimator, "estimator", None)
    return [] if inner is None or isinstance(inner, str) else transformers_of(inner)


def fitted_detector(estimator: Any, detector: Any, X: Any, y: Any, state: Any) -> Any:
    """Fit a detector that takes rows as `estimator` takes them.

    Given: a clone, behind clones of the estimator's transformers. None: the same with a `StandardScaler`, unless
    there is one at that place, and `default_detector`, and with an imputer if the classifier takes missing values.
    """
    before = Pipeline([(name, _cloned(step)) for name, step in transformers_of(estimator)])
    last = default_detector() if detector is None else clone(detector)
    _seed(last, state)
    rows = before.fit_transform(X, y) if before.steps else X
    after = Pipeline([])
    try:
        if detector is None:
            scaled = bool(before.steps) and _standardises(before.steps[-1][1])
            after.steps = [] if scaled else [("scale", StandardScaler(with_mean=not issparse(rows)))]
            if get_tags(_classifier(estimator)).input_tags.allow_nan:
                after.steps.insert(0, ("impute", SimpleImputer(keep_empty_features=True)))
            rows = after.fit_transform(rows) if after.steps else rows
        last.fit(rows)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"the detector of novel rows cannot be fitted to these rows: {error} Put the preprocessing and the "
            "classifier into one Pipeline as estimator, or pass a detector that takes the rows as they are."
        ) from error
    steps = [*before.steps, *after.steps]
    return Pipeline(unique_names([*steps, ("novelty", last)])) if steps else last


def _standardises(step: Any) -> bool:
    return isinstance(step, StandardScaler) and bool(step.with_std)


def _cloned(step: Any) -> Any:
    return step if step is None or isinstance(step, str) else clone(step)


def _classifier(estimator: Any) -> Any:
    """Give the classifier at the end of Pipelines, searches and estimators around others."""
    if isinstance(estimator, Pipeline):
        return _classifier(estimator.steps[-1][1])
    inner = getattr(estimator, "estimator", None)
    return estimator if inner is None or isinstance(inner, str) else _classifier(inner)


def _seed(detector: Any, state: Any) -> None:
    """Give random detectors a seed of ours, so that `random_state` decides."""
    names = [name for name, value in detector.get_params().items() if name.endswith("random_state") and value is None]
    detector.set_params(**{name: int(state.randint(2**31 - 1)) for name in names})


def unique_names(steps: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Give the steps with names that occur once."""
    found: dict[str, Any] = {}
    for given, step in steps:
        name = given
        while name in found:
            name += "_"
        found[name] = step
    return list(found.items())
