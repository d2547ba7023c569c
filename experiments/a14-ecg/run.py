"""A14 figures 9 and 10."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from figures import FIGURES
from harness import Experiment
from measure import summary, tasks
from page import page

if __name__ == "__main__":
    Experiment(folder=Path(__file__).parent, tasks=tasks, summary=summary, page=page, figures=FIGURES).main()
