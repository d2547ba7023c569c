"""The page and the picture of the experiment on verdicts."""

from __future__ import annotations

from typing import Any

from harness.numbers import with_error, with_interval
from harness.pages import run_it, share, table

TITLES = {
    "letter": "letters A to M or N to Z",
    "covtype": "cover types 1 and 2",
    "mitbih": "heart beats",
    "wdbc": "biopsies",
}
WAYS = {
    "verdicts": "verdicts, plain",
    "weighted": "verdicts, weighted",
    "audited only": "audited rows only",
    "random rows": "random rows, as many",
}
COLOURS = {"verdicts": "#0072B2", "weighted": "#D55E00", "audited only": "#009E73", "random rows": "#666666"}

OPENING = """# Verdicts as training rows

People decide the rows that a model rejects, and a few that it answers (the audit). `abstain fit --also review.xlsx`
trains on these verdicts. Which rows are reviewed depends on x alone, so that their labels are not biased, but rows near
the boundary are over-represented. Should verdicts be weighted, so that each region of the score counts as in the batch,
or not?"""


def page(results: dict[str, Any]) -> str:
    """README.md."""
    return "\n\n".join([OPENING, _protocol(results), _results(results), _verdict(results), run_it(results) + "\n"])


def _protocol(results: dict[str, Any]) -> str:
    train, batch, rounds, audit, test = results["sizes"]
    grid = results["grid"]
    trials = next(iter(results["sets"].values()))["minus_verdicts"]["weighted"]["trials"]
    return f"""## Protocol

- Each of {rounds} rounds predicts {batch} new rows. Their rejected rows and {audit} of the others, drawn at random, get
  their true label as verdict and are added to the training rows, {train} at first; then the model is fitted again.
- Four ways: the verdicts as they are; weighted, where each audited row counts for all answered rows of its batch,
  divided by {audit}; the audited rows only; and as many random rows of the batch as have verdicts.
- `RejectSVCCV` with an error at 1 and a reject at {results["reject"]:g}, {len(grid["Cs"])} values of C and
  {grid["gammas"]} of gamma by {grid["cv"]} folds, features standardised on the training rows.
- Costs are those of {test} fresh rows, which no way sees. {trials} trials, each with its own rows of the set; ± is the
  standard error. Differences are paired by trial: Student's t at 95 %, with Bonferroni's correction for the three of a
  set."""


def _results(results: dict[str, Any]) -> str:
    parts = []
    for name, item in results["sets"].items():
        rounds = range(len(item["rows"]["verdicts"]))
        rows = [
            [WAYS[way], *(with_error(cost, 4) for cost in item["cost"][way]), f"{item['rows'][way][-1]:.0f}"]
            for way in WAYS
        ]
        head = ["trained on", *(f"round {at}" if at else "start" for at in rounds), "rows at the end"]
        rejects = ", ".join(share(item["rejects"]["verdicts"][at]) for at in rounds)
        gaps = [[WAYS[way], with_interval(gap, 4)] for way, gap in item["minus_verdicts"].items()]
        parts.append(
            f"### {TITLES[name][0].upper()}{TITLES[name][1:]}\n\n"
            f"Mean cost of fresh rows after each round:\n\n{table(head, rows)}\n\n"
            f"Share of the batch that is rejected, plain verdicts: {rejects}.\n\n"
            f"After the last round, minus plain verdicts:\n\n{table(['trained on', 'difference'], gaps)}"
        )
    picture = "![Mean cost of fresh rows by round, for each set and way](rounds.png)"
    return "\n\n".join(["## Results", picture, *parts])


def _verdict(results: dict[str, Any]) -> str:
    lines = [f"- {WAYS[way].capitalize()}: {_words(results, way)}" for way in WAYS if way != "verdicts"]
    cheaper = any(gap["high"] < 0 for item in results["sets"].values() for gap in item["minus_verdicts"].values())
    close = (
        "One of the ways costs less than plain verdicts on some set."
        if cheaper
        else "No way costs significantly less than plain verdicts, so `--also` counts verdicts like any other row. "
        "Random\nrows would also need labels that nobody has yet."
    )
    return "## Verdict\n\nAgainst plain verdicts, after the last round:\n\n" + "\n".join(lines) + f"\n\n{close}"


def _words(results: dict[str, Any], way: str) -> str:
    found: dict[str, list[str]] = {"costs more": [], "costs less": [], "no significant difference": []}
    for name, item in results["sets"].items():
        gap = item["minus_verdicts"][way]
        sign = "costs more" if gap["low"] > 0 else "costs less" if gap["high"] < 0 else "no significant difference"
        found[sign].append(TITLES[name])
    return "; ".join(f"{words} on {', '.join(names)}" for words, names in found.items() if names) + "."


def rounds(results: dict[str, Any]) -> Any:
    """The cost on fresh rows by round."""
    import matplotlib.pyplot as plt

    sets = results["sets"]
    figure, axes = plt.subplots(1, len(sets), figsize=(3.2 * len(sets), 3.2), layout="constrained", squeeze=False)
    for ax, (name, item) in zip(axes[0], sets.items(), strict=True):
        for way, costs in item["cost"].items():
            mean = [cost["mean"] for cost in costs]
            error = [cost["standard_error"] for cost in costs]
            ax.errorbar(range(len(mean)), mean, error, color=COLOURS[way], label=WAYS[way], linewidth=1.5, capsize=2)
        ax.set_title(TITLES[name], fontsize=10)
        ax.set_xlabel("round")
        ax.set_ylim(bottom=0)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_ylabel("mean cost of fresh rows")
    axes[0][-1].legend(frameon=False, fontsize=8)
    return figure


FIGURES = {"rounds.png": rounds}
