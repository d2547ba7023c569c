"""Rates of alarms: on rows like the training rows by set and size of the batch, by elevation, and by time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import measure
import numpy as np
from scipy import stats

LEVEL = 0.05


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """All rates, with the largest that chance explains."""
    found = list(answers.values())
    sets = {name: [one for one in found if one.get("set") == name] for name in measure.SETS}
    alarms = {name: _alarms(parts) for name, parts in sets.items() if parts}
    splits = min(one["splits"] for one in alarms.values())
    rates = len(alarms) * (len(measure.SIZES) + 1)
    return {
        "level": LEVEL,
        "training": measure.TRAINING,
        "splits": splits,
        "sizes": list(measure.SIZES),
        # exceeded with a probability of 1 % by any of these rates, if each of them is the level
        "most": float(stats.binom.isf(0.01 / rates, splits, LEVEL) / splits),
        "alarms": alarms,
        "elevation": {
            "training": measure.LOW_ROWS,
            "low": measure.LOW,
            **{"with" if known else "without": _bands(found, known=known) for known in (True, False)},
        },
        "time": _time([one for one in found if "record" in one]),
    }


def _alarms(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares of batches called drifted, by size; the last size is the largest batch."""
    splits = [split for part in parts for split in part["splits"]]
    p = np.array([split["p"] for split in splits])
    return {
        "splits": len(splits),
        "largest": parts[0]["largest"],
        "calibration": int(np.median([split["calibration"] for split in splits])),
        "tests": int(np.median([len(split["single"]) for split in splits])),
        "rates": (p <= LEVEL).mean(axis=0).tolist(),
        "uniformity": float(np.mean([split["uniformity"] <= LEVEL for split in splits])),
    }


def _bands(found: list[dict[str, Any]], *, known: bool) -> list[dict[str, Any]]:
    batches = [batch for one in found if one.get("known") == known for batch in one["batches"]]
    if not batches:
        return []
    return [
        {
            "band": list(band),
            "rates": [_rate([b for b in batches if b["band"] == list(band) and b["rows"] == n]) for n in measure.SIZES],
            **_shares([b for b in batches if b["band"] == list(band) and b["rows"] == measure.SIZES[-1]]),
        }
        for band in measure.BANDS
    ]


def _time(found: list[dict[str, Any]]) -> dict[str, Any]:
    batches = [batch for one in found for batch in one["batches"]]
    moments = [{"moment": moment, **_moment(batches, moment)} for moment in (0.0, *measure.MOMENTS)]
    trials = sum(batch["moment"] == 0.0 for batch in batches)
    return {
        "records": len(found),
        "training": measure.BEATS,
        "rows": measure.SIZES[-1],
        "trials": trials,
        "most": float(stats.binom.isf(0.01, trials, LEVEL) / trials),
        "moments": moments,
    }


def _moment(batches: list[dict[str, Any]], moment: float) -> dict[str, Any]:
    at = [batch for batch in batches if batch["moment"] == moment]
    return {"rate": _rate(at), **_shares(at)}


def _rate(batches: list[dict[str, Any]]) -> float:
    return float(np.mean([batch["p"] <= LEVEL for batch in batches]))


def _shares(batches: list[dict[str, Any]]) -> dict[str, float]:
    """Mean shares of novel and of rejected rows, and how often each test found something, of all batches."""
    return {
        "novel": float(np.mean([batch["shares"].get("novel rows", 0.0) for batch in batches])),
        "rejects": float(np.mean([batch["shares"].get("rejects", 0.0) for batch in batches])),
        "by_scores": float(np.mean(["scores" in batch["by"] for batch in batches])),
        "by_novel": float(np.mean(["novel rows" in batch["by"] for batch in batches])),
        "by_decisions": float(np.mean([bool({"rejects", "decisions"} & {*batch["by"]}) for batch in batches])),
    }
