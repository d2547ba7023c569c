"""Promises by true class on real data: whether they are kept, and how many rows are answered."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import Experiment
from measure import tasks
from page import FIGURES, page
from summary import summary

if __name__ == "__main__":
    Experiment(folder=Path(__file__).parent, tasks=tasks, summary=summary, page=page, figures=FIGURES).main()
