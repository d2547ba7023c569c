"""The page and the picture of the experiment with cell types."""

from __future__ import annotations

from typing import Any

from harness.numbers import with_interval
from harness.pages import run_it, share, table

USUAL = "LinearSVC, p < 0.7"
COLOURS = ("#333333", "#0072B2", "#0072B2", "#0072B2", "#D55E00", "#D55E00", "#D55E00")

OPENING = """# Cell types, with cells left unassigned

Single cells are annotated by classifiers trained on cells of known type, and cells that cannot be assigned are left so.
The usual rule is a linear SVM with calibrated probabilities that rejects below 0.7 (`SVMrejection` in Abdelaal et al.,
"A comparison of automatic cell identification methods for single-cell RNA sequencing data", Genome Biology 20, 2019).
Here it decides the same cells as `RejectSVCCV`."""


def page(results: dict[str, Any]) -> str:
    """README.md."""
    parts = [_protocol, _results, _types, _verdict]
    return "\n\n".join([OPENING, *(part(results) for part in parts), run_it(results) + "\n"])


def _protocol(results: dict[str, Any]) -> str:
    few, many = results["budgets"]
    smallest = min(results["types"], key=results["types"].__getitem__)
    return f"""## Protocol

- PBMC 68k, reduced (Zheng et al. 2017): **{results["cells"]} cells only**, {len(results["types"])} types, 765 genes,
  log-normalised. The smallest type, {smallest}, has {results["types"][smallest]} cells. The set is small: look at the
  intervals before the means, and expect little from the numbers of the small types.
- {results["splits"]} random stratified splits with {results["tested"]} test cells each.
- Usual rule: `CalibratedClassifierCV(LinearSVC())` with scikit-learn's defaults on the log-normalised genes, rejected
  where the largest probability is below {results["limit"]:g}. That is Chow's rule if an error costs 1 and a reject
  {results["price"]:.1f}, so costs are counted in this way.
- Ours: `RejectSVCCV(Costs(reject={results["price"]:.1f}))` on standardised genes, with a linear and with a Gaussian
  kernel, C and gamma chosen inside the training cells. Three ways to reject: its own cut; as many test cells as the
  usual rule rejects on this split, the least sure ones; and a budget for each type answered, {share(few, digits=0)} of
  the cells, or {share(many, digits=0)} for T cells (CD4+ and CD8+), by cuts on held-out training cells.
- Intervals are 95 %, by Student's t with Nadeau & Bengio's (2003) correction for splits that share cells. Those of
  differences are paired and have Bonferroni's correction for {len(results["rules"]) - 1} comparisons."""


def _results(results: dict[str, Any]) -> str:
    rows = []
    for rule, item in results["rules"].items():
        gaps = ["", ""] if rule == USUAL else [_gap(item["cost_minus_usual"]), _gap(item["accuracy_minus_usual"])]
        rows.append(
            [rule, _mean(item["cost"]), gaps[0], share(item["rejected"]["mean"]), _mean(item["accuracy"]), gaps[1],
             _mean(item["forced"])]
        )  # fmt: skip
    head = ["rule", "cost", "minus usual", "rejected", "accuracy of accepted", "minus usual", "accuracy if forced"]
    return f"""## Results

Means over the splits with their intervals; differences in bold exclude 0. Accuracies of accepted cells can be compared
at the same share of rejects only; the cost weighs both.

{table(head, rows)}

![Accuracy among accepted cells against the share rejected](accuracy.png)

In the picture the points of the two kernels are shifted a little to the left and right, so that both can be seen."""


def _types(results: dict[str, Any]) -> str:
    rules = [rule for rule in results["rules"] if rule == USUAL or "rbf" in rule]
    rows = []
    for name, by_rule in results["by_type"].items():
        cells = [_of_type(by_rule[rule]) for rule in rules]
        rows.append([name, results["types"][name], *cells])
    return f"""## By type

Accuracy of the accepted cells of each true type [95 % interval], share of the type's cells rejected after the slash. An
interval without width says that no split differed, often because few cells were accepted:

{table(["type", "cells", *rules], rows)}"""


def _of_type(item: dict[str, Any]) -> str:
    rejected = share(item["rejected"]["mean"], digits=0)
    found = item["accuracy"]
    if found is None:
        return f"none accepted / {rejected}"
    low, high = (share(min(1.0, max(0.0, found[end])), digits=0) for end in ("low", "high"))
    return f"{share(found['mean'], digits=0)} [{low}, {high}] / {rejected}"


def _verdict(results: dict[str, Any]) -> str:
    lines = []
    for rule, item in results["rules"].items():
        if rule != USUAL:
            cost, accuracy = item["cost_minus_usual"], item["accuracy_minus_usual"]
            lines.append(f"- {rule}: {_words(cost, 'cost', 'costs')}; {_words(accuracy, 'accuracy', 'is right')}.")
    return "## Verdict, against the usual rule\n\n" + "\n".join(lines)


def _words(gap: dict[str, Any], noun: str, verb: str) -> str:
    word = {1: f"{verb} more", -1: f"{verb} less", 0: f"no significant difference in {noun}"}[_sign(gap)]
    often = " often among accepted cells" if noun == "accuracy" and _sign(gap) else ""
    return f"{word}{often} ({with_interval(gap)})"


def _sign(gap: dict[str, Any]) -> int:
    return int(gap["low"] > 0) - int(gap["high"] < 0)


def _mean(item: dict[str, Any]) -> str:
    return f"{item['mean']:.3f} [{item['low']:.3f}, {item['high']:.3f}]"


def _gap(item: dict[str, Any]) -> str:
    return f"**{with_interval(item)}**" if _sign(item) else with_interval(item)


def accuracy(results: dict[str, Any]) -> Any:
    """Each rule's accuracy among accepted cells, with its interval, against the share it rejects."""
    import matplotlib.pyplot as plt

    from abstain.plot.palette import quiet

    figure, ax = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    markers = {"own cut": "o", "same rejects": "s", "budget per type": "^"}
    for (rule, item), colour in zip(results["rules"].items(), COLOURS, strict=True):
        marker = markers.get(rule.rpartition(", ")[2], "D")
        shift = {"linear": -0.4, "rbf": 0.4}.get(rule.split(", ")[1], 0.0)  # so that no point hides another
        x, found = 100 * item["rejected"]["mean"] + shift, item["accuracy"]
        ax.plot([x, x], [100 * found["low"], 100 * found["high"]], color=colour, linewidth=1)
        ax.plot(x, 100 * found["mean"], marker, color=colour, label=rule, markersize=7)
    ax.set_xlabel("rejected, %")
    ax.set_ylabel("accuracy of accepted cells, %")
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    quiet(ax)
    return figure


FIGURES = {"accuracy.png": accuracy}
