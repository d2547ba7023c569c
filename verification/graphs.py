"""Decide 100,000 rows with Python and with onnxruntime, near the origin and shifted by 1e4, for every kind of graph.

    python verification/graphs.py [SEEDS]

Prints one line per machine, and exits with 1 if any label or reject differs, for any seed.
"""

# ruff: noqa: INP001, T201 (a script that prints)

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from sklearn.exceptions import ConvergenceWarning

from onnx_cases import CASES, ROWS, judged


def main(seeds: int) -> int:
    """Check every case with this many seeds; return the exit code."""
    # sigmoid is not positive semidefinite, and poly is nearly flat far from the origin; decisions are compared anyway
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"{'':7} {'machine':58} {'decisions':>9} {'labels':>7} {'rejects':>7} {'scores':>8} {'s':>5}")
    changed = 0
    for number, case in enumerate(CASES, start=1):
        began = time.perf_counter()
        found = [judged(case, seed=seed) for seed in range(seeds)]
        labels, rejects = (sum(getattr(one, f"{what}_changed") for one in found) for what in ("labels", "rejects"))
        worst = max(one.worst / max(1.0, one.largest) for one in found)
        changed += labels + rejects
        print(
            f"{number:3}/{len(CASES):<3} {case!s:58} {max(one.decisions for one in found):9} {labels:7} {rejects:7} "
            f"{worst:8.1e} {time.perf_counter() - began:5.1f}{'  CHANGED' if labels or rejects else ''}",
            flush=True,
        )
    print(f"{changed} of {len(CASES) * seeds * ROWS:,} decisions changed")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
