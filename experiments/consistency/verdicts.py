"""Claims of the theory about the three rules, and verdicts on our curves by stated criteria."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.numbers import signed

FALL = 10  # factor by which the excess must fall from the smallest n to the largest
RIVALS = ("Chow on Platt", "naive")
TITLES = {"same": "same C_0 and gamma", "oracle": "own best C_0 and gamma", "cross-validated": "cross-validated"}


@dataclass(frozen=True)
class Claim:
    """The claim, what the paper says, our result, and the verdict."""

    text: str
    paper: str
    here: str
    verdict: str


def claims(results: dict[str, Any]) -> list[Claim]:
    """Convergence of the double hinge, inconsistency of the other rules, and which is cheaper in practice."""
    kinds = list(results["costs"])
    found = [_converges(results, way, kind) for way in TITLES for kind in kinds]
    ways = ("same", "oracle")
    found += [_inconsistent(results, way, kind, rival) for way in ways for kind in kinds for rival in RIVALS]
    return found + [_cheaper(results, kind, rival) for kind in kinds for rival in RIVALS]


def significant_sign(item: dict[str, float]) -> int:
    """+1 if the interval lies above 0, -1 if below, 0 otherwise."""
    return int(item["low"] > 0) - int(item["high"] < 0)


def falling(points: list[dict[str, Any]]) -> bool:
    """Whether the excess has halved from the size two steps before the largest."""
    return points[-1]["mean"] <= 0.5 * points[-min(3, len(points))]["mean"]


def converges(points: list[dict[str, Any]]) -> str:
    """The verdict on the double hinge's curve."""
    first, last = points[0]["mean"], points[-1]["mean"]
    if last >= first:
        return "does not hold"
    return "holds" if last * FALL <= first and falling(points) else "cannot be judged"


def inconsistent(points: list[dict[str, Any]], own: list[dict[str, Any]]) -> str:
    """The verdict on another rule's curve, given the double hinge's."""
    above = significant_sign(points[-1]["minus_double_hinge"]) > 0
    if above and falling(own) and not falling(points):
        return "holds"
    return "does not hold" if falling(points) and not above else "cannot be judged"


def _converges(results: dict[str, Any], way: str, kind: str) -> Claim:
    points = results["curves"][way][kind]["double hinge"]
    here = f"{_path(points)}: 1/{points[0]['mean'] / points[-1]['mean']:.0f} of the initial value"
    text = f"the double hinge's risk converges to the Bayes risk ({kind} costs, {TITLES[way]})"
    return Claim(text, "theorem 1", here, converges(points))


def _inconsistent(results: dict[str, Any], way: str, kind: str, rival: str) -> Claim:
    curves = results["curves"][way][kind]
    points = curves[rival]
    here = f"{_path(points)}; minus the double hinge's {_between(points[-1]['minus_double_hinge'])}"
    text = f"“{rival}” is not consistent ({kind} costs, {TITLES[way]})"
    return Claim(text, "introduction", here, inconsistent(points, curves["double hinge"]))


def _cheaper(results: dict[str, Any], kind: str, rival: str) -> Claim:
    last = results["curves"]["cross-validated"][kind][rival][-1]
    sign = significant_sign(last["minus_double_hinge"])
    here = f"at n = {last['n']:,}, its excess minus the double hinge's: {_between(last['minus_double_hinge'])}"
    verdict = {1: "holds", -1: "does not hold", 0: "cannot be judged"}[sign]
    text = f"cross-validated, the double hinge is cheaper than “{rival}” ({kind} costs)"
    return Claim(text, "not compared", here, verdict)


def _path(points: list[dict[str, Any]]) -> str:
    shown = (points[0], points[-min(3, len(points))], points[-1])
    return ", ".join(f"{_tiny(point['mean'])} at n = {point['n']:,}" for point in shown)


def _tiny(value: float) -> str:
    return f"{1e4 * value:.1f}e-4"


def _between(item: dict[str, float]) -> str:
    mean, low, high = (signed(1e4 * item[key], 1) for key in ("mean", "low", "high"))
    return f"{mean} [{low}, {high}] e-4"
