"""The page and the figures of A14 figures 4 and 5."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np
from harness.pages import run_it, share, table

from abstain.costs.cuts import Thresholds
from abstain.labels import NO_CLASS, Labels
from abstain.plot import RejectRegionDisplay
from abstain.plot.palette import zones_of
from abstain.rules.deciders import Cuts
from abstain.rules.readouts import LogOdds
from abstain.rules.rule import Rule

SETS = {"synthetic": "synthetic", "ecg": "ECG, records 214 and 221, two features"}
NAMES = {"synthetic": ("negative", "positive"), "ecg": ("N", "V")}
AXES = {"r_amp": "amplitude at R (mV)", "qrs_width": "width of the QRS complex (s)"}
PAPER_LINES = {"4": (-0.5, 0.5), "5": (-0.8473, 0.32277)}  # A14, captions of figures 4 and 5
DIGITS = {"4": (1, 1), "5": (4, 5)}  # decimals printed there
PAPER_THETA = 1.4  # from figure 5's lines, P_+ = 1 - theta P_-; the paper itself says only theta > 1

Results = dict[str, Any]


def page(results: Results) -> str:
    """README.md."""
    parts = [INTRODUCTION, protocol(results), figures(results), counts(results), verdicts(results), CAVEATS]
    return "\n\n".join([*parts, run_it(results)]) + "\n"


INTRODUCTION = """# Reject regions for equal and unequal error costs (A14, figures 4 and 5)

Amirou et al. (A14, section 5) draw the plane with two lines around f = 0. In figure 4 both errors cost the same (θ = \
1) and Bartlett and Wegkamp's rule rejects between −0.5 and +0.5. In figure 5 a missed positive costs θ > 1 times as \
much as a false alarm, and the double hinge rejects between −0.8473 and +0.32277. They say that it "encourages the \
rejection of more FN examples because they are more costly than FP examples"."""

CAVEATS = """## Caveats

- With r fixed, raising θ moves only the lower threshold: p_low = r/θ, p_high = 1 − r. The band grows only on the \
negative side, where the would-be false negatives are. That part of the claim is arithmetic; the data show by how much.
- More of *all* rows are rejected as well: the last column shows what avoiding false negatives costs in rejects.
- The two panels of a picture use different units, as in the paper: on the left the score of Bartlett and Wegkamp's \
loss, on the right the log-odds of the double hinge."""


def protocol(results: Results) -> str:
    """The protocol, and where it departs from the paper."""
    synthetic, sets, drawn = results["synthetic"], results["sets"], results["drawn"]
    shown = ", ".join(f"{len(one['y'])} rows ({SETS[name]})" for name, one in drawn.items())
    times = ", ".join(f"{one['repetitions']} ({SETS[name]})" for name, one in sets.items())
    chosen = "; ".join(
        f"{SETS[name]}, figure {figure}: C {one['C']:g}, γ {one['gamma']:.3g}"
        for name, own in drawn.items()
        for figure, one in own["figures"].items()
    )
    grid = {key: ", ".join(f"{value:g}" for value in values) for key, values in results["grid"].items()}
    beats = sets.get("ecg", {"rows": [0, 0]})["rows"]
    return f"""## Protocol

- **Data.** The paper's text mentions the ECG records 214 and 221; its figures show a plane without naming the axes. \
Here: two Gaussian classes, means {synthetic["distance"]:g} standard deviations apart ({synthetic["train"]} training \
and {synthetic["test"]} test rows, redrawn in each repetition); and the two records in the plane of two features, \
{" and ".join(AXES[key] for key in results["features"])}, chosen because the classes overlap in them (other \
features alone nearly separate the classes), in random stratified halves ({beats[1]} V and {beats[0]} N/L test beats).
- **Costs.** Figure 5's lines are p_low = 0.30 and p_high = 0.58, that is c_fp = 1, θ = c_fn = \
{results["thetas"][1]:g}, r = {results["price"]:g}. Figure 4's ±0.5 is δ₀ = 1/2 at any r; it is drawn at r = 0.24, \
where Chow's rule has the same lines. The counts compare θ = {results["thetas"][0]:g} and {results["thetas"][1]:g} at \
the same r = {results["price"]:g}, with Chow's rule.
- **Machines.** RBF kernel; C and γ by 5-fold cross-validation of the mean cost on the training rows of each fit (the \
paper does not give its kernel, C or width), among C {grid["C"]} and γ {grid["gamma"]}, which keeps the machines \
smooth; the grid was narrowed after a first picture looked overfitted. Drawn: {shown}; {chosen}. Repetitions \
counted: {times}.
- **Errors** are standard errors over the repetitions, with Nadeau and Bengio's correction for overlapping halves."""


def figures(results: Results) -> str:
    """The pictures."""
    words = (
        "Filled triangles are positive, open circles negative; the band is grey. Solid lines are the thresholds, the "
        "dotted line is f = 0 (probability 0.5), and the dashed line is the threshold if the machine must decide."
    )
    links = [f"![Reject regions, {SETS[name]}](regions-{name}.png)" for name in results["drawn"]]
    return "\n\n".join(["## The regions", *links, words])


def counts(results: Results) -> str:
    """The fate of would-be errors, by theta."""
    head = ["data", "θ", "would-be FN rejected", "would-be FP rejected", "FN left", "FP left", "reject rate"]
    keys = ("missed_rejected", "alarmed_rejected", "false_negative", "false_positive", "reject")
    rows = []
    for name, found in results["sets"].items():
        for k, theta in enumerate([*results["thetas"], None]):
            label = "difference" if theta is None else f"{theta:g}"
            cells = [share(found[key]["mean"][k], found[key]["se"][k]).replace("-", "−") for key in keys]
            rows.append([SETS[name], label, *cells])
        if name == "synthetic":
            for theta, exact in zip(results["thetas"], results["bayes"], strict=True):
                rows.append(["Bayes' rule, exact", f"{theta:g}", *(share(exact[key]) for key in keys)])
    words = (
        "A would-be false negative is a positive row with f ≤ 0, a would-be false positive a negative row with f > 0; "
        "“left” are the errors that remain, in percent of all test rows."
    )
    return f"## Errors avoided by the band, at r = {results['price']:g}\n\n{words}\n\n" + table(head, rows)


def verdicts(results: Results) -> str:
    """The table of claims."""
    one = next(iter(results["drawn"].values()))["figures"]
    rows = []
    for figure, lines in PAPER_LINES.items():
        here = one[figure]["thresholds"]
        same = all(
            round(value, digits) == paper for value, digits, paper in zip(here, DIGITS[figure], lines, strict=True)
        )
        words = " and ".join(f"{value:+.5g}".replace("-", "−") for value in here)
        paper = " and ".join(f"{value:+g}".replace("-", "−") for value in lines)
        rows.append([f"figure {figure}: the lines", paper, words, "holds" if same else "does not hold"])
    low, high = (1 / (1 + exp(-value)) for value in PAPER_LINES["5"])
    theta, thetas = (1 - high) / low, results["thetas"]
    rows.append(
        ["figure 5: θ > 1", "θ > 1", f"its lines give θ = {theta:.2f}", "holds" if theta > 1 else "does not hold"]
    )
    for name, found in results["sets"].items():
        own, other = found["missed_rejected"], found["alarmed_rejected"]
        gain, se = own["mean"][2], own["se"][2]
        verdict = "cannot be judged" if abs(gain) <= 2 * se else "holds" if gain > 0 else "does not hold"
        here = (
            f"{share(own['mean'][0])} → {share(own['mean'][1])} of would-be FN, "
            f"{share(other['mean'][0])} → {share(other['mean'][1])} of would-be FP"
        )
        rows.append(
            [f"{SETS[name]}: more FN rejected at θ = {thetas[1]:g} than at θ = {thetas[0]:g}", "yes", here, verdict]
        )
    rule = (
        "Criteria: lines hold if they agree to the last printed decimal; “more” holds if the paired difference exceeds "
        f"two standard errors. (log(0.58/0.42) = {log(0.58 / 0.42):.5f}, log(0.30/0.70) = −{-log(0.30 / 0.70):.5f}.)"
    )
    return "## Does the claim hold?\n\n" + table(["claim", "paper", "here", "verdict"], rows) + "\n\n" + rule


def regions(name: str) -> Any:
    """The picture of one set: figure 4 left, figure 5 right."""

    def picture(results: Results) -> Any:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 2, figsize=(10.5, 5.0), layout="constrained", sharey=True)
        if name not in results["drawn"]:
            return figure
        titles = (
            "θ = 1, Bartlett-Wegkamp's rule, r = 0.24",
            f"θ = {PAPER_THETA:g}, double hinge, r = {results['price']:g}",
        )
        for ax, key, title in zip(axes, PAPER_LINES, titles, strict=True):
            display(results, name, key).plot(ax, annotate=True)
            ax.set_title(title, fontsize="medium")
        axes[1].set_ylabel("")
        return figure

    return picture


def display(results: Results, name: str, figure: str, resolution: int = 240) -> RejectRegionDisplay:
    """The plane with the scores of the stored machine."""
    drawn = results["drawn"][name]
    machine, X, y = drawn["figures"][figure], np.array(drawn["X"]), np.array(drawn["y"])
    low, high = X.min(axis=0), X.max(axis=0)
    pad = 0.06 * (high - low)
    xx0, xx1 = np.meshgrid(*np.linspace(low - pad, high + pad, resolution).T)
    score = scores(drawn, figure, np.column_stack([xx0.ravel(), xx1.ravel()]))
    labels = Labels.named([0, 1], rejects=True)
    rule = Rule(labels, None, LogOdds(), Cuts.at(Thresholds(*machine["thresholds"]), machine["cut"], labels.answers))
    zones = zones_of(rule)
    # -1, 0 (reject) and +1 as positions in the zones
    choice = np.searchsorted([{0: -1, NO_CLASS: 0, 1: 1}[zone.answers] for zone in zones], machine["choice"])
    names = ("feature 1", "feature 2") if name == "synthetic" else tuple(AXES[key] for key in results["features"])
    forced = (machine["cut"],)
    return RejectRegionDisplay(xx0, xx1, score.reshape(xx0.shape), zones, X, y, choice, NAMES[name], names, forced)


def scores(drawn: Results, figure: str, points: Any) -> Any:
    """f(x) = sum_i beta_i exp(-gamma |x_i - x|^2) + bias, rows standardised first."""
    machine = drawn["figures"][figure]
    x, rows = ((np.asarray(some) - drawn["mean"]) / drawn["scale"] for some in (points, drawn["X"]))
    apart = ((x[:, None, :] - rows[machine["support"]][None, :, :]) ** 2).sum(axis=2)
    return np.exp(-machine["gamma"] * apart) @ np.array(machine["beta"]) + machine["bias"]


FIGURES = {f"regions-{name}.png": regions(name) for name in SETS}
