"""The page of the experiment with rows unlike anything seen."""

from __future__ import annotations

from typing import Any

from harness.numbers import signed, with_interval
from harness.pages import run_it, share, table

LOW = 0.5  # shares found below this are named

OPENING = """# Rows unlike anything seen

A classifier with a reject option knows which rows lie between its classes, not which lie far from all of them: a column
in another unit, a code for a missing value, another patient. `NoveltyRejector` adds a guard that rejects such rows, and
promises that of rows like the training rows at most a stated share is rejected as novel. Here it is given damaged rows
of real tables, beats of other patients, and ordinary rows, which show what the promise is worth and what it costs."""


def page(results: dict[str, Any]) -> str:
    """README.md."""
    parts = [_commands, _example, _protocol, _damage, _classifiers, _promise, _price, _limits, _patients, _verdict]
    return "\n\n".join([OPENING, *(part(results) for part in parts), run_it(results) + "\n"])


def _commands(results: dict[str, Any]) -> str:
    found, damage = results["commands"], results["damage"]
    ways = (damage["default"], damage["earlier"])
    rows = []
    for kind, item in found["kinds"].items():
        one = [f"{_percent(item[way]['least'])} to {_percent(item[way]['most'])}" for way in ways]
        ranges = one if item[ways[0]]["least"] < item[ways[0]]["most"] else ["", ""]
        mean = [_percent(item[way]["mean"], 1) for way in ways]
        rows.append([kind, mean[0], ranges[0], mean[1], ranges[1]])
    head = ["new rows", "novel, %", "by column", "up to 0.2, %", "by column"]
    counts = found["calibrated"]
    return f"""## The README's commands

`abstain demo --csv patients.csv`, `abstain fit` and `abstain predict`: {found["trained"]} rows to train on,
{found["tested"]} new ones. With damage to one column, the mean over the columns, and the smallest and largest share.
The guard calibrates on {counts[ways[0]]} rows; up to version 0.2 it was a one-class SVM, with {counts[ways[1]]} rows.

{table(head, rows)}

A column that has zeros in training, such as a concavity, can be divided by 10 without leaving its range or its
relation to the others, and is then not found."""


def _example(results: dict[str, Any]) -> str:
    found = results["example"]
    units = {1.0: "as they are", 10.0: "x 10", 0.1: "/ 10"}
    rows = [
        [row["machine"], units[row["times"]], row["missed"], row["false_alarms"], row["rejected"],
         f"{row['stated']:.4f}", f"{row['cost']:.3f}", row["novel"], f"{row['guarded']:.3f}"]
        for row in found["rows"]
    ]  # fmt: skip
    head = ["model", "test rows", "malignant called benign", "benign called malignant", "rejected",
            "mean cost stated", "paid", "with the guard: novel", "paid"]  # fmt: skip
    return f"""## The README's example, in other units

WDBC, costs 1, 5 and 0.3, {found["tested"]} test rows, {found["malignant"]} of them malignant. Centimetres for
millimetres, or the other way round: all columns x 10, or / 10.

{table(head, rows)}

Far from all training rows the score of the Gaussian machine is its bias. If the bias lies between the thresholds,
all rows are rejected, by luck; if not, all of them get the same answer, and the table shows its cost. A linear machine
is confident on one side or the other. The guard rejects these rows whatever the classifier says."""


def _protocol(results: dict[str, Any]) -> str:
    damage, few = results["damage"], results["promise"][0]
    slow = [f"{name} ({rate:g})" for name, rate in damage["rates"].items() if rate != results["rates"][0]]
    return f"""## Protocol

- {len(results["sets"])} public tables: {", ".join(_size(name, size) for name, size in results["sets"].items())}. Random
  splits, {share(results["test_share"], digits=0)} of the rows for testing, not stratified: the promise asks for
  exchangeable rows.
- Classifiers: `RejectSVC` (Gaussian kernel, C = {results["C"]:g}) and `LinearRejectSVC`, on standardised columns, not
  tuned. An error costs 1, a reject {results["reject"]:g}, also of a novel row.
- Guard: `NoveltyRejector` as it is, rate {results["rates"][0]:g}{"; " if slow else ""}{", ".join(slow)}. Other
  detectors take its place by `detector=`, behind the same preprocessing, calibrated on the same rows; that of versions
  up to 0.2 on a fifth of the rows, or as many as the rate needs.
- Damaged rows: {damage["splits"]} splits, up to {results["damaged_rows"]} test rows each. One column: every column in
  turn, mean over the columns; neighbours swapped: every pair. Rows that the damage leaves as they are (ten times 0) do
  not count. Means are over the splits, then over the tables.
- The default detector was chosen on other splits of these tables (of covtype and ECG beats 1,000 rows) and of two
  more, all letters and gene counts of blood cells: about 1,700 combinations of parts, units and transformations were
  compared, and four sizes of calibration. No table was held back, so it may find fewer rows of other tables. The
  promise on ordinary rows does not depend on the choice.
- Ordinary rows: {few["splits"]} splits. Intervals are 95 %, with Bonferroni's correction for the
  {len(results["promise"])} lines of the table. Those of shares are Student's over the splits: given the table, splits
  are independent and their rows exchangeable, so that the promise holds for the mean over all splits of this table, and
  a split, whose test rows share one training set, is the unit. Those of costs have Nadeau & Bengio's (2003) correction
  for splits that share rows."""


def _size(name: str, size: dict[str, int]) -> str:
    return f"{name} ({size['rows']:,} x {size['features']})"


def _damage(results: dict[str, Any]) -> str:
    kinds, default = results["damage"]["kinds"], results["damage"]["default"]
    rows, before = (
        [[name, *(_percent(item["sets"][name]["novel"][way]) for item in kinds.values())] for name in results["sets"]]
        for way in (default, results["damage"]["earlier"])
    )
    detectors = list(next(iter(kinds.values()))["all"]["novel"])
    means = [[one, *(_percent(item["all"]["novel"][one]) for item in kinds.values())] for one in detectors]
    missed = [
        f"{name}, {kind} ({_percent(item['sets'][name]['novel'][default])} %)"
        for kind, item in kinds.items()
        for name in results["sets"]
        if kind != results["damage"]["unchanged"] and item["sets"][name]["novel"][default] < LOW
    ]
    words = f"It misses more than half of: {'; '.join(missed)}." if missed else "It misses less than half everywhere."
    return f"""## Damaged rows

Rejected as novel by the default guard, in %:

{table(["table", *kinds], rows)}

{words}
What lies where training rows lie cannot be found: a column of zeros and ones that is divided by 10, a digit written
faintly, two neighbours of the same range that have little to do with each other.

The same by the guard of versions up to 0.2:

{table(["table", *kinds], before)}

Mean over the tables, by detector, in % (`results.json` has them by table):

{table(["detector", *kinds], means)}

![Share rejected as novel by kind of damage and detector](found.png)"""


def _classifiers(results: dict[str, Any]) -> str:
    rows = []
    for kind, item in results["damage"]["kinds"].items():
        cells: list[str] = []
        for machine in ("rbf", "linear"):
            one = item["all"][machine]
            cells += [_percent(one["answered"]), f"{one['cost']:.3f}", f"{one['guarded']:.3f}"]
        rows.append([kind, *cells])
    head = ["rows", "rbf: answered, %", "cost", "cost with guard", "linear: answered, %", "cost", "cost with guard"]
    times = results["damage"]["kinds"]["all columns x 10"]["sets"]
    sure = [name for name in times if times[name]["rbf"]["answered"] > LOW]
    right = [name for name in times if times[name]["linear"]["cost"] < results["reject"]]
    cheap = f"as with all columns x 10 on {', '.join(right)}" if right else "which is the case on none of the tables"
    places = f" ({', '.join(sure)})" if sure else ""
    return f"""## What the classifiers alone do with these rows

Mean over the tables; rejecting every row costs {results["reject"]:g}:

{table(head, rows)}

Most damage takes the score of the Gaussian machine to its bias. With all columns x 10 this is an answer on
{len(sure)} of the {len(times)} tables{places}, and in the reject band on the others. Nothing ensures this: it depends
on the costs, on C and on the shares of the classes, as in the README's example. The linear machine answers nearly all
damaged rows, with the confidence of a row far from the boundary. Where its answer is right by chance often enough,
{cheap}, rejecting costs more than answering."""


def _promise(results: dict[str, Any]) -> str:
    rows = [
        [item["set"], _rate(item), item["calibrated"], share(item["expected"], digits=2),
         _interval(item["guard"]), _interval(item["wrong"])]
        for item in results["promise"]
    ]  # fmt: skip
    count, broken = len(results["promise"]), [item for item in results["promise"] if item["guard"]["broken"]]
    wrong = sum(item["wrong"]["broken"] for item in results["promise"])
    words = "on none" if not broken else "on " + ", ".join(f"{item['set']} ({_rate(item)})" for item in broken)
    head = ["table", "stated", "calibration rows", "expected", "guard", "wrong guard"]
    return f"""## The promise, on ordinary rows

Share of test rows rejected as novel [interval]; in bold if the interval is above the stated rate. Without ties the
expected share is floor(rate (m + 1)) / (m + 1), with m calibration rows. The wrong guard is the control: its threshold
comes from the rows that its detector was fitted on.

{table(head, rows)}

![Share of ordinary rows rejected by both guards](alarms.png)

The guard exceeds its rate {words} of the {count} lines, the wrong guard on {wrong}. The promise is for the mean over
training sets, and single ones differ: with 199 calibration rows and a rate of 1 %, one guard in eleven
(0.98^199 + 199 x 0.02 x 0.98^198) rejects more than twice the rate."""


def _price(results: dict[str, Any]) -> str:
    rows = [[item["set"], _rate(item), f"{item['alone']:.4f}", _bold(item["extra"], 4)] for item in results["promise"]]
    worst = max(results["promise"], key=lambda item: item["extra"]["mean"])
    return f"""## The cost, on ordinary rows

Mean cost of the Gaussian machine, and with the guard minus without [interval]; in bold if the interval excludes 0:

{table(["table", "rate", "without", "minus"], rows)}

A row that was rejected anyway costs nothing more, a right answer {results["reject"]:g} more, a wrong one
{1 - results["reject"]:g} less: the guard costs on average at most {results["reject"]:g} times the rate. On large
tables the classifier is fitted without the calibration rows, and having fewer rows costs something too. The
largest cost here is {signed(worst["extra"]["mean"], 4)} ({worst["set"]}, {_rate(worst)})."""


def _limits(results: dict[str, Any]) -> str:
    found = {item["limit"]: item for item in results["limits"]}
    added, chosen, none = results["added"], found[results["added"]], found[None]
    cheap = [name for name, one in chosen["sets"].items() if one["rate"] < none["sets"][name]["rate"]]
    rows = [
        [_limit(limit), *(cell for names in (cheap, list(item["sets"])) for cell in _at_limit(item["sets"], names))]
        for limit, item in found.items()
    ]
    head = ["limit", "lowered: false alarms", "added cost", "found", "all: false alarms", "added cost", "found"]
    each = [
        [name, f"{one['alone']:.4f}", one["calibrated"], share(one["rate"], digits=2), _added(one), _found(one),
         _added(none["sets"][name]), _found(none["sets"][name])]
        for name, one in ((name, chosen["sets"][name]) for name in cheap)
    ]  # fmt: skip
    columns = ["table", "cost alone", "calibration rows", "rate", "added cost", "found", "at 1 %: added", "found"]
    kinds = [[kind, *(_percent(item["found"][kind]) for item in found.values())] for kind in none["found"]]
    return f"""## The rate of `abstain fit`

A false alarm costs what a reject costs more than a decision. On tables that are decided at little cost, 1 % of false
alarms is a large part of the whole cost. Unless a rate is stated, `abstain fit` takes at most the one at which false
alarms add {share(added, digits=0)} to the cross-validated mean cost, but no less than one in m + 1 with m calibration
rows. Here it is measured on the tables that are large enough for a rate of 1 %, with other limits beside it: the share
of ordinary rows rejected as novel, the share that this adds to the mean cost, and the damaged rows found, as means over
all damage, the {splits(results)} splits, and the tables. “Lowered” are the {len(cheap)} tables on which a limit of
{share(added, digits=0)} lowers the rate; on the others all limits are 1 %.

{table(head, rows)}

The tables with a lower rate, with a limit of {share(added, digits=0)} and without one:

{table(columns, each)}

Rows found by damage, in %, over all tables, by limit:

{table(["rows", *map(_limit, found)], kinds)}

{_limit_words(chosen, none, cheap)}"""


def splits(results: dict[str, Any]) -> int:
    """The number of splits on which damage was looked for."""
    return int(results["damage"]["splits"])


def _limit(limit: float | None) -> str:
    return "none" if limit is None else share(limit, digits=0)


def _at_limit(sets: dict[str, Any], names: list[str]) -> list[str]:
    own = [sets[name] for name in names]
    if not own:
        return ["", "", ""]
    alarms, found = (sum(of(one) for one in own) / len(own) for of in (lambda one: one["alarms"], _mean_found))
    added = sum(one["guarded"] / one["alone"] - 1.0 for one in own) / len(own)
    return [share(alarms, digits=2), f"{100 * added:+.1f} %", share(found, digits=0)]


def _mean_found(one: dict[str, Any]) -> float:
    return float(sum(one["found"].values()) / len(one["found"]))


def _added(one: dict[str, Any]) -> str:
    return f"{100 * (one['guarded'] / one['alone'] - 1.0):+.1f} %"


def _found(one: dict[str, Any]) -> str:
    return share(_mean_found(one), digits=0)


def _limit_words(chosen: dict[str, Any], none: dict[str, Any], cheap: list[str]) -> str:
    """At which share of damaged rows both cost the same, where a damaged row that is not found costs one error."""
    if not cheap:
        return "The limit lowers no rate."
    alarms = [none["sets"][name]["guarded"] - chosen["sets"][name]["guarded"] for name in cheap]
    missed = [_mean_found(none["sets"][name]) - _mean_found(chosen["sets"][name]) for name in cheap]
    more, less = sum(alarms) / len(cheap), sum(missed) / len(cheap)
    return f"""Of these {len(cheap)} tables, the lower rate finds {share(less, digits=0)} fewer of the damaged rows, and
saves {more:.4f} on each ordinary row. If a damaged row that is not found costs 0.5 more than a reject, that pays while
at most {share(more / (less * 0.5), digits=1)} of the rows are damaged. State `--novelty 0.01` if you expect more.
Damage to all columns is found nearly as often as before; what is missed is mostly damage to one column or two."""


def _patients(results: dict[str, Any]) -> str:
    found = results["patients"]
    ways = {"beats": found["drawn by beats"], "patients": found["drawn by patients"]}
    rows = []
    for record, one in ways["beats"]["by_patient"].items():
        other, own = ways["patients"]["by_patient"][record]["new"], one["new"]
        rows.append([record, share(own["novel"]), share(other["novel"]), share(own["answered"]), f"{own['alone']:.3f}",
                     f"{own['guarded']:.3f}", f"{other['guarded']:.3f}"])  # fmt: skip
    head = ["patient", "novel", "novel, by patients", "answered alone", "cost alone", "with guard", "by patients"]
    lines = []
    for words, way in ways.items():
        there, here = way["over_patients"]["same"], way["over_patients"]["new"]
        lines.append([f"by {words}", _interval(there["novel"]), _interval(here["novel"]), _bold(there["extra"], 4),
                      _bold(here["extra"], 4)])  # fmt: skip
    new = {record: one["new"] for record, one in ways["beats"]["by_patient"].items()}
    shares, rate = [one["novel"] for one in new.values()], share(results["rates"][0], digits=0)
    means = {whose: ways["beats"]["over_patients"][whose]["novel"]["mean"] for whose in ("same", "new")}
    worst = max(new, key=lambda record: new[record]["alone"])
    over = ["calibration rows drawn", "novel, same patients", "novel, new patient", "cost minus alone, same", "new"]
    return f"""## Other patients

MIT-BIH, 18 features of a beat, ventricular beats against others. For each of {len(rows)} patients: trained on
{found["learned"]:,} beats of the others, tested on up to {found["tested"]} beats of this one, {found["repeats"]} times.
The calibration rows are drawn as beats, or as whole patients (`fit(..., groups=record)`). "Same patients" are held-out
beats of the patients in training. Intervals are Student's over the patients.

{table(over, lines)}

Beats of the new patient, by patient:

{table(head, rows)}

A new patient's beats are not exchangeable with those in training, so that the stated rate, {rate}, says nothing about
them: {share(means["new"])} are novel, {share(means["same"])} of the beats of the same patients, and from
{share(min(shares))} to {share(max(shares))} by patient. With whole patients in calibration the threshold allows for
differences between patients, as far as the few patients drawn show them. The guard is not a remedy for another patient:
patient {worst} costs most, {new[worst]["alone"]:.3f}, where rejecting every beat costs {results["reject"]:g}, and
{share(new[worst]["novel"])} of these beats are novel. Most beats of a new patient lie where beats of others do."""


def _verdict(results: dict[str, Any]) -> str:
    kinds, default = results["damage"]["kinds"], results["damage"]["default"]
    rest = {kind: item for kind, item in kinds.items() if kind != results["damage"]["unchanged"]}
    found = {one: sum(item["all"]["novel"][one] for item in rest.values()) / len(rest) for one in _detectors(kinds)}
    least = min(rest, key=lambda kind: rest[kind]["all"]["novel"][default])
    best = max(found, key=found.__getitem__)
    over = results["patients"]["drawn by beats"]["over_patients"]["new"]["extra"]
    broken = sum(item["guard"]["broken"] for item in results["promise"])
    word = {1: "costs more", -1: "costs less", 0: "makes no significant difference in cost"}[_sign(over)]
    return f"""## Verdict

- Over all damage the default guard finds {share(found[default], digits=0)} of the rows, least of “{least}”
  ({share(rest[least]["all"]["novel"][default], digits=0)}). {_best(best, default, found)}
- The stated rate is exceeded on {broken} of {len(results["promise"])} lines, the control's on
  {sum(item["wrong"]["broken"] for item in results["promise"])}.
- On beats of new patients the guard {word} ({with_interval(over, 4)})."""


def _detectors(kinds: dict[str, Any]) -> list[str]:
    return list(next(iter(kinds.values()))["all"]["novel"])


def _best(best: str, default: str, found: dict[str, float]) -> str:
    others = ", ".join(f"{one} {share(found[one], digits=0)}" for one in found if one != default)
    if best == default:
        return f"No other detector finds more: {others}."
    return f"Most are found by {best}: {others}."


def _percent(value: float, digits: int = 0) -> str:
    return f"{100 * value:.{digits}f}"


def _rate(item: dict[str, Any]) -> str:
    return share(item["rate"], digits=0)


def _sign(item: dict[str, Any]) -> int:
    return int(item["low"] > 0) - int(item["high"] < 0)


def _bold(item: dict[str, Any], digits: int) -> str:
    return f"**{with_interval(item, digits)}**" if _sign(item) else with_interval(item, digits)


def _interval(item: dict[str, Any]) -> str:
    low = max(0.0, item["low"])
    text = f"{share(item['mean'], digits=2)} [{100 * low:.2f}, {100 * item['high']:.2f}]"
    return f"**{text}**" if item.get("broken") else text
