"""What was asked of an estimator before it was fitted, to compare it with the fitted one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from abstain.estimators.threshold.threshold import ThresholdRejector
from abstain.files.sklearn_codecs.parameters import parameters_of
from abstain.files.sklearn_codecs.steps_codec import KEPT, codec_of


def asked(estimator: Any) -> Any:
    """Return the type and the parameters of an estimator and of all estimators inside it."""
    if estimator is None or isinstance(estimator, str):
        return estimator
    kind: Any = type(estimator)
    inner: Any = None
    if kind is FrozenEstimator:
        return asked(estimator.estimator)
    if kind is Pipeline:
        inner = [[name, asked(step)] for name, step in estimator.steps]
    elif kind is ColumnTransformer:
        inner = [[name, asked(step), repr(chosen)] for name, step, chosen in estimator.transformers]
        inner.append(asked(estimator.remainder))
    elif kind in (CalibratedClassifierCV, ThresholdRejector):
        inner = asked(estimator.estimator)
    elif hasattr(estimator, "transform"):
        codec_of(estimator)
        chosen = getattr(estimator, "categories", None)
        inner = None if isinstance(chosen, str | None) else repr([np.asarray(one).tolist() for one in chosen])
    return [kind, parameters_of(estimator, KEPT.get(kind)), inner]
