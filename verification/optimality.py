"""Fit RejectSVC on WDBC, Pima, Liver and Thyroid and compare with a general QP solver, for all settings.

    ABSTAIN_DATA=folder python verification/optimality.py [DATA ...]

Prints one line per case, and exits with 1 if the relative error of any objective exceeds 1e-6, or any reported duality
gap is not the true one. Then checks the active set alone, also with every row repeated and with C from 1e-3 to 1e6: its
relative gap must be at rounding level, max(1e-10, 1e-14 C). WDBC and the generated plane need no ABSTAIN_DATA.
"""

# ruff: noqa: INP001, T201 (a script that prints)

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from optimality_cases import DATA_SETS, OBJECTIVE_TOLERANCE, PLANE, all_cases, exact, exact_cases, gap_allowed, judge


def judge_all(names: list[str]) -> int:
    """Compare every case with the general solver; return the number of failures."""
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
    print(f"{len(cases) - failures} of {len(cases)} within {OBJECTIVE_TOLERANCE:g} of the optimum, with true gaps")
    return failures


def certify_all(names: list[str]) -> int:
    """Certify the active set's solution of every case; return the number of failures."""
    cases = [case for name in names for case in exact_cases(name)]
    print(f"{'':9} {'active set':41} {'':6} {'status':10} {'gap':>9} {'allowed':>9} {'s':>5}")
    failures = 0
    for number, (case, twice) in enumerate(cases, start=1):
        began = time.perf_counter()
        status, certificate = exact(case, twice=twice)
        holds = status == "optimal" and certificate.relative_gap <= gap_allowed(case.C)
        failures += not holds
        seconds = time.perf_counter() - began
        print(
            f"{number:4}/{len(cases):<4} {case!s:41} {'twice' if twice else '':6} {status:10} "
            f"{certificate.relative_gap:9.1e} {gap_allowed(case.C):9.1e} {seconds:5.1f}{'' if holds else '  FAILED'}",
            flush=True,
        )
    print(f"{len(cases) - failures} of {len(cases)} exact")
    return failures


def main(names: list[str]) -> int:
    """Check every case of the given data sets; return the exit code."""
    known = (*DATA_SETS, PLANE)
    if unknown := set(names) - set(known):
        print(f"unknown data: {', '.join(sorted(unknown))}; choose from {', '.join(known)}", file=sys.stderr)
        return 2
    if "ABSTAIN_DATA" not in os.environ and set(names) - {"wdbc", PLANE}:
        print("set ABSTAIN_DATA to the folder with the data, or verify only wdbc and plane", file=sys.stderr)
        return 2
    failures = judge_all([name for name in names if name != PLANE]) + certify_all(names)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [*DATA_SETS, PLANE]))
