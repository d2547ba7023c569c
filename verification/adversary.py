"""Fit 2,000 random hard problems and recompute every proof in code of its own; likewise 200 paths in C.

    python verification/adversary.py [PROBLEMS] [FIRST_SEED]

Kernels, offsets up to 1e7, scales from 1e-4 to 1e6, outliers, C from 1e-3 to 1e7, CSR rows, weights (also 0), repeated
and identical rows, all costs. One problem in 50 has 1,100 to 2,500 rows, where the solver works in single precision.
Prints every fault and a table by status, and exits with 1 if

- a reported duality gap is below half the true one and more than 1e-8 below it,
- a status is "optimal" with a true gap above 10 max(tol, 1e-3),
- coefficients leave their boxes or do not sum to 0,
- a path gives a point with a relative gap above 1e-6 without an error, or
- the control is not caught: machines with a coefficient or the bias nudged, or with scores in single precision.
"""

# ruff: noqa: INP001, T201 (a script that prints)

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from adversary_cases import check_fit, random_case
from adversary_controls import missed_controls
from adversary_paths import check_path

LARGE = 50  # one problem in so many is large
PATHS = 10  # one path for so many problems


def fits(problems: int, first: int) -> int:
    """Judge the fits; return the number of problems with a fault."""
    ended, failures, worst = Counter[str](), 0, 0.0
    for seed in range(first, first + problems):
        case = random_case(seed, large=seed % LARGE == 0)
        verdict = check_fit(case)
        ended[verdict.status] += 1
        if verdict.status == "optimal" and verdict.true == verdict.true:
            worst = max(worst, verdict.true)
        if verdict.faults:
            failures += 1
            print(f"FAILED {case}", *verdict.faults, sep="\n    ", flush=True)
    print(
        f"{problems - failures} of {problems} proofs hold; ended: {dict(ended)}; worst gap of an optimum: {worst:.2g}"
    )
    return failures


def paths(problems: int, first: int) -> int:
    """Judge the paths; return the number with a fault."""
    ended, failures, worst = Counter[str](), 0, 0.0
    for seed in range(first, first + problems):
        case = random_case(seed, path=True)
        if case.options["kernel"] == "sigmoid":
            ended["indefinite, left out"] += 1
            continue
        verdict = check_path(case)
        ended[verdict.status] += 1
        if verdict.true == verdict.true:
            worst = max(worst, verdict.true)
        if verdict.faults:
            failures += 1
            print(f"FAILED path {case}", *verdict.faults, sep="\n    ", flush=True)
    print(f"{problems - failures} of {problems} paths hold; ended: {dict(ended)}; worst gap returned: {worst:.2g}")
    return failures


def main(problems: int, first: int) -> int:
    """Check everything; return the exit code."""
    began = time.perf_counter()
    failures = fits(problems, first)
    print(f"fits: {time.perf_counter() - began:.0f} s")
    failures += paths(problems // PATHS, first)
    missed = missed_controls()
    print("controls: " + (f"MISSED {', '.join(missed)}" if missed else "all caught"))
    print(f"{time.perf_counter() - began:.0f} s in all")
    return 1 if failures or missed else 0


if __name__ == "__main__":
    given = [int(number) for number in sys.argv[1:]]
    sys.exit(main(*given, *(2000, 0)[len(given) :]))
