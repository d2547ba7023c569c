"""Run FR02's experiment on pairs of letters."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from figures import accuracy_reject, baseline, risk_differences, tallies
from harness import Experiment
from measure import tasks
from page import page
from summary import summary

if __name__ == "__main__":
    Experiment(
        folder=Path(__file__).parent,
        tasks=tasks,
        summary=summary,
        page=page,
        figures={
            "accuracy_reject.png": accuracy_reject,
            "tallies.png": tallies,
            "baseline.png": baseline,
            "risk_differences.png": risk_differences,
        },
    ).main()
