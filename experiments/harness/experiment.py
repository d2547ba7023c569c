"""An experiment: its tasks, their summary, and the page rendered only from the summary."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from harness.tasks import Shelf, Task, run

Results = dict[str, Any]


@dataclass(frozen=True)
class Experiment:
    """One published table or figure.

    Parameters
    ----------
    folder : Path
        Folder of the experiment; its name is the experiment's name.
    tasks : callable
        ``tasks(fast)`` returns the tasks; the fast ones take seconds in total and are run by the tests.
    summary : callable
        ``summary(answers)`` turns the answers, by key, into the numbers to keep.
    page : callable
        ``page(results)`` returns the whole README.md. Every number in it comes from ``results``.
    figures : mapping
        File name to a function of ``results`` that returns a matplotlib figure.
    file : str
        File name of the results.
    """

    folder: Path
    tasks: Callable[[bool], list[Task]]
    summary: Callable[[Mapping[str, Any]], Results]
    page: Callable[[Results], str]
    figures: Mapping[str, Callable[[Results], Any]] = field(default_factory=dict)
    file: str = "results.json"

    def main(self, arguments: argparse.Namespace | None = None) -> None:
        """The command line of run.py, whose parser may have more options than `command_line`."""
        arguments = arguments or command_line().parse_args()
        output = arguments.output or self.folder
        if arguments.check:
            raise SystemExit(self.check())
        if not arguments.page:
            if arguments.fast and output == self.folder:
                raise SystemExit("a --fast run is too small to replace the results; choose a folder with --output.")
            output.mkdir(parents=True, exist_ok=True)
            tasks = [task for task in self.tasks(arguments.fast) if task.key.startswith(arguments.only)]
            kept = self.answers(tasks, output, fresh=arguments.fresh, workers=arguments.workers)
            if arguments.only:
                return
            self.measure(kept, output, fast=arguments.fast, workers=arguments.workers)
        if not arguments.no_page:
            self.render(output)

    def answers(self, tasks: list[Task], output: Path, *, fresh: bool, workers: int) -> dict[str, Any]:
        """Run the unfinished tasks; the answers and CPU seconds of all, by key."""
        print(f"{self.folder.name}", file=sys.stderr)
        shelf = Shelf(output / ".done", self.folder.glob("measure*.py"))
        if fresh:
            shelf.forget(tasks)
        return run(tasks, shelf, workers=workers)

    def measure(self, kept: dict[str, Any], output: Path, *, fast: bool, workers: int) -> None:
        """Write the results."""
        results = {
            "experiment": self.folder.name,
            "fast": fast,
            "machine": facts(workers),
            "processor_seconds": round(sum(item["seconds"] for item in kept.values()), 1),
            **self.summary({key: item["answer"] for key, item in kept.items()}),
        }
        _write(output / self.file, json.dumps(results, indent=1) + "\n")

    def render(self, output: Path) -> None:
        """Render the page and the figures from the results."""
        import matplotlib as mpl

        mpl.use("Agg")
        import matplotlib.pyplot as plt

        results = self.results(output)
        _write(output / "README.md", self.page(results))
        for name, draw in self.figures.items():
            figure = draw(results)
            draft = output / f".{name}"
            figure.savefig(draft, dpi=144, metadata={"Software": None})
            draft.replace(output / name)
            plt.close(figure)

    def check(self) -> int:
        """Return 0 if README.md matches results.json and the results are not from a --fast run."""
        results = self.results(self.folder)
        if results["fast"]:
            print(f"{self.folder.name}: results.json is from a --fast run", file=sys.stderr)
            return 1
        if (self.folder / "README.md").read_text(encoding="utf-8") != self.page(results):
            print(f"{self.folder.name}: README.md does not match results.json; run run.py --page", file=sys.stderr)
            return 1
        missing = [name for name in self.figures if not (self.folder / name).exists()]
        if missing:
            print(f"{self.folder.name}: missing {', '.join(missing)}; run run.py --page", file=sys.stderr)
        return 1 if missing else 0

    def results(self, folder: Path) -> Results:
        """Read the results."""
        return json.loads((folder / self.file).read_text(encoding="utf-8"))


def facts(workers: int) -> dict[str, str]:
    """Date, versions and number of workers of the run."""
    packages = {name: version(name) for name in ("abstain", "numpy", "scipy", "scikit-learn")}
    day = datetime.now(tz=UTC).date().isoformat()
    return {"day": day, "python": platform.python_version(), "workers": str(workers), **packages}


def command_line() -> argparse.ArgumentParser:
    """The options of every run.py."""
    parser = argparse.ArgumentParser(description="Run an experiment; finished tasks of an earlier run are kept.")
    parser.add_argument("--fast", action="store_true", help="a run of a few seconds, to check that it works")
    parser.add_argument("--fresh", action="store_true", help="discard finished tasks of earlier runs")
    parser.add_argument("--only", default="", metavar="START", help="run and keep only tasks whose key starts so")
    parser.add_argument("--page", action="store_true", help="only render the page and the figures from results.json")
    parser.add_argument("--no-page", action="store_true", help="only measure, where matplotlib is missing")
    parser.add_argument("--check", action="store_true", help="only check that the page matches results.json")
    parser.add_argument("--output", type=Path, help="folder for the results (default: that of run.py)")
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--workers", "--jobs", type=int, default=cores, help="number of parallel tasks")
    return parser


def _write(path: Path, text: str) -> None:
    draft = path.with_suffix(path.suffix + ".part")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
