"""LinearSVC with calibrated probabilities, rejected below 0.7, and RejectSVCCV, on the same splits of the cells.

Rejecting where the largest probability is below 0.7 is Chow's rule at a reject price of 0.3, with errors that cost 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from harness import Task
from numpy.typing import NDArray
from public_data import load_cells
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from abstain import Costs, RejectSVC, RejectSVCCV

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

LIMIT = 0.7
PRICE = 1.0 - LIMIT
TEST_SHARE, SPLITS, FOLDS = 0.25, 20, 5
KERNELS = {"linear": {"Cs": [1e-4, 1e-3, 1e-2, 1e-1]}, "rbf": {"Cs": [1.0, 10.0, 100.0], "gammas": 3}}
FEW, MANY = 0.05, 0.4  # budgets of rejects: of most types, and of T cells, which are alike
USUAL = "LinearSVC, p < 0.7"
REJECT = -1


def rates(names: list[str]) -> Array:
    """The share of rejects allowed for each type answered."""
    return np.array([MANY if name.startswith(("CD4", "CD8")) else FEW for name in names])


def trial(seed: int, fast: bool) -> list[dict[str, Any]]:
    """All rules on one split: for each test cell its type, the choice and the forced answer."""
    bunch = load_cells()
    X, X_test, y, y_test = train_test_split(
        bunch.data, bunch.target, test_size=TEST_SHARE, stratify=bunch.target, random_state=seed
    )
    if fast:
        X, X_test = X[:, :60], X_test[:, :60]
    usual = CalibratedClassifierCV(LinearSVC(), cv=FOLDS).fit(X, y)
    P = usual.predict_proba(X_test)
    answer, sure = np.argmax(P, axis=1), P.max(axis=1)
    found = {USUAL: (np.where(sure < LIMIT, REJECT, answer), answer)}
    count = int((sure < LIMIT).sum())
    for kernel, grid in KERNELS.items():
        few = {"Cs": grid["Cs"][-1:], "gammas": 1}
        found |= ours(kernel, few if fast else grid, (X, y, X_test), count)
    return [
        {"rule": rule, "seed": seed, "y": y_test.tolist(), "choice": choice.tolist(), "answer": forced.tolist()}
        for rule, (choice, forced) in found.items()
    ]


def ours(kernel: str, grid: dict[str, Any], rows: tuple[Array, Codes, Array], count: int) -> dict[str, Any]:
    """RejectSVCCV by its own cut, rejecting as many cells as the usual rule, and with a budget for each type."""
    X, y, X_test = rows
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))
    search = make_pipeline(StandardScaler(), RejectSVCCV(Costs(reject=PRICE), kernel=kernel, cv=folds, **grid))
    clf = search.fit(X, y)[-1]
    answer, sure, choice = read(clf.rule_, search.decision_function(X_test))
    least = np.argsort(sure, kind="stable")[:count]
    same = answer.copy()
    same[least] = REJECT
    pair = {"C": clf.C_} if np.isnan(clf.gamma_) else {"C": clf.C_, "gamma": clf.gamma_}
    machine = make_pipeline(StandardScaler(), RejectSVC(Costs(reject=PRICE), kernel=kernel, **pair))
    cuts = budget_cuts(held_out(machine, clf.rule_, X, y, folds), rates(load_cells().target_names))
    name = f"RejectSVCCV, {kernel}"
    return {
        f"{name}, own cut": (choice, answer),
        f"{name}, same rejects": (same, answer),
        f"{name}, budget per type": (np.where(sure < cuts[answer], REJECT, answer), answer),
    }


def read(rule: Any, score: Array) -> tuple[Codes, Array, Codes]:
    """The forced answer, minus its expected cost, and the choice, of each row of scores."""
    choice, expected = rule.choose(score), rule.expected_cost(score)[:, :-1]
    return rule.best(score), -expected.min(axis=1), np.where(rule.is_reject(choice), REJECT, choice)


def held_out(machine: Any, rule: Any, X: Array, y: Codes, folds: list[Any]) -> tuple[Codes, Array]:
    """Answers and their certainty on held-out rows, by machines that have not seen them."""
    parts = [read(rule, clone(machine).fit(X[a], y[a]).decision_function(X[b]))[:2] for a, b in folds]
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def budget_cuts(held: tuple[Codes, Array], share: Array) -> Array:
    """For each type, the certainty below which this share of the held-out rows with this answer lies."""
    answer, sure = held
    cuts = np.full(len(share), -np.inf)
    for k in np.unique(answer):
        own = np.sort(sure[answer == k])
        at = int(share[k] * len(own))  # rounded down: at most this share is below
        cuts[k] = own[at]
    return cuts


def tasks(fast: bool) -> list[Task]:
    """One task for each split."""
    seeds = range(2 if fast else SPLITS)
    return [Task(f"split/{seed}", trial, {"seed": seed, "fast": fast}) for seed in seeds]
