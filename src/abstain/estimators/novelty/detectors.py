"""The detector of a guard: the preprocessing of the classifier, then an outlier detector."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from abstain.estimators.novelty.novelty_detector import FEWEST_ROWS, MOST_COLUMNS, NoveltyDetector
from abstain.estimators.svm.one_class import OneClassSVM
from abstain.estimators.unwrap import transforming


def transformers_of(estimator: Any) -> list[tuple[str, Any]]:
    """Return the steps before the classifier, not fitted, also inside searches and estimators around a Pipeline."""
    return _parts(estimator)[0]


def _parts(estimator: Any) -> tuple[list[tuple[str, Any]], Any]:
    """Return the steps before the classifier, and the classifier."""
    steps: list[tuple[str, Any]] = []
    while True:
        inner = getattr(estimator, "estimator", None)
        if isinstance(estimator, Pipeline):
            steps, estimator = [*steps, *transforming(estimator.steps[:-1])], estimator.steps[-1][1]
        elif inner is None or isinstance(inner, str):
            return steps, estimator
        else:
            estimator = inner


def unscaled(steps: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return the steps without the scalers at their end: `NoveltyDetector` gives the same scores with and without."""
    count = len(steps)
    while count and type(steps[count - 1][1]) is StandardScaler:
        count -= 1
    return steps[:count]


def fitted_detector(estimator: Any, detector: Any, X: Any, y: Any, state: Any) -> Any:
    """Fit a detector that takes rows as `estimator` takes them.

    Given: a clone, behind clones of the estimator's transformers. None: the same with a `NoveltyDetector`, but no
    scalers right before it, and an imputer if the classifier takes missing values.
    """
    steps, classifier = _parts(estimator)
    steps = unscaled(steps) if detector is None else steps
    before = [(name, step if step is None or isinstance(step, str) else clone(step)) for name, step in steps]
    rows = Pipeline(before).fit_transform(X, y) if before else X
    try:
        if detector is None:
            after, last = _default(classifier, before, X, rows)
        else:
            after, last = [], clone(detector)
            _seed(last, state)
            last.fit(rows)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"the detector of novel rows cannot be fitted to these rows: {error} Put the preprocessing and the "
            "classifier into one Pipeline as estimator, or pass a detector that takes the rows as they are."
        ) from error
    every = [*before, *after, ("novelty", last)]
    return Pipeline(unique_names(every)) if len(every) > 1 else last


def _default(classifier: Any, before: list[tuple[str, Any]], X: Any, rows: Any) -> tuple[list[tuple[str, Any]], Any]:
    """Fit the default detector, and what comes between it and the transformers.

    Sparse rows, more than `MOST_COLUMNS` columns and fewer than `FEWEST_ROWS` rows have a one-class SVM on standardised
    columns instead.
    """
    steps: list[tuple[str, Any]] = []
    if get_tags(classifier).input_tags.allow_nan:
        steps.append(("impute", SimpleImputer(keep_empty_features=True)))
        rows = steps[0][1].fit_transform(rows)
    n, d = rows.shape if hasattr(rows, "shape") else np.shape(rows)
    if not issparse(rows) and n >= FEWEST_ROWS and d <= MOST_COLUMNS:
        return steps, NoveltyDetector().fit(rows, origin=_origin([*before, *steps], X))
    steps.append(("scale", StandardScaler(with_mean=not issparse(rows))))
    return steps, OneClassSVM(nu=0.05, gamma="scale").fit(steps[-1][1].fit_transform(rows))


def _origin(steps: list[tuple[str, Any]], X: Any) -> Any:
    """Return what a row becomes whose numbers are all 0; None if the steps do not take such a row."""
    if not steps:
        return np.zeros(np.shape(X)[1])
    try:
        if hasattr(X, "iloc"):
            zero = X.iloc[:1].copy()
            zero[zero.select_dtypes("number").columns] = 0
        elif hasattr(X, "get_columns"):  # polars
            numbers = (column for column in X.get_columns() if column.dtype.is_numeric())
            zero = X.head(1).with_columns([column.clear(1).fill_null(0) for column in numbers])
        else:
            zero = np.zeros((1, np.shape(X)[1]))
        return np.asarray(Pipeline(steps).transform(zero), dtype=np.float64)[0]
    except (TypeError, ValueError):
        return None


def _seed(detector: Any, state: Any) -> None:
    """Give random detectors a seed of ours, so that `random_state` decides."""
    names = [name for name, value in detector.get_params().items() if name.endswith("random_state") and value is None]
    detector.set_params(**{name: int(state.randint(2**31 - 1)) for name in names})


def unique_names(steps: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return the steps with names that occur once."""
    found: dict[str, Any] = {}
    for given, step in steps:
        name = given
        while name in found:
            name += "_"
        found[name] = step
    return list(found.items())
