"""Preprocessing of tables that model files and ONNX graphs can store: scaled numbers, one-hot encoded categories."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.fixes import parse_version

MISSING = "(missing)"  # the category of an empty cell

# Names of the steps, which the model file and the ONNX export rely on.
PREPROCESS, ESTIMATOR = "preprocess", "estimator"
NUMERIC, CATEGORICAL = "numeric", "categorical"
NUMBER, TEXT, NAN_TEXT = "number", "text", "text or NaN"  # what a column holds; in the last, a missing cell must be NaN

CostPlan = tuple[tuple[str, str | float], ...]


@dataclass(frozen=True)
class CellPlan:
    """How the command line turns cells into the numbers and texts of a pipeline; a fitted one has it as `plan_`.

    Attributes
    ----------
    dates : tuple of str
        Numeric columns that contain dates, as days since 1970-01-01.
    day_first : bool or None
        Whether 01/02/2024 is in February; None if no such date occurred in training.
    missing : tuple of str
        Texts and numbers that stand for a missing value, in all columns.
    costs : tuple of (str, str or float)
        The costs of each row by name, as a column or as one number for all rows; empty if rows have no costs.
    """

    dates: tuple[str, ...] = ()
    day_first: bool | None = None
    missing: tuple[str, ...] = ()
    costs: CostPlan = ()


class ColumnNames(list[str]):
    """Names of columns that scikit-learn finds by calling this: its own search takes the square of their number."""

    def __call__(self, X: Any) -> list[Any]:
        """Return the positions of the columns; the names if some are missing, which scikit-learn then reports."""
        places = {name: at for at, name in enumerate(getattr(X, "columns", ()))}
        return [places[name] for name in self] if places.keys() >= {*self} else [*self]


def plan_of(preprocess: Any) -> CellPlan:
    """Return the plan of a fitted preprocessing; the default one if it was not fitted by the command line."""
    plan = getattr(preprocess, "plan_", None)
    return plan if isinstance(plan, CellPlan) else CellPlan()


def default_pipeline(estimator: Any, numeric: Sequence[str], categorical: Sequence[str]) -> Pipeline:
    """Return a Pipeline of preprocessing for named columns and `estimator`, which :func:`abstain.save` can write.

    Numeric columns: missing values are replaced by the column's median and flagged in an extra column (only for columns
    with missing values in training); then all are scaled to mean 0 and variance 1. Categorical columns: missing values
    (None or NaN) become the category "(missing)"; then each category becomes a column of 0 and 1, and a category not
    seen in training is 0 in all of them. Other columns are dropped.

    Parameters
    ----------
    estimator : classifier
        Not fitted; must come from this library if the pipeline is to be saved.
    numeric, categorical : sequence of str
        Column names, each once. Cells of categorical columns are text or missing.

    Returns
    -------
    Pipeline
        Steps "preprocess" (a ColumnTransformer with parts "numeric" and "categorical") and "estimator".

    Examples
    --------
    >>> import pandas as pd
    >>> from abstain import RejectSVC
    >>> from abstain.preprocessing import default_pipeline
    >>> rows = pd.DataFrame({"age": [20, 30, None, 50], "city": ["Bonn", "Ulm", None, "Ulm"]})
    >>> model = default_pipeline(RejectSVC(), ["age"], ["city"]).fit(rows, [0, 0, 1, 1])
    >>> model[:-1].get_feature_names_out().tolist()[:3]
    ['numeric__age', 'numeric__missingindicator_age', 'categorical__city_(missing)']
    """
    numeric, categorical = list(numeric), list(categorical)
    _check_names(numeric, categorical)
    impute = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    numbers = Pipeline([("impute", impute), ("scale", StandardScaler())])
    # pandas stores a missing text as NaN, polars as None; scikit-learn's imputer handles only one of them
    encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    texts = Pipeline([("impute_nan", _constant(np.nan)), ("impute_none", _constant(None)), ("encode", encode)])
    parts = [(NUMERIC, numbers, ColumnNames(numeric)), (CATEGORICAL, texts, ColumnNames(categorical))]
    preprocess = ColumnTransformer([part for part in parts if part[2]], sparse_threshold=0.0)
    return Pipeline([(PREPROCESS, preprocess), (ESTIMATOR, estimator)])


def scales_one_hot(model: Any) -> bool:
    """Return whether a Pipeline, however deep, standardises columns of a OneHotEncoder: rare ones then weigh most."""
    steps = [step for _, step, *_ in getattr(model, "steps", getattr(model, "transformers", ()))]
    if any(map(scales_one_hot, steps)):
        return True
    if not isinstance(model, Pipeline):
        inner = getattr(model, "estimator", None)
        return inner is not None and scales_one_hot(inner)
    encodes = [_encodes(step) for step in steps]
    return any(isinstance(step, StandardScaler) and any(encodes[:at]) for at, step in enumerate(steps))


def _encodes(step: Any) -> bool:
    inner = [one for _, one, *_ in getattr(step, "steps", getattr(step, "transformers", ()))]
    return isinstance(step, OneHotEncoder) or any(map(_encodes, inner))


def columns_read(step: Any, names: Sequence[str]) -> dict[str, str]:
    """Return NUMBER, TEXT or NAN_TEXT for each column that a fitted step reads.

    Parameters
    ----------
    step : transformer, ColumnTransformer or Pipeline
        Fitted.
    names : sequence of str
        The names of its columns.
    """
    if isinstance(step, ColumnTransformer):
        places = step._transformer_to_input_indices  # noqa: SLF001 (no public name gives the columns by place)
        parts = [(part, places[name]) for name, part, _ in step.transformers_]
        found = [columns_read(part, [names[at] for at in chosen]) for part, chosen in parts if part != "drop"]
        return {name: kind for part in found for name, kind in part.items()}
    steps = [one for _, one in step.steps if one not in (None, "passthrough")] if isinstance(step, Pipeline) else [step]
    if steps and isinstance(steps[0], Pipeline | ColumnTransformer):
        return columns_read(steps[0], names)
    first = steps[0] if steps else None
    if isinstance(first, SimpleImputer):
        texts = [isinstance(filled, str) for filled in first.statistics_.tolist()]
        imputed = [one.missing_values for one in steps if isinstance(one, SimpleImputer)]
        takes_none = [any(missing is None for missing in imputed)] * len(texts)
    else:
        known = getattr(first, "categories_", [])
        texts = [values.dtype.kind in "OU" for values in known] or [False] * len(names)
        takes_none = [None in values.tolist() for values in known] or texts
    kinds = zip(names, texts, takes_none, strict=True)
    return {name: NUMBER if not text else TEXT if plain else NAN_TEXT for name, text, plain in kinds}


def frame(columns: dict[str, Any]) -> Any:
    """Return a pandas or polars table of arrays of numbers and texts, whichever library is installed."""
    try:
        import pandas as pd
    except ImportError:
        try:
            import polars as pl
        except ImportError as error:
            raise ImportError("a Pipeline of named columns needs pandas or polars; install one of them.") from error
        if not takes_polars():
            raise ImportError(
                f"scikit-learn {sklearn.__version__} cannot select columns of polars 2 by name; install pandas, or "
                "scikit-learn 1.9 or later."
            ) from None
        texts = {name: pl.String for name, column in columns.items() if column.dtype == object}
        return pl.DataFrame({name: column.tolist() for name, column in columns.items()}, schema_overrides=texts)
    # with their dtypes: pandas would infer texts from objects, and turn None into NaN
    return pd.DataFrame({name: pd.Series(column, dtype=column.dtype) for name, column in columns.items()})


def takes_polars() -> bool:
    """Whether scikit-learn can select polars columns by name; before 1.9 it needs a protocol that polars 2 dropped."""
    import polars as pl

    return hasattr(pl.DataFrame, "__dataframe__") or parse_version(sklearn.__version__) >= parse_version("1.9.dev0")


def _constant(missing: Any) -> SimpleImputer:
    return SimpleImputer(missing_values=missing, strategy="constant", fill_value=MISSING, keep_empty_features=True)


def _check_names(numeric: list[str], categorical: list[str]) -> None:
    names = [*numeric, *categorical]
    if not names:
        raise ValueError("numeric and categorical are both empty; a model needs at least one column.")
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise ValueError(f"numeric and categorical must contain column names, got {wrong[0]!r}.")
    if twice := sorted(name for name, count in Counter(names).items() if count > 1):
        raise ValueError(f"numeric and categorical list {twice[0]!r} more than once; list each column once.")
