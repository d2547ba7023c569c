"""Paths on real data against separate exact fits; shared by the tests and ``verification/``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

from abstain.costs.costs import Costs
from abstain.dual.certificate import certify
from abstain.estimators.svm.path import reject_svc_path
from abstain.estimators.svm.svc import RejectSVC
from abstain.solvers.path import RegularizationPath

DATA_SETS = ("wdbc", "pima", "letter HK")
KERNELS = ("rbf", "linear")
COSTS = (None, Costs(1, 1, 0.2), Costs(1, 5, 0.3))
C_MIN, C_MAX = 1e-2, 1e3

OBJECTIVE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class PathCase:
    """One path on one data set."""

    data: str
    kernel: str
    costs: Costs | None

    def __str__(self) -> str:
        c = self.costs
        prices = "hinge" if c is None else f"({c.false_positive:g}, {c.false_negative:g}, {c.reject})"
        return f"{self.data:9} {self.kernel:6} {prices}"

    def path(self) -> RegularizationPath:
        """The path itself."""
        X, y = load(self.data)
        return reject_svc_path(X, y, self.costs, kernel=self.kernel, C_min=C_MIN, C_max=C_MAX)

    def errors(self, path: RegularizationPath, Cs: np.ndarray) -> Iterator[float]:
        """How far the path's objective is from that of an exact fit, relatively, at each C."""
        X, y = load(self.data)
        for C in Cs:
            fit = RejectSVC(self.costs, C=C, kernel=self.kernel, solver="active-set").fit(X, y)
            objective = certify(path.problem_at(C), *path.at(C)).primal
            yield abs(objective - fit.objective_) / fit.objective_


def all_cases(data: str) -> list[PathCase]:
    return [PathCase(data, *rest) for rest in product(KERNELS, COSTS)]


def random_Cs(count: int, seed: int) -> np.ndarray:
    """`count` values from C_MIN to C_MAX, evenly spread in their logarithm."""
    return np.exp(np.random.default_rng(seed).uniform(np.log(C_MIN), np.log(C_MAX), count))


def load(data: str) -> tuple[np.ndarray, np.ndarray]:
    """Give standardised X, and y in {0, 1}; all but WDBC from the folder that ABSTAIN_DATA names."""
    if data == "wdbc":
        X, y = load_breast_cancer(return_X_y=True)
    elif data == "pima":
        table = np.loadtxt(Path(os.environ["ABSTAIN_DATA"]) / "pima.csv", delimiter=",", skiprows=1)
        X, y = table[:, :-1], table[:, -1].astype(int)
    else:
        table = np.loadtxt(Path(os.environ["ABSTAIN_DATA"]) / "letter.csv.gz", delimiter=",", skiprows=1)
        table = table[np.isin(table[:, -1], (8, 11))]  # H and K
        X, y = table[:, :-1], (table[:, -1] == 11).astype(int)
    return (X - X.mean(axis=0)) / X.std(axis=0), y
