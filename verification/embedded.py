"""Fit EmbeddedRejectSVC on Letter pairs with known values, with twenty seeds each, and compare.

    ABSTAIN_DATA=folder python verification/embedded.py [SEEDS]

Prints one line per pair and reject cost, and exits with 1 if for any seed F is more than 1 % above the best known
value or below the dual value W, or if W is more than 3 % from its known value.
"""

# ruff: noqa: INP001, T201 (a script that prints)

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from abstain import EmbeddedRejectSVC
from embedded_cases import REFERENCE, pair

TOLERANCE, DUAL_TOLERANCE = 0.01, 0.03


def main(seeds: int) -> int:
    """Check every case with this many seeds; return the exit code."""
    if "ABSTAIN_DATA" not in os.environ:
        print("set ABSTAIN_DATA to the folder with the data", file=sys.stderr)
        return 2
    print(f"case    {'known':>11} {'lowest':>9} {'mean':>9} {'highest':>9} {'over':>7} {'W':>9} {'known':>7} {'s':>5}")
    failures = 0
    for (name, w_R), (best, dual) in REFERENCE.items():
        X, y, _, _ = pair(name)
        began = time.perf_counter()
        bound = EmbeddedRejectSVC(w_R, solver="dual").fit(X, y).lower_bound_
        F = np.array([EmbeddedRejectSVC(w_R, random_state=seed).fit(X, y).objective_ for seed in range(seeds)])
        over = F.max() / best - 1
        holds = over <= TOLERANCE and bound <= F.min() and abs(bound / dual - 1) <= DUAL_TOLERANCE
        failures += not holds
        print(
            f"{name} {w_R:<6g} {best:9.5f} {F.min():9.5f} {F.mean():9.5f} {F.max():9.5f} {over:7.2%}   "
            f"{bound:7.4f} {dual:7.4f} {time.perf_counter() - began:5.1f}{'' if holds else '  FAILED'}",
            flush=True,
        )
    print(f"{len(REFERENCE) - failures} of {len(REFERENCE)} cases hold for {seeds} seeds")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
