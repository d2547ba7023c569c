"""GRKC08's statements about its table 1, and verdicts on our numbers by stated criteria."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.numbers import signed
from harness.pages import share

# GRKC08, section 3 ("Note on a Close Relative") and section 5; the numbers of the table are not available.
PAPER_EQUAL_PRICE = 0.24
NAMES = {"bartlett-wegkamp": "Bartlett-Wegkamp"}
NOISY = ("liver", "pima")  # "For noisy problems such as Liver and Pima"
CONSIDERABLY = 0.25  # the share by which the error among accepted rows must fall
TENDS = 0.75  # the share of comparisons needed for "tends to"
EVEN = 0.002  # mean losses closer than this count as equal


@dataclass(frozen=True)
class Claim:
    """What the paper says, our result, and the verdict."""

    text: str
    paper: str
    here: str
    verdict: str


def claims(results: dict[str, Any]) -> list[Claim]:
    """All claims, in the paper's order."""
    return [
        _equal_rules(results),
        _cheap_rejects(results),
        _equivalent(results),
        _consistent(results),
        _naive(results, "rejected", "the naive rule rejects fewest", below=True),
        _naive(results, "errors", "the naive rule makes most errors", below=False),
        _considerably(results),
        _closer(results),
    ]


def _verdict(*, holds: bool) -> str:
    return "holds" if holds else "does not hold"


def _pairs(results: dict[str, Any], measure: str) -> list[dict[str, Any]]:
    tables = results["all"][str(results["price"])].values()
    return [found[measure] for item in tables for found in item["minus_double_hinge"].values()]


def _mean(results: dict[str, Any], price: float, data: str, rule: str, measure: str) -> float:
    return results["all"][str(price)][data]["rules"][rule][measure]["mean"]


def _equal_rules(results: dict[str, Any]) -> Claim:
    found = results["equal_rules_at"]
    holds = round(found, 2) == PAPER_EQUAL_PRICE
    text = "the double hinge's rule and Bartlett-Wegkamp's are the same at one reject cost"
    return Claim(text, f"r ≈ {PAPER_EQUAL_PRICE:g}", f"r = {found:.4f}", _verdict(holds=holds))


def _cheap_rejects(results: dict[str, Any]) -> Claim:
    high, low = results["prices"][0], results["prices"][-1]
    thresholds = {r: results["thresholds"][str(r)] for r in (high, low)}
    rules, data = ("double hinge", "bartlett-wegkamp"), results["shapes"]
    rates = {r: {d: [_mean(results, r, d, k, "rejected") for k in rules] for d in data} for r in (high, low)}
    more = sum(a > b for a, b in rates[low].values())
    fewer = sum(a < b for a, b in rates[high].values())
    here = (
        f"threshold {thresholds[low]:.2f} at r = {low:g}, {thresholds[high]:.2f} at {high:g}, against 1/2; each with "
        f"its own C and gamma: more rejects at {low:g} on {more} of {len(data)} data sets, fewer at {high:g} on {fewer}"
    )
    text = "the double hinge rejects more than Bartlett-Wegkamp where rejecting is cheap, fewer otherwise"
    return Claim(text, "yes", here, _verdict(holds=thresholds[low] > 0.5 > thresholds[high]))


def _equivalent(results: dict[str, Any]) -> Claim:
    found = _pairs(results, "loss")
    apart = sum(item["low"] > 0 or item["high"] < 0 for item in found)
    widest = max(max(-item["low"], item["high"]) for item in found)
    here = f"{apart} of {len(found)} differences significant; all intervals within ±{widest:.3f}"
    return Claim("equivalent average test losses", "all methods", here, _verdict(holds=apart == 0))


def _consistent(results: dict[str, Any]) -> Claim:
    found = _pairs(results, "loss")
    better = sum(item["mean"] > 0 for item in found)
    ten = [item["loss"]["mean"] > 0 for one in results["ten"].values() for item in one["minus_double_hinge"].values()]
    spread = f"{signed(min(item['mean'] for item in found))} to {signed(max(item['mean'] for item in found))}"
    here = f"better in {better} of {len(found)} comparisons (first trials alone: {sum(ten)}), by {spread}"
    text = "a consistent advantage of the double hinge, not significant"
    return Claim(text, "in all comparisons", here, _verdict(holds=better == len(found)))


def _naive(results: dict[str, Any], measure: str, text: str, *, below: bool) -> Claim:
    sets, price = list(results["shapes"]), results["price"]
    rivals = ("bartlett-wegkamp", "double hinge")
    pairs = [[_mean(results, price, d, k, measure) for k in ("naive", rival)] for d in sets for rival in rivals]
    so = sum((own < other) if below else (own > other) for own, other in pairs)
    here = f"in {so} of {len(pairs)} comparisons"
    return Claim(text, "tends to", here, _verdict(holds=so >= TENDS * len(pairs)))


def _considerably(results: dict[str, Any]) -> Claim:
    sets = [name for name in NOISY if name in results["shapes"]]
    text = "lower reject costs considerably reduce the error among accepted rows on Liver and Pima"
    if not sets:
        return Claim(text, "yes (not shown)", "not run", "cannot be judged")
    high, low = results["prices"][0], results["prices"][-1]
    rules = ("naive", "bartlett-wegkamp", "double hinge")
    pairs = {(d, k): [_mean(results, r, d, k, "wrong_of_decided") for r in (high, low)] for d in sets for k in rules}
    holds = all(b <= (1 - CONSIDERABLY) * a for a, b in pairs.values())
    falls = [f"{d.capitalize()}, {NAMES.get(k, k)}: {share(a)} to {share(b)}" for (d, k), (a, b) in pairs.items()]
    return Claim(text, "yes (not shown)", "; ".join(falls), _verdict(holds=holds))


def _closer(results: dict[str, Any]) -> Claim:
    sets = [name for name in NOISY if name in results["shapes"]]
    text = "there the two rules on the double hinge get closer"
    if not sets:
        return Claim(text, "yes (not shown)", "not run", "cannot be judged")
    rules = ("bartlett-wegkamp", "double hinge")
    losses = {d: [[_mean(results, r, d, k, "loss") for k in rules] for r in results["prices"]] for d in sets}
    gaps = {d: [first - second for first, second in pairs] for d, pairs in losses.items()}
    holds = all(abs(gap) < max(abs(first), EVEN) for first, *lower in gaps.values() for gap in lower)
    prices = ", ".join(f"{r:g}" for r in results["prices"])
    here = "; ".join(f"{d.capitalize()} {', '.join(signed(gap) for gap in gap_list)}" for d, gap_list in gaps.items())
    return Claim(text, "yes (not shown)", f"loss differences at r = {prices}: {here}", _verdict(holds=holds))
