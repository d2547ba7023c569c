"""A14 figures 9 and 10: cost, sensitivity and positive predictivity on the ECG, by beats and by patients.

theta = c_fn / c_fp = 1.2 and c_fp = 1; a machine for each reject price r, up to r = theta / (1 + theta) where nothing
is rejected any more. Every beat is decided once in each repetition, by a machine that has not seen it, and in the
record-wise split by one that has seen no beat of its patient.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from harness import Task
from numpy.typing import NDArray
from public_data import load_mitbih
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from abstain import Costs, RejectSVC, RejectSVCCV, reject_price_sweep
from abstain.metrics import RejectTable

THETA = 1.2
PRICES = [THETA / (1 + THETA), 0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.16, 0.12, 0.09, 0.06, 0.04, 0.02, 0.01]
SEARCH_PRICE, SEARCH_ROWS = 0.2, 3000
FOLDS, REPETITIONS = 7, 3
PAIR = (214, 221)  # the two records of the paper's first tests
RESAMPLES = 2000  # of the records, for the standard errors

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]


def tasks(fast: bool) -> list[Task]:
    """One per split, repetition and fold; the pair of records has two folds where it is split by record."""
    if fast:
        return [_task("pair-beat", 0, fold, 2) for fold in range(2)] + [_task("pair-record", 0, k, 2) for k in range(2)]
    whole = [
        (split, k, fold, FOLDS) for split in ("beat", "record") for k in range(REPETITIONS) for fold in range(FOLDS)
    ]
    pair = [("pair-beat", k, fold, FOLDS) for k in range(REPETITIONS) for fold in range(FOLDS)]
    return [_task(*one) for one in (*whole, *pair, *(("pair-record", 0, fold, 2) for fold in range(2)))]


def _task(split: str, repetition: int, fold: int, folds: int) -> Task:
    arguments = {"split": split, "repetition": repetition, "fold": fold, "folds": folds}
    return Task(f"{split}-{repetition}-{fold}", decide_fold, arguments)


def fold_of_beats(split: str, y: Labels, record: Labels, repetition: int, folds: int) -> Labels:
    """The fold that each beat is left out in."""
    if split.endswith("beat"):
        splits = StratifiedKFold(folds, shuffle=True, random_state=repetition).split(y, y)
    else:
        splits = GroupKFold(folds, shuffle=True, random_state=repetition).split(y, y, record)
    fold = np.empty(len(y), dtype=np.int64)
    for k, (_, test) in enumerate(splits):
        fold[test] = k
    return fold


def decide_fold(split: str, repetition: int, fold: int, folds: int) -> dict[str, Any]:
    """Fit to the other folds, decide this one: 2 x 3 counts for each price and record."""
    beats = load_mitbih(records=list(PAIR) if split.startswith("pair") else None)
    y, record = beats.target, beats.groups
    left_out = fold_of_beats(split, y, record, repetition, folds) == fold
    train = np.flatnonzero(~left_out)
    scaler = StandardScaler().fit(beats.data[train])
    X, X_test = scaler.transform(beats.data[train]), scaler.transform(beats.data[left_out])
    C, gamma = search(X, y[train], record[train], by_record=split == "record", seed=repetition)
    model = RejectSVC(Costs(1.0, THETA, 0.5), C=C, gamma=gamma)
    machines = reject_price_sweep(model, X, y[train], PRICES)
    choices = [machine.thresholds_.decide(machine.decision_function(X_test)) for machine in machines]
    sign, own = 2 * y[left_out] - 1, record[left_out]
    counts = {
        str(one): [RejectTable.of(sign[own == one], choice[own == one]).counts.ravel().tolist() for choice in choices]
        for one in np.unique(own)
    }
    gaps = [machine.duality_gap_ for machine in machines if machine.status_ != "optimal"]
    answer = {"split": split, "repetition": repetition, "counts": counts, "C": C, "gamma": gamma, "gaps": gaps}
    return {**answer, "train": len(train), "features": X.shape[1]}


def search(X: Rows, y: Labels, record: Labels, *, by_record: bool, seed: int) -> tuple[float, float]:
    """C and gamma by the mean cost in folds of training beats, cut the way that the test will be."""
    chosen = np.random.default_rng(seed).permutation(len(y))[:SEARCH_ROWS]
    X, y, record = X[chosen], y[chosen], record[chosen]
    if by_record:
        folds = list(StratifiedGroupKFold(5, shuffle=True, random_state=seed).split(X, y, record))
    else:
        folds = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y))
    costs = Costs(1.0, THETA, SEARCH_PRICE)
    model = RejectSVCCV(costs, Cs=np.logspace(-2, 4, 7), gammas=5, cv=folds, cuts="bayes").fit(X, y)
    return model.C_, model.gamma_


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Measures of each split, with standard errors by resampling whole records."""
    splits = list(dict.fromkeys(answer["split"] for answer in answers.values()))
    return {
        "theta": THETA,
        "prices": PRICES,
        "search": {"price": SEARCH_PRICE, "rows": SEARCH_ROWS},
        "splits": {split: of_split([a for a in answers.values() if a["split"] == split]) for split in splits},
        "by_record": {split: error_by_record([a for a in answers.values() if a["split"] == split]) for split in splits},
    }


def error_by_record(answers: list[dict[str, Any]]) -> dict[str, float]:
    """Each record's error rate where nothing is rejected, over the repetitions."""
    totals: dict[str, Rows] = {}
    for answer in answers:
        for one, table in answer["counts"].items():
            totals[one] = totals.get(one, np.zeros(6)) + np.array(table[0])
    return {one: float((total[2] + total[3]) / total.sum()) for one, total in sorted(totals.items())}


def of_split(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """Pooled measures by price, their standard errors, differences from rejecting nothing, and the worst records."""
    records = sorted({one for answer in answers for one in answer["counts"]})
    repetitions = 1 + max(answer["repetition"] for answer in answers)
    counts = np.zeros((len(records), len(PRICES), 6))  # mean over the repetitions, of each record
    for answer in answers:
        for one, table in answer["counts"].items():
            counts[records.index(one)] += np.array(table) / repetitions
    drawn = np.random.default_rng(0).multinomial(len(records), np.full(len(records), 1 / len(records)), RESAMPLES)
    resampled = measures(np.tensordot(drawn.astype(float), counts, axes=1))
    pooled = measures(counts.sum(axis=0))
    pooled["slope"] = np.nan_to_num(pooled["slope"])  # a step without a reject more has no slope
    C, gamma = (sorted(answer[key] for answer in answers) for key in ("C", "gamma"))
    return {
        "beats": [round(counts[:, 0, :3].sum()), round(counts[:, 0, 3:].sum())],
        "records": len(records),
        "repetitions": repetitions,
        "folds": len(answers) // repetitions,
        "train": min(answer["train"] for answer in answers),
        "features": answers[0]["features"],
        "C": [C[0], C[len(C) // 2], C[-1]],
        "gamma": [gamma[0], gamma[len(gamma) // 2], gamma[-1]],
        "gaps": [gap for answer in answers for gap in answer["gaps"]],
        **{key: {"mean": value.tolist(), "se": spread(resampled[key])} for key, value in pooled.items()},
        "fixed": fixed_prices(counts.sum(axis=0)),
        "worst": worst(counts, records),
    }


def spread(values: Rows) -> list[float]:
    """Standard deviation over the resamples that have a value; 0 where none has."""
    kept = np.isfinite(values)
    count = np.maximum(kept.sum(axis=0), 1)
    mean = np.where(kept, values, 0.0).sum(axis=0) / count
    return np.sqrt(np.where(kept, (values - mean) ** 2, 0.0).sum(axis=0) / count).tolist()


def measures(counts: Rows) -> dict[str, Rows]:
    """Of counts (..., prices, 6) in the order TN, rejected negatives, FP, FN, rejected positives, TP."""
    _, rejected_neg, FP, FN, rejected_pos, TP = np.moveaxis(counts, -1, 0)
    n, rejected = counts.sum(axis=-1), rejected_neg + rejected_pos
    R, E = rejected / n, (FP + FN) / n
    with np.errstate(invalid="ignore", divide="ignore"):
        sensitivity, predictivity = TP / (TP + FN), TP / (TP + FP)
        slope = np.where(np.diff(R, axis=-1) > 0, np.diff(E, axis=-1) / np.diff(R, axis=-1), np.nan)
    cost = (THETA * FN + FP + np.array(PRICES) * rejected) / n  # A14 (23), each machine at its own price
    found = {"reject": R, "error": E, "cost": cost, "sensitivity": sensitivity, "predictivity": predictivity}
    return {**found, "slope": slope, "saved": cost[..., :1] - cost}  # against rejecting nothing, which has no price


def fixed_prices(counts: Rows) -> list[dict[str, float]]:
    """At a price that stays: which machine of the sweep is cheapest, and what the one trained for the price costs."""
    found = []
    share = counts / counts.sum(axis=-1, keepdims=True)
    for price in (0.4, 0.3, 0.2, 0.12, 0.06):
        rejected = share[:, 1] + share[:, 4]
        cost = THETA * share[:, 3] + share[:, 2] + price * rejected
        best, own = int(np.argmin(cost)), PRICES.index(price)
        found.append(
            {
                "price": price,
                "none": float(cost[0]),
                "own": float(cost[own]),
                "own_reject": float(rejected[own]),
                "best": float(cost[best]),
                "best_reject": float(rejected[best]),
            }
        )
    return found


def worst(counts: Rows, records: list[str]) -> list[dict[str, Any]]:
    """The records with most errors where nothing is rejected, and the share of all errors that they hold."""
    errors = counts[:, 0, 2] + counts[:, 0, 3]
    order = np.argsort(-errors, kind="stable")[:4]
    return [
        {
            "record": records[k],
            "errors": float(errors[k]),
            "share": float(errors[k] / errors.sum()),
            "beats": float(counts[k, 0].sum()),
        }
        for k in order
    ]
