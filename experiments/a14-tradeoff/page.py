"""The page of A14 figure 8."""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.pages import number, run_it, share, table

RULES = {  # key: name, colour, line style, marker
    "chow": ("Chow's rule (GRKC08)", "#000000", "-", "o"),
    "half": ("Bartlett-Wegkamp, δ₀ = 1/2", "#D55E00", (0, (6, 2)), "s"),
}
SETS = {
    "synthetic": "synthetic",
    "ecg": "ECG, records 214 and 221",
    "forest": "forest",
    "ecg21": "ECG, all 21 records",
}
# A14 section 5, text beside figure 8: the error-reject ratio for 0.4 <= r <= 0.5
PAPER = {
    "chow": {"synthetic": -0.58, "ecg": -0.84, "forest": -0.42},
    "half": {"synthetic": -0.15, "ecg": -0.23, "forest": -0.22},
}
PAPER_N, PAPER_FEATURES = 3546, 7  # A14 section 5: normal beats of records 214 and 221, features per beat
STEPS = 0.95  # "monotonic": at least this share of the steps from one reject cost to the next, over all repetitions
TOO_WIDE = 0.15  # a ratio with a larger standard error is not judged

Results = dict[str, Any]


def page(results: Results) -> str:
    """README.md."""
    parts = [
        INTRODUCTION,
        theory(results),
        protocol(results),
        ratios(results),
        FIGURE,
        costs(results),
        verdicts(results),
    ]
    return "\n\n".join([*parts, CAVEATS + low_prices(results), run_it(results)]) + "\n"


INTRODUCTION = """# Error against reject rate (A14, figure 8)

As the reject cost r falls from 0.5 to 0.12, the reject rate R grows and the error rate E falls. Amirou et al. (A14, \
section 5) plot E against R for Chow's rule on the double hinge (GRKC08) and for Bartlett and Wegkamp's machine with \
δ₀ = 1/2 (BW08), and measure the slope ΔE/ΔR between r = 0.5 and r = 0.4, Chow's error-reject ratio: minus the share \
of newly rejected rows that would have been wrong. They report −0.58, −0.84 and −0.42 for Chow's rule on synthetic, \
ECG and forest data, and −0.15, −0.23 and −0.22 for BW08's rule, interpret them as "58 %, 84 % and 42 % of the \
rejected patterns would have been erroneously classified", and conclude that Chow's rule "should lead to a better \
classification cost"."""

FIGURE = """![Error rate against reject rate, two rules on each data set](tradeoff.png)

Each marker is one reject cost, from r = 0.5 (left) to 0.12 (right). The filled markers are r = 0.5 and r = 0.4, \
between which the ratio is taken (thin straight lines). The two rules follow nearly the same curve but lie at \
different points of it at a given reject cost."""

CAVEATS = """## Caveats

- The slope between two reject costs describes the rows *newly* rejected between them. For BW08's rule, which already \
rejects many rows at r = 0.5, it does not describe all rejected rows, as the paper's interpretation assumes. The share \
wrong among all rejected rows is in the table above.
- Comparing slopes of two rules at one reject cost compares two points on nearly the same curve. The relevant \
comparison is the mean cost at the same reject cost, given in the table of costs.
- At r = 1/2 BW08's rule is taken as printed, |f| > 1/2; `BartlettWegkamp` in this library rejects nothing there, \
because rejecting cannot pay.
- On records 214 and 221 a test half contains only a handful of errors, so a ratio from a single split is a quotient \
of a few rows; the pooled ratio is still uncertain. Beats of one patient are in both halves, see \
[a14-ecg](../a14-ecg/README.md)."""


def low_prices(results: Results) -> str:
    """One more caveat if BW08's rule is cheaper at the lowest reject cost."""
    saved = {name: found["saved"] for name, found in results["sets"].items()}
    names = [SETS[name] for name, own in saved.items() if own["mean"][-1] < -2 * own["se"][-1]]
    if not names:
        return ""
    return (
        f"\n- At r = {results['prices'][-1]:g} BW08's rule is cheaper on: {', '.join(names)}. There the regulariser "
        "pulls the score towards 0 ([a14-rates](../a14-rates/README.md)). Chow's rule, which treats the score as "
        "log-odds, rejects too much, and the narrower band is closer to Bayes' rule."
    )


def theory(results: Results) -> str:
    """What Chow's theorem implies."""
    bayes, high, low = results["bayes"], 0.5, 0.4
    return f"""## What to expect

For Bayes' rule dE/dR = −r (Chow 1970): at reject cost r, the next rows to be rejected would be wrong with probability \
r, so between r = {high:g} and r = {low:g} the ratio lies between −{high:g} and −{low:g}. For the synthetic \
distribution it is {_minus(bayes["ratio"])}, computed exactly. A ratio below −0.5 would mean that the machine does \
worse than chance on the rows it rejects. For BW08's rule on a calibrated score the newly rejected rows have |f| \
between ½ H(0.5)/0.5 and ½ H(0.4)/0.4, which makes the ratio {_minus(_calibrated(0.5))} to \
{_minus(_calibrated(0.4))}."""


def _calibrated(r: float) -> float:
    """Minus the probability of an error at the threshold of delta_0 = 1/2, if f were the log-odds."""
    entropy = -r * np.log(r) - (1 - r) * np.log(1 - r)
    return float(-1 / (1 + np.exp(0.5 * entropy / r)))


def protocol(results: Results) -> str:
    """The protocol, and where it departs from the paper."""
    synthetic, search, settings = results["synthetic"], results["search"], results["settings"]
    sizes = "; ".join(
        f"{SETS[name]}: {own['positives']} against {own['negatives']} rows, {own['features']} features"
        for name, own in settings.items()
        if name != "synthetic"
    )
    repetitions = ", ".join(f"{SETS[name]} {own['repetitions']}" for name, own in settings.items())
    chosen = "; ".join(
        f"{SETS[name]}: C {own['C'][0]:g} to {own['C'][2]:g}, γ {own['gamma'][0]:.3g} to {own['gamma'][2]:.3g}"
        for name, own in settings.items()
    )
    gaps = [gap for own in settings.values() for gap in own["gaps"]]
    fits = "every fit ended optimal"
    if gaps:
        fits = f"{len(gaps)} fits ended inaccurate, at a relative duality gap up to {max(gaps):.2g}, the others optimal"
    return f"""## Protocol

- **Data.** Synthetic: the paper gives neither size nor means; here two features, unit covariance, means \
{synthetic["distance"]:g} standard deviations apart, {synthetic["train"]} training and {synthetic["test"]} test rows, \
redrawn in each repetition. {sizes or "No other set in this run"}. The paper has {PAPER_N} normal beats of the two \
records and {PAPER_FEATURES} features that are not available; all 21 records are added because the two alone have \
hardly any errors.
- **Splits.** Stratified random halves; features standardised on the training rows (for the forest data, the ten \
numeric ones). The paper does not describe its split. Repetitions: {repetitions}.
- **Machines.** RBF kernel (the paper does not give its kernel, C or width). C and γ are chosen once per repetition by \
5-fold cross-validation of the mean cost at r = {search["price"]:g}, where the rules coincide, on at most \
{search["rows"]} training rows. Chosen: {chosen}. Then one machine for each of {len(results["prices"])} reject costs \
from {max(results["prices"]):g} to {min(results["prices"]):g}; both rules use the same scores; {fits}.
- **Errors** are standard errors: over independent repetitions for the synthetic data, and with Nadeau and Bengio's \
correction for overlapping halves for the others. A ratio is the quotient of the mean steps; its error is linearised."""


def ratios(results: Results) -> str:
    """The table of ratios."""
    rows = []
    for name in results["sets"]:
        found = results["sets"][name]
        for rule, words in RULES.items():
            paper, own, among = PAPER[rule].get(name), found["ratio"][rule], found["wrong_among_rejected"][rule]
            first, last = (found["curves"][rule]["reject"][k] for k in ends(results))
            rows.append(
                [
                    SETS[name],
                    words[0],
                    "not given" if paper is None else _minus(paper),
                    number(own["mean"], own["se"]),
                    f"{share(first, digits=2)} → {share(last, digits=2)}",
                    share(among["mean"], among["se"], 0),
                ]
            )
    head = [
        "data",
        "rule",
        "ratio, paper",
        "ratio, here",
        "reject rate at r = 0.5 → 0.4",
        "wrong among all rejected at r = 0.4",
    ]
    return "## The error-reject ratio for r from 0.5 to 0.4\n\n" + table(head, rows)


def ends(results: Results) -> tuple[int, int]:
    """Positions of the two reject costs between which the ratio is taken."""
    return results["prices"].index(0.5), results["prices"].index(0.4)


def costs(results: Results) -> str:
    """The cost of the rules at the same reject cost."""
    rows = []
    for name, found in results["sets"].items():
        cells = []
        for r in (0.5, 0.4, 0.3, 0.2, 0.12):
            k = results["prices"].index(r)
            cells.append(_thousandths(found["saved"]["mean"][k], found["saved"]["se"][k]))
        equal = found["equal_reject"]
        rows.append([SETS[name], *cells, _thousandths(equal["mean"], equal["se"])])
    head = ["data", *(f"r = {r:g}" for r in (0.5, 0.4, 0.3, 0.2, 0.12)), "error at equal reject rate"]
    words = (
        "Mean cost E + r R on the test rows, in thousandths of an error per row: BW08's rule minus Chow's on the same "
        "machine, so a positive number is what Chow's rule saves. Last column: error rate of Chow's rule minus that of "
        "BW08's, with both rejecting as many rows as BW08's does at r = 0.4; 0 means that they are on the same curve."
    )
    return "## Costs\n\n" + words + "\n\n" + table(head, rows)


def _thousandths(value: float, error: float) -> str:
    return number(1000 * value, 1000 * error)


def verdicts(results: Results) -> str:
    """The table of claims."""
    rows = [row for name in SETS if name in results["sets"] for row in judged(results["sets"][name], name)]
    rule = (
        "Criteria: a published ratio holds if it lies within two standard errors or 0.05 of ours, and is not judged if "
        f"our standard error exceeds {TOO_WIDE:g}. “Steeper” and “cheaper” hold if the difference has that sign by "
        "more than two standard errors, do not hold if it has the opposite sign by as much, and cannot be judged in "
        f"between. “Monotonic” holds if R does not fall and E does not rise on at least {share(STEPS, digits=0)} of "
        "the steps to the next lower reject cost."
    )
    return "## Does the claim hold?\n\n" + table(["claim", "paper", "here", "verdict"], rows) + "\n\n" + rule


def judged(found: Results, name: str) -> list[list[str]]:
    """Claim, paper, here, verdict: the rows of one set."""
    rows = []
    for rule, words in RULES.items():
        paper, own = PAPER[rule].get(name), found["ratio"][rule]
        if paper is not None:
            claim = f"{SETS[name]}: the ratio of {words[0]}"
            rows.append([claim, _minus(paper), number(own["mean"], own["se"]), _same(paper, own)])
    steeper, expensive, everywhere = found["steeper"], found["saved_dear"], found["saved_all"]
    both = [_minus(PAPER[rule][name]) for rule in RULES if name in PAPER[rule]]
    paper = " against ".join(both) or "not given"
    claim = f"{SETS[name]}: Chow's rule has the steeper ratio"
    rows.append(
        [claim, paper, f"difference {number(steeper['mean'], steeper['se'])}", _sign(-steeper["mean"], steeper["se"])]
    )
    cheap = {"mean": found["saved"]["mean"][-1], "se": found["saved"]["se"][-1]}
    for words, saved in (("for r from 0.4 to 0.5", expensive), ("over all r", everywhere), ("at r = 0.12", cheap)):
        here = f"saves {_thousandths(saved['mean'], saved['se'])} thousandths per row"
        claim = f"{SETS[name]}: Chow's rule is cheaper, {words}"
        rows.append([claim, "“should lead to”", here, _sign(saved["mean"], saved["se"])])
    steps = found["monotone"]
    here = f"{share(steps['chow'], digits=0)} of the steps for Chow's rule, {share(steps['half'], digits=0)} for BW08's"
    verdict = "holds" if min(steps.values()) >= STEPS else "does not hold"
    rows.append([f"{SETS[name]}: E and R are monotonic functions of r", "yes", here, verdict])
    return rows


def _same(paper: float, own: dict[str, float]) -> str:
    if not own["se"] <= TOO_WIDE:
        return "cannot be judged"
    return "holds" if abs(paper - own["mean"]) <= max(2 * own["se"], 0.05) else "does not hold"


def _sign(value: float, error: float) -> str:
    if not abs(value) > 2 * error:
        return "cannot be judged"
    return "holds" if value > 0 else "does not hold"


def _minus(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
