"""Damaged test rows: the share that each guard rejects, and what the classifier alone makes of the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from measure_detectors import DEFAULT, DETECTORS, EARLIER, calibrated_on
from measure_sets import COSTS, RATES, Array, classifier, linear, rate_of, split
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import abstain
from abstain import Costs, LinearRejectSVCCV, NoveltyRejector, RejectSVCCV

TUMOURS = Costs(false_positive=1, false_negative=5, reject=0.3)
EXAMPLES = {
    "`RejectSVCCV(costs)`, the README's": RejectSVCCV(TUMOURS),
    '`RejectSVCCV(costs, cuts="bayes")`': RejectSVCCV(TUMOURS, cuts="bayes"),
    "`LinearRejectSVCCV(costs)`": LinearRejectSVCCV(TUMOURS),
}
MACHINES = {"rbf": classifier, "linear": linear}
MOST = 100  # test rows that are damaged in each split
UNCHANGED = "unchanged"


def damaged(X: Array, deviation: Array, rng: np.random.Generator) -> dict[str, list[Array]]:
    """Damaged copies of the rows by kind of damage; with one column damaged, a copy for each."""
    return {
        UNCHANGED: [X],
        "all columns x 10": [10 * X],
        "all columns / 10": [X / 10],
        "all columns / 2.54": [X / 2.54],
        "one column x 10": _each_column(X, 10 * X),
        "one column / 10": _each_column(X, X / 10),
        "neighbours swapped": _swapped(X),
        "one column -999": _each_column(X, np.full_like(X, -999.0)),
        "columns shuffled": [X[:, _shuffled(X.shape[1], rng)]],
        "all cells 0": [np.zeros_like(X)],
        "noise of 3 sd": [X + 3 * deviation * rng.standard_normal(X.shape)],
    }


def _each_column(X: Array, other: Array) -> list[Array]:
    return [np.where(np.arange(X.shape[1]) == at, other, X) for at in range(X.shape[1])]


def _shuffled(d: int, rng: np.random.Generator) -> Any:
    """A random order of the columns, other than their own."""
    order = rng.permutation(d)
    return order if (order != np.arange(d)).any() else np.roll(order, 1)


def _swapped(X: Array) -> list[Array]:
    d = X.shape[1]
    return [X[:, [*range(at), at + 1, at, *range(at + 2, d)]] for at in range(d - 1)]


def trial(name: str, seed: int, most: int) -> list[dict[str, Any]]:
    """For each kind of damage: shares of rows by detector, and costs of the classifiers alone and guarded.

    A row counts if the damage changes it: ten times 0 is 0. With one column damaged, shares and costs are means over
    the columns.
    """
    X, X_test, y, y_test = split(name, seed)
    X_test, y_test = X_test[:most], y_test[:most]
    machines = {machine: make().fit(X, y) for machine, make in MACHINES.items()}
    guards = {}
    for detector in DETECTORS:
        frozen = FrozenEstimator(next(iter(machines.values())))  # a guard is the same whatever the classifier
        guards[detector] = guard_of(detector, frozen, rate_of(name), len(y), seed).fit(X, y).guard_
    found = []
    for kind, copies in damaged(X_test, X.std(axis=0), np.random.default_rng(seed)).items():
        counted = [(copy, _counted(kind, copy, X_test)) for copy in copies]
        parts = [judged(machines, guards, copy[rows], y_test[rows]) for copy, rows in counted if rows.any()]
        found.append({"set": name, "seed": seed, "damage": kind, **_mean(parts)})
    return found


def guard_of(detector: str, classifier: Any, rate: float, n: int, seed: int) -> NoveltyRejector:
    """The rejector with a detector, for n training rows."""
    size = calibrated_on(detector, n, rate)
    return NoveltyRejector(classifier, rate, DETECTORS[detector](), calibration_size=size, random_state=seed)


def _counted(kind: str, copy: Array, rows: Array) -> Any:
    return np.full(len(rows), fill_value=True) if kind == UNCHANGED else (copy != rows).any(axis=1)


def _mean(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The means of nested dictionaries of numbers."""
    first = parts[0]
    return {
        key: _mean([part[key] for part in parts])
        if isinstance(first[key], dict)
        else float(np.mean([part[key] for part in parts]))
        for key in first
    }


def judged(machines: dict[str, Any], guards: dict[str, Any], X: Array, y: Any) -> dict[str, Any]:
    """Shares rejected as novel; of each machine the share answered, and mean costs without and with the guard."""
    novel = {key: guard.novel_rows(X) for key, guard in guards.items()}
    found: dict[str, Any] = {"novel": {key: float(rows.mean()) for key, rows in novel.items()}}
    for machine, model in machines.items():
        answer = model.predict(X)
        rejected = answer == model[-1].reject_label_
        price = np.where(rejected, COSTS.reject, answer != y)
        guarded = np.where(novel[DEFAULT], COSTS.reject, price)
        means = {"answered": ~rejected, "cost": price, "guarded": guarded}
        found[machine] = {key: float(values.mean()) for key, values in means.items()}
    return found


def example() -> dict[str, Any]:
    """The README's example, given its test rows in other units, without and with the default guard."""
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y == 0, random_state=0)  # True: malignant
    found: dict[str, Any] = {"tested": len(y_test), "malignant": int(y_test.sum()), "rows": []}
    for words, machine in EXAMPLES.items():
        model = make_pipeline(StandardScaler(), machine)
        alone, guarded = clone(model).fit(X, y), NoveltyRejector(model, random_state=0).fit(X, y)
        for times in (1.0, 10.0, 0.1):
            rows = times * X_test
            decided = abstain.decide(alone, rows)
            found["rows"].append({
                "machine": words,
                "times": times,
                "missed": int((decided.label[y_test] == 0).sum()),
                "false_alarms": int((decided.label[~y_test] == 1).sum()),
                "rejected": int(decided.rejected.sum()),
                "stated": float(decided.expected_cost.min(axis=1).mean()),
                "cost": -float(alone.score(rows, y_test)),
                "novel": int((guarded.decide(rows).reason == "novel").sum()),
                "guarded": -float(guarded.score(rows, y_test)),
            })
    return found


def commands() -> dict[str, Any]:
    """The README's commands: the halves of `abstain demo --csv`, and the shares of damaged new rows found as novel.

    With one column damaged, the smallest and the largest share over the columns too.
    """
    data = load_breast_cancer()
    names = data.target_names[data.target]
    X, new, y, _ = train_test_split(data.data, names, test_size=0.5, stratify=names, random_state=0)
    found: dict[str, Any] = {"trained": len(y), "tested": len(new), "calibrated": {}, "kinds": {}}
    for detector in (DEFAULT, EARLIER):
        model = make_pipeline(StandardScaler(), RejectSVCCV(TUMOURS, Cs=[1.0], gammas=[0.03], pos_label="malignant"))
        guard = guard_of(detector, model, RATES[0], len(y), 0).fit(X, y).guard_
        found["calibrated"][detector] = guard.m
        for kind, copies in damaged(new, X.std(axis=0), np.random.default_rng(0)).items():
            shares = [float(guard.novel_rows(copy).mean()) for copy in copies]
            item = {"mean": float(np.mean(shares)), "least": min(shares), "most": max(shares)}
            found["kinds"].setdefault(kind, {})[detector] = item
    return found
