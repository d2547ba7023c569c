"""Costs, rejects and accuracy of each rule over the splits, paired with the usual rule, and the same for each type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from harness.trials import over_splits
from measure import FEW, FOLDS, KERNELS, LIMIT, MANY, PRICE, REJECT, TEST_SHARE, USUAL
from public_data import load_cells


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """All numbers."""
    by_rule: dict[str, list[dict[str, Any]]] = {}
    for row in sorted((row for answer in answers.values() for row in answer), key=lambda row: row["seed"]):
        by_rule.setdefault(row["rule"], []).append(row)
    measured = {rule: [judged(row) for row in rows] for rule, rows in by_rule.items()}
    names, counts = load_cells().target_names, np.bincount(load_cells().target)
    first = by_rule[USUAL][0]
    return {
        "limit": LIMIT,
        "price": PRICE,
        "budgets": [FEW, MANY],
        "kernels": KERNELS,
        "folds": FOLDS,
        "cells": int(counts.sum()),
        "tested": len(first["y"]),
        "splits": len(by_rule[USUAL]),
        "types": {name: int(count) for name, count in zip(names, counts, strict=True)},
        "rules": {rule: overall(rows, measured[USUAL], len(by_rule) - 1) for rule, rows in measured.items()},
        "by_type": {
            name: {rule: of_type(rows, k) for rule, rows in by_rule.items()} for k, name in enumerate(names)
        },
    }


def judged(row: Mapping[str, Any]) -> dict[str, float]:
    """The mean cost, the share rejected, and the accuracy of the accepted cells, of one split."""
    y, choice = np.array(row["y"]), np.array(row["choice"])
    accepted = choice != REJECT
    return {
        "cost": float(np.where(accepted, choice != y, PRICE).mean()),
        "rejected": float(1 - accepted.mean()),
        "accuracy": float((choice == y)[accepted].mean()),
        "forced": float((np.array(row["answer"]) == y).mean()),
    }


def overall(rows: list[dict[str, float]], usual: list[dict[str, float]], statements: int) -> dict[str, Any]:
    """Means over the splits, and differences to the usual rule, corrected for the number of rules compared."""
    found: dict[str, Any] = {}
    for name in ("cost", "rejected", "accuracy", "forced"):
        own, theirs = (np.array([row[name] for row in part]) for part in (rows, usual))
        found[name] = over_splits(own, TEST_SHARE)
        if name in ("cost", "accuracy"):
            found[f"{name}_minus_usual"] = over_splits(own - theirs, TEST_SHARE, statements=statements)
    return found


def of_type(rows: list[dict[str, Any]], k: int) -> dict[str, Any]:
    """Of the cells of a type: the share rejected; of those accepted, the share answered right; None if too few."""
    rejected, right = [], []
    for row in rows:
        own = np.array(row["choice"])[np.array(row["y"]) == k]
        rejected.append(float((own == REJECT).mean()))
        if (own != REJECT).any():
            right.append(float((own[own != REJECT] == k).mean()))
    return {
        "rejected": over_splits(rejected, TEST_SHARE),
        "accuracy": over_splits(right, TEST_SHARE) if len(right) > 1 else None,
    }
