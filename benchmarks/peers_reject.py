"""max_error compared with MAPIE's binary risk control and Bonferroni: coverage under the same guarantee and data.

All guarantee an error of at most 0.1 among accepted rows, with confidence 0.9, from 600 calibration rows with scores
N(+-1.1, 1), or N(+-1.5, 1) and 7.5 % of the labels flipped. The true error of a threshold is known in closed form.

- ours: exact binomial tests along all coverages, the level divided among three starts and passed on (risk_control.py).
- MAPIE: BinaryClassificationController with 50 thresholds on the confidence, with the largest coverage chosen; p-values
  by
  Hoeffding and Bentkus, by default with Holm's correction. The thresholds are quantiles of the unlabelled scores, so
  that every coverage from 2 % to 100 % is a candidate. It does not support "fixed_sequence" for rules that may reject.
- Bonferroni: the same 50 thresholds, by exact binomial tests at a fiftieth of the level.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, ndtr

from abstain.rules.tuning.risk_control import certify
from abstain.rules.tuning.scored_rows import ScoredRows

MAX_ERROR, CONFIDENCE, THRESHOLDS = 0.1, 0.9, 50
GENERATORS = {"N(+-1.1, 1)": (1.1, 0.0), "N(+-1.5, 1), 7.5 % flipped": (1.5, 0.075)}

Vector = NDArray[np.float64]
Found = tuple[float, float] | None  # the distance from the cut, and the share of the calibration rows beyond it
Rule = Callable[[Vector, Vector], Found]


def ours(score: Vector, sign: Vector) -> Found:
    """The certificate of ThresholdRejector(max_error=...)."""
    try:
        cuts, certificate = certify(ScoredRows.of(score, sign > 0).answered(), MAX_ERROR, CONFIDENCE, above=0.0)
    except ValueError:
        return None
    return max(float(cuts[0]), 0.0), certificate.coverage


def bonferroni(score: Vector, sign: Vector) -> Found:
    """The largest coverage that passes its test at a fiftieth of the level."""
    distances = _distances(score)
    accepted = np.array([np.sum(np.abs(score) > d) for d in distances])
    errors = np.array([np.sum((np.abs(score) > d) & (np.sign(score) != sign)) for d in distances])
    passed = np.flatnonzero(bdtr(errors.astype(float), accepted, MAX_ERROR) <= (1 - CONFIDENCE) / THRESHOLDS)
    return (float(distances[passed[0]]), float(accepted[passed[0]] / len(score))) if len(passed) else None


def mapie(correction: str) -> Rule:
    """MAPIE's controller; a row is rejected if its score is within the distance."""
    from mapie.risk_control import BinaryClassificationController, BinaryRisk, abstention_rate

    wrong_if_accepted = BinaryRisk(
        risk_occurrence=lambda y_true, y_pred: y_pred != y_true,
        risk_condition=lambda _, y_pred: ~np.isnan(y_pred),
        higher_is_better=False,
    )

    def rule(score: Vector, sign: Vector) -> Found:
        controller = BinaryClassificationController(
            predict_function=lambda s, distance: np.where(np.abs(s) > distance, (s > 0).astype(float), np.nan),
            risk=wrong_if_accepted,
            target_level=MAX_ERROR,
            confidence_level=CONFIDENCE,
            best_predict_param_choice=abstention_rate,
            list_predict_params=_distances(score)[:, np.newaxis],
            fwer_method=correction,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns if it finds no threshold, which is counted here
            controller.calibrate(score, (sign > 0).astype(int))
        if controller.best_predict_param is None:
            return None
        distance = float(controller.best_predict_param[0])
        return distance, float(np.mean(np.abs(score) > distance))

    return rule


def run(calibrations: int = 500, rows: int = 600, seed: int = 0) -> list[dict[str, Any]]:
    """How often each rule breaks the guarantee and finds a threshold, and its mean coverage (0 if it finds none)."""
    rules: dict[str, Rule] = {"abstain": ours, "Bonferroni over 50": bonferroni}
    try:
        rules |= {f"MAPIE, {name}": mapie(name) for name in ("bonferroni_holm", "bonferroni")}
    except ImportError:
        print("mapie is not installed; its rows are left out.")
    return [
        {"generator": generator, "rule": name, **_measure(rule, *settings, calibrations, rows, seed)}
        for generator, settings in GENERATORS.items()
        for name, rule in rules.items()
    ]


def _measure(rule: Rule, shift: float, flipped: float, *size: int) -> dict[str, float]:
    calibrations, rows, seed = size
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(calibrations):
        truth = np.where(rng.random(rows) < 0.5, 1.0, -1.0)
        score = shift * truth + rng.normal(size=rows)
        found.append(rule(score, np.where(rng.random(rows) < flipped, -truth, truth)))
    return {
        "broken": float(
            np.mean([one is not None and _true_error(one[0], shift, flipped) > MAX_ERROR for one in found])
        ),
        "found": float(np.mean([one is not None for one in found])),
        "coverage": float(np.mean([one[1] if one else 0.0 for one in found])),
    }


def _true_error(distance: float, shift: float, flipped: float) -> float:
    wrong, right = ndtr(-shift - distance), ndtr(shift - distance)
    error = wrong / (wrong + right)
    return float(error * (1 - flipped) + (1 - error) * flipped)


def _distances(score: Vector) -> Vector:
    """Distances that accept 100 %, 98 %, ..., 2 % of the rows; labels are not used."""
    farthest = np.sort(np.abs(score))[::-1]
    sizes = np.arange(THRESHOLDS, 0, -1) * len(score) // THRESHOLDS
    return np.array([farthest[k] if k < len(score) else 0.0 for k in sizes])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calibrations", type=int, default=500)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--json", action="store_true", help="numbers for programs instead of a table")
    options = vars(parser.parse_args())
    as_json = options.pop("json")
    results = run(**options)
    if as_json:
        print(json.dumps(results, indent=2))
    else:
        print("| generator | rule | guarantee broken | threshold found | mean coverage |")
        print("| --- | --- | ---: | ---: | ---: |")
        for one in results:
            shown = " | ".join(f"{one[key]:.3f}" for key in ("broken", "found", "coverage"))
            print(f"| {one['generator']} | {one['rule']} | {shown} |")
