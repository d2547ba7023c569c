"""The summary of the runs: separability, counts by FR02's rule, risks and paired differences, curves, times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from curves import KINDS, MAX_REJECT_RATE, better, curve, paired, risks
from measure_machines import FACTORS, MACHINES, REJECT_COSTS, C
from measure_pairs import PAIRS, TABLE
from numpy.typing import NDArray

BASELINES = ("external_default", "external_same")


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Separability, counts by FR02's rule, risks and paired differences, the curves to draw, times."""
    every, scaled = _gathered(answers, "separable"), _gathered(answers, "scaled")
    seeds = sorted({int(key.split()[-1]) for key in answers if key.startswith("curves")})
    runs = [_gathered(answers, "curves", f"split {seed}") for seed in seeds]
    pairs = [name for name in PAIRS if name in runs[0]]
    counts = {
        machine: np.array([[run[name]["counts"][machine] for run in runs] for name in pairs]) for machine in MACHINES
    }
    n = np.array([[run[name]["n"] for run in runs] for name in pairs])
    verdicts = _verdicts(counts, n)
    return {
        "settings": {"C": C, "seeds": seeds, "reject_costs": list(REJECT_COSTS), "max_reject_rate": MAX_REJECT_RATE},
        "pairs": _pairs(every, pairs),
        "rows": {half: [int(n[..., k].min()), int(n[..., k].max())] for k, half in enumerate(("train", "test"))},
        "table": {row: " ".join(names) for row, names in TABLE.items()},
        "verdicts": {key: dict(zip(pairs, map("".join, found), strict=True)) for key, found in verdicts.items()},
        "tallies": {key: _tally(found, pairs) for key, found in verdicts.items()},
        "baseline_C": {"factors": list(FACTORS), **_sweep(counts, n, runs, pairs)},
        "scaled": _scaled(scaled, counts["external_default"], n, pairs),
        **_risks(counts, n),
        "curves": {name: _drawn(counts, n, pairs.index(name)) for name in _shown(pairs, verdicts)},
        "seconds_per_fit": _seconds(runs),
    }


def _gathered(answers: Mapping[str, Any], start: str, end: str = "") -> dict[str, Any]:
    """The answers of one kind of task, by pair."""
    parts = [part for key, part in answers.items() if key.startswith(start) and key.endswith(end)]
    return {name: item for part in parts for name, item in part.items()}


def _pairs(every: Mapping[str, Any], pairs: list[str]) -> dict[str, Any]:
    """Which pairs are not separable, and for how many of them FR02's baseline has fewer than two points up to 30 %."""
    crossed = [name for name, item in every.items() if not item["separable"]]
    few = {name: [_points(*split) < 2 for split in item["baseline"]] for name, item in every.items()}
    return {
        "total": len(every),
        "not_separable": len(crossed),
        "names": " ".join(crossed),
        "table_separable": [name for name in pairs if every[name]["separable"]],
        "one_point": np.sum([few[name] for name in crossed], axis=0).tolist(),
        "one_point_of_table": np.sum([few[name] for name in pairs], axis=0).tolist(),
    }


def _points(n: int, counts: list[list[int]]) -> int:
    return len({tuple(point) for point in counts if point[0] <= MAX_REJECT_RATE * n})


def _test_curve(counts: NDArray[np.int64], n: NDArray[np.int64], pair: int, split: int) -> Any:
    rejects, errors = counts[pair, split, :, 2], counts[pair, split, :, 3]
    return curve(rejects, errors, int(n[pair, split, 1]))


def _verdicts(counts: Mapping[str, NDArray[np.int64]], n: NDArray[np.int64]) -> dict[str, list[list[str]]]:
    return {
        f"{first} against {second}": _compared(counts[first], counts[second], n) for first, second in _comparisons()
    }


def _compared(first: NDArray[np.int64], second: NDArray[np.int64], n: NDArray[np.int64]) -> list[list[str]]:
    """For each pair the initial of FR02's verdict on each split."""
    pairs, splits = n.shape[:2]
    curves = [
        [[_test_curve(counts, n, i, k) for k in range(splits)] for i in range(pairs)] for counts in (first, second)
    ]
    return [[better(curves[0][i][k], curves[1][i][k])[0] for k in range(splits)] for i in range(pairs)]


def _sweep(
    counts: Mapping[str, NDArray[np.int64]], n: NDArray[np.int64], runs: list[dict[str, Any]], pairs: list[str]
) -> dict[str, Any]:
    """FR02's machine against an external threshold on SVMs of increasing C: counts for each factor."""
    swept = np.array([[run[name]["sweep"] for run in runs] for name in pairs])
    return {
        machine: [_kinds(_compared(counts[machine], swept[:, :, k], n)) for k in range(len(FACTORS))]
        for machine in ("primal", "dual")
    }


def _scaled(
    scaled: Mapping[str, Any], base: NDArray[np.int64], n: NDArray[np.int64], pairs: list[str]
) -> dict[str, Any]:
    """FR02's machine on scaled features against SVMlight's default C, on the first split."""
    rows = [pairs.index(name) for name in scaled]
    found = {solver: np.array([[item[solver]] for item in scaled.values()]) for solver in ("primal", "dual")}
    return {solver: _kinds(_compared(values, base[rows], n[rows, :1])) for solver, values in found.items()}


def _kinds(found: list[list[str]]) -> dict[str, list[int]]:
    """How many pairs of each kind on each split."""
    return {kind: [split.count(kind[0]) for split in zip(*found, strict=True)] for kind in KINDS}


def _comparisons() -> list[tuple[str, str]]:
    """Every machine against either baseline, and the baselines against each other."""
    default, same = BASELINES
    others = [machine for machine in MACHINES if machine not in BASELINES]
    return [(machine, default) for machine in (*others, same)] + [(machine, same) for machine in others]


def _tally(found: list[list[str]], pairs: list[str]) -> dict[str, Any]:
    """Number of pairs of each kind: on each split, by FR02's rows, and the same on every split."""
    always = Counter(marks[0] for marks in found if len(set(marks)) == 1)
    by_row = {
        row: [sum(mark == kind[0] for name, marks in zip(pairs, found, strict=True) if name in names for mark in marks)
              / len(found[0]) for kind in KINDS]
        for row, names in TABLE.items()
    }  # fmt: skip
    return {
        **_kinds(found),
        "on_every_split": {kind: always[kind[0]] for kind in KINDS},
        "by_row_of_FR02": by_row,
    }


def _risks(counts: Mapping[str, NDArray[np.int64]], n: NDArray[np.int64]) -> dict[str, Any]:
    """Mean risks by reject cost, and paired differences, in training and test."""
    costs = np.array(REJECT_COSTS)
    halves_of = {"training": (slice(0, 2), 0), "test": (slice(2, 4), 1)}
    means: dict[str, Any] = {}
    differences: dict[str, Any] = {}
    for half, (columns, which) in halves_of.items():
        risk = {machine: risks(values[..., columns], n[..., which], costs) for machine, values in counts.items()}
        means[half] = {machine: values.mean(axis=(0, 1)).tolist() for machine, values in risk.items()}
        differences[half] = {
            f"{first} against {second}": paired(risk[first] - risk[second]) for first, second in _comparisons()
        }
    rejected = {
        machine: (values[..., 2] / n[..., 1, None]).mean(axis=(0, 1)).tolist() for machine, values in counts.items()
    }
    return {"mean_risk": means, "differences": differences, "test_reject_rate": rejected}


def _shown(pairs: list[str], verdicts: Mapping[str, list[list[str]]]) -> list[str]:
    """The first pair of each of FR02's rows, then the first new one of each kind against the same C on split 0."""
    chosen = [name for names in TABLE.values() for name in [name for name in pairs if name in names][:1]]
    first = [marks[0] for marks in verdicts["primal against external_same"]]
    for kind in KINDS:
        new = [name for name, mark in zip(pairs, first, strict=True) if mark == kind[0] and name not in chosen]
        chosen += new[:1]
    return chosen


def _drawn(counts: Mapping[str, NDArray[np.int64]], n: NDArray[np.int64], pair: int) -> dict[str, Any]:
    """The machines' curves on the test half of split 0."""
    drawn = {}
    for machine, values in counts.items():
        rate, accuracy = _test_curve(values, n, pair, 0)
        drawn[machine] = {"reject_rate": rate.round(6).tolist(), "accuracy": accuracy.round(6).tolist()}
    return drawn


def _seconds(runs: list[dict[str, Any]]) -> dict[str, float]:
    """Mean CPU seconds of one fit: FR02's machine, the double hinge, and a plain SVM with SVMlight's C."""
    fits = {machine: len(REJECT_COSTS) for machine in MACHINES if machine not in BASELINES} | {"svm": 1}
    every = [item["seconds"] for run in runs for item in run.values()]
    return {name: round(float(np.mean([one[name] for one in every])) / many, 6) for name, many in fits.items()}
