"""The page and the picture of row-costs."""

from __future__ import annotations

from typing import Any

from harness.numbers import signed
from harness.pages import run_it, share, table

NAMES = {
    "trained by row": "RejectSVCCV, trained and decided by each row's costs",
    "mean costs, decided by row": "RejectSVCCV, trained by the mean costs, decided by each row's",
    "mean costs": "RejectSVCCV, trained and decided by the mean costs",
    "logistic, decided by row": "logistic regression, Chow's rule with each row's costs",
    "review all": "review every loan",
    "approve all": "approve every loan",
    "decline all": "decline every loan",
}
MACHINES = tuple(NAMES)[:4]
COLOURS = ("#0072B2", "#56B4E9", "#999999", "#D55E00")


def page(results: dict[str, Any]) -> str:
    """README.md."""
    parts = [_opening(results), _protocol(results), _results(results), _reading(results), run_it(results)]
    return "\n\n".join(parts) + "\n"


def _opening(results: dict[str, Any]) -> str:
    return f"""# Costs per row: German credit, where the loss is the loan

A bad loan that is approved loses its amount, a good one that is declined the interest
({100 * results["interest"]:.0f} % of the amount), and a review by a person costs the same for every loan. So each loan
has costs of its own: `RejectSVCCV.fit(X, y, row_costs=...)` trains with them and decides with them. Here it is compared
with the machine of the mean costs, and with logistic regression and Chow's rule row by row. No published number exists
for comparison."""


def _protocol(results: dict[str, Any]) -> str:
    return f"""## Protocol

- Statlog German Credit, 1,000 loans of 250 to 18,424 DM, 20 columns (numbers scaled, codes one-hot encoded);
  {results["splits"]} random splits with {100 * results["test_share"]:.0f} % for testing and equal shares of bad loans.
- The positive class is a bad loan. A review that costs more than it can ever save is never made: for such small loans
  the reject cost is the largest allowed, 1 / (1 / declined + 1 / approved).
- C and gamma of both machines, and the C of logistic regression, have the least cross-validated mean cost on the
  training rows, on the same folds; the search of the mean-cost machine uses the mean costs only.
- Costs are in DM per loan. Intervals are at 95 %, corrected for splits that share rows (Nadeau & Bengio 2003); those of
  the differences are paired by split and hold for all {results["statements"]} differences at once.
- A first run, on twenty splits into halves, had no significant difference either. Its results were seen before the
  number of splits was raised to narrow the intervals."""


def _results(results: dict[str, Any]) -> str:
    rows = [
        [
            f"{review:g}",
            words,
            f"{found['cost']['mean']:.1f}",
            share(found["reviewed"]),
            share(found["reviewed_amount"]),
            _difference(found["more"]) if name in MACHINES[1:] else "",
        ]
        for review in results["reviews"]
        for name, words in NAMES.items()
        for found in [results["means"][f"{review:g}"][name]]
    ]
    head = ["a review", "method", "cost", "reviewed", "of the amount", "more than trained by row"]
    return f"## Results\n\n{table(head, rows)}\n\n![Mean cost per loan with intervals](cost.png)"


def _difference(more: dict[str, float]) -> str:
    return f"{signed(more['mean'], 1)} [{signed(more['low'], 1)}, {signed(more['high'], 1)}]"


def _verdict(more: dict[str, float]) -> str:
    if more["low"] <= 0.0 <= more["high"]:
        return f"no significant difference ({signed(more['mean'], 1)})"
    return f"costs {'more' if more['mean'] > 0 else 'less'} than the machine trained by row ({signed(more['mean'], 1)})"


def _reading(results: dict[str, Any]) -> str:
    rows = [
        [NAMES[name], *(_verdict(results["means"][f"{review:g}"][name]["more"]) for review in results["reviews"])]
        for name in MACHINES[1:]
    ]
    head = ["", *(f"a review costs {review:g}" for review in results["reviews"])]
    return f"""## Which is better

A difference counts if its interval does not contain 0. The interval is that of all differences at once.

{table(head, rows)}"""


def cost_figure(results: dict[str, Any]) -> Any:
    """Mean cost per loan of the four machines, with its interval, by cost of a review."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
    for k, (name, colour) in enumerate(zip(MACHINES, COLOURS, strict=True)):
        found = [results["means"][f"{review:g}"][name]["cost"] for review in results["reviews"]]
        x = [position + 0.14 * (k - 1.5) for position in range(len(found))]
        low, high = ([abs(item[end] - item["mean"]) for item in found] for end in ("low", "high"))
        mean = [item["mean"] for item in found]
        ax.errorbar(x, mean, yerr=[low, high], color=colour, marker="o", linestyle="none", capsize=3, label=NAMES[name])
    ax.set_xticks(range(len(results["reviews"])), [f"{review:g} DM" for review in results["reviews"]])
    ax.set(xlabel="cost of a review", ylabel="mean cost per loan, DM", ylim=(0, None))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="lower right", fontsize="small")
    return figure
