"""The judgement: decisions on public sets that no choice of this library has seen."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import Experiment
from page import FIGURES, page
from plan import tasks
from summary import summary

if __name__ == "__main__":
    Experiment(folder=Path(__file__).parent, tasks=tasks, summary=summary, page=page, figures=FIGURES).main()
