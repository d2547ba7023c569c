"""The data sets: public, of two classes, with at most 2,000 rows each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from string import ascii_uppercase
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
from public_data.folder import VARIABLE, data_folder
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

Array = NDArray[np.float64]
Signs = NDArray[np.int8]

TEST_SHARE = 0.4
MOST_ROWS = 2000  # of a larger set, this many rows are drawn once
GENES = 200  # those of largest variance in the training rows
CELLS = "pbmc68k_reduced.npz"
CELLS_SHA256 = "7a13c64b72b1771dd7e9174924a8e061d932e94343fe42e6c587774c3aa78da3"


@dataclass(frozen=True)
class DataSet:
    """A title with the positive class last, and a function that returns rows and whether each is positive."""

    title: str
    load: Callable[[], tuple[Any, Any]]


def _vowels() -> tuple[Any, Any]:
    X, y = load_letter(return_X_y=True)
    return X, np.isin(y, [ascii_uppercase.index(letter) for letter in "AEIOU"])


def _odd() -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    return X, y % 2 == 1


def _three_or_eight() -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    rows = np.isin(y, (3, 8))
    return X[rows], y[rows] == 8


def _wine() -> tuple[Any, Any]:
    X, y = load_wine(return_X_y=True)
    return X, y == 1


def _cells(negative: str, positive: str) -> tuple[Any, Any]:
    """Cells whose type starts with one of two words; the file is read from the data folder only."""
    folder = data_folder()
    path = None if folder is None else folder / CELLS
    if path is None or not path.is_file():
        raise FileNotFoundError(
            f"the cells of PBMC 68k are read from {CELLS!r} in a data folder; set {VARIABLE} to a folder that contains "
            "it (data, indices, indptr and shape of scanpy's pbmc68k_reduced().raw.X, and cell_type, its bulk_labels)."
        )
    if hashlib.sha256(path.read_bytes()).hexdigest() != CELLS_SHA256:
        raise ValueError(f"{str(path)!r} is not the expected file: its sha256 is not {CELLS_SHA256}.")
    with np.load(path, allow_pickle=False) as file:
        X = csr_array((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"])).toarray()
        kind = file["cell_type"].astype(str)
    rows = np.char.startswith(kind, negative) | np.char.startswith(kind, positive)
    return X[rows], np.char.startswith(kind[rows], positive)


SETS = {
    "wdbc": DataSet("WDBC, malignant", lambda: load_wdbc(return_X_y=True)),
    "pima": DataSet("Pima, diabetes", lambda: load_pima(return_X_y=True)),
    "german": DataSet("German credit, bad", lambda: load_german(return_X_y=True)),
    "heart": DataSet("Statlog heart, disease", lambda: load_heart(return_X_y=True)),
    "liver": DataSet("Liver, selector 2", lambda: load_liver(return_X_y=True)),
    "thyroid": DataSet("Thyroid, not normal", lambda: load_thyroid(return_X_y=True)),
    "letter-hk": DataSet("Letters H v K", lambda: load_letter(pair="HK", return_X_y=True)),
    "letter-vowels": DataSet("Letters, vowels", _vowels),
    "covtype-64": DataSet("Covertype 6 v 4", lambda: load_covtype(classes=(6, 4), return_X_y=True)),
    "covtype-12": DataSet("Covertype 1 v 2", lambda: load_covtype(classes=(1, 2), return_X_y=True)),
    "mitbih": DataSet("MIT-BIH, ventricular", lambda: load_mitbih(return_X_y=True)),
    "digits-odd": DataSet("Digits, odd", _odd),
    "digits-38": DataSet("Digits 3 v 8", _three_or_eight),
    "wine": DataSet("Wine, second grower", _wine),
    "cells-t": DataSet("Cells, CD4 v CD8", lambda: _cells("CD4+", "CD8+")),
    "cells-m": DataSet("Cells, dendritic v monocyte", lambda: _cells("Dendritic", "CD14+")),
}


@cache
def rows_of(name: str) -> tuple[Array, Signs]:
    """All rows of a set, or `MOST_ROWS` drawn once in the shares of the classes."""
    X, positive = SETS[name].load()
    X, sign = np.asarray(X, dtype=np.float64), np.where(np.asarray(positive) > 0, 1, -1).astype(np.int8)
    if len(sign) > MOST_ROWS:
        X, _, sign, _ = train_test_split(X, sign, train_size=MOST_ROWS, stratify=sign, random_state=0)
    return X, sign


def split(name: str, seed: int) -> tuple[Array, Signs, Array, Signs]:
    """Stratified 60/40; of genes those that vary most, then standardised, both by the training rows."""
    X, sign = rows_of(name)
    X, X_test, s, s_test = train_test_split(X, sign, test_size=TEST_SHARE, stratify=sign, random_state=seed)
    if name.startswith("cells"):
        kept = np.sort(np.argsort(-X.var(axis=0), kind="stable")[:GENES])
        X, X_test = X[:, kept], X_test[:, kept]
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), s, scaler.transform(X_test), s_test
