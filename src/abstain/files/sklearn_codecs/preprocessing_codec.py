"""The fitted preprocessing of :func:`default_pipeline` as fields and arrays, and back.

Its state is a few public attributes. It is restored as any other Pipeline, from fields that follow from these.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from abstain.costs.row_costs import ERRORS, ONE_REJECT, TWO_REJECTS
from abstain.files.format.arrays import Arrays
from abstain.files.format.errors import ModelFileError
from abstain.files.format.pool import MOST_ENCODED, PoolReader, PoolWriter
from abstain.files.format.schema import Fields, Spec, fitting
from abstain.files.sklearn_codecs.encoder_codec import TEXT
from abstain.files.sklearn_codecs.pipeline_codec import steps_from
from abstain.files.sklearn_codecs.steps_codec import Columns
from abstain.preprocessing import (
    CATEGORICAL,
    ESTIMATOR,
    MISSING,
    NUMERIC,
    PREPROCESS,
    CellPlan,
    CostPlan,
    default_pipeline,
    plan_of,
)

# n numeric columns, i of them with an indicator of missing values, m = n + i columns to scale
FLOAT = ("<f8", "<f4")
ROUNDING = 1e-5  # of a square root in single precision
SCALER = {"mean": "mean", "var": "variance", "scale": "scale"}  # fields of a StandardScaler, and arrays here
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
    plain = not any(hasattr(part, "_sklearn_output_config") for part in fitted)
    return plain and _settings(fresh) == _settings(pipeline)


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
        if len(categories) > MOST_ENCODED:
            raise ValueError(f"estimator encodes more than {MOST_ENCODED:,} columns, the most that a file can contain.")
        state["categories"] = categories
    if (plan := plan_of(preprocess)) != CellPlan():
        state["plan"] = {"dates": [*plan.dates], "day_first": plan.day_first, "missing": [*plan.missing]}
        if plan.costs:
            state["plan"]["costs"] = dict(plan.costs)
    return state, arrays


def table_from(state: Any, arrays: Arrays, estimator: Any) -> Pipeline:
    """The fitted Pipeline around a fitted estimator."""
    fields = Fields(state, "preprocessing")
    names, numeric, categorical = (fields.texts(name) for name in ("columns", "numeric", "categorical"))
    if len({*names}) != len(names) or not {*numeric, *categorical} <= {*names}:
        raise ModelFileError("its preprocessing uses columns that its table does not have.")
    seen = fields.whole("n_samples_seen", least=1) if numeric else 0
    categories = _categories(fields.take("categories", list), len(categorical)) if categorical else []
    plan = _plan(fields.take("plan", dict), numeric) if "plan" in fields else None
    fields.end()
    numbers = _check_arrays(arrays, len(numeric)) if numeric else fitting(arrays, {}, "preprocessing", {}) or {"m": 0}
    width = numbers["m"] + sum(len(column) for column in categories)
    if estimator.n_features_in_ != width or hasattr(estimator, "feature_names_in_"):
        raise ModelFileError(f"its preprocessing makes {width} features, which do not match those of its machine.")
    pool = PoolWriter()
    parts = []
    places = {name: at for at, name in enumerate(names)}
    for part, chosen in ((NUMERIC, numeric), (CATEGORICAL, categorical)):
        if chosen:
            columns = pool.put(np.array([places[name] for name in chosen], dtype=np.int64))
            steps = _numeric(pool, arrays, seen) if part == NUMERIC else _categorical(pool, categories)
            parts.append([part, True, columns, {"kind": "Pipeline", "parameters": {}, "steps": steps}])
    preprocess: dict[str, Any] = {"kind": "ColumnTransformer", "parameters": {"sparse_threshold": 0.0}, "parts": parts}
    preprocess |= {"remainder": "drop", "sparse_output": False}
    read = Columns(len(names), np.array(names, dtype=object))
    steps, _ = steps_from([[PREPROCESS, preprocess]], PoolReader(pool.arrays), read)
    if plan is not None:
        steps[0][1].plan_ = plan
    return Pipeline([*steps, (ESTIMATOR, estimator)])


def _numeric(pool: PoolWriter, arrays: Arrays, seen: int) -> list[Any]:
    """The fields of the steps for numbers, as for any Pipeline."""
    impute = {
        "kind": "SimpleImputer",
        "parameters": {"add_indicator": True, "keep_empty_features": True, "strategy": "median"},
        "dtype": arrays["statistics"].dtype.newbyteorder("<").str,
        "statistics": pool.put(arrays["statistics"]),
        "indicators": pool.put(arrays["indicators"]),
    }
    scale = {"kind": "StandardScaler", "parameters": {}}
    scale |= {name: pool.put(arrays[array]) for name, array in SCALER.items()}
    return [["impute", impute], ["scale", scale | {"n_samples_seen": pool.put(np.int64(seen))}]]


def _categorical(pool: PoolWriter, categories: list[list[str]]) -> list[Any]:
    """The fields of the steps for categories, as for any Pipeline."""
    constant = {"fill_value": MISSING, "keep_empty_features": True, "strategy": "constant"}
    steps: list[Any] = []
    for name, more in (("impute_nan", {}), ("impute_none", {"missing_values": None})):
        state = {"kind": "SimpleImputer", "parameters": constant | more, "dtype": TEXT}
        steps.append([name, state | {"dropped": pool.put(np.empty(0, np.int64))}])
    chosen = {"handle_unknown": "ignore", "sparse_output": False}
    encode = {"kind": "OneHotEncoder", "parameters": chosen, "categories": [[TEXT, column] for column in categories]}
    return [*steps, ["encode", encode]]


def _plan(given: Any, numeric: list[str]) -> CellPlan:
    fields = Fields(given, "plan")
    dates, missing = tuple(fields.texts("dates")), tuple(fields.texts("missing"))
    costs = _costs(Fields(fields.take("costs", dict), "costs")) if "costs" in fields else ()
    plan = CellPlan(dates, fields.take("day_first", bool, type(None)), missing, costs)
    fields.end()
    if len({*dates}) != len(dates) or not {*dates} <= {*numeric}:
        raise ModelFileError("its dates are not numeric columns of its preprocessing.")
    return plan


def _costs(fields: Fields) -> CostPlan:
    """The columns or numbers of the costs of each row, in their order."""
    rejects = ONE_REJECT if "reject" in fields else TWO_REJECTS
    costs: CostPlan = tuple((name, fields.take(name, str, float)) for name in (*ERRORS, *rejects))
    fields.end()
    if not all(isinstance(source, str) or 0.0 < source < math.inf for _, source in costs):
        raise ModelFileError("its costs of rows are not columns or positive numbers.")
    return costs


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

