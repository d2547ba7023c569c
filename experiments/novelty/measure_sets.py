"""The tables, their random splits, and the classifier."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from public_data import (
    load_covtype,
    load_german,
    load_heart,
    load_letter,
    load_liver,
    load_mitbih,
    load_pima,
    load_thyroid,
    load_wdbc,
)
from sklearn.datasets import load_diabetes, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import Costs, LinearRejectSVC, RejectSVC

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
Split = tuple[Array, Array, Codes, Codes]

COSTS = Costs(reject=0.2)  # an error costs 1
C = 10.0
TEST_SHARE = 0.25
RATES = (0.01, 0.05)
BEATS, DIGITS = 8000, 800  # drawn from all

LOADERS: dict[str, Callable[[], Any]] = {
    "WDBC": load_wdbc,
    "Pima": load_pima,
    "German": load_german,
    "heart": load_heart,
    "liver": load_liver,
    "thyroid": load_thyroid,
    "wine": lambda: _two(load_wine(), 1),
    "iris": lambda: _two(load_iris(), 2),
    "diabetes": lambda: _two(load_diabetes(scaled=False), 140.5),  # the median
    "digits": lambda: _drawn(_two(load_digits(), 5), DIGITS),
    "letter H v K": lambda: load_letter(pair="HK"),
    "covtype 4 v 6": load_covtype,
    "ECG beats": lambda: _drawn(load_mitbih(), BEATS),
}


def rate_of(name: str) -> float:
    """The rate at which damage is looked for: fewer than 198 training rows are too few for a rate of 0.01."""
    return RATES[1] if name in ("thyroid", "wine", "iris") else RATES[0]


@cache
def rows_of(name: str) -> tuple[Array, Codes]:
    """Rows and classes of a table."""
    bunch = LOADERS[name]()
    return np.asarray(bunch.data, dtype=np.float64), np.asarray(bunch.target, dtype=np.int64)


def split(name: str, seed: int) -> Split:
    """A random split, not stratified: all rows of a table are exchangeable, as the promise asks."""
    return tuple(train_test_split(*rows_of(name), test_size=TEST_SHARE, random_state=seed))  # type: ignore[return-value]


def classifier() -> Pipeline:
    """The machine with the Gaussian kernel, gamma = "scale"."""
    return make_pipeline(StandardScaler(), RejectSVC(COSTS, C=C))


def linear() -> Pipeline:
    """The linear machine, at its defaults."""
    return make_pipeline(StandardScaler(), LinearRejectSVC(COSTS))


def _drawn(bunch: Any, count: int) -> Any:
    rows = np.sort(np.random.default_rng(0).permutation(len(bunch.target))[:count])
    bunch.data, bunch.target = bunch.data[rows], bunch.target[rows]
    return bunch


def _two(bunch: Any, least: float) -> Any:
    """The table with the classes below `least` and from it on."""
    bunch.target = (bunch.target >= least).astype(np.int64)
    return bunch
