"""Sets of classes by four ways of calibration and by MAPIE, on random orders of the rows of each data set.

A random order makes the rows exchangeable, whatever they are, so that promises must hold on average over the orders.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from harness import Task
from numpy.typing import NDArray
from public_data import load_german, load_letter, load_pima, load_wdbc
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from abstain import RejectSVC, ThresholdRejector
from abstain.estimators.fitting.splitting import held_out_rows
from abstain.machines.cross_machine import ClassCalibration
from abstain.machines.response_machine import ResponseMachine

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

RATES = {
    "WDBC": {"benign": 0.05, "malignant": 0.03},
    "Pima": {"no diabetes": 0.1, "diabetes": 0.05},
    "German credit": {"good": 0.1, "bad": 0.05},
    "Letter": {"B": 0.05, "D": 0.05, "O": 0.1, "R": 0.1},
}
LOADERS = {"WDBC": load_wdbc, "Pima": load_pima, "German credit": load_german}
LETTER_ROWS = 1200
TEST_SHARE, FOLDS = 0.25, 5
RESAMPLES, BLOCK = 500, 25
# of products of the features, and the training rows at which least squares has about as many of them
PRODUCTS = {"WDBC": (2, 420), "Pima": (3, 150), "German credit": (2, 250)}
LOGISTIC, SVM, LEAST_SQUARES = "logistic regression", "RejectSVC", "least squares"
SPLIT, CROSS, REFITTED, BY_CLASS, MARGINAL = "split", "cross", "refitted", "MAPIE, by class", "MAPIE, all rows"


def data_of(name: str) -> tuple[Array, Codes]:
    """The rows, and their classes as places in `RATES`."""
    if name != "Letter":
        bunch = LOADERS[name]()
        assert list(bunch.target_names) == list(RATES[name])  # noqa: S101 (the order of the codes)
        return bunch.data, bunch.target
    bunch = load_letter()
    letters = np.asarray(bunch.target_names)[bunch.target] if bunch.target.dtype.kind in "iu" else bunch.target
    code = np.searchsorted([*RATES[name]], letters)
    kept = np.isin(letters, [*RATES[name]])
    return bunch.data[kept], code[kept]


def machines_of(name: str) -> dict[str, tuple[Any, int | None]]:
    """The classifiers, and the number of training rows if not all of them."""
    found: dict[str, tuple[Any, int | None]] = {
        LOGISTIC: (make_pipeline(StandardScaler(), LogisticRegression()), None),
        SVM: (make_pipeline(StandardScaler(), RejectSVC()), None),
    }
    if name in PRODUCTS:
        degree, rows = PRODUCTS[name]
        steps = (StandardScaler(), PolynomialFeatures(degree), StandardScaler(), RidgeClassifier(1e-6))
        found[LEAST_SQUARES] = (make_pipeline(*steps), rows)
    return found


def resample(name: str, seed: int) -> dict[str, list[Any]]:
    """All machines and ways on one random order: for each the measures of `judged`."""
    X, y = data_of(name)
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[:LETTER_ROWS] if name == "Letter" else order
    n_test = int(TEST_SHARE * len(order))
    test, rest = order[:n_test], order[n_test:]
    found = {}
    for machine, (model, n_rows) in machines_of(name).items():
        train = rest[:n_rows]
        for way, sets in _sets(model, (X[train], y[train]), X[test], [*RATES[name].values()], seed).items():
            found[f"{machine}/{way}"] = judged(sets, y[test])
    return found


def _sets(model: Any, rows: tuple[Array, Codes], new: Array, rates: list[float], seed: int) -> dict[str, Any]:
    """The set of classes of each new row, by each way that the classifier allows."""
    X, y = rows
    named = dict(enumerate(rates))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    split = ThresholdRejector(clone(model), class_error=named, random_state=seed).fit(X, y)
    cross = ThresholdRejector(clone(model), class_error=named, conformal="cross", cv=folds).fit(X, y)
    found = {SPLIT: split.predict_set(new), CROSS: cross.predict_set(new)}
    held = cross.machine_.calibration  # the scores of rows left out of folds, now with a classifier fitted on all rows
    pooled = tuple(np.sort(np.concatenate(own)) for own in zip(*held.own, strict=True))
    score = ResponseMachine.of(clone(model).fit(X, y)).score(new)
    found[REFITTED] = ClassCalibration((pooled,)).p_values([score]) > rates
    if isinstance(model[-1], LogisticRegression):
        found |= _mapie(split, X, y, new, rates)
    return found


def _mapie(split: Any, X: Array, y: Codes, new: Array, rates: list[float]) -> dict[str, Any]:
    """MAPIE's sets by the same classifier and calibration rows: a promise for each class, and one for all rows."""
    from mapie.classification import SplitConformalClassifier

    model = split.estimator_
    held = held_out_rows(y + 1, [*split.certificate_.n_rows.values()], None, split.random_state)  # as in its fit
    X, y = X[held], y[held]

    def sets(rate: float, rows: Any) -> Any:
        made = SplitConformalClassifier(model, confidence_level=1 - rate, prefit=True)
        return made.conformalize(X[rows], y[rows]).predict_set(new)[1][:, :, 0]

    shares = np.bincount(y) / len(y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_class = np.stack([sets(rate, y == k)[:, k] for k, rate in enumerate(rates)], axis=1)
        return {BY_CLASS: by_class, MARGINAL: sets(float(shares @ rates), y >= 0)}


def judged(sets: Any, y: Codes) -> list[Any]:
    """Of each class the share missing from its set, the share answered wrongly, and whether the first row misses it.

    And the share of all rows that are answered.
    """
    one, answer = sets.sum(axis=1) == 1, sets.argmax(axis=1)
    missed, wrong = ~sets[np.arange(len(y)), y], one & (answer != y)
    by_class = [y == k for k in range(sets.shape[1])]
    return [
        [float(missed[own].mean()) for own in by_class],
        [float(wrong[own].mean()) for own in by_class],
        [bool(missed[own][0]) for own in by_class],
        float(one.mean()),
    ]


def block(name: str, start: int, count: int) -> list[dict[str, list[Any]]]:
    """Several random orders of one data set."""
    return [resample(name, seed) for seed in range(start, start + count)]


def tasks(fast: bool) -> list[Task]:
    """Blocks of random orders of each data set."""
    size, total = (2, 2) if fast else (BLOCK, RESAMPLES)
    starts = range(0, total, size)
    return [
        Task(f"{name}/{start}", block, {"name": name, "start": start, "count": size})
        for name in RATES
        for start in starts
    ]
