"""The fitted preprocessing of :func:`default_pipeline` as fields and arrays, and back.

Its state is a few public attributes. To restore it, the installed scikit-learn fits the same preprocessing to two rows
that stand in for the training table, and these attributes are then set to the saved values. The fit also sets
scikit-learn's private attributes, whose names change between versions.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from abstain.files.arrays import Arrays
from abstain.files.errors import ModelFileError
from abstain.files.schema import Fields, Spec, fitting
from abstain.preprocessing import CATEGORICAL, ESTIMATOR, NUMERIC, PREPROCESS, default_pipeline, frame

# n numeric columns, i of them with an indicator of missing values, m = n + i columns to scale
FLOAT = ("<f8", "<f4")
ROUNDING = 1e-5  # of a square root in single precision
TABLE: dict[str, Spec] = {
    "statistics": (FLOAT, ("n",)),
    "indicators": (("<i8",), ("i",)),
    "mean": (FLOAT, ("m",)),
    "variance": (FLOAT, ("m",)),
    "scale": (FLOAT, ("m",)),
}


def is_default(pipeline: Pipeline) -> bool:
    """Whether `default_pipeline` would make this Pipeline, and its categories are text."""
    names = [name for name, _ in pipeline.steps]
    if names != [PREPROCESS, ESTIMATOR] or type(pipeline[0]) is not ColumnTransformer:
        return False
    columns = {name: list(chosen) for name, _, chosen in pipeline[0].transformers if isinstance(chosen, list)}
    named = all(isinstance(name, str) for chosen in columns.values() for name in chosen)
    if not columns or not named or not {*columns} <= {NUMERIC, CATEGORICAL}:
        return False
    fresh = default_pipeline(pipeline[-1], columns.get(NUMERIC, []), columns.get(CATEGORICAL, []))
    fitted = [pipeline[0], *(part for _, part, _ in pipeline[0].transformers_ if part != "drop")]
    return _settings(fresh) == _settings(pipeline) and not any(hasattr(part, "_sklearn_output_config") for part in fitted)


def _settings(pipeline: Pipeline) -> dict[str, str]:
    """All settings except the estimator's, as text, so that nan equals nan and 0 differs from False."""
    everything = pipeline.get_params(deep=True).items()
    return {name: _text(value) for name, value in everything if not name.startswith(ESTIMATOR)}


def _text(value: Any) -> str:
    if hasattr(value, "fit"):  # its settings are listed separately
        return type(value).__name__
    if isinstance(value, list) and all(isinstance(step, tuple) for step in value):
        return repr([name for name, *_ in value])
    return repr(value)


def table_parts(preprocess: ColumnTransformer) -> tuple[dict[str, Any], Arrays]:
    """Fields and arrays of the fitted preprocessing."""
    columns = {name: chosen for name, _, chosen in preprocess.transformers}
    state: dict[str, Any] = {
        "columns": preprocess.feature_names_in_.tolist(),
        "numeric": columns.get(NUMERIC, []),
        "categorical": columns.get(CATEGORICAL, []),
    }
    arrays: Arrays = {}
    if NUMERIC in columns:
        impute, scale = (step for _, step in preprocess.named_transformers_[NUMERIC].steps)
        state["n_samples_seen"] = int(scale.n_samples_seen_)
        arrays = {
            "statistics": impute.statistics_,
            "indicators": impute.indicator_.features_.astype("<i8"),
            "mean": scale.mean_,
            "variance": scale.var_,
            "scale": scale.scale_,
        }
    if CATEGORICAL in columns:
        categories = [one.tolist() for one in preprocess.named_transformers_[CATEGORICAL]["encode"].categories_]
        if not all(isinstance(text, str) for column in categories for text in column):
            raise ValueError("categorical columns must contain text to be saved; convert them before fitting.")
        state["categories"] = categories
    return state, arrays


def table_from(state: Any, arrays: Arrays, estimator: Any) -> Pipeline:
    """The fitted Pipeline around a fitted estimator."""
    fields = Fields(state, "preprocessing")
    names, numeric, categorical = (fields.texts(name) for name in ("columns", "numeric", "categorical"))
    if len({*names}) != len(names) or not {*numeric, *categorical} <= {*names}:
        raise ModelFileError("its preprocessing uses columns that its table does not have.")
    seen = fields.whole("n_samples_seen", least=1) if numeric else 0
    categories = _categories(fields.take("categories", list), len(categorical)) if categorical else []
    fields.end()
    numbers = _check_arrays(arrays, len(numeric)) if numeric else fitting(arrays, {}, "preprocessing", {}) or {"m": 0}
    width = numbers["m"] + sum(len(column) for column in categories)
    if estimator.n_features_in_ != width or hasattr(estimator, "feature_names_in_"):
        raise ModelFileError(f"its preprocessing makes {width} features, which do not match those of its machine.")
    pipeline = default_pipeline(estimator, numeric, categorical)
    preprocess = pipeline[0]
    if categorical:
        given = [np.array(column, dtype=object) for column in categories]
        preprocess.set_params(categorical__encode__categories=given)
    preprocess.fit(_stand_in(names, arrays, numeric, categorical))
    if categorical:
        preprocess.set_params(categorical__encode__categories="auto")
        preprocess.named_transformers_[CATEGORICAL].set_params(encode__categories="auto")
    if numeric:
        impute, scale = (step for _, step in preprocess.named_transformers_[NUMERIC].steps)
        impute.statistics_ = arrays["statistics"]
        scale.mean_, scale.var_, scale.scale_ = arrays["mean"], arrays["variance"], arrays["scale"]
        scale.n_samples_seen_ = np.int64(seen)
    return pipeline


def _check_arrays(arrays: Arrays, n: int) -> dict[str, int]:
    numbers = fitting(arrays, TABLE, "preprocessing", {"n": n})
    indicators = arrays["indicators"]
    rising = len(indicators) == 0 or (indicators[0] >= 0 and indicators[-1] < n and (np.diff(indicators) > 0).all())
    if not rising or numbers["m"] != n + numbers["i"]:
        raise ModelFileError("its indicators of missing values do not match its numeric columns.")
    scale, variance = arrays["scale"], arrays["variance"]
    if (variance < 0).any() or (scale <= 0).any():
        raise ModelFileError("its preprocessing divides by a scale that is not positive, or has a negative variance.")
    if not (np.isclose(scale, np.sqrt(variance), rtol=ROUNDING, atol=0.0) | (scale == 1)).all():  # 1 for constants
        raise ModelFileError("its preprocessing divides by a scale that is not the root of the variance.")
    return numbers


def _categories(given: list[Any], count: int) -> list[list[str]]:
    if len(given) != count:
        raise ModelFileError("it does not have one list of categories per categorical column.")
    for column in given:
        texts = isinstance(column, list) and column and all(isinstance(text, str) for text in column)
        if not texts or any(first >= second for first, second in pairwise(column)):
            raise ModelFileError("the categories of a column are not strings in increasing order.")
    return given


def _stand_in(names: list[str], arrays: Arrays, numeric: list[str], categorical: list[str]) -> Any:
    """Two rows with the columns of the training table, and missing values in the same columns."""
    columns: dict[str, Any] = {name: np.zeros(2) for name in names}
    missing = {*arrays["indicators"].tolist()} if numeric else set()
    for at, name in enumerate(numeric):
        columns[name] = np.array([np.nan if at in missing else 0.0, 0.0], dtype=arrays["statistics"].dtype)
    columns |= {name: np.array(["", ""], dtype=object) for name in categorical}
    return frame(columns)
