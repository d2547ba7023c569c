"""What was asked of an estimator before it was fitted, to compare it with the fitted one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from abstain.files.sklearn_codecs.parameters import APART, parameters_of
from abstain.files.sklearn_codecs.steps_codec import KEPT, codec_of


def asked(given: Any) -> Any:
    """Return the type and the parameters of an estimator and of all estimators inside it; any other value as it is."""
    if isinstance(given, list | tuple | np.ndarray):
        return [asked(one) for one in given]
    if not hasattr(given, "get_params"):
        return given if given is None or isinstance(given, str) else repr(given)
    kind: Any = type(given)
    if kind is FrozenEstimator:
        return asked(given.estimator)
    if hasattr(given, "transform") and kind not in (Pipeline, ColumnTransformer):
        codec_of(given)
    own = given.get_params(deep=False)
    inner = {name: asked(own[name]) for name in (*APART, "categories") if name in own}
    return [kind, parameters_of(given, KEPT.get(kind)), inner]
