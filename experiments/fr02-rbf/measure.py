"""Two letters and an rbf kernel: the embedded machine, the double hinge, and an SVM with an external threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from harness import Task
from harness.external import external_threshold
from numpy.typing import NDArray
from public_data import load_letter
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from abstain import Costs, EmbeddedRejectSVC, RejectSVC

PAIR, SPLITS, FOLDS = "HK", 5, 5
REJECT_COSTS = (0.05, 0.1, 0.2)
GRID = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.001, 0.004, 0.016, 0.064]}
MACHINES = ("embedded", "double hinge", "external threshold")
SEARCH_STARTS = 3  # of the embedded machine while C and gamma are searched for; its last fit has the default number

Rows = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]


def tasks(fast: bool) -> list[Task]:
    """A task for each split and reject cost."""
    settings = [(0, 0.2)] if fast else [(seed, cost) for cost in REJECT_COSTS for seed in range(SPLITS)]
    grid = {name: values[1:3] for name, values in GRID.items()} if fast else GRID
    folds = 2 if fast else FOLDS
    return [
        Task(f"split{seed}-{cost:g}", compared, {"seed": seed, "cost": cost, "grid": grid, "folds": folds})
        for seed, cost in settings
    ]


def halves(seed: int) -> Rows:
    """Training and test half of the pair, raw features, the first letter +1."""
    X, y = load_letter(pair=PAIR, return_X_y=True)
    sign = np.where(y == 0, 1, -1)
    rows = np.random.default_rng(seed).permutation(len(sign))
    half = -(-len(rows) // 2)
    return X[rows[:half]], sign[rows[:half]], X[rows[half:]], sign[rows[half:]]


def compared(seed: int, cost: float, grid: dict[str, list[float]], folds: int) -> dict[str, Any]:
    """Each machine with C and gamma by its own cross-validated risk on the training half, then on the other half."""
    X, y, X_test, y_test = halves(seed)
    cv = StratifiedKFold(folds, shuffle=True, random_state=seed)
    found = {}
    for name, machine in rivals(cost).items():
        best = GridSearchCV(machine, grid, cv=cv, refit=False).fit(X, y).best_params_
        last = {"n_starts": EmbeddedRejectSVC().n_starts} if name == "embedded" else {}
        machine.set_params(**best, **last).fit(X, y)
        test, training = risk(machine.predict(X_test), y_test, cost), risk(machine.predict(X), y, cost)
        found[name] = {**best, **test, "training_risk": training["risk"]}
    return {"seed": seed, "cost": cost, "machines": found}


def rivals(cost: float) -> dict[str, Any]:
    """The machines at one reject cost; all score by minus the risk."""
    return {
        "embedded": EmbeddedRejectSVC(cost, kernel="rbf", n_starts=SEARCH_STARTS),
        "double hinge": RejectSVC(Costs(reject=cost)),
        "external threshold": ExternalThreshold(cost),
    }


def risk(predicted: NDArray[np.int64], y: NDArray[np.int64], cost: float) -> dict[str, float]:
    """Risk w_R R + E, reject rate and error rate of predictions where 0 is a reject."""
    rejects, errors = float(np.mean(predicted == 0)), float(np.mean((predicted != 0) & (predicted != y)))
    return {"risk": cost * rejects + errors, "reject_rate": rejects, "error_rate": errors}


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


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Means and standard errors over the splits, by cost and machine, and the differences from the embedded machine."""
    costs = sorted({answer["cost"] for answer in answers.values()})
    return {
        "pair": PAIR,
        "grid": GRID,
        "splits": len({answer["seed"] for answer in answers.values()}),
        "costs": costs,
        "means": {f"{cost:g}": _means([a for a in answers.values() if a["cost"] == cost]) for cost in costs},
        "runs": list(answers.values()),
    }


def _means(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Of one reject cost."""
    measures = ("risk", "reject_rate", "error_rate", "training_risk")
    values = {name: {m: np.array([run["machines"][name][m] for run in runs]) for m in measures} for name in MACHINES}
    return {
        name: {
            **{m: _with_error(values[name][m]) for m in measures},
            "embedded_less": _with_error(values["embedded"]["risk"] - values[name]["risk"]),
        }
        for name in MACHINES
    }


def _with_error(values: NDArray[np.float64]) -> dict[str, float]:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return {"mean": float(values.mean()), "standard_error": float(error)}
