"""Shares, costs and intervals over the splits; the promise is judged by the same function for both guards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from harness.trials import over_sets, over_splits
from measure_damage import MACHINES, MOST, UNCHANGED
from measure_detectors import DEFAULT, DETECTORS, EARLIER
from measure_patients import BY_BEATS, BY_PATIENTS, LEARNED, TESTED
from measure_rates import ADDED
from measure_sets import COSTS, RATES, TEST_SHARE, C, rate_of, rows_of

Rows = list[dict[str, Any]]
GUARDS = ("guard", "wrong")


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """All numbers."""
    parts: dict[str, Rows] = {"damage": [], "promise": [], "limit": [], "patient": []}
    for key, answer in answers.items():
        if key not in ("example", "commands"):
            parts[key.split("/")[0]] += answer
    names = list(dict.fromkeys(row["set"] for row in parts["damage"]))
    return {
        "rates": RATES,
        "reject": COSTS.reject,
        "C": C,
        "test_share": TEST_SHARE,
        "damaged_rows": MOST,
        "sets": {name: dict(zip(("rows", "features"), rows_of(name)[0].shape, strict=True)) for name in names},
        "example": answers["example"],
        "commands": answers["commands"],
        "damage": damage(parts["damage"]),
        "promise": promises(parts["promise"]),
        "added": ADDED,
        "limits": limits(parts["limit"]),
        "patients": patients(parts["patient"]),
    }


def damage(rows: Rows) -> dict[str, Any]:
    """By kind of damage: shares of each set, and shares and costs over the sets, each set counted once."""
    found: dict[str, Any] = {"splits": len({row["seed"] for row in rows}), "rates": {}, "kinds": {}}
    for kind in dict.fromkeys(row["damage"] for row in rows):
        own = [row for row in rows if row["damage"] == kind]
        sets = {name: _means([row for row in own if row["set"] == name]) for name in dict.fromkeys(_sets(own))}
        found["kinds"][kind] = {"sets": sets, "all": _means(list(sets.values()))}
    found["rates"] = {name: rate_of(name) for name in dict.fromkeys(_sets(rows))}
    found |= {"default": DEFAULT, "earlier": EARLIER, "unchanged": UNCHANGED}
    return found


def _sets(rows: Rows) -> list[str]:
    return [row["set"] for row in rows]


def _means(rows: Rows) -> dict[str, Any]:
    groups = {"novel": tuple(DETECTORS), **dict.fromkeys(MACHINES, ("answered", "cost", "guarded"))}
    return {
        group: {key: float(np.mean([row[group][key] for row in rows])) for key in keys}
        for group, keys in groups.items()
    }


def promises(rows: Rows) -> list[dict[str, Any]]:
    """For each set and rate: the share of ordinary rows rejected by both guards, judged alike, and what it costs."""
    cases = list(dict.fromkeys((row["set"], row["rate"]) for row in rows))
    found = []
    for name, rate in cases:
        own = sorted((row for row in rows if (row["set"], row["rate"]) == (name, rate)), key=lambda row: row["seed"])
        m, extra = own[0]["calibrated"], [row["guarded"] - row["alone"] for row in own]
        item: dict[str, Any] = {"set": name, "rate": rate, "calibrated": m, "splits": len(own)}
        item["expected"] = float(np.floor(rate * (m + 1) + 1e-9) / (m + 1))
        item |= {guard: promise([row[guard] for row in own], rate, len(cases)) for guard in GUARDS}
        item["alone"] = float(np.mean([row["alone"] for row in own]))
        item["extra"] = over_splits(extra, TEST_SHARE, statements=len(cases))
        found.append(item)
    return found


def limits(rows: Rows) -> list[dict[str, Any]]:
    """For each limit on what false alarms may add: means over the splits of each set, and over all sets."""
    found = []
    for limit in dict.fromkeys(row["limit"] for row in rows):
        sets = {name: _limited([row for row in rows if (row["set"], row["limit"]) == (name, limit)])
                for name in dict.fromkeys(_sets(rows))}  # fmt: skip
        kinds = {kind: float(np.mean([one["found"][kind] for one in sets.values()])) for kind in rows[0]["found"]}
        found.append({"limit": limit, "sets": sets, "found": kinds})
    return found


def _limited(rows: Rows) -> dict[str, Any]:
    means = {key: float(np.mean([row[key] for row in rows])) for key in ("rate", "alone", "guarded", "alarms")}
    kinds = {kind: float(np.mean([row["found"][kind] for row in rows])) for kind in rows[0]["found"]}
    return {**means, "calibrated": rows[0]["calibrated"], "found": kinds}


def promise(shares: Sequence[float], rate: float, statements: int) -> dict[str, Any]:
    """The mean share over splits, and whether it is above the rate by more than the noise of the splits.

    Given the table, random splits are independent, and all rows of a split are exchangeable: the promise holds for the
    mean over all splits of this table. So Student's interval takes a split as the unit, whose test rows share one
    training set, and needs no correction for rows that splits share.
    """
    found = over_splits(shares, 0.0, statements=statements)
    return {**found, "broken": bool(found["low"] > rate)}


def patients(rows: Rows) -> dict[str, Any]:
    """By patient: means over the repetitions; over patients, each counted once, with Student's interval."""
    ways = {"drawn by beats": BY_BEATS, "drawn by patients": BY_PATIENTS}
    found: dict[str, Any] = {"learned": LEARNED, "tested": TESTED, "repeats": len({row["seed"] for row in rows})}
    for words, drawn in ways.items():
        own = [row for row in rows if row["drawn"] == drawn]
        table = {str(record): _patient([row for row in own if row["record"] == record]) for record in _records(own)}
        keys = ("novel", "answered", "alone", "guarded", "extra")
        over = {w: {k: over_sets([one[w][k] for one in table.values()]) for k in keys} for w in ("same", "new")}
        found[words] = {"by_patient": table, "over_patients": over}
    return found


def _records(rows: Rows) -> list[int]:
    return sorted({row["record"] for row in rows})


def _patient(rows: Rows) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for whose in ("same", "new"):
        own = {key: float(np.mean([row[whose][key] for row in rows])) for key in rows[0][whose]}
        found[whose] = {**own, "extra": own["guarded"] - own["alone"]}
    return found
