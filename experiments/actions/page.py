"""The page and the picture of the experiment with four actions."""

from __future__ import annotations

from typing import Any

from harness.numbers import signed, with_error, with_interval
from harness.pages import run_it, share, table

ROWS = {
    "four actions": "SVM, four actions",
    "four actions, Bayes' cuts": 'SVM, four actions, `cuts="bayes"`',
    "without call": "SVM, without call",
    "without visit": "SVM, without visit",
    "forced": "SVM, approve or decline",
    "logistic, four actions": "logistic regression, four actions",
    "logistic, forced": "logistic regression, approve or decline",
}

OPENING = """# Four actions on German credit

Grandvalet, Rakotomamonjy, Keshet & Canu (NIPS 21, 2008) announce that their loss extends from one reject to several
levels of confidence. `Actions` is that case: any number of actions with a cost per class, a tangent of the loss at each
probability where the cheapest action changes. Here an applicant is approved, declined, called, or visited. Does a
second way to hand a case on lower the cost?"""


def page(results: dict[str, Any]) -> str:
    """README.md."""
    return "\n\n".join([OPENING, _protocol(results), _results(results), _judgement(results), run_it(results) + "\n"])


def _protocol(results: dict[str, Any]) -> str:
    costs = {name: cost if isinstance(cost, dict) else {"good": cost, "bad": cost} for name, cost in _costs(results)}
    order = results["order"]
    ends = ["0", *(f"{p:.3g}" for p in results["crossings"]), "1"]
    rows = [
        [name, f"{costs[name]['good']:g}", f"{costs[name]['bad']:g}", f"{ends[k]} to {ends[k + 1]}"]
        for k, name in enumerate(order)
    ]
    grid, trials = results["grid"], results["machines"]["four actions"]["cost"]["trials"]
    return f"""## Protocol

{table(["action", "cost if good", "cost if bad", "cheapest at P(bad)"], rows)}

Approving and declining have the costs published with the data. A call costs 0.2 and decides wrongly in a tenth of the
cases of either class; a visit costs 0.4 and is always right. These two costs are ours.

- Statlog German credit, official numeric version, {share(results["bad"])} bad. {trials} random stratified splits,
  {results["train"]} rows for training and {results["test"]} for testing, features standardised on the training rows.
- SVM: `RejectSVCCV` with the Gaussian kernel, {len(grid["Cs"])} values of C from {grid["Cs"][0]:g} to
  {grid["Cs"][-1]:g}, {grid["gammas"]} of gamma, {grid["cv"]} folds, chosen by the mean cost of its own actions.
  Machines with fewer actions are trained and tuned for these; all are judged by the same table.
- Logistic regression: Chow's rule for the actions on its probabilities, its penalty chosen from
  {len(grid["strengths"])} values by the mean cost on {grid["cv"]} folds.
- ± is the standard error over the splits. Intervals are paired, 95 %, with Nadeau & Bengio's (2003) correction for
  splits that share rows, Student's t, and Bonferroni's correction for {len(results["minus_four"])} comparisons."""


def _costs(results: dict[str, Any]) -> list[tuple[str, Any]]:
    return list(results["table"].items())


def _results(results: dict[str, Any]) -> str:
    names = [name for name, _ in _costs(results)]
    rows = []
    for machine, item in results["machines"].items():
        gap = results["minus_four"].get(machine)
        cell = "" if gap is None else _bold(with_interval(gap), _sign(gap) != 0)
        shares = [share(item["shares"][name], digits=0) for name in names]
        rows.append([ROWS[machine], with_error(item["cost"]), cell, *shares])
    same = ", ".join(f"{cost:.3f} ({name})" for name, cost in results["one_action_for_all"].items())
    counts = results["machines"]["four actions"]["counts"]
    tested = [[label, *(f"{count:,}" for count in row)] for label, row in counts.items()]
    return f"""## Results

Mean cost on the test rows, the difference to the SVM with four actions (bold if 0 is outside the interval), and the
share of rows with each action:

{table(["machine", "mean cost", "minus four actions", *names], rows)}

The same action for all rows would cost {same}.

Test rows of all splits by class and action, SVM with four actions:

{table(["true class", *names], tested)}

![Mean cost of each machine minus that of the SVM with four actions](differences.png)"""


def _judgement(results: dict[str, Any]) -> str:
    gaps = results["minus_four"]
    lines = [
        f"- Against {what}: {_words(gaps[name])}"
        for name, what in (
            ("without call", "the machine that cannot call"),
            ("without visit", "the machine that cannot visit"),
            ("forced", "the machine that must approve or decline"),
            ("logistic, four actions", "logistic regression with the same four actions"),
            ("four actions, Bayes' cuts", "Bayes' thresholds on the score"),
        )
    ]
    return "## Verdict\n\n" + "\n".join(lines)


def _words(gap: dict[str, Any]) -> str:
    size = f"the difference is {signed(gap['mean'])} per row"
    more = {1: "four actions cost less", -1: "four actions cost more", 0: "no significant difference"}[_sign(gap)]
    return f"{more}; {size}."


def _sign(gap: dict[str, Any]) -> int:
    return 1 if gap["low"] > 0 else -1 if gap["high"] < 0 else 0


def _bold(text: str, yes: bool) -> str:
    return f"**{text}**" if yes else text


def differences(results: dict[str, Any]) -> Any:
    """Each machine's mean cost minus that of four actions, with its interval."""
    import matplotlib.pyplot as plt

    gaps = results["minus_four"]
    figure, ax = plt.subplots(figsize=(7.0, 3.0), layout="constrained")
    for at, gap in enumerate(gaps.values()):
        ax.plot([gap["low"], gap["high"]], [at, at], color="#0072B2", linewidth=2)
        ax.plot(gap["mean"], at, "o", color="#0072B2")
    ax.axvline(0.0, color="#333333", linewidth=1)
    ax.set_yticks(range(len(gaps)), [ROWS[name].replace("`", "") for name in gaps])
    ax.invert_yaxis()
    ax.set_xlabel("mean cost minus that of the SVM with four actions")
    ax.spines[["top", "right"]].set_visible(False)
    return figure


FIGURES = {"differences.png": differences}
