"""Wide tables: CPU time of `abstain fit`, `predict` and `evaluate` on 60 rows of more and more columns."""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

ROWS = 60
COLUMNS = (100, 1_000, 3_000, 10_000)
AIM = 6.0  # seconds of `fit` at 10,000 columns
SHIFTED = 20  # columns that tell the classes apart


def write(path: Path, columns: int) -> None:
    """Write a CSV of two classes whose first columns differ by one standard deviation."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(ROWS) % 2)
    X = rng.normal(size=(ROWS, columns))
    X[:, :SHIFTED] += y[:, np.newaxis]
    names = ",".join([f"g{at}" for at in range(columns)] + ["class"])
    rows = [",".join([f"{cell:.6g}" for cell in row] + ["ab"[label]]) for row, label in zip(X, y, strict=True)]
    path.write_text("\n".join([names, *rows]) + "\n")


def seconds(*command: str | Path) -> float:
    """CPU seconds of a command, with the imports, in one thread."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    one = {"OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    code = "from abstain.cli.entry_point import main; main()"
    arguments = [sys.executable, "-W", "ignore", "-c", code, *map(str, command)]
    subprocess.run(arguments, check=True, env=os.environ | one, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(columns: tuple[int, ...] = COLUMNS, repeats: int = 2) -> dict[str, Any]:
    """Measure all commands; the least time of several runs."""
    found = []
    with TemporaryDirectory() as folder:
        data, model, answers = (Path(folder) / name for name in ("data.csv", "a.model", "answers.csv"))
        commands: dict[str, tuple[str | Path, ...]] = {
            "fit": (data, "--target", "class", "--reject", "0.1", "-o", model, "--force"),
            "predict": (model, data, "-o", answers, "--force"),
            "evaluate": (model, data, "--target", "class"),
        }
        for count in columns:
            write(data, count)
            times = {name: min(seconds(name, *own) for _ in range(repeats)) for name, own in commands.items()}
            found.append({"columns": count, **times})
    return {"rows": ROWS, "aim": AIM, "commands": found}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, nargs="+", default=COLUMNS)
    given = parser.parse_args()
    print(json.dumps(run(tuple(given.columns)), indent=1))
