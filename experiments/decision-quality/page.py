"""The page of decision-quality."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from figures import rank_picture, relative_picture
from harness.numbers import with_interval
from harness.pages import number, run_it, share, table
from harness.sentences import best_rank, interval, p_value, percent
from sentences import BAYES, TUNED, promised, rejecting, tuned_cuts

ABOUT = {
    "RejectSVCCV": "the double hinge of these costs, with Bayes' thresholds",
    "RejectSVCCV, tuned": '`RejectSVCCV` with `cuts="tuned"`: thresholds placed by its out-of-fold scores',
    "SVM + Chow, by cost": "a plain SVM with Platt's sigmoid and Chow's rule; C and gamma by their cost",
    "SVM + Chow": "a plain SVM chosen by its error rate (`RejectSVCCV` without costs), Platt's sigmoid, Chow's rule",
    "SVM + ROC": "the plain SVM chosen by its error rate, two thresholds from the ROC curve of its out-of-fold scores",
    "SVM + symmetric": "the plain SVM chosen by its error rate, one symmetric threshold on its out-of-fold scores",
    "logistic + Chow": "logistic regression with Chow's rule; ridge and lasso penalties",
    "forest + Chow": "a random forest with Chow's rule; leaf sizes, features per split, as it is or calibrated",
    "boosting + Chow": "histogram boosting with Chow's rule; leaves, learning rates, numbers of trees",
}
LEVEL = 0.05
FIGURES = {"relative.png": relative_picture, "ranks.png": rank_picture}


def page(results: dict[str, Any]) -> str:
    """README.md."""
    parts = [OPENING, _short(results), _methods(results), _protocol(results), _ranks(results), _pairs(results)]
    return "\n\n".join([*parts, *_tuned(results), _costs(results), _promises(results), _limits(), _end(results)])


OPENING = """# Which machine decides at the least cost?

A user with costs and a table wants the machine whose decisions will cost least. We compare `RejectSVCCV` with rules on
a plain SVM and with logistic regression, a forest and boosting, all tuned alike, on public data sets."""


def _short(results: dict[str, Any]) -> str:
    lines = [best_rank(results), rejecting(results, "RejectSVCCV"), tuned_cuts(results)]
    return "## In short\n\n" + "\n".join(f"- {line}" for line in lines)


def _methods(results: dict[str, Any]) -> str:
    overall, mean, blocks = results["overall"], results["ranks"]["mean"], len(results["blocks"])
    rows = [
        [
            name,
            ABOUT[name],
            f"{mean[name]:.2f}",
            f"{percent(overall[name]['relative']['mean'])} ({interval(overall[name]['relative'])})",
            overall[name]["cheapest"],
            share(overall[name]["rejected"], digits=0),
        ]
        for name in sorted(mean, key=mean.__getitem__)
    ]
    relative = "cost against the best forced machine"
    head = ["method", "what it is", "mean rank", relative, f"cheapest (of {blocks})", "rejected"]
    return f"""## Methods, by their mean rank

{table(head, rows)}

The best forced machine is, for each set and costs, the least expensive on average of the cost-sensitive SVM, logistic
regression, the forest and boosting, each tuned by its forced cost, with Bayes' threshold for a rule that may not
reject. It is chosen on the test rows, which favours it. Relative costs are geometric means: over the costs of a set,
then over sets, with 95 % intervals by Student's t over sets. A tie for the cheapest counts for each.

![Mean cost relative to the best forced machine, by data set and costs](relative.png)

Columns: false positive : false negative : reject. Points beyond a factor of four are drawn at the edge."""


def _protocol(results: dict[str, Any]) -> str:
    facts, costs = results["protocol"], results["costs"]
    stated = "; ".join(f"{c[0]:g} : {c[1]:g} : {c[2]:g} (“{key}”)" for key, c in costs.items())
    rows = [
        [item["title"], f"{item['rows']:,}", item["features"], share(item["positive"], digits=0)]
        for item in results["sets"]
    ]
    return f"""## Protocol

- Costs, false positive : false negative : reject: {stated}.
- {facts["splits"]} random stratified splits, {share(1 - facts["test_share"], digits=0)} for training, seeds from 0.
  Features are standardised on the training rows. Of larger sets, two thousand rows are drawn once. Of the genes of the
  cells, the 200 that vary most in the training rows are kept.
- Each method has {facts["candidates"]} candidates and chooses by its mean cost, at these costs, on the same
  {facts["folds"]} folds of the training rows. The exception is the plain SVM of three rules, chosen by its error
  rate. Nothing but the best forced machine is chosen on test rows.
- SVMs: Gaussian kernel, 6 values of C and 4 of gamma, spaced as `RejectSVCCV` spaces them. Logistic regression: 12
  strengths of two penalties. Forest: 8 forests of 100 trees; each as it is, with Platt's sigmoid, or with an isotonic
  fit, cross-fitted. Boosting: 6 models, each at 4 numbers of trees.
- The cells, and the features of the MIT-BIH beats, are read from the data folder only (`ABSTAIN_DATA`).

{table(["set, positive class last", "rows", "features", "positive"], rows)}"""


def _ranks(results: dict[str, Any]) -> str:
    found = results["ranks"]
    return f"""## Ranks

In each pair of a set and costs the methods are ranked by their mean cost on test rows (1: least), ties averaged.
{best_rank(results)}

![Mean ranks, and groups of methods that cannot be distinguished](ranks.png)

The critical difference is {found["critical_difference"]:.2f}: if all methods were equal, the largest difference of two
mean ranks would be smaller in 95 % of the cases. It is Nemenyi's, computed by exchanging the methods of a set for all
its costs at once, because the costs of a set share rows and are not independent."""


def _pairs(results: dict[str, Any]) -> str:
    blocks = len(results["blocks"])
    rows = []
    for name, item in results["pairs"].items():
        ratio = item["ratio"]
        sets = f"{ratio['above']} : {ratio['below']} ({p_value(ratio['sign_p'])})"
        bold = "**" if ratio["low"] > 0 or ratio["high"] < 0 else ""
        size = f"{bold}{percent(ratio['mean'])}{bold} ({interval(ratio)})"
        rows.append([name, size, sets, f"{item['more']} : {item['less']}"])
    head = ["a against b", "cost of a relative to b's", "sets on which a costs more : less", "pairs, significantly"]
    return f"""## One method against another

{table(head, rows)}

Relative costs as above; bold if the interval excludes 0. Pairs: sets and costs, {blocks} in all, in which a costs
significantly more : less than b, by Nadeau & Bengio's corrected t test over the splits with Holm's correction over all
{blocks} (5 %)."""


def _tuned(results: dict[str, Any]) -> list[str]:
    """Tuned against Bayes' cuts, by set and costs, if both were measured."""
    found = results["pairs"].get(f"{TUNED} against {BAYES}")
    if found is None:
        return []
    gaps = {(item["data"], item["costs"]): item for item in found["blocks"]}
    rows = [[item["title"], *(_gap(gaps[item["data"], key]) for key in results["costs"])] for item in results["sets"]]
    head = ["set", *(f"{c[0]:g} : {c[1]:g} : {c[2]:g}" for c in results["costs"].values())]
    text = "Mean cost with tuned minus Bayes' thresholds, with 95 % intervals; bold: significant with Holm's"
    title = "## Tuned thresholds against Bayes' thresholds"
    return [f"{title}\n\n{tuned_cuts(results)}\n\n{text} correction.\n\n{table(head, rows)}"]


def _gap(item: dict[str, Any]) -> str:
    return f"**{with_interval(item)}**" if item["holm_p"] < LEVEL else with_interval(item)


def _costs(results: dict[str, Any]) -> str:
    titles = {item["data"]: item["title"] for item in results["sets"]}
    names = [*results["methods"], "best forced"]
    meaning = "Mean cost on the test rows ± half the width of its 95 % interval (corrected as above); bold: the least."
    parts = ["## All costs", meaning]
    for key, costs in results["costs"].items():
        rows = []
        for block in results["blocks"]:
            if block["costs"] != key:
                continue
            items = [block["methods"][name] for name in (*results["methods"], block["best_forced"]["method"])]
            least = min(item["cost"]["mean"] for item in items)
            rows.append([titles[block["data"]], *(_cell(item["cost"], least) for item in items)])
        parts += [f"### {costs[0]:g} : {costs[1]:g} : {costs[2]:g}", table(["set", *names], rows)]
    return "\n\n".join(parts)


def _cell(item: dict[str, Any], least: float) -> str:
    text = f"{item['mean']:.3f} ± {item['high'] - item['mean']:.3f}"
    return f"**{text}**" if item["mean"] <= least + 1e-12 else text


def _promises(results: dict[str, Any]) -> str:
    lines = "\n".join(f"- {promised(results, method)}" for method in results["bias"])
    return f"""## Does the search promise what the decisions cost?

The mean cost that the search reports, minus the mean cost of the same machine's decisions on the test rows (below 0:
too optimistic). Costs are in units of the reject cost, averaged over splits and costs; intervals are over sets.

{lines}

The last machine is fitted to all training rows, those of the search to four fifths of them. Wherever more rows help, an
unbiased estimate of the search is therefore above the cost of the last machine."""


def _limits() -> str:
    """Which machines `machines="auto"` tries on how many rows, from what limits.py has measured."""
    found = json.loads(Path(__file__).with_name("limits.json").read_text(encoding="utf-8"))["summary"]
    rows = [
        [
            f"{item['rows']:,}",
            item["choice"],
            item["sets"],
            number(item["ratio"], item["error"], 3),
            f"{item['seconds']:.1f}",
        ]
        for item in found
    ]
    head = ["training rows", "machines", "sets", "cost relative to the svm's", "seconds of CPU"]
    return f"""## Which machines, on how many rows?

`abstain fit` and `MachineSearch` choose among a few machines by their cross-validated mean cost. Here each has been
trained alone on training sets of several sizes, drawn once from covertype (1 v 2, 6 v 4, all classes), letters (vowels)
and the MIT-BIH beats, at two costs each; beyond 2,500 rows three of them, at one or two costs. Costs are those of 8,000
test rows, geometric means over the costs of a set, then over sets, ± a standard error over sets. Several machines: the
one of least cross-validated mean cost.

{table(head, rows)}

The svm with the Laplacian kernel beside the Gaussian one pays at every size. Boosted trees beside both change little on
these sets: the choice costs more with them at 1,200 rows, and the same from 2,500 rows on. They are tried from 2,000
rows on, because in an earlier comparison, on other tables of 20,000 to 32,000 rows, they cost 8 to 15 % less than the
svm. On six sets of 129 to 600 training rows, three splits each, the Laplacian kernel beside the Gaussian one cost
0.988 ± 0.010 of the svm alone, and logistic regression beside it 1.017 ± 0.012, so that it is not tried there.

The boosted trees of this table had the grid of the library with short fits of 80 trees in place of 40 and 160. To
measure again: `python limits.py`."""


def _end(results: dict[str, Any]) -> str:
    return f"""## Caveats

- The way to place tuned thresholds (a sigmoid, shrunk by one fixed amount, for the pairs within a standard error of the
  best) was chosen on other random splits of these sets, some with fewer rows, on further pairs of letters and digits,
  and on generated sets. The test rows had no part in it, but the sets did.
- The sets are those at hand, mostly small, and not a sample of the tables that users have; some come from the same
  source, and the digits 3 and 8 are among the digits. Intervals over sets treat them as independent.
- Beats of one patient are in training and test rows, which is easier than new patients.
- Nadeau & Bengio's correction is a heuristic. With ten splits and Holm's correction over all pairs only large
  differences are significant.
- Relative costs weigh every set alike, also those on which all methods cost nearly nothing. A mean cost below that of
  one reject in all test rows of all splits counts as that cost.
- The grids are coarse, and equal numbers of candidates are not equal computing times.

{run_it(results)}
"""
