"""The data sets of more than two classes, their splits and their costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from public_data import load_cells, load_covtype, load_letter, load_thyroid
from public_data.cells import TYPES
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from abstain.costs.costs import Costs

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

PRICES = (0.05, 0.1, 0.2, 0.3)
TABLE = "table"
FOLDS = 5
GENES = 200  # those of largest variance in the training rows
BLOCK_ROWS = 20_000  # of a large set, drawn once and cut into disjoint blocks


@dataclass(frozen=True)
class DataSet:
    """A set and how it is split: disjoint blocks of a large one, random splits of a small one.

    `table` has the cost of each answer (columns) for each true class (rows), and the cost of a reject, if the set has
    costs of its own beside one price for all errors.
    """

    title: str
    load: Callable[[], tuple[Any, Any]]
    splits: int
    test_share: float
    blocks: bool = False
    table: tuple[Any, float] | None = None

    @property
    def shared(self) -> float:
        """The test share for the correction of intervals; 0 if no two splits share a row."""
        return 0.0 if self.blocks else self.test_share


def _lineages() -> tuple[Any, float]:
    """Confusing two kinds of T cell costs 1, confusing lineages 3."""
    t = np.array([name.startswith(("CD4", "CD8")) for name in TYPES])
    errors = np.where(t[:, np.newaxis] & t, 1.0, 3.0)
    np.fill_diagonal(errors, 0.0)
    return errors, 0.3


# normal, hyper, hypo: a disorder called normal costs 5, one called the other 2, a false alarm 1
DISORDERS = ([[0.0, 1.0, 1.0], [5.0, 0.0, 2.0], [5.0, 2.0, 0.0]], 0.4)


SETS = {
    "letter": DataSet("Letter", lambda: load_letter(return_X_y=True), 8, 0.2, blocks=True),
    "covtype": DataSet("Covertype", lambda: load_covtype(classes=None, return_X_y=True), 8, 0.2, blocks=True),
    "digits": DataSet("digits", lambda: load_digits(return_X_y=True), 10, 0.5),
    "thyroid": DataSet("new-thyroid", lambda: load_thyroid(binary=False, return_X_y=True), 10, 1 / 3, table=DISORDERS),
    "cells": DataSet("PBMC 68k", lambda: load_cells(return_X_y=True), 10, 1 / 3, table=_lineages()),
}


@cache
def rows_of(name: str) -> tuple[Array, Codes]:
    """All rows, or those drawn of a large set."""
    X, y = SETS[name].load()
    if SETS[name].blocks and len(y) > BLOCK_ROWS:
        kept = np.random.default_rng(0).choice(len(y), BLOCK_ROWS, replace=False)
        X, y = X[kept], y[kept]
    return np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Split:
    """Training rows, their classes, test rows, their classes; features standardised on the training rows."""

    X: Array
    y: Codes
    X_test: Array
    y_test: Codes
    seed: int

    @property
    def folds(self) -> list[Any]:
        """Folds of the training rows, the same for all machines."""
        return list(StratifiedKFold(FOLDS, shuffle=True, random_state=self.seed).split(self.X, self.y))


def split(name: str, seed: int) -> Split:
    """One of the splits of a set."""
    here, (X, y) = SETS[name], rows_of(name)
    if here.blocks:
        blocks = StratifiedKFold(here.splits, shuffle=True, random_state=0).split(X, y)
        kept = [block for _, block in blocks][seed]
        X, y = X[kept], y[kept]
    X, X_test, y, y_test = train_test_split(X, y, test_size=here.test_share, stratify=y, random_state=seed)
    if X.shape[1] > 3 * GENES:
        genes = np.sort(np.argsort(-X.var(axis=0), kind="stable")[:GENES])
        X, X_test = X[:, genes], X_test[:, genes]
    scaler = StandardScaler().fit(X)
    return Split(scaler.transform(X), y, scaler.transform(X_test), y_test, seed)


def costs_of(name: str, classes: tuple[int, ...]) -> dict[str, Costs]:
    """One price for all errors at each reject price, and the table of the set if it has one."""
    found = {f"{r:g}": Costs.from_matrix(1.0 - np.eye(len(classes)), r, labels=classes) for r in PRICES}
    table = SETS[name].table
    if table is not None:
        errors, reject = table
        found[TABLE] = Costs.from_matrix(errors, reject, labels=classes)
    return found
