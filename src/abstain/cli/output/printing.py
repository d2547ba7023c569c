"""Printed output: tables on standard output, or the same as JSON; and what an evaluation prints.

An evaluation has counts by class and decision, metrics of them, key points of the curves, and a verdict.
"""

import json
import math
import sys
import textwrap
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.cli.exit_codes import one_line
from abstain.cli.input.deciding import Judged
from abstain.comparison.verdict import FORCED, judge_of, verdict_on
from abstain.costs.costs import Costs
from abstain.metrics import ActionTable, ClassTable, RejectTable, accuracy_reject_curve, augrc, aurc, cost_curve, e_aurc
from abstain.metrics.outcomes import Counts
from abstain.report.curves import are_bayes, price_confidence, rejected_first
from abstain.rules.tuning.methods import roc_thresholds
from abstain.rules.tuning.scored_rows import ScoredRows


def print_json(result: Mapping[str, Any]) -> None:
    """Print a result as JSON, with nan and infinities as null and unprintable characters escaped."""
    text = json.dumps(_jsonable(result), indent=2, ensure_ascii=False, allow_nan=False)
    print("".join(char if char == "\n" or char.isprintable() else json.dumps(char)[1:-1] for char in text))


def print_facts(facts: Mapping[str, Any]) -> None:
    """Print names and values in two columns; each record of a list has a line."""
    each = [(name, value if _records(value) else [value]) for name, value in facts.items() if value is not None]
    rows = [(name, shown(one)) for name, values in each for one in values]
    print_table(None, rows, numbers_from=2, longest=200)


def _records(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(one, Mapping) for one in value)


def print_judged(facts: Mapping[str, Any], *, json: bool) -> None:
    """Print facts with a verdict, which is one sentence in the text; warnings go to stderr."""
    warn_all(facts["warnings"])
    if json:
        print_json(facts)
        return
    print_facts({name: value for name, value in facts.items() if name not in ("verdict", "warnings", "drift")})
    _print_sentence(facts["verdict"]["sentence"])
    if facts.get("drift") is not None:
        print()
    print_drift(facts.get("drift"))


def print_drift(drift: Mapping[str, Any] | None) -> None:
    """Print whether the rows are like the training rows, if that is known."""
    if drift is not None:
        _print_sentence(drift["sentence"])


def _print_sentence(text: str) -> None:
    print(textwrap.fill(one_line(text), 100, break_long_words=False))


def warn_all(texts: Iterable[str]) -> None:
    """Write warnings to stderr."""
    for text in texts:
        warnings.warn(text, UserWarning, stacklevel=2)


def print_table(
    header: Sequence[str] | None, rows: Iterable[Sequence[Any]], *, numbers_from: int = 1, longest: int = 40
) -> None:
    """Print a table; columns from `numbers_from` on are right-aligned, and cells are cut to `longest` characters."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [[short(shown(cell), longest) for cell in row] for row in rows]
    width = max((len(row) for row in cells), default=0)
    names = [short(name, longest) for name in header] if header else [""] * width
    table = Table(show_header=header is not None, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for at, name in enumerate(names):
        table.add_column(Text(name), justify="right" if at >= numbers_from else "left", no_wrap=header is not None)
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    # Lines are not wrapped unless on a terminal.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 400)
    with console.capture() as caught:
        console.print(table)
    print("\n".join(line.rstrip() for line in caught.get().splitlines()), end="\n\n")


def shown(value: Any) -> str:
    """A number with four digits, a list or names with values with commas, anything else as is."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "undefined" if math.isnan(value) else f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(shown(one) for one in value)
    if isinstance(value, Mapping):
        ends = {"estimate", "from", "to"} if {"estimate", "from", "to"} <= value.keys() else set()
        named = [f"{name} {shown(one)}" for name, one in value.items() if name not in ends]
        interval = "{estimate} ({from} to {to})".format_map({name: shown(value[name]) for name in ends}) if ends else ""
        return ", ".join([interval, *named] if ends else named)
    return str(value)


def short(text: str, longest: int) -> str:
    """The text of a cell on one line, made safe and cut to `longest` characters."""
    text = one_line(text[: longest + 1])
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        names = [str(name).replace(" ", "_").replace("-", "_") for name in value]
        names = names if len({*names}) == len(names) else [*map(str, value)]
        return {name: _jsonable(one) for name, one in zip(names, value.values(), strict=True)}
    if isinstance(value, list | tuple):
        return [_jsonable(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)


IF_NEW = "All numbers hold for new rows only if the model was neither trained nor chosen on these."
REJECT_RATES = (0.0, 0.05, 0.1, 0.2, 0.3)
RATES = {"error rate": "error_rate", "error among the accepted": "selective_error"}  # of answers and rejects
OF_POSITIVE = {"sensitivity": "sensitivity", "positive predictivity": "positive_predictivity"}
SHARES = {  # by true class
    "coverage": "class_coverage",
    "error among the accepted": "class_selective_error",
    "correct among its answers": "class_predictivity",
}
AREAS = {"aurc": aurc, "e-aurc": e_aurc, "augrc": augrc}
LEAST = "least mean cost of any two thresholds"


def evaluation_facts(judged: Judged) -> dict[str, Any]:
    """Counts, metrics, key points of the curves and the verdict, as plain values."""
    counts, rejected = judged.counts, judged.counts.choices.rejecting[judged.outcomes.taken]
    facts = {"rows": len(judged.y_true), **_table_facts(judged), "reject rate": counts.reject_rate}
    facts |= {"ambiguous": int(np.sum(rejected & ~judged.novel)), "novel": int(np.sum(judged.novel))}
    facts |= rates_of(counts, RATES) or {"coverage": counts.coverage}
    facts |= rates_of(counts, OF_POSITIVE)
    if judged.priced:
        facts["mean cost"] = float(judged.outcomes.cost.mean())
    return facts | _curve_facts(judged) | _verdict(judged)


def rates_of(counts: Counts, names: dict[str, str] = RATES) -> dict[str, float]:
    """The rates of these that the table has; named actions have no errors, which are neither right nor wrong."""
    return {name: counts.rates[rate] for name, rate in names.items() if rate in counts.rates}


def print_evaluation(judged: Judged, facts: dict[str, Any]) -> None:
    """Print the tables, the metrics, the key points and the verdict."""
    counts, positive = judged.counts, judged.model.positive
    classes = [str(label) for label in counts.classes or ()]
    header = [str(name) for name in counts.choices.titles([f"decided {name}" for name in classes], "rejected")]
    after, novel = len(header), "novel"
    if sum(counts.choices.hands_on) == 1:
        after, novel = counts.choices.hands_on.index(True) + 1, "of them novel"
    rows = [[f"actual {name}", *row] for name, row in zip(classes, counts.counts.tolist(), strict=True)]
    if judged.model.guarded:
        header.insert(after, novel)
        for row, count in zip(rows, _novel_rows(judged), strict=True):
            row.insert(after + 1, count)
    print_table(("", *header), rows)
    if isinstance(counts, ClassTable):
        shares = (getattr(counts, share) for share in SHARES.values())
        print_table(("class", *SHARES), zip(classes, *shares, strict=True))
    shown = {name: value for name, value in facts.items() if name not in ("table", "classes", "actions")}
    if accuracy := shown.pop("accuracy by reject rate", {}):
        print_table(("reject rate", *accuracy), [("accuracy among accepted rows", *accuracy.values())])
    said = {name: f"{name} (of {positive})" for name in OF_POSITIVE} | {LEAST: f"{LEAST} (chosen on these rows)"}
    print_judged({said.get(name, name): value for name, value in shown.items()}, json=False)


def _novel_rows(judged: Judged) -> list[int]:
    """The number of novel rows of each class."""
    return [int(np.sum(judged.novel & (judged.y_true == label))) for label in judged.counts.classes or ()]


def _table_facts(judged: Judged) -> dict[str, Any]:
    """The table of counts with the names of its rows and columns."""
    counts = judged.counts
    each = list(zip(map(str, counts.classes or ()), counts.counts.tolist(), _novel_rows(judged), strict=True))
    return _LAYOUTS[type(counts)](counts, each)


def _of_two(counts: Counts, each: list[Any]) -> dict[str, Any]:
    columns = ("called negative", "rejected", "called positive", "novel")
    rows = [dict(zip(columns, (*row, novel), strict=True)) for _, row, novel in each]
    classes = dict(zip(counts.sides, counts.classes or (), strict=True))
    return {"classes": classes, "table": dict(zip(counts.sides, rows, strict=True))}


def _of_classes(counts: Counts, each: list[Any]) -> dict[str, Any]:
    shares = {share: getattr(counts, values).tolist() for share, values in SHARES.items()}
    rows = [{"actual": name, "decided": row[:-1], "rejected": row[-1], "novel": novel} for name, row, novel in each]
    table = [row | {share: values[at] for share, values in shares.items()} for at, row in enumerate(rows)]
    return {"classes": [name for name, _, _ in each], "table": table}


def _of_actions(counts: Counts, each: list[Any]) -> dict[str, Any]:
    actions = [str(name) for name in counts.names]
    handed = [name for name, hands_on in zip(actions, counts.choices.hands_on, strict=True) if hands_on]
    table = [{"actual": name, "actions": row, "novel": novel} for name, row, novel in each]
    return {"classes": [name for name, _, _ in each], "actions": actions, "hand the case on": handed, "table": table}


_LAYOUTS: dict[Any, Any] = {RejectTable: _of_two, ClassTable: _of_classes, ActionTable: _of_actions}


def _verdict(judged: Judged) -> dict[str, Any]:
    """The verdict against the alternatives on these rows, and warnings; both need costs and two classes."""
    if not judged.priced or len(np.unique(judged.y_true)) < 2:
        return {"verdict": {"sentence": IF_NEW}, "warnings": []}
    judge = judge_of(judged.y_true, judged.model.costs, **judged.about)
    blind, forced = judge.blind(np.arange(len(judged.y_true))), judged.outcomes_of(judged.decisions.forced).cost
    how: dict[str, Any] = {"reject_rate": judged.counts.reject_rate, "largest": float(judge.costs.table().max())}
    found = verdict_on("The machine", judged.outcomes.cost, blind, {FORCED: forced}, **how)
    verdict = found.facts() | {"sentence": f"{found.sentence} {IF_NEW}"}
    return {"verdict": verdict, "warnings": list(found.warnings)}


def _curve_facts(judged: Judged) -> dict[str, Any]:
    """Key points of the curves, which need rows of all classes; novel rows are rejected first."""
    model, y, facts = judged.model, judged.y_true, dict[str, Any]()
    if isinstance(judged.counts, ActionTable) or len(np.unique(y)) < len(model.classes):
        return facts
    shared: dict[str, Any] = {}
    if model.positive is None:
        score = rejected_first(judged.class_scores, judged.novel)
    else:
        score, cut = model.towards_positive(*_ranked(judged))
        shared |= {"cut": cut, "pos_label": model.positive}
        if model.costs is not None:
            curve, least = cost_curve(y, score, model.costs, **shared), _least(judged, model.costs)
            facts["mean cost without rejecting"] = float(curve.mean_cost[0])
            facts["mean cost of rejecting all"] = float(curve.mean_cost[-1])
            facts[LEAST] = least.mean_cost(model.costs)
            facts["reject rate there"] = least.reject_rate
    accuracy = accuracy_reject_curve(y, score, **shared).at(REJECT_RATES)
    shown = {f"{rate:.0%}": float(value) for rate, value in zip(REJECT_RATES, accuracy, strict=True)}
    return facts | {"accuracy by reject rate": shown} | {name: area(y, score, **shared) for name, area in AREAS.items()}


def _least(judged: Judged, costs: Costs) -> RejectTable:
    """Count by the two thresholds that cost least on these rows: never more than the model's own two.

    The points of the cost curve reject in one order only, so other thresholds may cost less than all of them. Novel
    rows stay rejected.
    """
    model, largest = judged.model, np.finfo(np.float64).max
    turned = costs if model.orientation > 0 else costs.swapped()
    code = (judged.y_true == model.classes[1]).astype(np.intp)
    score = np.clip(judged.decisions.score, -largest, largest)
    choice, known = np.zeros(len(code), dtype=np.int8), ~judged.novel
    if len(np.unique(code[known])) < 2:  # one class for all
        choice[known] = 2 * code[known] - 1
    else:
        rows = ScoredRows.of(score[known], code[known], cut=model.cut)
        choice[known] = roc_thresholds(rows, turned).decide(score[known])
    return RejectTable.of(model.orientation * (2 * code - 1), model.orientation * choice, pos_label=1, reject_label=0)


def _ranked(judged: Judged) -> tuple[NDArray[np.float64], float]:
    """Return the scores in the order in which the report rejects them, and their cut, for the same curves."""
    model, costs, score = judged.model, judged.model.costs, judged.decisions.score
    cut = 0.0 if judged.row_costs is not None and model.rule is not None else None  # by probability: no common cuts
    if cut is None and costs is not None:
        turned = costs if model.orientation > 0 else costs.swapped()
        if are_bayes(model.thresholds, turned):
            score, cut = price_confidence(turned, score), 0.0
    cut = model.cut if cut is None else cut
    return rejected_first(score, judged.novel, cut), cut
