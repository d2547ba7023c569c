"""The preprocessing of tables that a model file and an ONNX graph can hold: numbers scaled, categories as 0 and 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import sklearn
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.fixes import parse_version

MISSING = "(missing)"  # the category of a cell with nothing in it

# Names of the steps, which the model file and the ONNX graph look for.
PREPROCESS, ESTIMATOR = "preprocess", "estimator"
NUMERIC, CATEGORICAL = "numeric", "categorical"


def default_pipeline(estimator: Any, numeric: Sequence[str], categorical: Sequence[str]) -> Pipeline:
    """Put `estimator` behind preprocessing of named columns: exactly what :func:`abstain.save` can write.

    Numeric columns: missing values become the column's median, with a further column that says where (only for columns
    with missing values in training), then all are scaled to mean 0 and variance 1. Categorical columns: missing values
    (None or NaN) become the category "(missing)", then each category becomes a column of 0 and 1; a category not seen
    in training is 0 everywhere. Other columns are left out.

    Parameters
    ----------
    estimator : classifier
        Not fitted; one of this library's if the pipeline is to be saved.
    numeric, categorical : sequence of str
        Names of columns, each once. Cells of categorical columns are text or missing.

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
    parts = [
        (NUMERIC, _numeric_part(), numeric),
        (CATEGORICAL, _categorical_part(), categorical),
    ]
    preprocess = ColumnTransformer([part for part in parts if part[2]], sparse_threshold=0.0)
    return Pipeline([(PREPROCESS, preprocess), (ESTIMATOR, estimator)])


def frame(columns: dict[str, Any]) -> Any:
    """A table of arrays of numbers and texts by pandas or polars, whichever is there."""
    try:
        import pandas as pd
    except ImportError:
        try:
            import polars as pl
        except ImportError as error:
            raise ImportError("a Pipeline of named columns needs pandas or polars; install one of them.") from error
        if not takes_polars():
            raise ImportError(
                f"scikit-learn {sklearn.__version__} does not take columns of polars 2 by name; install pandas, or "
                "scikit-learn 1.9 or later."
            ) from None
        texts = {name: pl.String for name, column in columns.items() if column.dtype == object}
        return pl.DataFrame({name: column.tolist() for name, column in columns.items()}, schema_overrides=texts)
    return pd.DataFrame(columns)


def takes_polars() -> bool:
    """Whether scikit-learn takes columns of a polars table by name: before 1.9 by a protocol that polars 2 has left."""
    import polars as pl

    return hasattr(pl.DataFrame, "__dataframe__") or parse_version(sklearn.__version__) >= parse_version("1.9.dev0")


def _numeric_part() -> Pipeline:
    impute = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return Pipeline([("impute", impute), ("scale", StandardScaler())])


def _categorical_part() -> Pipeline:
    # pandas writes a missing text as NaN, polars as None; scikit-learn's imputer looks for one of them at a time
    return Pipeline(
        [
            ("impute_nan", _constant(np.nan)),
            ("impute_none", _constant(None)),
            ("encode", OneHotEncoder(handle_unknown="ignore", sparse_output=False)),
        ]
    )


def _constant(missing: Any) -> SimpleImputer:
    return SimpleImputer(missing_values=missing, strategy="constant", fill_value=MISSING, keep_empty_features=True)


def _check_names(numeric: list[str], categorical: list[str]) -> None:
    names = [*numeric, *categorical]
    if not names:
        raise ValueError("numeric and categorical name no column; a model needs at least one.")
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise ValueError(f"numeric and categorical must hold names of columns, got {wrong[0]!r}.")
    if twice := sorted(name for name, count in Counter(names).items() if count > 1):
        raise ValueError(f"numeric and categorical name {twice[0]!r} more than once; name each column once.")
