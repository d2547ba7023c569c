"""The page of the experiment with several classes."""

from __future__ import annotations

from typing import Any

from harness.numbers import signed, with_error, with_interval
from harness.pages import run_it, share, table

LEVEL = 0.05
TUNED, BAYES, FORCED = "RejectSVCCV, tuned", "RejectSVCCV, Bayes", "SVC, forced"
ABOUT = {
    TUNED: "one double hinge per class against the rest; the lead of the likeliest class, tuned on held-out scores",
    BAYES: "the same machines with Bayes' threshold on each score",
    "SVC + lead": "scikit-learn's `SVC`; the lead over the second class, with the threshold of least out-of-fold cost",
    "SVC + Platt": "`SVC`; Platt's sigmoid for each class, normalised; Chow's rule",
    "SVC + temperature": "`SVC`; softmax of the scores with a fitted temperature (Guo et al. 2017); Chow's rule",
    "forest + Chow": "a random forest with Chow's rule, as it is or with a fitted temperature",
    "boosting + Chow": "histogram boosting with Chow's rule, as it is or with a fitted temperature",
    "conformal sets": "MAPIE's split-conformal sets (LAC) of a forest: one class is an answer, any other set a reject",
}

OPENING = """# Several classes: which machine decides at the least cost?

With more than two classes and a reject cost, `RejectSVCCV` trains one machine for each class against the rest. We
compare its two kinds of thresholds with rules on scikit-learn's `SVC`, with forests and boosting, and with conformal
sets, all tuned alike, by what their decisions cost on rows that none has seen."""


def page(results: dict[str, Any]) -> str:
    """README.md."""
    parts = [_short, _methods, _protocol, _costs, _tables, _budgets, _end]
    return "\n\n".join([OPENING, *(part(results) for part in parts)])


def _short(results: dict[str, Any]) -> str:
    mean, critical = results["ranks"]["mean"], results["ranks"]["critical_difference"]
    order = sorted(mean, key=mean.__getitem__)
    near = [name for name in order[1:] if mean[name] - mean[order[0]] < critical]
    sets, prices = len(results["sets"]), len(results["protocol"]["prices"])
    others = [f"“{name}” has {mean[name]:.2f}" for name in (TUNED, BAYES) if name != order[0]]
    lines = [
        f"Mean rank over {sets} sets and {prices} reject costs: “{order[0]}” is first with {mean[order[0]]:.2f}; "
        f"{', '.join(others)}. "
        + (f"Ranks differ significantly from {critical:.2f} on, so {_listed(near)} cannot be distinguished from the "
           f"first." if near else f"All others differ from it significantly (critical difference {critical:.2f})."),
        *(_best(results, method) for method in (TUNED, BAYES)),
        _cuts(results),
    ]  # fmt: skip
    return "## In short\n\n" + "\n".join(f"- {line}" for line in lines)


def _best(results: dict[str, Any], method: str) -> str:
    item = results["against_best"][method]
    return (
        f"“{method}” costs significantly more than the best of the six other rules in {item['more']} of "
        f"{item['blocks']} pairs of a set and costs ({share(item['more'] / item['blocks'], digits=0)}), and "
        f"significantly less in {item['less']}. The best is chosen by the mean cost on the same test rows, which "
        "favours it."
    )


def _cuts(results: dict[str, Any]) -> str:
    item = results["pairs"][BAYES]
    return (
        f"Bayes' thresholds cost {_percent(abs(item['ratio'])).lstrip('+')} {'more' if item['ratio'] > 0 else 'less'} "
        "than tuned ones, as a geometric mean over all pairs; "
        f"significantly more in {item['more']} and significantly less in {item['less']} of {item['blocks']}."
    )


def _methods(results: dict[str, Any]) -> str:
    mean = results["ranks"]["mean"]
    rows = []
    for name in sorted(mean, key=mean.__getitem__):
        item = results["pairs"].get(name)
        cells = ["", "", ""] if item is None else [_percent(item["ratio"]), item["more"], item["less"]]
        rows.append([name, ABOUT[name], f"{mean[name]:.2f}", *cells])
    blocks = len(results["blocks"])
    head = ["method", "what it is", "mean rank", "cost against tuned", f"sig. more (of {blocks})", "sig. less"]
    return f"""## Methods, by their mean rank

{table(head, rows)}

Ranks are over sets and reject costs. The other columns compare with “{TUNED}” over all sets and costs: the
geometric mean of the ratio of the costs, and how often the method costs significantly more or less."""


def _protocol(results: dict[str, Any]) -> str:
    facts = results["protocol"]
    head = ["set", "classes", "features", "rows", "smallest class", "training rows", "test rows", "splits"]
    rows = [
        [item["title"], item["classes"], item["features"], f"{item['rows']:,}", item["smallest"],
         f"{item['training_rows']:,}", f"{item['test_rows']:,}",
         f"{item['splits']} {'disjoint blocks' if item['blocks'] else 'random'}"]
        for item in results["sets"]
    ]  # fmt: skip
    return f"""## Protocol

{table(head, rows)}

- A wrong answer costs 1, a reject {", ".join(f"{r:g}" for r in facts["prices"][:-1])} or {facts["prices"][-1]:g}.
  new-thyroid has a table too: a disorder called normal costs 5, one called the other 2, a false alarm 1, a reject 0.4.
  So has PBMC 68k: confusing two kinds of T cell costs 1, confusing other cells 3, a reject 0.3.
- Splits are stratified; features are standardised on the training rows. Of PBMC 68k, the {facts["genes"]} genes of
  largest variance in the training rows are used. Of Covertype, 20,000 rows were drawn once.
- All SVMs have the Gaussian kernel, C of {_numbers(facts["Cs"])} and gamma of {_numbers(facts["widths"])} times
  "scale", and the same {facts["folds"]} folds. Every rule chooses the pair whose decisions cost least out of fold.
- Forests: {facts["trees"]} trees, leaves of at least {_numbers(facts["leaves"])} rows, {_numbers(facts["shares"])} of
  the features per split. Boosting: {_numbers(facts["nodes"])} leaves, {_numbers(facts["stages"])} stages. Chosen by
  their cost on {facts["folds_of_trees"]} folds, for time. Conformal sets: a fifth of the training rows is held out for
  them; the forest and one of {len(facts["levels"])} levels are those of least cost on these rows.
- `SVC`'s scores for several classes are votes of pairs plus a bounded part, so its leads are close to whole votes. That
  is what scikit-learn gives by default, and it limits all three rules on it; machines of one class against the rest
  would order rows better. Boosting has few candidates, and its smallest classes have few rows.
- The one constant of our tuned thresholds, how strongly they are shrunk, was chosen on other splits of digits,
  new-thyroid, PBMC 68k and Covertype and on generated sets, before this was run. Nothing was changed afterwards.
- ± is the standard error over splits. Intervals are paired, 95 %, by Student's t; for random splits, which share rows,
  with Nadeau & Bengio's (2003) correction. Tests are corrected by Holm's method over all pairs of a set and costs, at
  {LEVEL:g}; the critical difference of ranks is by permutation of the methods within each set."""


def _costs(results: dict[str, Any]) -> str:
    head = ["set", "reject cost", *results["methods"], FORCED]
    titles = {item["data"]: item["title"] for item in results["sets"]}
    rows = [_cost_row(block, titles[block["data"]], results) for block in results["blocks"] if _even(block)]
    return f"""## Mean cost by reject cost

Mean cost per test row ± standard error, share rejected in brackets; the least of a row is bold. “{FORCED}” may not
reject.

{table(head, rows)}

![Mean cost in units of the reject cost, for each set](cost.png)

Cost of “{TUNED}” minus the cost of the best of the six other rules, with its interval and Holm's p:

{_gaps(results)}"""


def _even(block: dict[str, Any]) -> bool:
    return block["costs"] != "table"


def _cost_row(block: dict[str, Any], title: str, results: dict[str, Any]) -> list[str]:
    found = block["methods"]
    least = min(found[name]["cost"]["mean"] for name in results["methods"])
    cells = []
    for name in results["methods"]:
        item = found[name]
        text = f"{with_error(item['cost'], 4)} ({share(item['rejected'], digits=0)})"
        cells.append(f"**{text}**" if item["cost"]["mean"] <= least + 1e-12 else text)
    return [title, block["costs"], *cells, with_error(found[FORCED]["cost"], 4)]


def _gaps(results: dict[str, Any]) -> str:
    titles = {item["data"]: item["title"] for item in results["sets"]}
    found = results["against_best"][TUNED]
    rows = [
        [titles[block["data"]], block["costs"], best, with_interval(gap, 4), f"{gap['p']:.3f}"]
        for block, best, gap in zip(results["blocks"], found["best"], found["gaps"], strict=True)
    ]
    return table(["set", "reject cost", "best other rule", "difference", "p"], rows)


def _tables(results: dict[str, Any]) -> str:
    titles = {item["data"]: item["title"] for item in results["sets"]}
    rows = [_cost_row(block, titles[block["data"]], results) for block in results["blocks"] if not _even(block)]
    if not rows:
        return "## Tables of costs\n\nNot measured."
    head = ["set", "costs", *results["methods"], FORCED]
    return f"""## Tables of costs

{table(head, rows)}"""


def _budgets(results: dict[str, Any]) -> str:
    shares = results["budgets"]["shares"]
    rows = []
    for item in results["sets"]:
        for method in results["methods"]:
            found = results["budgets"][item["data"]][method]
            cells = [_budget_cell(*pair) for pair in zip(found["error"], found["minus_tuned"], strict=True)]
            rows.append([item["title"], method, *cells])
    return f"""## Error against a budget of rejects

Errors among the accepted rows, in percent ± standard error, if each machine rejects the same share of the test rows,
the least certain ones. The machines are trained at the reject cost {results["protocol"]["curve"]}; an asterisk marks a
difference from “{TUNED}” with a 95 % interval that excludes 0, not corrected for the number of comparisons.

{table(["set", "method", *(f"reject {share(s, digits=0)}" for s in shares)], rows)}

![Errors among accepted rows against the share rejected, for each set](budgets.png)"""


def _budget_cell(error: dict[str, Any], gap: dict[str, Any]) -> str:
    mark = "\\*" if gap["low"] > 0 or gap["high"] < 0 else ""
    return f"{100 * error['mean']:.2f} ± {100 * error['standard_error']:.2f}{mark}"


def _end(results: dict[str, Any]) -> str:
    return (
        "The conformal sets are MAPIE's (Cordier et al. 2023; LAC: Sadinle, Lei & Wasserman 2019); MAPIE is needed to "
        "run this experiment only: `pip install mapie`.\n\n" + run_it(results) + "\n"
    )


def _percent(ratio: float) -> str:
    return f"{signed(100 * ratio, 1)} %"


def _numbers(values: Any) -> str:
    return ", ".join(str(value) if isinstance(value, str) else f"{value:g}" for value in values)


def _listed(names: list[str]) -> str:
    quoted = [f"“{name}”" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
