"""Run all benchmarks; write results.json and the tables of README.md."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import classes
import embedded
import fit
import guard
import hard
import large_search
import linear
import linear_dask
import low_rank
import machine
import memory
import model_selection
import one_class
import path
import predict
import scaling
import shapes
import small
import wide

import comparison
import report
import solvers

HERE = Path(__file__).parent


def main(*, trial: bool, only: list[str], full: bool) -> None:
    """Measure, write the numbers, then the tables; a trial is small and is written to ``trial/``.

    Benchmarks not in `only` keep their results of the last run. `full` adds the slow full search of large sets.
    """
    folder = HERE / "trial" if trial else HERE
    folder.mkdir(exist_ok=True)
    few: dict[str, Any] = {"rows": 1500, "repeats": 1} if trial else {}
    steps: dict[str, Callable[[], dict[str, Any]]] = {
        "machine": machine.facts,
        "fit": lambda: fit.run(**few),
        "hard": lambda: hard.run(**({"share": 0.1} if trial else {})),
        "predict": lambda: predict.run(**few, **({"test_rows": 500} if trial else {})),
        "classes": lambda: classes.run(**few, **({"test_rows": 500} if trial else {})),
        "one_class": lambda: one_class.run(**few),
        "guard": lambda: guard.run(**(guard.TRIAL if trial else {})),
        "small": lambda: small.run(**({"repeats": 1, "rows": 1000} if trial else {})),
        "shapes": lambda: shapes.measured(folder, **({"seconds": 0.0, "most": 20_000} if trial else {})),
        "wide": lambda: wide.run(**({"columns": (100,), "repeats": 1} if trial else {})),
        "comparison": lambda: comparison.run(**(comparison.TRIAL if trial else {})),
        "scaling": lambda: scaling.run(**({"smallest": 400, "doublings": 2} if trial else {})),
        "memory": lambda: memory.run(**({"rows": 4000} if trial else {})),
        "path": lambda: path.run(**({"rows": 120, "repeats": 1} if trial else {})),
        "model_selection": lambda: model_selection.run(
            **({"rows": 120, "repeats": 1, "strengths": 2} if trial else {})
        ),
        "large_search": lambda: large_search.run(**({"rows": 2500} if trial else {"full": full})),
        "linear": lambda: linear.run(**({"share": 0.02} if trial else {})),
        "low_rank": lambda: low_rank.run(**(low_rank.TRIAL if trial else {})),
        "linear_dask": lambda: linear_dask.run(**({"rows": 200_000} if trial else {})),
        "embedded": lambda: embedded.run(**({"repeats": 1, "smallest": 200, "doublings": 1} if trial else {})),
        "solvers": lambda: solvers.run(**({"smallest": 100, "doublings": 1, "repeats": 1} if trial else {})),
    }
    kept = json.loads((folder / "results.json").read_text(encoding="utf-8")) if only else {}
    results = {name: kept[name] for name in (*steps, "linear_spark") if name in kept}  # linear_spark.py writes its own
    for name, measure in steps.items():
        if only and name not in only:
            continue
        print(f"{name} ...", file=sys.stderr, flush=True)
        results[name] = measure()
    (folder / "results.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    readme = folder / "README.md"
    if trial:
        readme.write_text(f"{report.START}\n{report.END}\n", encoding="utf-8")
    report.write(results, readme)
    print(report.markdown(results))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trial", action="store_true", help="small sizes, to see that everything runs")
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="measure these parts, keep the others")
    parser.add_argument("--full", action="store_true", help="also the full search of large sets, which is slow")
    main(**vars(parser.parse_args()))
