"""German credit with the loss of each loan as its cost."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import Experiment
from measure import summary, tasks
from page import cost_figure, page

if __name__ == "__main__":
    Experiment(
        folder=Path(__file__).parent, tasks=tasks, summary=summary, page=page, figures={"cost.png": cost_figure}
    ).main()
