"""The judgements: decisions on public sets that no choice of this library has seen."""

import json
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from figures import figures
from harness import Experiment, Task, command_line
from harness.tasks import Shelf
from measure_sets import JUDGEMENTS
from page import page
from plan import tasks
from summary import summary

HERE = Path(__file__).parent
FILES = {"first": "results.json", "second": "results_second.json"}  # in the order in which they were made


@dataclass(frozen=True)
class Judged(Experiment):
    """One judgement is measured; the page and the pictures are of all that have results."""

    def results(self, folder: Path) -> dict[str, Any]:
        """The results of each judgement by its name: those of a folder, else the published ones."""
        found = {}
        for name, file in FILES.items():
            path = next((at / file for at in (folder, self.folder) if (at / file).exists()), None)
            if path is not None:
                found[name] = json.loads(path.read_text(encoding="utf-8"))
        if not found:
            raise FileNotFoundError(f"no results in {self.folder}; run run.py first.")
        return {"fast": any(item["fast"] for item in found.values()), "judgements": found}


def of_one(draw: Callable[[dict[str, Any]], Any], name: str) -> Callable[[dict[str, Any]], Any]:
    """A picture of one judgement."""
    return lambda results: draw(results["judgements"][name])


def planned(given: Namespace, fast: bool) -> list[Task]:
    """The tasks of one judgement."""
    found, output = tasks(given.judgement, fast), given.output or HERE
    return finished(found, Shelf(output / ".done", HERE.glob("measure*.py"))) if given.finished else found


def finished(found: list[Task], shelf: Shelf) -> list[Task]:
    """The tasks of the methods that have all their answers."""
    missing = {task.key.split("/")[0] for task in found if shelf.kept(task) is None}
    return [task for task in found if task.key.split("/")[0] not in missing]


if __name__ == "__main__":
    options = command_line()
    options.add_argument(
        "--finished", action="store_true", help="run no task; leave out methods that lack some answers"
    )
    options.add_argument("--judgement", choices=list(JUDGEMENTS), default="second", help="which one to measure")
    given = options.parse_args()
    measures = not (given.page or given.check or given.only)
    places = [place for place in (HERE, given.output) if place is not None]
    made = [
        name
        for name in FILES
        if any((place / FILES[name]).exists() for place in places) or (measures and name == given.judgement)
    ]
    Judged(
        folder=HERE,
        tasks=partial(planned, given),
        summary=partial(summary, given.judgement),
        page=page,
        figures={file: of_one(draw, name) for name in made for file, draw in figures(name).items()},
        file=FILES[given.judgement],
    ).main(given)
