"""Test risk with an rbf kernel on two letters: EmbeddedRejectSVC, RejectSVC, and an SVM with an external threshold.

C and gamma of each machine are chosen by its own cross-validated risk (w_R rejects + errors) on the training half, for
each reject cost and split; then the risk on the other half is compared. Whoever wins, wins.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any, Self

import machine
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from abstain import Costs, EmbeddedRejectSVC, RejectSVC

GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.001, 0.004, 0.016, 0.064]}
REJECT_COSTS = (0.05, 0.1, 0.2)


def external_threshold(score: NDArray[np.float64], y: NDArray[np.int64], cost: float) -> float:
    """D that minimises the risk of rejecting |f| < D; of equals the one that rejects less.

    At w_R = 1/k one error weighs exactly k rejects: sums are rounded, so that the last digit decides nothing.
    """
    order = np.argsort(np.abs(score), kind="stable")
    size, wrong = np.abs(score)[order], (np.sign(score) != y)[order]
    rejects = np.arange(len(y) + 1)
    errors = wrong.sum() - np.r_[0, np.cumsum(wrong)]
    possible = np.r_[True, size[1:] > size[:-1], True]  # ties are rejected together
    risk = np.where(possible, np.round(cost * rejects + errors, 9), np.inf)
    k = int(np.argmin(risk))
    return 0.0 if k == 0 else float(np.nextafter(size[k - 1], np.inf))


class ExternalThreshold(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A plain SVM that rejects |f| < D, with D chosen on the training rows, as FR02 did."""

    def __init__(self, reject_cost: float = 0.1, *, C: float = 1.0, gamma: float = 0.01) -> None:
        self.reject_cost = reject_cost
        self.C = C
        self.gamma = gamma

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> Self:
        """Fit the SVM, then D."""
        self.classes_ = np.array([-1, 1])
        self.svm_ = SVC(C=self.C, gamma=self.gamma).fit(X, y)
        self.threshold_ = external_threshold(self.svm_.decision_function(X), y, self.reject_cost)
        return self

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.int64]:
        """+1, -1, or 0 for a reject."""
        score = self.svm_.decision_function(X)
        return np.where(np.abs(score) < self.threshold_, 0, np.sign(score)).astype(np.int64)

    def score(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> float:
        """Minus the risk."""
        return -risk(self.predict(X), y, self.reject_cost)["risk"]


def risk(predicted: NDArray[np.int64], y: NDArray[np.int64], cost: float) -> dict[str, float]:
    """Risk, reject rate and error rate of predictions where 0 is a reject."""
    rejects, errors = float(np.mean(predicted == 0)), float(np.mean((predicted != 0) & (predicted != y)))
    return {"risk": cost * rejects + errors, "reject_rate": rejects, "error_rate": errors}


def halves(name: str, seed: int) -> tuple[Any, ...]:
    """Training and test half of two letters, raw features, the first one +1."""
    table = np.loadtxt(Path(os.environ["ABSTAIN_DATA"]) / "letter.csv.gz", delimiter=",", skiprows=1)
    first, second = (ord(letter) - ord("A") + 1 for letter in name)
    rows = np.flatnonzero((table[:, -1] == first) | (table[:, -1] == second))
    rows = rows[np.random.default_rng(seed).permutation(len(rows))]
    X, y, half = table[rows, :-1], np.where(table[rows, -1] == first, 1, -1), -(-len(rows) // 2)
    return X[:half], y[:half], X[half:], y[half:]


def rivals(cost: float, starts: int) -> dict[str, Any]:
    """The three machines at one reject cost; the search tries fewer starts than the last fit."""
    return {
        "embedded": EmbeddedRejectSVC(cost, kernel="rbf", n_starts=starts),
        "double hinge": RejectSVC(Costs(reject=cost)),
        "external threshold": ExternalThreshold(cost),
    }


def run(name: str = "HK", splits: int = 5, folds: int = 5, starts: int = 3) -> dict[str, Any]:
    """All splits and costs, with the mean risk of each machine."""
    rows = []
    for seed in range(splits):
        X, y, X_test, y_test = halves(name, seed)
        for cost in REJECT_COSTS:
            for rival, estimator in rivals(cost, starts).items():
                cv = StratifiedKFold(folds, shuffle=True, random_state=seed)
                best = GridSearchCV(estimator, GRID, cv=cv, refit=False).fit(X, y).best_params_
                final = estimator.set_params(**best, **({"n_starts": 48} if rival == "embedded" else {})).fit(X, y)
                found = risk(final.predict(X_test), y_test, cost)
                trained = risk(final.predict(X), y, cost)["risk"]
                case = {"split": seed, "reject_cost": cost, "machine": rival}
                rows.append({**case, **best, **found, "training_risk": trained})
            print(f"split {seed}, reject cost {cost}", file=sys.stderr, flush=True)
    return {"machine": machine.facts(), "pair": name, "mean_risk": mean_risk(rows), "rows": rows}


def mean_risk(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Mean over the splits, by machine and reject cost."""
    cases: dict[str, list[float]] = {}
    for row in rows:
        cases.setdefault(f"{row['machine']} at {row['reject_cost']}", []).append(row["risk"])
    return {case: float(np.mean(risks)) for case, risks in cases.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", default="HK", help="two letters")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--starts", type=int, default=3, help="starts per fit of the search")
    print(json.dumps(run(**vars(parser.parse_args())), indent=2))
