"""The page and the picture of consistency."""

from __future__ import annotations

from typing import Any

from harness.pages import run_it, share, table
from verdicts import FALL, claims

WAYS = {
    "same": "the same C_0 and gamma for all rules",
    "oracle": "each rule's own best C_0 and gamma",
    "cross-validated": "C and gamma by cross-validation",
}
COLOURS = {"double hinge": ("#0072B2", "-", "o"), "Chow on Platt": ("#D55E00", (0, (6, 2)), "s")}
COLOURS |= {"naive": ("#009E73", (0, (2.5, 1.5)), "^")}


def page(results: dict[str, Any]) -> str:
    """README.md."""
    return "\n\n".join([OPENING, _protocol(results), _results(results), _judgement(results), _end(results)])


OPENING = """# Consistency: excess risk where the Bayes risk is known

Grandvalet, Rakotomamonjy, Keshet & Canu (NIPS 21, 2008, theorem 1) prove that the risk of a kernel machine trained with
the double hinge converges to the Bayes risk for any distribution and any costs, given a universal kernel and a
regularisation lambda_n -> 0 with n lambda_n^2 / log n -> infinity. They say (introduction) that thresholds on the
scores of a plain SVM are not consistent: the hinge's minimiser tends to the sign of P - 1/2, which does not show how
close P is to a threshold other than 1/2. The paper has no experiment on this. This one uses a distribution whose Bayes
risk is known, with up to 20,000 training rows."""


def _protocol(results: dict[str, Any]) -> str:
    law, schedule, grid = results["law"], results["schedule"], results["grid"]
    costs = "\n".join(f"- {_cost_line(kind, item)}" for kind, item in results["costs"].items())
    samples = _samples(results)
    return f"""## Protocol

- Two Gaussian classes in the plane (`abstain.datasets.make_gaussians`), equally likely, means {law["distance"]:g}
  apart, covariances I and {law["scale"]:g} I. The Bayes regions are rings, and the Bayes risk has a closed form.
{costs}
- Rules: the double hinge with Chow's thresholds; on a plain SVM, Chow's rule on Platt's sigmoid and one symmetric
  threshold around 0 (naive), both tuned on {results["folds"]}-fold held-out scores. Gaussian kernel.
- Independent training samples: {samples}. Excess risk: on {results["test_rows"]:,} fresh rows, the expected cost of
  the rule's choice given x under the true posterior, minus that of the Bayes choice. No labels are drawn, so there is
  little noise.
- C(n) = C_0 (n / {schedule["n"]})^{schedule["exponent"]:g} throughout, so that lambda_n = 1 / (2 n C) is of order
  n^{-1 - schedule["exponent"]:.1f}, as the theorem requires. C_0 and gamma are set in three ways. **The same** for all
  rules ({schedule["same"][0]:g}, {schedule["same"][1]:g}); this favours the double hinge, for which they are the best
  with asymmetric costs. Each rule's **own best**, with the least true excess risk at n = {schedule["n"]} on
  {schedule["pilots"]} pilot samples (not possible for a user). By **cross-validation** on the training rows, or on the
  first {schedule["n"]} if there are more. Grid of the last two: C {grid["Cs"][0]:g} to
  {grid["Cs"][-1]:g} ({len(grid["Cs"])} values), gamma {grid["gammas"][0]:g} to {grid["gammas"][-1]:g}
  ({len(grid["gammas"])}).

Pairs with the least excess risk: {_pilot(results)}."""


def _cost_line(kind: str, item: dict[str, Any]) -> str:
    prices, (low, high) = item["prices"], item["thresholds"]
    return (
        f"{kind.capitalize()} costs: false positive {prices['false_positive']:g}, false negative "
        f"{prices['false_negative']:g}, reject {prices['reject']:g}; thresholds {low:g} and {high:g} on P; Bayes risk "
        f"{item['bayes_risk']:.4f}, rejecting {share(item['decided']['reject'])}."
    )


def _samples(results: dict[str, Any]) -> str:
    points = results["curves"]["same"]["symmetric"]["naive"]
    return ", ".join(f"{point['samples']} of {point['n']:,} rows" for point in points)


def _pilot(results: dict[str, Any]) -> str:
    parts = []
    for kind, rules in results["schedule"]["oracle"].items():
        chosen = ", ".join(f"{rule} ({C:g}, {gamma:g})" for rule, (C, gamma) in rules.items())
        parts.append(f"{kind} costs {chosen}")
    same = all(
        [found["C"], found["gamma"]] == list(results["schedule"]["oracle"][key.split("/")[1]][key.split("/")[2]])
        for key, found in results["pilot"].items()
    )
    return "; ".join(parts) + ("" if same else " (the pilot of this run would choose other pairs)")


def _results(results: dict[str, Any]) -> str:
    unit = "Excess over the Bayes risk, in units of 0.0001 (mean ± standard error over the samples)."
    parts = ["## Results", unit, PICTURE]
    for way, title in WAYS.items():
        for kind, curves in results["curves"][way].items():
            rows = [
                [f"{n:,}", *(_point(points[at]) for points in curves.values())] for at, n in enumerate(results["sizes"])
            ]
            parts += [f"**{title[0].upper()}{title[1:]}, {kind} costs:**", table(["n", *curves], rows)]
    return "\n\n".join(parts)


def _point(point: dict[str, Any]) -> str:
    return f"{1e4 * point['mean']:.1f} ± {1e4 * point['standard_error']:.1f}"


PICTURE = "![Excess risk against the number of training rows](excess.png)"


def _judgement(results: dict[str, Any]) -> str:
    rows = [[claim.text, claim.paper, claim.here, f"**{claim.verdict}**"] for claim in claims(results)]
    return f"""## Does the claim hold?

{table(["claim", "paper", "here", "verdict"], rows)}

Criteria. No finite n proves or refutes a limit; the verdicts describe what is seen up to the largest n. A curve is
falling if it has halved since the size two steps below the largest. "Converges to the Bayes risk" holds if the double
hinge's mean excess risk at the largest n is at most 1/{FALL:g} of that at the smallest and is falling, and does not
hold if it is not smaller. "Not consistent" holds if at the largest n the other rule's excess is significantly above the
double hinge's (95 % interval of the paired difference) and is not falling while the double hinge's is; it does not hold
if the excess is falling and not significantly above. (The conditions on the double hinge falling were added after a
first run, so that its plateaus are treated like those of the other rules.) "Cheaper" holds if the difference at the
largest n is significant, and does not hold if it is significant with the opposite sign. Everything else cannot be
judged."""


def _end(results: dict[str, Any]) -> str:
    return f"""## Caveats

- This distribution favours Platt's sigmoid: the true log-odds are quadratic in x, a machine with a wide Gaussian kernel
  is nearly quadratic, and a strongly regularised hinge keeps its scores graded. The theorem covers every distribution.
- An inconsistent rule may be better than a consistent one at every practical n, and the theorem gives no rate.
- From {_steps(results)} rows lambda_n falls only by a factor of {_lambda(results):.1f}, so a plateau there means
  little. The double hinge also has plateaus, where gamma is {results["schedule"]["same"][1]:g}; we did not investigate
  whether too much or too little regularisation causes them.
- There are few samples at the largest sizes: the intervals there use Student's t with few degrees of freedom.

{run_it(results)}
"""


def _steps(results: dict[str, Any]) -> str:
    sizes = results["sizes"]
    return f"{sizes[-min(3, len(sizes))]:,} to {sizes[-1]:,}"


def _lambda(results: dict[str, Any]) -> float:
    sizes = results["sizes"]
    return (sizes[-1] / sizes[-min(3, len(sizes))]) ** (1 + results["schedule"]["exponent"])


def excess(results: dict[str, Any]) -> Any:
    """Excess risk against n, log-log: a column for each way to set C and gamma, a row for each set of costs."""
    from matplotlib import pyplot as plt

    from abstain.plot.palette import quiet

    kinds = list(results["costs"])
    shared = {"sharex": True, "sharey": "row", "layout": "constrained"}
    figure, axes = plt.subplots(len(kinds), len(WAYS), figsize=(9, 6), **shared)
    for row, kind in zip(axes, kinds, strict=True):
        for ax, (way, title) in zip(row, WAYS.items(), strict=True):
            for rule, (colour, line, marker) in COLOURS.items():
                points = results["curves"][way][kind][rule]
                n, mean = [p["n"] for p in points], [p["mean"] for p in points]
                error = [p["standard_error"] for p in points]
                style = {"color": colour, "linestyle": line, "marker": marker, "markersize": 5, "capsize": 2.5}
                ax.errorbar(n, mean, yerr=error, label=rule, **style)
            ax.set(xscale="log", yscale="log")
            quiet(ax)
            if kind == kinds[0]:
                ax.set_title(title.replace(" C", "\nC", 1), fontsize="medium")
            if kind == kinds[-1]:
                ax.set_xlabel("training rows n")
        row[0].set_ylabel(f"excess risk, {kind} costs")
    axes[0][0].legend(frameon=False, fontsize="small")
    return figure


FIGURES = {"excess.png": excess}
