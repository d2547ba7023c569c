"""Pipelines of scikit-learn's transformers around a rejecting machine, and the rows that they are fitted to."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from abstain import Costs, RejectSVC

COSTS = Costs(1, 1, 0.45)
NUMBERS, TEXTS = ["age", "dose", "count"], ["city", "ward"]


@cache
def frame():
    """Numbers with and without missing ones, a constant column, counts, and two columns of text, one with gaps."""
    rng = np.random.default_rng(3)
    n = 90
    columns = {
        "age": 40 + 9 * rng.standard_normal(n),
        "dose": rng.exponential(size=n),
        "same": np.full(n, 3.0),
        "count": rng.integers(0, 4, n),
        "city": rng.choice(np.array(["Ulm", "Bonn", "Köln"], dtype=object), n),
        "ward": rng.choice(np.array(["a", "b", np.nan], dtype=object), n),
        "gaps": np.where(rng.uniform(size=n) < 0.2, np.nan, rng.standard_normal(n)),
    }
    y = np.where(columns["age"] / 9 - 4.4 + (columns["city"] == "Ulm") + rng.standard_normal(n) > 0.4, "yes", "no")
    return pd.DataFrame(columns), y


def _matrix():
    return frame()[0][["age", "dose", "same", "count"]].to_numpy(dtype=np.float64)


ROWS = {
    "matrix": _matrix,
    "single": lambda: _matrix().astype(np.float32),
    "gaps": lambda: frame()[0][["age", "gaps"]].to_numpy(dtype=np.float64),
    "sparse": lambda: sparse.csr_array(_matrix()),
    "numbers": lambda: frame()[0][["age", "dose"]],
    "counts": lambda: frame()[0][["count", "same"]].to_numpy(dtype=np.int64),
    "texts": lambda: frame()[0][["city"]].to_numpy(dtype=object),
    "wide texts": lambda: frame()[0][["city"]].to_numpy(dtype="U9"),
    "ward": lambda: frame()[0][["ward"]],
    "frame": lambda: frame()[0],
}


def mixed(**settings):
    """A ColumnTransformer of Pipelines and encoders over named columns."""
    impute = make_pipeline(SimpleImputer(add_indicator=True, strategy="median"), StandardScaler())
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(drop="if_binary"))
    parts = [
        ("numbers", impute, ["gaps", "age"]),
        ("city", OneHotEncoder(handle_unknown="ignore"), ["city", "count"]),
        ("ward", words, ["ward"]),
        ("left", "drop", ["same"]),
    ]
    return ColumnTransformer(parts, **{"remainder": RobustScaler()} | settings)


LOWER_CITIES = OrdinalEncoder(categories=[["Ulm", "Bonn", "Köln"]])
BY_TYPE = [
    ("n", SimpleImputer(), make_column_selector(dtype_include=float)),
    ("c", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["city"]),
]
BY_NUMBER = [
    ("a", MinMaxScaler(), [0, -1]),
    ("b", "passthrough", slice(1, 2)),
    ("c", StandardScaler(), [False] * 2 + [True] * 2),
]

# name: the steps before the machine, the rows, and whether they have a graph
CASES = {
    "StandardScaler": (StandardScaler(), "matrix", True),
    "StandardScaler of float32": (StandardScaler(), "single", True),
    "StandardScaler without std": (StandardScaler(with_std=False), "matrix", True),
    "StandardScaler of sparse rows": (StandardScaler(with_mean=False), "sparse", True),
    "StandardScaler with gaps": (make_pipeline(StandardScaler(), SimpleImputer()), "gaps", True),
    "MinMaxScaler": (MinMaxScaler((-1, 2), clip=True), "matrix", True),
    "MaxAbsScaler": (MaxAbsScaler(), "matrix", True),
    "RobustScaler": (RobustScaler(quantile_range=(10, 90)), "matrix", True),
    "RobustScaler without centre": (RobustScaler(with_centering=False), "matrix", True),
    "Normalizer": (Normalizer("l2"), "matrix", True),
    "Normalizer l1": (Normalizer("l1"), "matrix", True),
    "Normalizer max": (Normalizer("max"), "matrix", True),
    "PowerTransformer": (PowerTransformer(), "numbers", False),
    "PowerTransformer box-cox": (PowerTransformer("box-cox", standardize=False), "numbers", False),
    "QuantileTransformer": (QuantileTransformer(n_quantiles=10, output_distribution="normal"), "numbers", False),
    "SimpleImputer": (SimpleImputer(add_indicator=True), "gaps", True),
    "SimpleImputer constant": (SimpleImputer(strategy="constant", fill_value=-1.5), "gaps", True),
    "SimpleImputer of a number": (SimpleImputer(missing_values=0), "matrix", True),
    "SimpleImputer of integers": (SimpleImputer(strategy="most_frequent"), "counts", True),
    "OneHotEncoder of numbers": (OneHotEncoder(handle_unknown="ignore", dtype=np.float32), "counts", True),
    "OneHotEncoder of text": (OneHotEncoder(drop="first"), "texts", True),
    "OneHotEncoder of wide text": (OneHotEncoder(), "wide texts", True),
    "OneHotEncoder of missing text": (OneHotEncoder(), "ward", True),
    "OrdinalEncoder": (LOWER_CITIES, "texts", True),
    "OrdinalEncoder of numbers": (OrdinalEncoder(), "counts", True),
    "names of a frame": (StandardScaler(), "numbers", True),
    "passthrough": (Pipeline([("a", "passthrough"), ("b", MaxAbsScaler()), ("c", None)]), "numbers", True),
    "only passthrough": ("passthrough", "numbers", True),
    "mixed": (mixed(), "frame", True),
    "mixed, sparse": (mixed(sparse_threshold=1.0), "frame", True),
    "mixed, twice": (Pipeline([("columns", mixed()), ("again", MaxAbsScaler())]), "frame", True),
    "columns by type": (ColumnTransformer(BY_TYPE), "frame", True),
    "columns by number": (ColumnTransformer(BY_NUMBER), "matrix", True),
    "columns passed through": (ColumnTransformer(BY_NUMBER[:1], remainder="passthrough"), "numbers", True),
    "columns in columns": (
        ColumnTransformer([("x", ColumnTransformer(BY_NUMBER[:1], remainder="passthrough"), ["dose", "age"])]),
        "numbers",
        True,
    ),
}


@cache
def fitted(name):
    """The fitted Pipeline of a case, and its rows."""
    steps, rows, _ = CASES[name]
    X, y = ROWS[rows](), frame()[1]
    steps = clone(steps) if hasattr(steps, "fit") else steps
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Pipeline([("before", steps), ("machine", RejectSVC(COSTS))]).fit(X, y), X
