"""FR02's experiment on pairs of letters: what is run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from harness import Task
from measure_machines import external, measured, measured_scaled, svmlight_C
from measure_pairs import ALL_PAIRS, PAIRS, halves, rows_of, separable

SEEDS = (0, 1, 2)
FAST_PAIRS = ("AH", "ST")


def tasks(fast: bool) -> list[Task]:
    """Which pairs are separable, 13 pairs a task; the machines on FR02's pairs, 6 pairs and one split a task.

    Scaled features are tried on the first split alone.
    """
    every, pairs, seeds = (FAST_PAIRS, FAST_PAIRS, SEEDS[:1]) if fast else (ALL_PAIRS, PAIRS, SEEDS)
    also = FAST_PAIRS[:1] if fast else PAIRS
    separability = [
        Task(f"separable {group[0]} to {group[-1]}", separability_of, {"names": group}) for group in _groups(every, 13)
    ]
    curves = [
        Task(f"curves {group[0]} to {group[-1]} split {seed}", curves_of, {"names": group, "seed": seed})
        for seed in seeds
        for group in _groups(pairs, 6)
    ]
    scaled = [Task(f"scaled {group[0]} to {group[-1]}", scaled_of, {"names": group}) for group in _groups(also, 6)]
    return separability + curves + scaled


def separability_of(names: list[str]) -> dict[str, Any]:
    """Whether each pair is separable, and FR02's baseline on it: rejects and errors in the test, for each split."""
    return {name: {"separable": separable(*rows_of(name)), "baseline": _baseline(name)} for name in names}


def _baseline(name: str) -> list[Any]:
    splits = [halves(name, seed) for seed in SEEDS]
    return [[len(data[3]), np.array(external(data, svmlight_C(data[0])))[:, 2:].tolist()] for data in splits]


def curves_of(names: list[str], seed: int) -> dict[str, Any]:
    """Every machine on every pair's halves."""
    return {name: measured(halves(name, seed)) for name in names}


def scaled_of(names: list[str]) -> dict[str, Any]:
    """FR02's machine on scaled features, on the first split."""
    return {name: measured_scaled(halves(name, SEEDS[0])) for name in names}


def _groups(names: Sequence[str], size: int) -> list[list[str]]:
    return [list(names[k : k + size]) for k in range(0, len(names), size)]
