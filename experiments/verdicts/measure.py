"""Rounds of predict, review and refit on public sets, with different choices of the verdicts that are trained on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from harness import Task
from harness.trials import over_splits
from numpy.typing import NDArray
from public_data import load_covtype, load_letter, load_mitbih, load_wdbc
from sklearn.preprocessing import StandardScaler

from abstain import Costs, RejectSVCCV

COSTS = Costs(reject=0.2)
TRAIN, BATCH, ROUNDS, AUDIT, TEST = 200, 500, 5, 20, 3000
# which rows of a round are added: verdicts are those of the rejected rows and of the audited ones
WAYS = ("verdicts", "weighted", "audited only", "random rows")
GRID = {"Cs": np.logspace(-1, 2, 4).tolist(), "gammas": 3, "cv": 3}
SEEDS, TOGETHER = 40, 10
SETS = ("letter", "covtype", "mitbih")


def rows_of(data: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows and classes of two classes."""
    if data == "letter":
        X, letter = load_letter(return_X_y=True)
        return X, np.where(letter < 13, 0, 1)
    load = {"covtype": lambda **how: load_covtype(classes=(1, 2), **how), "mitbih": load_mitbih, "wdbc": load_wdbc}
    X, y = load[data](return_X_y=True)
    return X, np.unique(y, return_inverse=True)[1]


def refit(X: Any, y: Any, weight: Any) -> Any:
    """The machine of these rows, with its scaling."""
    scaler = StandardScaler().fit(X)
    return scaler, RejectSVCCV(COSTS, **GRID, search="full").fit(scaler.transform(X), y, sample_weight=weight)


def chosen(way: str, rejected: NDArray[np.bool_], rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """The rows of a batch to train on, and their weights."""
    answered, handed_on = np.flatnonzero(~rejected), np.flatnonzero(rejected)
    audited = rng.choice(answered, size=min(AUDIT, len(answered)), replace=False)
    if way == "random rows":  # as many as have verdicts
        rows = rng.choice(len(rejected), size=len(handed_on) + len(audited), replace=False)
    elif way == "audited only":
        rows = audited
    else:
        rows = np.concatenate([handed_on, audited])
    weight = np.ones(len(rows))
    if way == "weighted" and len(audited):  # each audited row stands for the answered ones that nobody looked at
        weight[len(handed_on) :] = len(answered) / len(audited)
    return rows, weight


def trial(data: str, seed: int, sizes: tuple[int, int, int]) -> list[dict[str, Any]]:
    """The cost on fresh rows after each round, and the number of training rows, for each way."""
    train, batch, test = sizes
    X, y = rows_of(data)
    order = np.random.default_rng(seed).permutation(len(y))
    fresh, order = order[:test], order[test:]
    found = []
    for way in WAYS:
        rng = np.random.default_rng(seed)
        rows, weight = order[:train], np.ones(train)
        costs, counts, rejects = [], [], []
        for at in range(ROUNDS + 1):
            scaler, machine = refit(X[rows], y[rows], weight)
            costs.append(COSTS.mean_cost(y[fresh], machine.predict(scaler.transform(X[fresh])), pos_label=1))
            counts.append(len(rows))
            first = train + at * batch
            new = order[first : first + batch]
            rejected = machine.reject_mask(scaler.transform(X[new]))
            rejects.append(float(rejected.mean()))
            taken, own = chosen(way, rejected, rng)
            rows, weight = np.concatenate([rows, new[taken]]), np.concatenate([weight, own])
        found.append({"way": way, "seed": seed, "cost": costs, "rows": counts, "rejects": rejects})
    return found


def trials(data: str, seeds: list[int], sizes: tuple[int, int, int]) -> list[dict[str, Any]]:
    """All ways with these seeds."""
    return [row for seed in seeds for row in trial(data, seed, sizes)]


def tasks(fast: bool) -> list[Task]:
    """A few seeds of a set each."""
    if fast:
        return [Task("wdbc", trials, {"data": "wdbc", "seeds": [0, 1], "sizes": (60, 60, 100)})]
    sizes = (TRAIN, BATCH, TEST)
    starts = range(0, SEEDS, TOGETHER)
    return [
        Task(f"{data}/{at}", trials, {"data": data, "seeds": list(range(at, at + TOGETHER)), "sizes": sizes})
        for data in SETS
        for at in starts
    ]


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """By set and way: cost and rows by round, and the last cost minus that of plain verdicts, paired by seed."""
    sets: dict[str, Any] = {}
    for name in dict.fromkeys(key.partition("/")[0] for key in answers):
        rows = sorted((row for key in answers if key.partition("/")[0] == name for row in answers[key]), key=_seed)
        cost = {way: np.array([row["cost"] for row in rows if row["way"] == way]) for way in WAYS}
        mean = {
            key: {w: np.mean([r[key] for r in rows if r["way"] == w], axis=0).tolist() for w in WAYS} for key in KEPT
        }
        last = {way: cost[way][:, -1] - cost["verdicts"][:, -1] for way in WAYS[1:]}
        by_round = {way: [over_splits(column, 0.0) for column in cost[way].T] for way in WAYS}
        gaps = {way: over_splits(gap, 0.0, statements=len(last)) for way, gap in last.items()}
        sets[name] = {"cost": by_round, **mean, "minus_verdicts": gaps}
    return {"sets": sets, "sizes": [TRAIN, BATCH, ROUNDS, AUDIT, TEST], "reject": COSTS.reject_negative, "grid": GRID}


KEPT = ("rows", "rejects")


def _seed(row: Mapping[str, Any]) -> int:
    return int(row["seed"])
