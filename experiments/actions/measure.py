"""Machines with four, three and two actions, and logistic regression with four, on the same splits and at one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from harness import Task
from harness.trials import over_splits
from public_data import load_german, load_wdbc
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import Actions, RejectSVCCV, ThresholdRejector
from abstain.metrics import action_confusion_matrix, get_scorer

# The published matrix: a bad credit approved costs 5, a good one declined 1. Ours: a call costs 0.2 and decides wrongly
# in a tenth of the cases of either class, 0.2 + 0.1 (1, 5); a visit costs 0.4 and is always right.
TABLE: dict[str, Any] = {
    "approve": {"good": 0.0, "bad": 5.0},
    "decline": {"good": 1.0, "bad": 0.0},
    "call": {"good": 0.3, "bad": 0.7},
    "visit": 0.4,
}
FOUR = Actions(TABLE, rejects=("call", "visit"))
# what each machine may do; "four actions" is the one that the others are compared with
MACHINES: dict[str, tuple[str, ...]] = {
    "four actions": ("approve", "decline", "call", "visit"),
    "four actions, Bayes' cuts": ("approve", "decline", "call", "visit"),
    "without call": ("approve", "decline", "visit"),
    "without visit": ("approve", "decline", "call"),
    "forced": ("approve", "decline"),
    "logistic, four actions": ("approve", "decline", "call", "visit"),
    "logistic, forced": ("approve", "decline"),
}
OTHERS = tuple(name for name in MACHINES if name != "four actions")
TEST_SHARE, SPLITS, BATCH = 0.2, 30, 5
# the last: C of logistic regression
GRID = {"Cs": np.logspace(-2, 3, 8).tolist(), "gammas": 5, "cv": 5, "strengths": np.logspace(-3, 2, 8).tolist()}
FEW = {"Cs": [0.1, 1.0], "gammas": 2, "cv": 2, "strengths": [1.0]}
LOADERS = {"german": load_german, "wdbc": load_wdbc}  # the second for --fast: it needs no data folder


def allowed(names: tuple[str, ...]) -> Actions:
    """The table with these actions only."""
    return Actions({name: TABLE[name] for name in names}, rejects=[name for name in names if name in FOUR.rejects])


def model(machine: str, grid: Mapping[str, Any]) -> Any:
    """The classifier; C and gamma are chosen by the cross-validated mean cost, of logistic regression too."""
    actions = allowed(MACHINES[machine])
    if machine.startswith("logistic"):
        chow = ThresholdRejector(LogisticRegression(max_iter=5000), actions, method="chow")
        scoring = get_scorer("mean_cost", costs=actions)
        return GridSearchCV(chow, {"estimator__C": grid["strengths"]}, scoring=scoring, cv=grid["cv"])
    cuts = "bayes" if "Bayes" in machine else "tuned"
    return RejectSVCCV(actions, Cs=grid["Cs"], gammas=grid["gammas"], cv=grid["cv"], cuts=cuts)


def trial(data: str, seed: int, grid: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All machines on one split: the classes x actions table and the mean cost of each."""
    bunch = LOADERS[data]()
    y = np.where(bunch.target > 0, "bad", "good")
    X, X_test, y, y_test = train_test_split(bunch.data, y, test_size=TEST_SHARE, stratify=y, random_state=seed)
    rows = []
    for machine in MACHINES:
        taken = make_pipeline(StandardScaler(), model(machine, grid)).fit(X, y).predict(X_test)
        counts = action_confusion_matrix(y_test, taken, FOUR)
        cost = float(np.sum(counts * FOUR.table()) / len(y_test))
        rows.append({"machine": machine, "seed": seed, "cost": cost, "counts": counts.tolist(), "train": len(y)})
    return rows


def trials(data: str, seeds: list[int], fast: bool) -> list[dict[str, Any]]:
    """All machines on these splits."""
    return [row for seed in seeds for row in trial(data, seed, FEW if fast else GRID)]


def tasks(fast: bool) -> list[Task]:
    """Some splits each."""
    if fast:
        return [Task("wdbc", trials, {"data": "wdbc", "seeds": [0, 1], "fast": True})]
    batches = [list(range(at, at + BATCH)) for at in range(0, SPLITS, BATCH)]
    return [Task(f"german/{seeds[0]}", trials, {"data": "german", "seeds": seeds, "fast": False}) for seeds in batches]


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Means over the splits, paired differences to the machine with four actions, and the shares of the actions."""
    rows = sorted((row for answer in answers.values() for row in answer), key=lambda row: row["seed"])
    cost = {name: np.array([row["cost"] for row in rows if row["machine"] == name]) for name in MACHINES}
    counts = {name: np.sum([row["counts"] for row in rows if row["machine"] == name], axis=0) for name in MACHINES}
    base = cost["four actions"]
    tested = int(np.sum(rows[0]["counts"]))
    bad = float(counts["four actions"][0].sum() / counts["four actions"].sum())
    return {
        "table": TABLE,
        "order": [*reversed(FOUR.order)],  # by increasing probability of "bad"
        "crossings": [1.0 - p for p in reversed(FOUR.crossings())],
        "train": rows[0]["train"],
        "test": tested,
        "bad": bad,
        "grid": GRID,
        "one_action_for_all": dict(zip(FOUR.names, ([bad, 1.0 - bad] @ FOUR.table()).tolist(), strict=True)),
        "machines": {
            name: {
                "cost": over_splits(cost[name], TEST_SHARE),
                "shares": dict(zip(FOUR.names, (counts[name].sum(axis=0) / counts[name].sum()).tolist(), strict=True)),
                "counts": {label: row.tolist() for label, row in zip(FOUR.labels, counts[name], strict=True)},
            }
            for name in MACHINES
        },
        "minus_four": {
            name: over_splits(cost[name] - base, TEST_SHARE, statements=len(OTHERS)) for name in OTHERS
        },
    }
