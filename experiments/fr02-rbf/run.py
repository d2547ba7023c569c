"""Run FR02's machine with an rbf kernel beside its rivals."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import Experiment
from measure import summary, tasks
from page import page, risk_figure

if __name__ == "__main__":
    Experiment(
        folder=Path(__file__).parent, tasks=tasks, summary=summary, page=page, figures={"risk.png": risk_figure}
    ).main()
