"""The page and the figure of A14 figures 6 and 7."""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.pages import run_it, share, table

from abstain.plot.palette import quiet

RULES = {  # key: name, colour, line style
    "chow": ("Chow's rule", "#000000", "-"),
    "1-r": ("δ₀ = 1 − r", "#D55E00", (0, (6, 2))),
    "half": ("δ₀ = 1/2", "#0072B2", (0, (6, 2, 1.5, 2))),
    "r": ("δ₀ = r", "#CC79A7", (0, (2.5, 1.5))),
}
SETS = {
    "synthetic": "synthetic (figure 6)",
    "ecg": "ECG, records 214 and 221 (figure 7)",
    "ecg21": "ECG, all 21 records (not in the paper)",
}
VARIANTS = {
    "synthetic": "C fixed in the double hinge's units (as above)",
    "synthetic-own-units": "C fixed in BW08's units",
    "synthetic-each-price": "C and γ chosen again at each reject cost",
}
CROSSING = 0.24  # A14 section 5: where the rule with delta_0 = 1/2 and Chow's rule are identical
PAPER_V, PAPER_N, PAPER_FEATURES = 652, 3546, 7  # A14 section 5: beats of records 214 and 221, features per beat
SHOWN = (0.5, 0.4, 0.3, 0.24, 0.12, 0.02)
ALMOST_NONE = 0.25  # "almost with no rejection": at most this share of what Chow's rule rejects
IDENTICAL = 0.005  # of the rows

Results = dict[str, Any]


def page(results: Results) -> str:
    """README.md."""
    measured = [protocol(results), rates(results), PICTURE, variants(results), verdicts(results)]
    return "\n\n".join([INTRODUCTION, *measured, CAVEATS, run_it(results)]) + "\n"


INTRODUCTION = """# Reject rate against reject cost (A14, figures 6 and 7)

Bartlett and Wegkamp (BW08) train with their own hinge loss and classify where |f| > δ₀, for any δ₀ in [r, 1 − r], \
where r is the cost of a reject and 1 that of an error. Grandvalet et al. (GRKC08) train the same machine in other \
units and put the threshold where the probability of an error is r: Chow's rule. Amirou et al. (A14, section 5) \
compare how many rows are rejected as r varies. They say that Chow's rule rejects fewer rows when rejecting is \
expensive and more when it is cheap, that δ₀ = 1 − r rejects most at every r, that δ₀ = r hardly rejects when r is \
near 0, and that δ₀ = 1/2 and Chow's rule are the same at r = 0.24."""

PICTURE = """![Reject rate against reject cost for four rules](rates.png)

Lines are means over the repetitions. Bands are two standard errors of the mean; in places they are narrower than the \
line. The grey dotted line is Bayes' rule, known in closed form for the synthetic distribution."""

CAVEATS = """## Caveats

- The order of the rules follows from arithmetic. On one machine all four reject an interval around f = 0, of \
half-width log((1 − r)/r) for Chow's rule and δ₀ H(r)/r for the others, so the wider interval rejects at least as much \
on *any* data. The data determine only by how much.
- More rejects are not better in themselves: [a14-tradeoff](../a14-tradeoff/README.md) measures what they cost.
- As the number of rows grows, the minimiser of the loss tends to −1, 0 and +1 in BW08's units, and every δ₀ strictly \
between 0 and 1 gives Bayes' rule. The differences in the figure come from the finite sample and the regulariser.
- At r = 1/2 BW08's three thresholds are all 1/2 and reject rows, although rejecting no longer pays. That is the \
formula as the paper plots it; `BartlettWegkamp` in this library rejects nothing there.
- Whether δ₀ = r hardly rejects when r is near 0 depends on the data. Where the classes overlap, f itself tends to 0 \
as r does: errors then cost 1/r times as much as rejects, and no threshold above 0 is low enough."""


def shown(results: Results) -> list[str]:
    """The sets shown in tables and figure, without the variants of C."""
    return [name for name in SETS if name in results["sets"]]


def protocol(results: Results) -> str:
    """The protocol, and where it departs from the paper."""
    synthetic, search, settings = results["synthetic"], results["search"], results["settings"]
    repetitions = ", ".join(f"{SETS[name].split(' (')[0]}: {settings[name]['repetitions']}" for name in shown(results))
    settings = {name: own for name, own in settings.items() if name in SETS}
    chosen = "; ".join(
        f"{SETS[name].split(' (')[0]}: C {own['C'][0]:g} to {own['C'][2]:g}, γ {own['gamma'][0]:.3g} to "
        f"{own['gamma'][2]:.3g}"
        for name, own in settings.items()
    )
    ecg = settings.get("ecg", dict.fromkeys(("negatives", "positives", "features"), 0))
    gaps = [gap for own in results["settings"].values() for gap in own["gaps"]]
    fits = "every fit ended optimal"
    if gaps:
        fits = f"{len(gaps)} fits ended inaccurate, at a relative duality gap up to {max(gaps):.2g}, the others optimal"
    return f"""## Protocol

- **Data.** The paper's synthetic set is "two gaussianly distributed classes with similar variances but different \
means"; its size and means are not given. Here: two features, unit covariance, equal priors, means \
{synthetic["distance"]:g} standard deviations apart, {synthetic["train"]} training rows and {synthetic["test"]} test \
rows, redrawn in each repetition. ECG: MIT-BIH records 214 and 221, all {ecg["positives"]} V against \
{ecg["negatives"]} N/L beats (the paper: {PAPER_V} and {PAPER_N}, by a rule it does not give), {ecg["features"]} \
features of our own instead of its {PAPER_FEATURES}, which are not available; and all 21 records, for a set with more \
errors.
- **Splits.** Random stratified halves of the beats, because the paper does not describe its split; beats of one \
patient are in both halves, see [a14-ecg](../a14-ecg/README.md). Features are standardised on the training rows. \
Repetitions: {repetitions}.
- **Machines.** RBF kernel (the paper does not give its kernel, C or width). C and γ are chosen once per repetition by \
5-fold cross-validation of the mean cost at r = {search["price"]:g}, where the rules coincide, so that the choice \
favours none, on at most {search["rows"]} training rows. Chosen: {chosen}. Then one machine for each of \
{len(results["prices"])} reject costs ({min(results["prices"]):g} to {max(results["prices"]):g}); all four rules use \
the same scores; {fits}.
- **Errors** are standard errors of the mean; for the ECG halves, which overlap, with Nadeau and Bengio's correction."""


def rates(results: Results) -> str:
    """The table of reject rates."""
    at = [k for r in SHOWN for k, price in enumerate(results["prices"]) if price == r]
    parts = ["## Reject rates"]
    for name in shown(results):
        found = results["sets"][name]
        rows = [
            [rule[0], *(share(found[key]["mean"][k], found[key]["se"][k], 1 if name == "synthetic" else 2) for k in at)]
            for key, rule in RULES.items()
        ]
        if name == "synthetic":
            rows.append(["Bayes' rule, exact", *(share(results["bayes"][k]) for k in at)])
        parts.append(f"**{SETS[name]}**\n\n" + table(["rule", *(f"r = {results['prices'][k]:g}" for k in at)], rows))
    return "\n\n".join(parts)


def variants(results: Results) -> str:
    """Whether it matters how C is kept across reject costs."""
    prices = results["prices"]
    at = [k for r in (0.4, 0.12, 0.02) for k, price in enumerate(prices) if price == r]
    rows = [
        [text, *(share(results["sets"][name][rule]["mean"][k]) for rule in ("chow", "half", "r") for k in at)]
        for name, text in VARIANTS.items()
        if name in results["sets"]
    ]
    head = [f"{rule}, r = {prices[k]:g}" for rule in ("Chow", "δ₀ = 1/2", "δ₀ = r") for k in at]
    words = (
        "The paper uses one constant C for all reject costs and does not say in which units. On the synthetic data it "
        "matters near r = 0: with C fixed the machine rejects nearly everything."
    )
    return "## Does the choice of C matter?\n\n" + words + "\n\n" + table(["", *head], rows)


def judged(results: Results, name: str) -> list[list[str]]:
    """Claim, paper, here, verdict: one row for each claim about one set."""
    prices, found = np.array(results["prices"]), results["sets"][name]
    mean = {rule: np.array(found[rule]["mean"]) for rule in RULES}
    apart = np.array(found["half"]["apart"])
    expensive, cheap, near = prices > CROSSING, prices < CROSSING, int(np.argmin(np.abs(prices - CROSSING)))
    least, digits = int(np.argmin(prices)), 1 if name == "synthetic" else 2
    fewer = bool((apart[expensive] >= 0).all() and (apart[cheap] <= 0).all() and (apart[expensive] > 0).any())
    most = mean["1-r"] >= np.max([mean[rule] for rule in RULES], axis=0)
    part = mean["r"][least] / mean["chow"][least]
    low, high = int(np.argmin(np.abs(prices - 0.12))), int(np.argmin(np.abs(prices - 0.4)))
    where, paper = SETS[name].split(" (")[0], "not given" if name == "ecg21" else "yes"
    return [
        [
            f"{where}: Chow's rule rejects fewer than δ₀ = 1/2 above r = {CROSSING:g} and more below",
            paper,
            "; ".join(
                f"at r = {prices[k]:g}: {share(mean['chow'][k], digits=digits)} against "
                f"{share(mean['half'][k], digits=digits)}"
                for k in (high, low)
            ),
            _verdict(fewer),
        ],
        [
            f"{where}: δ₀ = 1 − r rejects most at every r",
            paper,
            f"at {most.sum()} of {len(prices)} reject costs",
            _verdict(bool(most.all())),
        ],
        [
            f"{where}: δ₀ = r almost never rejects when r is near 0",
            paper,
            f"at r = {prices[least]:g}: {share(mean['r'][least], digits=digits)}, {part:.2f} of Chow's rate",
            _verdict(bool(part <= ALMOST_NONE)),
        ],
        [
            f"{where}: δ₀ = 1/2 and Chow's rule are identical at r = {CROSSING:g}",
            paper,
            f"they differ on {share(abs(apart[near]), digits=2)} of the rows",
            _verdict(bool(abs(apart[near]) <= IDENTICAL)),
        ],
    ]


def verdicts(results: Results) -> str:
    """The table of claims."""
    rows = [row for name in shown(results) for row in judged(results, name)]
    rule = (
        "Criteria: a claim about every reject cost holds if the mean rates have the stated order at each one; “almost "
        f"never” is at most {ALMOST_NONE:g} times what Chow's rule rejects, “identical” a difference on at most "
        f"{share(IDENTICAL)} of the rows."
    )
    return "## Does the claim hold?\n\n" + table(["claim", "paper", "here", "verdict"], rows) + "\n\n" + rule


def _verdict(holds: bool) -> str:
    return "holds" if holds else "does not hold"


def picture(results: Results) -> Any:
    """Reject rates against r, a panel for each set."""
    import matplotlib.pyplot as plt

    names, prices = shown(results), np.array(results["prices"])
    size = (3.4 * len(names) + 0.3, 3.9)
    figure, axes = plt.subplots(1, len(names), figsize=size, layout="constrained", squeeze=False)
    for ax, name in zip(axes[0], names, strict=True):
        for key, (label, colour, line) in RULES.items():
            mean, se = (100 * np.array(results["sets"][name][key][what]) for what in ("mean", "se"))
            ax.plot(prices, mean, color=colour, linestyle=line, linewidth=1.8, label=label)
            ax.fill_between(prices, mean - 2 * se, mean + 2 * se, color=colour, alpha=0.13, linewidth=0)
        if name == "synthetic":
            ax.plot(prices, 100 * np.array(results["bayes"]), ":", color="#8C8C8C", linewidth=2.2, label="Bayes' rule")
        ax.axvline(CROSSING, color="#8C8C8C", linewidth=0.8)
        ax.set_title(SETS[name].replace(" (", "\n("), fontsize="medium")
        ax.set(xlabel="reject cost r (an error costs 1)", xlim=(0, 0.5))
        ax.set_ylim(0, 1.15 * max(100 * max(results["sets"][name][key]["mean"]) for key in RULES))
        quiet(ax)
    axes[0, 0].set_ylabel("reject rate (% of test rows)")
    axes[0, 0].legend(framealpha=0.85, edgecolor="none", fontsize="small", handlelength=3.2)
    return figure


FIGURES = {"rates.png": picture}
