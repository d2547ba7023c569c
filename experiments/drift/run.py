"""False alarms of the test for drift on real data, and the changes that it finds."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import Experiment
from measure import tasks
from page import found_figure, page
from summary import summary

if __name__ == "__main__":
    Experiment(
        folder=Path(__file__).parent, tasks=tasks, summary=summary, page=page, figures={"found.png": found_figure}
    ).main()
