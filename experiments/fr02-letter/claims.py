"""FR02's claims, our results, and verdicts by stated criteria."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be judged"

# FR02, section 4 (pp. 77-80) and table 1 (p. 79)
TOTAL, NOT_SEPARABLE, ONE_POINT, CONSIDERED = 325, 193, 115, 78
BETTER, NEITHER, WORSE = 40, 27, 11
MINUTES_EMBEDDED, MINUTES_SVMLIGHT = 5, 1

WORDS = {"better": "better at every reject rate", "neither": "neither is better", "worse": "worse at every reject rate"}

RULES = """Three numbers are three splits; risks are differences in errors per 100 rows ± one standard error. A count
holds if the mean over the splits is within two standard deviations of the paper's, √(N p (1 − p)) with the paper's
share p. “Most” holds if it is more than half of the pairs on every split, and does not hold if on none. “Lower risk”
holds if the mean difference is below 0 by two standard errors, and does not hold if it is above 0 by as much. Anything
in between cannot be judged. Neither can the ratio of times: the programs differ, and the machine was shared."""


def exactly(found: int, paper: int) -> str:
    """Equal or not."""
    return HOLDS if found == paper else FAILS


def counted(found: list[int], paper: int, total: int) -> str:
    """Within two standard deviations of a count with the paper's share."""
    share = paper / total
    return HOLDS if abs(float(np.mean(found)) - paper) <= 2 * math.sqrt(total * share * (1 - share)) else FAILS


def most(found: list[int], total: int) -> str:
    """Whether it is more than half on every split, on none, or only on some."""
    more = [2 * count > total for count in found]
    return HOLDS if all(more) else OPEN if any(more) else FAILS


def lower(difference: dict[str, float]) -> str:
    """Below 0, above 0, or within two standard errors of it."""
    mean, error = difference["mean"], 2 * difference["se"]
    return HOLDS if mean < -error else FAILS if mean > error else OPEN


def claims(results: dict[str, Any]) -> list[list[str]]:
    """Rows of the table: claim, paper, here, verdict."""
    pairs = results["pairs"]
    among = CONSIDERED - len(pairs["table_separable"])
    rows = [
        ["pairs of letters that are not linearly separable", f"{NOT_SEPARABLE} of {TOTAL}",
         f"{pairs['not_separable']} of {pairs['total']}", exactly(pairs["not_separable"], NOT_SEPARABLE)],
        ["the pairs of table 1 are among them", f"{CONSIDERED}", f"{among}", exactly(among, CONSIDERED)],
        ["with the external threshold (SVMlight's C), pairs with one point up to 30 % rejects", f"{ONE_POINT} of 193",
         splits(pairs["one_point"]), counted(pairs["one_point"], ONE_POINT, NOT_SEPARABLE)],
    ]  # fmt: skip
    for machine, name in (("dual", "dual: the paper's solver"), ("primal", "primal: the lower objective")):
        tally = results["tallies"][f"{machine} against external_default"]
        rows += [
            [f"{WORDS[kind]} ({name})", f"{paper} of 78", splits(tally[kind]), counted(tally[kind], paper, CONSIDERED)]
            for kind, paper in (("better", BETTER), ("neither", NEITHER), ("worse", WORSE))
        ]
    return rows + _trade_off(results) + [_time(results)]


def _trade_off(results: dict[str, Any]) -> list[list[str]]:
    """The paper's conclusion, against either baseline: better on most pairs, and lower in risk."""
    rows = []
    for base, name in (("external_default", "SVMlight's C"), ("external_same", "the same C")):
        for machine in ("dual", "primal"):
            key = f"{machine} against {base}"
            better = results["tallies"][key]["better"]
            difference = results["differences"]["test"][key]["overall"]
            rows += [
                [f"better trade-off “in the most of cases” ({machine}, threshold at {name})", "51 %", splits(better),
                 most(better, CONSIDERED)],
                [f"lower test risk ({machine}, threshold at {name})", "implied", points(difference), lower(difference)],
            ]  # fmt: skip
    return rows


def _time(results: dict[str, Any]) -> list[str]:
    seconds = results["seconds_per_fit"]
    found, paper = seconds["dual"] / seconds["svm"], MINUTES_EMBEDDED / MINUTES_SVMLIGHT
    claim = "training time relative to the plain SVM (dual)"
    return [claim, f"about {paper:.0f}", f"{found:.0f}", OPEN]


def splits(found: list[int]) -> str:
    """One number for each split."""
    return ", ".join(map(str, found))


def points(difference: dict[str, float]) -> str:
    """A difference of risk, in errors per 100 rows."""
    mean = f"{100 * difference['mean']:+.3f}".replace("-", "−")
    return f"{mean} ± {100 * difference['se']:.3f}"
