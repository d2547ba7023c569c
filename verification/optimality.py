"""Fit RejectSVC on WDBC, Pima, Liver and Thyroid and compare with a general QP solver, all settings crossed.

    ABSTAIN_DATA=folder python verification/optimality.py [DATA ...]

Prints one line per case as it is judged, and exits with 1 if any objective is more than 1e-6 (relatively) from the
judge's optimum, or any reported duality gap is not the true one. WDBC alone needs no ABSTAIN_DATA.
"""

# ruff: noqa: INP001, T201 (a script; its output is its product)

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from optimality_cases import DATA_SETS, OBJECTIVE_TOLERANCE, all_cases, judge


def main(names: list[str]) -> int:
    """Judge every case of the named data sets; give the exit code."""
    if unknown := set(names) - set(DATA_SETS):
        print(f"unknown data: {', '.join(sorted(unknown))}; choose from {', '.join(DATA_SETS)}", file=sys.stderr)
        return 2
    if "ABSTAIN_DATA" not in os.environ and set(names) - {"wdbc"}:
        print("ABSTAIN_DATA names no folder with the data; set it, or verify wdbc alone", file=sys.stderr)
        return 2
    cases = [case for name in names for case in all_cases(name)]
    print(f"{'':9} {'case':41} {'status':10} {'objective':>16} {'error':>9} {'gap':>9} {'true gap':>9} {'s':>5}")
    failures = 0
    for number, case in enumerate(cases, start=1):
        began = time.perf_counter()
        verdict = judge(case)
        failures += not verdict.holds
        seconds = time.perf_counter() - began
        print(
            f"{number:4}/{len(cases):<4} {case!s:41} {verdict.status:10} {verdict.objective:16.9g} "
            f"{verdict.error:9.1e} {verdict.reported_gap:9.1e} {verdict.true_gap:9.1e} {seconds:5.1f}"
            f"{'' if verdict.holds else '  FAILED'}",
            flush=True,
        )
    print(f"{len(cases) - failures} of {len(cases)} within {OBJECTIVE_TOLERANCE:g} of the optimum, their gaps true")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(DATA_SETS)))
