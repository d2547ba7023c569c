"""The page of A14 figures 9 and 10."""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.pages import number, run_it, share, table
from scipy.stats import binomtest

SPLITS = {
    "beat": "by beats",
    "record": "by records",
    "pair-beat": "214 + 221, by beats",
    "pair-record": "214 + 221, by records",
}
JUDGED = ("beat", "record")
# A14 section 5, text beside figures 9 and 10
PAPER_SENSITIVITY, PAPER_SENSITIVITY_BEST, PAPER_PREDICTIVITY, PAPER_REJECT = 0.982, 0.99, 0.998, 0.018
PAPER_RANGE = (0.12, 0.5)  # reject costs of its other sweep, beside figure 8
PAPER_FEATURES = 7
CLOSE = 0.005  # "close to 99.8 %"
FLAT = 0.1  # "quasi constant": the last slope is below this share of the first

Results = dict[str, Any]


def page(results: Results) -> str:
    """README.md."""
    parts = [
        INTRODUCTION,
        protocol(results),
        measures(results),
        FIGURE,
        prices(results),
        verdicts(results),
        caveats(results),
    ]
    return "\n\n".join([*parts, run_it(results)]) + "\n"


INTRODUCTION = """# Ventricular beats, split by beats and by patients (A14, figures 9 and 10)

Amirou et al. (A14, section 5) classify ventricular ectopic beats (V, positive) against normally conducted ones (N, L, \
R) in 21 records of the MIT-BIH arrhythmia database, where a missed V costs θ = 1.2 times as much as a false alarm. As \
the reject cost r decreases they report: sensitivity above 98.2 % with no rejects and above 99 % at the least \
classification cost; positive predictivity close to 99.8 %; an error that falls to a nearly constant rate; and a least \
cost (their equation 23) that is not at r = 0.5 but where 1.8 % of the beats are rejected. They do not say how the \
beats were split. Beats of one patient resemble each other, so after a split by beats the machine is tested on \
patients it was trained on. We report both splits."""

FIGURE = """![Error rate and error-reject ratio against reject rate](tradeoff.png)

![Classification cost, sensitivity and positive predictivity against reject rate](cost.png)

Markers are the reject costs, from r = 0.545 at the left, where nothing is rejected, to the smallest at the right. \
Bands are one standard error (of the logarithm on logarithmic axes). The reject rate axis is logarithmic from 0.05 % \
on, with 0 at its left end."""


def protocol(results: Results) -> str:
    """The protocol, and where it departs from the paper."""
    splits, search = results["splits"], results["search"]
    one = splits.get("record") or next(iter(splits.values()))
    chosen = "; ".join(
        f"{SPLITS[name]}: C {own['C'][0]:g} to {own['C'][2]:g}, γ {own['gamma'][0]:.3g} to {own['gamma'][2]:.3g}"
        for name, own in splits.items()
    )
    gaps = [gap for own in splits.values() for gap in own["gaps"]]
    fits = "every fit ended optimal"
    if gaps:
        fits = f"{len(gaps)} fits ended inaccurate, at a relative duality gap up to {max(gaps):.2g}, the others optimal"
    return f"""## Protocol

- **Data.** {one["beats"][1]} V and {one["beats"][0]} N/L/R beats of {one["records"]} records; {one["features"]} \
features of our own from intervals and shape, standardised on the training beats. The paper's {PAPER_FEATURES} \
features are not available. One of ours, the correlation with the record's median beat, uses the record's other beats \
without their labels.
- **By beats:** {one["folds"]} stratified folds of all beats, regardless of the patient. **By records:** \
{one["folds"]} folds of whole records, so that no beat of a tested patient is used for training. In both, every beat \
is decided once; training uses at least {one["train"]} beats; {one["repetitions"]} repetitions with different folds. \
**214 + 221:** the two records of the paper's first tests alone, in folds of beats, and trained on one and tested on \
the other.
- **Machines.** Double hinge, Chow's rule, RBF kernel, c_fp = 1, c_fn = θ = {results["theta"]:g}, one machine for each \
of {len(results["prices"])} reject costs r from {max(results["prices"]):.3f} = θ/(1 + θ), where nothing is rejected, \
to {min(results["prices"]):g}. C and γ by 5-fold cross-validation of the mean cost at r = {search["price"]:g} on \
{search["rows"]} training beats, in folds of beats or of records to match the test. The paper does not give its \
kernel, C or width. Chosen: {chosen}; {fits}.
- **Errors** are standard errors over resampled records, because beats of one patient are not independent. None are \
given for two records."""


def measures(results: Results) -> str:
    """The table of metrics at some reject costs, for all splits."""
    at = [0, *(results["prices"].index(r) for r in (0.5, 0.3, 0.2, 0.12, 0.02))]
    head = ["split", "r", "reject rate", "error rate", "cost (23), in 1/1000", "sensitivity", "positive predictivity"]
    rows = []
    for name, found in results["splits"].items():
        error = name in JUDGED
        for k in at:
            cells = [_share(found[key], k, error) for key in ("reject", "error")]
            cells.append(_thousandths(found["cost"], k, error))
            cells += [_share(found[key], k, error) for key in ("sensitivity", "predictivity")]
            rows.append([SPLITS[name], f"{results['prices'][k]:.3g}", *cells])
    return "## Metrics\n\n" + table(head, rows)


def _share(found: Results, k: int, error: bool) -> str:
    return share(found["mean"][k], found["se"][k] if error else None, 2)


def _thousandths(found: Results, k: int, error: bool) -> str:
    value = 1000 * found["mean"][k]
    return number(value, 1000 * found["se"][k], 1) if error else f"{value:.1f}"


def prices(results: Results) -> str:
    """What rejecting saves at a fixed reject cost."""
    rows = [
        [SPLITS[name], f"{one['price']:g}", *_at_price(results, name, one)]
        for name in JUDGED
        if name in results["splits"]
        for one in results["splits"][name]["fixed"]
    ]
    words = (
        "Equation (23) charges each machine its own r. For Bayes' rule this cost can only fall with r, down to 0 at r "
        "= 0: even rejecting everything costs no more than r. So minimising it over r does not select a reject rate; "
        "a minimum inside the range only shows that a machine rejects too much at low r. With a fixed reject cost the "
        "minimum is meaningful. The table gives, in thousandths per beat, the cost of rejecting nothing, what the "
        "machine trained for that reject cost saves, and the cost of the cheapest machine of the sweep (chosen on the "
        "test labels, so optimistic)."
    )
    head = [
        "split",
        "reject cost",
        "nothing rejected",
        "saved by the machine trained for it",
        "its reject rate",
        "cheapest",
        "its reject rate",
    ]
    return "## At a fixed reject cost\n\n" + words + "\n\n" + table(head, rows)


def _at_price(results: Results, name: str, one: Results) -> list[str]:
    saved, k = results["splits"][name]["saved"], results["prices"].index(one["price"])
    return [
        f"{1000 * one['none']:.2f}",
        number(1000 * saved["mean"][k], 1000 * saved["se"][k]),
        share(one["own_reject"], digits=2),
        f"{1000 * one['best']:.2f}",
        share(one["best_reject"], digits=2),
    ]


def at_reject(results: Results, name: str, key: str, rejected: float) -> tuple[float, float]:
    """A metric and its standard error at a reject rate, interpolated between reject costs."""
    found = results["splits"][name]
    return tuple(float(np.interp(rejected, found["reject"]["mean"], found[key][what])) for what in ("mean", "se"))


def verdicts(results: Results) -> str:
    """The table of claims."""
    rows = [row for name in JUDGED if name in results["splits"] for row in judged(results, name)]
    rule = (
        "Criteria: “above x” holds if ours is at least x, does not hold if ours is below x by more than two standard "
        f"errors, and cannot be judged in between; “close” allows {share(CLOSE)}. “Nearly constant” holds if the last "
        f"slope of the error is below {FLAT:g} times the first. The cost is compared for reject costs from "
        f"{PAPER_RANGE[0]:g} to {PAPER_RANGE[1]:g}; the stated reject rate holds if the least cost is inside that "
        "range and within a factor of two of the rate."
    )
    return "## Does the claim hold?\n\n" + table(["claim", "paper", "here", "verdict"], rows) + "\n\n" + rule


def judged(results: Results, name: str) -> list[list[str]]:
    """Claim, paper, here, verdict: the rows of one split."""
    found, where = results["splits"][name], SPLITS[name]
    none = (found["sensitivity"]["mean"][0], found["sensitivity"]["se"][0])
    some = at_reject(results, name, "sensitivity", PAPER_REJECT)
    right = at_reject(results, name, "predictivity", PAPER_REJECT)
    rate = share(PAPER_REJECT)
    slopes = found["slope"]["mean"]
    flat = abs(slopes[-1]) < FLAT * abs(slopes[0])
    claims = [
        ("sensitivity, nothing rejected", "above", PAPER_SENSITIVITY, none, 0.0),
        (f"sensitivity at {rate} rejected", "above", PAPER_SENSITIVITY_BEST, some, 0.0),
        (f"positive predictivity at {rate} rejected", "close to", PAPER_PREDICTIVITY, right, CLOSE),
    ]
    return [
        *(
            [f"{where}: {claim}", f"{how} {share(paper)}", share(*here), _above(here, paper - slack)]
            for claim, how, paper, here, slack in claims
        ),
        [
            f"{where}: the error falls to a nearly constant rate",
            "yes",
            f"first slope {slopes[0]:.2f}, last {slopes[-1]:.3f}".replace("-", "−"),
            "holds" if flat else "does not hold",
        ],
        *_least_cost(results, name),
    ]


def _least_cost(results: Results, name: str) -> list[list[str]]:
    """Where the cost of equation (23) is least on the paper's range of reject costs."""
    found, where = results["splits"][name], SPLITS[name]
    low, high = PAPER_RANGE
    within = [k for k, r in enumerate(results["prices"]) if low <= r <= high]
    cost = [found["cost"]["mean"][k] for k in within]
    best = within[int(np.argmin(cost))]
    start = found["cost"]["mean"][within[0]]
    inside = best not in (within[0], within[-1])
    reject, r = found["reject"]["mean"][best], results["prices"][best]
    here = f"least at r = {r:g}, {share(reject, digits=2)} rejected" + ("" if inside else ": an end of the range")
    return [
        [
            f"{where}: the cost (23) is not least at r = {high:g}",
            "yes",
            f"{1000 * start:.2f} thousandths at r = {high:g}, {1000 * min(cost):.2f} at r = {r:g}",
            "holds" if best != within[0] else "does not hold",
        ],
        [
            f"{where}: it is least at a reject rate of {share(PAPER_REJECT)}",
            share(PAPER_REJECT),
            here,
            "does not hold" if not inside or not 0.5 < reject / PAPER_REJECT < 2 else "holds",
        ],
    ]


def _above(value: tuple[float, float], bound: float) -> str:
    if value[0] >= bound:
        return "holds"
    return "does not hold" if value[0] + 2 * value[1] < bound else "cannot be judged"


def caveats(results: Results) -> str:
    """Caveats."""
    lines = []
    for name in JUDGED:
        if name in results["splits"]:
            worst = results["splits"][name]["worst"]
            held = ", ".join(f"{one['record']} ({share(one['share'], digits=0)})" for one in worst)
            which = SPLITS[name].capitalize()
            lines.append(f"- {which}, with nothing rejected, most errors are in records {held}.")
    if all(name in results["splits"] for name in JUDGED):
        first, second = (results["splits"][name]["error"]["mean"][0] for name in JUDGED)
        beat, record = (results["by_record"][name] for name in JUDGED)
        more = sum(record[one] > beat[one] for one in beat)
        less = sum(record[one] < beat[one] for one in beat)
        p = binomtest(more, more + less).pvalue if more + less else 1.0
        lines.append(
            f"- Split by records, the same kind of machine makes {second / first:.0f} times as many errors on the same "
            f"beats as split by beats: more on {more} of the {len(beat)} records and fewer on {less} (sign test: p = "
            f"{p:.1g}). A result by beats applies only to patients for whom labelled beats are available."
        )
    lines.append("- A standard error over 21 records is itself uncertain, and a few records contribute most of it.")
    return "## Caveats\n\n" + "\n".join(lines)
