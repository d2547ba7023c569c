"""The training sets of the benchmarks, standardised; most are read from the folder named by ABSTAIN_DATA."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer


@dataclass(frozen=True)
class Sample:
    """One binary problem: y in {-1, +1}, every column of X with mean 0 and variance 1."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]

    @property
    def gamma(self) -> float:
        """The rbf kernel's gamma in all benchmarks, 1 / d."""
        return 1.0 / self.X.shape[1]

    def shuffled(self, rows: int | None = None, seed: int = 0) -> Sample:
        """A sample of ``rows`` rows (all by default), drawn without replacement."""
        chosen = np.random.default_rng(seed).permutation(len(self.y))[:rows]
        return Sample(self.name, np.ascontiguousarray(self.X[chosen]), self.y[chosen])


def generated(rows: int = 20_000, features: int = 10, seed: int = 0) -> Sample:
    """Normal features, a curved boundary on five of them, and noise that makes about one label in six unpredictable."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    surface = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + 0.5 * X[:, 3] ** 2 - 0.5 + 0.5 * X[:, 4]
    y = np.where(surface + 0.7 * rng.normal(size=rows) > 0.0, 1, -1)
    return Sample(f"generated {rows:,} x {features}", _standardised(X), y)


def covtype_4v6(folder: Path) -> Sample:
    """Cottonwood/willow (-1) against Douglas fir (+1)."""
    with np.load(folder / "covtype_4v6.npz", allow_pickle=False) as arrays:
        return Sample("covtype_4v6", _standardised(arrays["X"].astype(np.float64)), np.where(arrays["y"] == 6, 1, -1))


def covtype_1v2(folder: Path) -> Sample:
    """Spruce/fir (-1) against lodgepole pine (+1), 100,000 of the 495,141 rows."""
    with np.load(folder / "covtype_full.npz", allow_pickle=False) as arrays:
        pair = np.flatnonzero(np.isin(arrays["y"], (1, 2)))
        rows = np.random.default_rng(0).permutation(pair)[:100_000]
        wilderness, soil = (np.eye(width)[arrays[name][rows]] for name, width in (("wilderness", 4), ("soil", 40)))
        X, y = np.hstack([arrays["num"][rows], wilderness, soil]), arrays["y"][rows]
    return Sample("covtype 1v2", _standardised(X.astype(np.float64)), np.where(y == 2, 1, -1))


def letter_halves(folder: Path) -> Sample:
    """The letters A to M (-1) against N to Z (+1)."""
    table = np.loadtxt(folder / "letter.csv.gz", delimiter=",", skiprows=1)
    return Sample("letter A-M v N-Z", _standardised(table[:, :-1]), np.where(table[:, -1] > 13, 1, -1))


def letter_pair_hk(folder: Path) -> Sample:
    """The letters H (-1) and K (+1), which FR02's tables call the pair HK."""
    table = np.loadtxt(folder / "letter.csv.gz", delimiter=",", skiprows=1)
    pair = table[np.isin(table[:, -1], (8, 11))]
    return Sample("letter H v K", _standardised(pair[:, :-1]), np.where(pair[:, -1] == 11, 1, -1))


def pima(folder: Path) -> Sample:
    """No diabetes (-1) against diabetes (+1)."""
    table = np.loadtxt(folder / "pima.csv", delimiter=",", skiprows=1)
    return Sample("Pima", _standardised(table[:, :-1]), np.where(table[:, -1] > 0, 1, -1))


def wdbc() -> Sample:
    """Benign (-1) against malignant (+1); scikit-learn's own copy."""
    X, y = load_breast_cancer(return_X_y=True)
    return Sample("WDBC", _standardised(X), np.where(y == 0, 1, -1))


def samples(rows: int | None = None) -> Iterator[Sample]:
    """All available sets, each reduced to ``rows`` random rows if a number is given."""
    yield generated(rows or 20_000)
    folder = os.environ.get("ABSTAIN_DATA")
    if folder:
        for load in (letter_halves, covtype_4v6):
            yield load(Path(folder)).shuffled(rows)


def small_samples(rows: int | None = None) -> Iterator[Sample]:
    """The sets on which exact methods are measured."""
    yield wdbc().shuffled(rows)
    folder = os.environ.get("ABSTAIN_DATA")
    if folder:
        for load in (pima, letter_pair_hk):
            yield load(Path(folder)).shuffled(rows)


def searched_samples(rows: int | None = None) -> Iterator[Sample]:
    """The sets on which C and gamma are searched for: 3,000, 768, 1,473 and 5,000 rows; WDBC without ABSTAIN_DATA."""
    yield generated(rows or 3000)
    folder = os.environ.get("ABSTAIN_DATA")
    if not folder:
        yield wdbc().shuffled(rows)
        return
    for load, most in ((pima, None), (letter_pair_hk, None), (covtype_4v6, 5000)):
        yield load(Path(folder)).shuffled(rows or most)


def _standardised(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns of mean 0 and variance 1; a constant column becomes 0."""
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0)
