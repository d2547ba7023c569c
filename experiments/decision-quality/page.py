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

from abstain.candidates.machines import BOOSTED, WITHOUT_BOTH, WITHOUT_SVM

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
    parts += [*_tuned(results), _costs(results), _promises(results), _averages(), _kernels()]
    return "\n\n".join([*parts, _end(results)])


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


SHOWN = (
    ("svm", "alone"),
    ("laplacian", "alone"),
    ("logistic", "alone"),
    ("boosting", "alone"),
    ("forest", "alone"),
    *(
        (names, way)
        for names in ("svm+laplacian", "svm+laplacian+boosting")
        for way in ("choice", "average", "least", "one standard error")
    ),
    ("laplacian+boosting", "choice"),
    ("laplacian+boosting", "average"),
    ("svm+laplacian+logistic", "average"),
    ("svm+laplacian+forest", "average"),
    ("logistic+boosting", "choice"),
    ("logistic+boosting", "average"),
)
WAYS = {"alone": "", "choice": "the cheapest", "least": "the cheapest or the average"} | {
    "average": "average",
    "one standard error": "the same by a standard error",
}


def _stored(name: str) -> Any:
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))["summary"]


def _averages() -> str:
    """Which machines `machines="auto"` tries on how many rows and what it makes of them: average.py."""
    rows = [
        [
            item["rows"],
            item["machines"].replace("+", " + "),
            WAYS[item["way"]],
            item["sets"],
            number(item["ratio"], item["error"], 3),
            f"{item['better']} : {item['worse']}",
            "" if item["promised"] is None else f"{100 * item['promised']:+.0f} %".replace("-", "\N{MINUS SIGN}"),
            f"{item['seconds']:.1f}",
            f"{item['times_slowest']:.1f}",
        ]
        for item in _stored("average.json")
        if (item["machines"], item["way"]) in SHOWN
    ]
    head = ["training rows", "machines", "of them", "sets", "cost relative to the svm's",
            "sets cheaper : more expensive", "promised minus paid", "seconds of CPU", "times the slowest"]  # fmt: skip
    return f"""## Which machines, on how many rows, and whether to average them?

`abstain fit` and `MachineSearch` try a few machines that suit the number of rows, and average their probabilities. Here
all machines have been tuned on the same folds of the same splits, with seeds that chose nothing: the sets above (four
splits, three costs), and larger training sets drawn from covertype (1 v 2, 3 v 2, 6 v 4; all seven classes up to 6,000
rows), letters (vowels) and the MIT-BIH beats (one to three splits, two or three costs; from 32,000 rows on three sets,
one split). Costs are those of the test rows, 8,000 at most, geometric means over sets, ± a standard error over sets; a
cost below 0.002 counts as that. “Promised” is the cross-validated cost, each fold decided with the parameters that the
other folds choose; “the cheapest or the average” is whichever has the lower cross-validated cost, and “by a standard
error” the average unless the cheapest machine is lower by more than that. “Times the slowest” is the CPU time of all of
these machines over that of the slowest of them.

{table(head, rows)}

The average of the svms with the Gaussian and the Laplacian kernel costs less than the cheaper of the two by their
cross-validated cost, at every size but 32,000 rows, where three sets say little. With boosted trees it costs least from
1,000 rows on; below, they do not help. An average with logistic regression costs more, because it is much the worst
machine on many of the sets: an average should be of machines that are all good. To let cross-validation decide whether
to average, with or without a standard error in favour of the average, costs more than to average always, except where
the differences are noise. So `machines="auto"` averages the two svms, from {BOOSTED:,} rows on also boosted trees,
which take most of the time there. From {WITHOUT_SVM:,} rows on it leaves out the Gaussian kernel: on the three sets of
32,000 rows the Laplacian kernel and boosted trees cost least. From {WITHOUT_BOTH:,} rows on, which were not measured,
it chooses between logistic regression and boosted trees, because the time of an svm grows with the square of the rows.
Averages of two or three machines took at most
about twice the time of the slowest of them.

To measure again: `python choices.py --jobs 16`."""


def _kernels() -> str:
    """What `RejectSVCCV(kernel="auto")` costs: kernels.py."""
    found = _stored("kernels.json")
    rows = [
        [f'`kernel="{kernel}"`', f"{percent(item['cost']['mean'])} ({interval(item['cost'])})",
         f"{item['cost']['below']} : {item['cost']['above']}",
         f"{percent(item['seconds']['mean'])} ({interval(item['seconds'])})"]
        for kernel, item in found["ratio"].items()
    ]  # fmt: skip
    noise = [
        [item["rows"], f'`"{item["kernel"]}"`', item["tables"], number(item["gap"], item["error"], 4)]
        for item in found["noise"]
    ]
    return f"""## Which kernel?

`RejectSVCCV` with each kernel, and with `kernel="auto"`, which tries both with as many fits as one, on the sets above
({found["splits"]} splits, three costs): relative to the Gaussian kernel, with 95 % intervals over sets.

{table(["search", "cost", "sets cheaper : more expensive", "seconds of CPU"], rows)}

The choice took the Laplacian kernel in {share(found["laplacian_chosen"], digits=0)} of the splits. On labels drawn
without regard to five features, what the search promises minus what its decisions cost, at 1 : 1 : 0.45, ± a standard
error:

{table(["rows", "kernel", "tables", "promised minus paid"], noise)}"""


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
