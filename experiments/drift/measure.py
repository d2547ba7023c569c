"""Batches like the training rows, and batches that differ from them, tested for drift."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from harness import Task
from numpy.typing import NDArray
from public_data import load_covtype, load_german, load_mitbih, load_pima, load_wdbc
from scipy import stats
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import Costs, NoveltyRejector, RejectSVC, drift
from abstain.preprocessing import default_pipeline

COSTS = Costs(reject=0.2)
SETS = ("german", "pima", "wdbc", "covtype")
SIZES = (1, 5, 20, 100)
TRAINING, SPLITS, TOGETHER, LARGEST = 400, 500, 50, 1000
# Elevation: training rows from the lower half, batches from tenths above it.
LOW, LOW_ROWS, CLIMBS = 0.5, 1000, 100
BANDS = ((0.0, 0.5), (0.5, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.0))
# Heart beats: training rows from the first third of a record, batches of consecutive beats from later on.
RECORDS = (105, 106, 114, 116, 119, 124, 200, 203, 205, 207, 208, 210, 213, 214, 215, 219, 221, 223, 228, 233)
FIRST, BEATS, TRIALS = 1 / 3, 400, 5
MOMENTS = (1 / 3, 1 / 2, 2 / 3, 0.95)


def tasks(fast: bool) -> list[Task]:
    """Splits of each set, then elevations and times."""
    if fast:
        alarms = [("german", 0, 2), ("wdbc", 0, 2)]
        climbs, records, trials = [(True, 0, 2)], RECORDS[:1], 2
    else:
        alarms = [(name, at, TOGETHER) for name in SETS for at in range(0, SPLITS, TOGETHER)]
        climbs = [(known, at, TOGETHER) for known in (True, False) for at in range(0, CLIMBS, TOGETHER)]
        records, trials = RECORDS, TRIALS
    return [
        *(Task(f"alarms-{name}-{at}", alarmed, {"name": name, "start": at, "count": n}) for name, at, n in alarms),
        *(Task(f"elevation-{k}-{at}", climbed, {"known": k, "start": at, "count": n}) for k, at, n in climbs),
        *(Task(f"time-{record}", timed, {"record": record, "trials": trials}) for record in records),
    ]


@cache
def rows_of(name: str) -> tuple[Any, NDArray[Any]]:
    """The rows and classes of a set; those of German credit as a frame with categories."""
    if name == "german":
        german = load_german(symbolic=True, as_frame=True)
        return german.data.astype(dict.fromkeys(german.categorical_features, object)), np.asarray(german.target)
    return {"pima": load_pima, "wdbc": load_wdbc, "covtype": load_covtype}[name](return_X_y=True)


def guarded(X: Any, y: NDArray[Any], seed: int) -> NoveltyRejector:
    """The model: a scaled RejectSVC with the guard's defaults."""
    machine: Any = make_pipeline(StandardScaler(), RejectSVC(COSTS))
    if hasattr(X, "columns"):
        texts = [name for name in X.columns if X[name].dtype == object]
        machine = default_pipeline(RejectSVC(COSTS), [name for name in X.columns if name not in texts], texts)
    return NoveltyRejector(machine, random_state=seed).fit(X, y)


def taken(X: Any, rows: NDArray[np.intp]) -> Any:
    """These rows of an array or a frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def alarmed(name: str, start: int, count: int) -> dict[str, Any]:
    """Batches of other rows of the same set: p-values by size, and of the guard's p-values tested for uniformity."""
    X, y = rows_of(name)
    splits = []
    for seed in range(start, start + count):
        order = np.random.default_rng(seed).permutation(len(y))
        train, rest = order[:TRAINING], order[TRAINING:]
        model = guarded(taken(X, train), y[train], seed)
        found = [drift(model, taken(X, batch)) for batch in batches(rest)]
        p = model.novelty(taken(X, rest[:LARGEST]))
        splits.append(
            {
                "p": [one.p_value for one in found],
                "single": {test.name: test.p_value for test in found[-1].tests},
                "uniformity": float(stats.kstest(p, "uniform").pvalue),
                "calibration": found[0].n_calibration,
            }
        )
    return {"set": name, "largest": min(LARGEST, len(y) - TRAINING), "splits": splits}


def batches(rest: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """Disjoint batches of each size, then one of as many of the rows as there are."""
    start = 0
    for size in SIZES:
        yield rest[start : start + size]
        start += size
    yield rest[:LARGEST]


def climbed(known: bool, start: int, count: int) -> dict[str, Any]:
    """Batches from higher and higher places, with the elevation among the columns or without it."""
    X, y = rows_of("covtype")
    place = stats.rankdata(X[:, 0], method="ordinal") / len(y)
    features = X if known else X[:, 1:]
    found: list[dict[str, Any]] = []
    for seed in range(start, start + count):
        rng = np.random.default_rng(seed)
        low = rng.permutation(np.flatnonzero(place <= LOW))
        train, others = low[:LOW_ROWS], low[LOW_ROWS:]
        model = guarded(features[train], y[train], seed)
        for bottom, top in BANDS:
            band = others if top <= LOW else rng.permutation(np.flatnonzero((place > bottom) & (place <= top)))
            found += [_judged(model, features[band[:size]], band=[bottom, top]) for size in SIZES]
    return {"known": known, "batches": found}


def timed(record: int, trials: int) -> dict[str, Any]:
    """Batches of consecutive beats, later and later in a record, and random ones of the part trained on."""
    beats = load_mitbih(records=(record,))
    order = np.argsort(beats["sample"], kind="stable")
    X, y, n = beats.data[order], beats.target[order], len(order)
    found: list[dict[str, Any]] = []
    for seed in range(trials):
        early = np.random.default_rng(seed).permutation(int(FIRST * n))
        train, others = early[:BEATS], early[BEATS:]
        model = guarded(X[train], y[train], seed)
        found.append(_judged(model, X[others[: SIZES[-1]]], moment=0.0))
        for moment in MOMENTS:
            begin = int(np.ceil(moment * n))
            found.append(_judged(model, X[begin : begin + SIZES[-1]], moment=moment))
    return {"record": record, "batches": found}


def _judged(model: NoveltyRejector, batch: Any, **facts: Any) -> dict[str, Any]:
    one = drift(model, batch)
    shares = {test.name: test.here for test in one.tests if test.kind in ("novel", "rejects")}
    return {**facts, "rows": len(batch), "p": one.p_value, "by": [t.name for t in one.significant], "shares": shares}
