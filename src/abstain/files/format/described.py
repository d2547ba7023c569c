"""What was asked of an estimator before it was fitted, and the columns that it reads."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from abstain.estimators.threshold.threshold import ThresholdRejector
from abstain.files.sklearn_codecs.calibrated_codec import CALIBRATED, inside
from abstain.files.sklearn_codecs.classifiers import parameters_of
from abstain.files.sklearn_codecs.pipeline_codec import asked, settings
from abstain.files.sklearn_codecs.steps_codec import Columns


def described(estimator: Any) -> list[Any]:
    """The type and the parameters of an estimator and of those inside it, to compare it with a fitted one."""
    if type(estimator) is Pipeline:
        (*before, (name, last)) = estimator.steps
        return [Pipeline, settings(estimator), [[one, asked(step)] for one, step in before], name, described(last)]
    within_it: list[Any] = []
    if type(estimator) is CALIBRATED.kind:
        within_it = described(inside(estimator))
    elif type(estimator) is ThresholdRejector:
        within_it = described(estimator.estimator)
    return [type(estimator), parameters_of(estimator), *within_it]


def columns_of(estimator: Any) -> Columns:
    """The columns that a fitted estimator reads: of a Pipeline, those of its first step that is not "passthrough"."""
    if type(estimator) is Pipeline:
        return columns_of(next(step for _, step in estimator.steps if step is not None and not isinstance(step, str)))
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and len({*names}) < len(names):
        raise ValueError("estimator was fitted to a data frame with two columns of the same name; rename one of them.")
    return Columns(int(estimator.n_features_in_), names)
