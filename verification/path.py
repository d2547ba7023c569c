"""Follow the path in C on WDBC, Pima and the letters H and K, and compare with exact fits at 50 random C each.

    ABSTAIN_DATA=folder python verification/path.py [DATA ...]

Prints one line per path, and exits with 1 if any objective differs by more than 1e-9 (relative) from that of an exact
fit at the same C. WDBC needs no ABSTAIN_DATA.
"""

# ruff: noqa: INP001, T201 (a script that prints)

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from path_cases import DATA_SETS, OBJECTIVE_TOLERANCE, all_cases, random_Cs

VALUES = 50


def main(names: list[str]) -> int:
    """Check every path on the given data sets; return the exit code."""
    if unknown := set(names) - set(DATA_SETS):
        print(f"unknown data: {', '.join(sorted(unknown))}; choose from {', '.join(DATA_SETS)}", file=sys.stderr)
        return 2
    if "ABSTAIN_DATA" not in os.environ and set(names) - {"wdbc"}:
        print("set ABSTAIN_DATA to the folder with the data, or verify only wdbc", file=sys.stderr)
        return 2
    cases = [case for name in names for case in all_cases(name)]
    print(f"{'':7} {'path':31} {'breakpoints':>11} {'worst error':>11} {'path, s':>8} {'fits, s':>8}")
    failures = 0
    for number, case in enumerate(cases, start=1):
        began = time.perf_counter()
        path = case.path()
        followed = time.perf_counter()
        worst = max(case.errors(path, random_Cs(VALUES, seed=number)))
        holds = worst <= OBJECTIVE_TOLERANCE
        failures += not holds
        print(
            f"{number:3}/{len(cases):<3} {case!s:31} {len(path.breakpoints):11,} {worst:11.1e} {followed - began:8.2f} "
            f"{time.perf_counter() - followed:8.2f}{'' if holds else '  FAILED'}",
            flush=True,
        )
    print(f"{len(cases) - failures} of {len(cases)} paths within {OBJECTIVE_TOLERANCE:g} of exact fits at {VALUES} Cs")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(DATA_SETS)))
