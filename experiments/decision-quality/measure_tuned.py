"""RejectSVCCV with cuts placed by its out-of-fold scores."""

from __future__ import annotations

from typing import Any

from measure_svm import facts, searched
from measure_trial import COSTS, Trial


def tuned(name: str, seed: int) -> list[dict[str, Any]]:
    """The machine on one split, for all costs."""
    trial, rows = Trial.of(name, seed), []
    for key, costs in COSTS.items():
        machine = searched(trial, costs, "tuned")
        rows.append(trial.judged(key, "RejectSVCCV, tuned", machine.predict(trial.X_test), **facts(machine)))
    return rows
