"""Rows unlike anything seen: what the guard of `NoveltyRejector` rejects, what it misses, and what it costs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from figures import FIGURES
from harness import Experiment
from measure import tasks
from page import page
from summary import summary

if __name__ == "__main__":
    Experiment(folder=Path(__file__).parent, tasks=tasks, summary=summary, page=page, figures=FIGURES).main()
