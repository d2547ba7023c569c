"""Cell types with a reject option: the usual rule of the field and ours on the same cells."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import Experiment
from measure import tasks
from page import FIGURES, page
from summary import summary

if __name__ == "__main__":
    Experiment(folder=Path(__file__).parent, tasks=tasks, summary=summary, page=page, figures=FIGURES).main()
