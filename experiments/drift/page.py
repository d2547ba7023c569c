"""The page and the picture of drift."""

from __future__ import annotations

from typing import Any

from harness.pages import run_it, share, table

NAMES = {"german": "German credit", "pima": "Pima", "wdbc": "WDBC", "covtype": "covtype, types 4 and 6"}
WORDS = {"with": "all columns", "without": "without the column of the elevation"}
COLOURS = {"with": ("#0072B2", "o", "-"), "without": ("#D55E00", "s", "--")}


def page(results: dict[str, Any]) -> str:
    """README.md."""
    parts = [_opening(results), _alarms(results), _elevation(results), _time(results), run_it(results)]
    return "\n\n".join(parts) + "\n"


def _opening(results: dict[str, Any]) -> str:
    return f"""# Drift: false alarms on real data, and what is found

`abstain.drift` compares a batch with the training rows: scores of the guard, decisions, categories and missing values,
by two-sample tests that are corrected for their number. It promises at most {share(results["level"], digits=0)} of
false alarms for batches of any size. Here this is counted on batches of other rows of the same set, and the share of
batches that are found is counted on rows from other elevations and of later times. The model is
`NoveltyRejector(RejectSVC(Costs(reject=0.2)))` on scaled columns, with all defaults. No published number exists for
comparison."""


def _alarms(results: dict[str, Any]) -> str:
    rows = [
        [
            NAMES[name],
            found["splits"],
            found["tests"],
            found["calibration"],
            *(share(rate) for rate in found["rates"]),
            f"{found['largest']:,}",
            share(found["uniformity"]),
        ]
        for name, found in results["alarms"].items()
    ]
    sizes = [f"{size} row{'s' * (size > 1)}" for size in results["sizes"]]
    head = ["set", "splits", "tests", "calibration rows", *sizes, "the largest batch", "its rows", "uniformity"]
    worst = max(rate for found in results["alarms"].values() for rate in found["rates"])
    plain = [found["uniformity"] for found in results["alarms"].values()]
    verdict = "above the level, as chance explains" if worst <= results["most"] else "**more than chance explains**"
    verdict = "below the level" if worst <= results["level"] else verdict
    return f"""## False alarms

Random splits of each set: {results["training"]} training rows, and disjoint batches of the other rows, the largest of
up to 1,000 rows overlapping them. The numbers are the shares of batches called drifted.

{table(head, rows)}

The largest rate is {share(worst)}, {verdict}: up to {share(results["most"])} would be found in one of these rates by
chance, at 1 %, if each were {share(results["level"], digits=0)}. Small batches are called drifted less often, since few
rows allow few p-values.

The last column is a control: the guard's p-values of the largest batch, tested for uniformity by Kolmogorov and
Smirnov's test. They share the calibration rows, and the test mistakes the chance in these rows for drift: it raises
{share(min(plain), digits=0)} to {share(max(plain), digits=0)} of false alarms."""


def _elevation(results: dict[str, Any]) -> str:
    sizes = [f"{size} row{'s' * (size > 1)}" for size in results["sizes"]]
    parts = []
    for key, words in WORDS.items():
        rows = [
            [
                _band(one["band"], results["elevation"]["low"]),
                *(share(rate, digits=0) for rate in one["rates"]),
                share(one["novel"]),
                share(one["rejects"]),
                *(share(one[f"by_{test}"], digits=0) for test in ("scores", "novel", "decisions")),
            ]
            for one in results["elevation"][key]
        ]
        head = ["elevation", *sizes, "novel", "rejected", "by scores", "by novel rows", "by decisions"]
        parts.append(f"**{words[0].upper() + words[1:]}:**\n\n{table(head, rows)}" if rows else "")
    low = share(results["elevation"]["low"], digits=0)
    return f"""## Higher and higher places

covtype ordered by elevation: {results["elevation"]["training"]:,} training rows of the lowest {low}, batches of other
rows of these, and of each tenth above. Shares of batches called drifted by the number of their rows; then, for
{results["sizes"][-1]} rows, the shares of novel and of ambiguous rows, and how often each test finds a difference.

{chr(10).join(part + chr(10) for part in parts if part)}
![Batches found against elevation](found.png)"""


def _band(band: list[float], low: float) -> str:
    return "as trained" if band[1] <= low else f"{100 * band[0]:.0f} to {100 * band[1]:.0f} %"


def _time(results: dict[str, Any]) -> str:
    found = results["time"]
    rows = [
        [
            "as trained" if one["moment"] == 0 else f"from {100 * one['moment']:.0f} % on",
            share(one["rate"], digits=0),
            share(one["novel"]),
            share(one["rejects"]),
            *(share(one[f"by_{test}"], digits=0) for test in ("scores", "novel", "decisions")),
        ]
        for one in found["moments"]
    ]
    head = ["beats", "drifted", "novel", "rejected", "by scores", "by novel rows", "by decisions"]
    return f"""## Later and later in a recording

MIT-BIH, {found["records"]} records, each by itself: {found["training"]} training beats drawn from its first third, a
batch of {found["rows"]} others drawn from there, and batches of {found["rows"]} consecutive beats from later on. Means
over {found["trials"]} fits. The first line is a count of false alarms; up to {share(found["most"])} are within chance.
Whether the later beats differ because the heart or the electrodes have changed, or because a minute of beats is less
varied than ten, the test does not say: either way they are unlike a sample of the training rows.

{table(head, rows)}"""


def found_figure(results: dict[str, Any]) -> Any:
    """Shares of batches called drifted by elevation."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    sizes = results["sizes"]
    for key, (colour, marker, style) in COLOURS.items():
        found = results["elevation"][key]
        names = [_band(one["band"], results["elevation"]["low"]) for one in found]
        for size, alpha in ((sizes[-1], 1.0), (sizes[-2], 0.5)):
            rates = [one["rates"][sizes.index(size)] for one in found]
            label = f"{WORDS[key]}, {size} rows"
            ax.plot(names, rates, style, color=colour, marker=marker, alpha=alpha, label=label)
    ax.axhline(results["level"], color="#333333", linestyle=":", linewidth=1, label="level")
    ax.set(xlabel="elevation, by its rank among all rows", ylabel="share of batches called drifted", ylim=(0, 1.03))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small")
    return figure
