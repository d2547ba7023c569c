"""The fitted preprocessing of :func:`default_pipeline` as fields and arrays, and back.

Its state is a few public attributes. It is restored as any other Pipeline, from fields that follow from these.
"""

import math
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from abstain import preprocessing as tables
from abstain.costs.per_row import ERRORS, ONE_REJECT, TWO_REJECTS
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.manifest import MOST_ENCODED, PoolReader, PoolWriter
from abstain.files.format.schema import TEXTS, Arrays, Fields, Parts, fitting, layout, of_type, stored, whole
from abstain.files.sklearn_codecs.cells_codec import TEXT
from abstain.files.sklearn_codecs.pipeline_codec import pipeline_from
from abstain.files.sklearn_codecs.steps_codec import Columns, asked, identity

PARTS = (tables.NUMERIC, tables.CATEGORICAL)  # and the fields with the names of their columns
# n numeric columns, i of them with an indicator of missing values, m = n + i columns to scale
SCALER = {"mean": "mean", "var": "variance", "scale": "scale"}  # fields of a StandardScaler, and arrays here
TABLE = layout(statistics="f8|f4 n", indicators="i8 i", mean="f8|f4 m", variance="f8|f4 m", scale="f8|f4 m")

PLAN = {"dates": TEXTS, "day_first": of_type(bool, type(None)), "missing": TEXTS}


def is_default(pipeline: Pipeline) -> bool:
    """Return whether `default_pipeline` would make this Pipeline, and its columns have names."""
    preprocess = pipeline[0]
    if type(preprocess) is not ColumnTransformer:
        return False
    columns = {name: chosen for name, _, chosen in preprocess.transformers}
    fitted = [preprocess, *(part for _, part, _ in preprocess.transformers_)]
    if any(hasattr(part, "_sklearn_output_config") for part in fitted):
        return False
    if not {*map(type, columns.values())} <= {list, tables.ColumnNames}:
        return False
    try:
        fresh = tables.default_pipeline(pipeline[-1], *(columns.get(name, []) for name in PARTS))
        return bool(asked(pipeline) == asked(fresh))
    except ValueError:  # a step, a parameter or a name of a column that no file can contain
        return False


def table_parts(preprocess: ColumnTransformer) -> Parts:
    """Return the fields and arrays of the fitted preprocessing."""
    columns = {name: chosen for name, _, chosen in preprocess.transformers}
    state: dict[str, Any] = {"columns": preprocess.feature_names_in_.tolist()}
    state |= {name: [*columns.get(name, [])] for name in PARTS}
    arrays: Arrays = {}
    if tables.NUMERIC in columns:
        impute, scale = (step for _, step in preprocess.named_transformers_[tables.NUMERIC].steps)
        state["n_samples_seen"] = int(scale.n_samples_seen_)
        own = {"statistics": impute.statistics_, "indicators": impute.indicator_.features_}
        arrays = stored(own | {array: getattr(scale, f"{name}_") for name, array in SCALER.items()}, TABLE)
    if tables.CATEGORICAL in columns:
        categories = [one.tolist() for one in preprocess.named_transformers_[tables.CATEGORICAL]["encode"].categories_]
        if not all(isinstance(text, str) for column in categories for text in column):
            raise ValueError("categorical columns must contain text to be saved; convert them before fitting.")
        if len(categories) > MOST_ENCODED:
            raise ValueError(f"estimator encodes more than {MOST_ENCODED:,} columns, the most that a file can contain.")
        state["categories"] = categories
    if (plan := tables.plan_of(preprocess)) != tables.CellPlan():
        state["plan"] = {"dates": [*plan.dates], "day_first": plan.day_first, "missing": [*plan.missing]}
        state["plan"] |= {"costs": dict(plan.costs)} if plan.costs else {}
    return state, arrays


def table_from(state: Any, arrays: Arrays, estimator: Any) -> Pipeline:
    """Make the fitted Pipeline around a fitted estimator."""
    fields = Fields(state, "preprocessing")
    names, numeric, categorical = (fields.take(name, TEXTS) for name in ("columns", *PARTS))
    if len({*names}) != len(names) or not {*numeric, *categorical} <= {*names}:
        raise ModelFileError("its preprocessing uses columns that its table does not have.")
    seen = fields.take("n_samples_seen", whole(1)) if numeric else 0
    categories = fields.take("categories", list) if categorical else []
    plan = _plan(fields.take("plan", dict), numeric) if "plan" in fields else None
    fitting(arrays, TABLE if numeric else {}, "preprocessing", {"n": len(numeric)})
    pool, parts = PoolWriter(), []
    places = {name: at for at, name in enumerate(names)}
    fresh = tables.default_pipeline(estimator, numeric, categorical)[0]
    for name, part, chosen in fresh.transformers:
        columns = pool.put(np.array([places[column] for column in chosen], dtype=np.int64))
        own = _numeric(pool, arrays, seen) if name == tables.NUMERIC else _categorical(pool, categories)
        steps = [[step, identity(one) | state] for (step, one), state in zip(part.steps, own, strict=True)]
        parts.append([name, True, columns, identity(part) | {"steps": steps}])
    preprocess = identity(fresh) | {"parts": parts, "remainder": "drop", "sparse_output": False}
    written = {"parameters": {}, "steps": [[tables.PREPROCESS, preprocess]], "name": tables.ESTIMATOR}
    read = Columns(len(names), np.array(names, dtype=object))
    pipeline, made = pipeline_from(Fields(written, "preprocessing"), PoolReader(pool.arrays), read, estimator)
    made.check_match(estimator, named=False)
    if plan is not None:
        by_cell = plan.costs and plan.costs[0][0] != ERRORS[0]
        refuse(by_cell and len(plan.costs) % len(estimator.classes_), "its costs of rows are not one for each class.")
        pipeline[0].plan_ = plan
    return pipeline


def _numeric(pool: PoolWriter, arrays: Arrays, seen: int) -> list[dict[str, Any]]:
    """Return the fitted state of the steps for numbers, as in any Pipeline."""
    impute: dict[str, Any] = {"dtype": arrays["statistics"].dtype.newbyteorder("<").str}
    impute |= {name: pool.put(arrays[name]) for name in ("statistics", "indicators")}
    scale = {name: pool.put(arrays[array]) for name, array in SCALER.items()}
    return [impute, scale | {"n_samples_seen": pool.put(np.int64(seen))}]


def _categorical(pool: PoolWriter, categories: list[list[str]]) -> list[dict[str, Any]]:
    """Return the fitted state of the steps for categories, as in any Pipeline."""
    impute = {"dtype": TEXT, "dropped": pool.put(np.empty(0, np.int64))}
    return [impute, impute, {"categories": [[TEXT, column] for column in categories]}]


def _plan(given: Any, numeric: list[str]) -> tables.CellPlan:
    fields = Fields(given, "plan")
    dates, day_first, missing = fields.record(PLAN).values()
    if len({*dates}) != len(dates) or not {*dates} <= {*numeric}:
        raise ModelFileError("its dates are not numeric columns of its preprocessing.")
    costs = _costs(fields.take("costs", dict)) if "costs" in fields else ()
    return tables.CellPlan(tuple(dates), day_first, tuple(missing), costs)


def _costs(given: dict[str, Any]) -> tables.CostPlan:
    """The columns or numbers of the costs of each row, in their order: of two classes, or by class and action."""
    fields, of_two = Fields(given, "costs"), ERRORS[0] in given
    names = (*ERRORS, *(ONE_REJECT if "reject" in given else TWO_REJECTS)) if of_two else tuple(given)
    costs: tables.CostPlan = tuple((name, fields.take(name, str, float)) for name in names)
    least = math.nextafter(0.0, 1.0) if of_two else 0.0
    if not all(isinstance(source, str) or least <= source < math.inf for _, source in costs):
        raise ModelFileError("its costs of rows are not columns or positive numbers.")
    named = of_two or all(":" in name for name in names)
    refuse(not named, "its costs of rows are not named by class and action.")
    return costs
