"""What reads a table to train on: ``abstain fit`` writes a model, ``abstain compare`` the held-out costs of all rules.

``abstain check`` prints all that a fit would say of the table at once, and the command that works. Each error names an
option that is the way out. It is added, and the table is read again, until there is none.
"""

import re
import shlex
import sys
import warnings
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from abstain.cli.exit_codes import DataError, TimeUpError, UsageError, in_options, one_line, within
from abstain.cli.input.costs import check_reject_label
from abstain.cli.input.mapped_rows import training_rows
from abstain.cli.input.reviewed import with_verdicts
from abstain.cli.input.training_table import TableOptions, TrainingTable, read_training
from abstain.cli.options import FLOAT, OPTIONS, TEXTS, Given, option_name
from abstain.cli.output.printing import print_json, print_judged, rates_of, warn_all
from abstain.cli.output.reports import write_comparison
from abstain.cli.output.tables import check_free, writing
from abstain.cli.tables.read_table import Batch, opened
from abstain.cli.training.budgets import budgeted, stated_budget
from abstain.cli.training.cluster import check_cluster, connected
from abstain.cli.training.guarding import GuardPlan, guard_plan, stated_rate
from abstain.cli.training.machines import checked_machine, checked_machines, trained
from abstain.cli.training.training import LINEAR, checked_training, facts_of, folds_for
from abstain.comparison.compare import compare as compared_by
from abstain.comparison.result import Comparison
from abstain.comparison.rules import default_rules, left_out
from abstain.comparison.verdict import judge_of
from abstain.estimators.linear.linear_svc_cv import LinearRejectSVCCV
from abstain.files.model_file import write_model
from abstain.preprocessing import default_pipeline


def run_fit(given: Given) -> None:
    """Run the command."""
    check_free(given.output, force=given.force, inputs=given.data)
    given = checked_training(checked_machine(given))
    check_cluster(given.cluster, given.machine, given.C)
    rate, options = stated_rate(given.novelty, given.no_novelty), TableOptions(given)
    budget, also = stated_budget(given), given.also or []
    if budget is not None and also:
        what = "--also adds more of the rows that are hard than new rows have, so that shares cannot be promised"
        raise UsageError(f"{what}; state costs, or leave it out.")
    linear, by_blocks = given.machine == LINEAR, given.cluster is not None
    rows = training_rows(given.data, options, linear=linear, by_blocks=by_blocks)
    with connected(given.cluster) as client, rows as table:
        trained_on = len(table.y)
        table = with_verdicts(table, also, options)  # noqa: PLW2901
        costs = options.costs.of(table.classes) if budget is None else None
        given = given.but(guard=guard_plan(rate, table, costs, given.seed), budget=budget)
        facts = {"verdicts": len(table.y) - trained_on or None} | fit(table, costs, given, client)
    if also:
        facts["verdict"]["sentence"] += (
            " The rows of --also are harder than others: these shares and costs, and those that drift compares with, "
            "are over rows that include them, and are higher than those of new rows."
        )
    facts["warnings"] += given.unfinished
    print_judged(facts, json=given.json)


def fit(table: TrainingTable, costs: Any, given: Given, client: Any = None) -> dict[str, Any]:
    """Train on a table, save the model, and return its facts; without a budget, the costs decide."""
    asked = given.budget is not None
    model, facts = budgeted(table, given) if asked else trained(table, costs, given, client)
    with writing(given.output, force=given.force) as file:
        write_model(model, file)
    return facts_of(table, model, given, facts)


FEW = 20  # rows of the rarer class below which an error of a rule is one of too few rows


def run_compare(given: Given) -> None:
    """Run the command."""
    output, limit = given.output, given.time_limit
    check_free(output, force=given.force, inputs=[given.data])
    machines, options = checked_machines(given.machine), TableOptions(given)
    table = read_training(given.data, options)
    costs, guard = options.costs.of(table.classes), None
    if given.novelty is not None:
        guard = guard_plan(stated_rate(given.novelty, False), table, costs, given.seed, folds=given.folds)
    try:
        with within(limit):
            compared = compare(table, costs, machines, guard, given)
    except TimeUpError:
        raise UsageError(f"not finished within --time-limit {limit:g}; raise it or use fewer rows.") from None
    if given.json:
        missing = [{"rule": name, "reason": reason} for name, reason in compared.left_out]
        facts = {"best": compared.best, "rows": len(compared.rows), "rules": records(compared), "left out": missing}
        facts |= {} if output is None else {"report": str(output)}
        print_judged(facts | judged(compared), json=True)
        return
    warn_all(judged(compared)["warnings"])
    print(compared)
    if output is not None:
        rule = compared.best if compared.verdict is None else compared.verdict.name
        print(f"\n{one_line(str(output))} written: the report of {rule} on {len(table.y)} rows")


def compare(
    table: TrainingTable, costs: Any, machines: Sequence[str], guard: GuardPlan | None, given: Given
) -> Comparison:
    """Compare the rules on a table, each with the default preprocessing, and write the report if it is asked for."""
    folds, (name, count) = given.folds, table.rarest
    if folds > count:
        rarer = f"{name[:60]!r}, the rarest," if table.several else "the rarer"
        raise UsageError(f"--folds {folds} needs that many rows of each class; {rarer} has {count}.")
    if folds > table.n_groups:
        raise UsageError(f"--folds {folds} needs that many groups; the column of --groups has {table.n_groups}.")
    stated = judge_of(table.y, costs, table.row_costs, table.positive).costs
    check_reject_label(table.classes, given.reject_label, rejects=stated.answering)
    rules = default_rules(stated, **table.labels(given), grouped=table.groups is not None, machines=machines)
    final = {name: rule[-1] for name, rule in rules.items()}
    if LINEAR in machines:
        final["double hinge, linear"] = LinearRejectSVCCV(costs, **table.labels(given), n_jobs=-1)
    models = {name: default_pipeline(rule, table.numeric, table.categorical) for name, rule in final.items()}
    if guard is not None:
        models = {f"{name}, with guard": guard.around(model) for name, model in models.items()}
    options: dict[str, Any] = {"cv": folds, "random_state": given.seed, "verbose": sys.stderr.isatty()}
    options |= {"groups": table.groups, "pos_label": table.positive, "row_costs": table.row_costs}
    try:
        found = compared_by(models, table.rows, table.y, costs, **options)
    except ValueError as error:
        if guard is not None:
            raise UsageError(f"--novelty {guard.rate:g}: {error}") from error
        if table.groups is None and count >= FEW:
            raise
        if table.groups is None:
            which = "rarest" if table.several else "rarer"
            few = f"the {count} rows of the {which} class are too few to split again"
            way = "Add rows, or pass --machine logistic, which needs fewer."
            raise UsageError(f"{few} inside --folds {folds}: {error} {way}") from error
        few = f"the {table.n_groups} groups of --groups are too few or too uneven"  # inside a fold they are split again
        raise UsageError(f"{few}: {error} Name a column with more groups.") from error
    found = replace(found, left_out=tuple(left_out(stated, machines=machines).items()))
    if given.output is not None:
        write_comparison(table, costs, found, models, given.output, force=given.force)
    return found


def judged(compared: Comparison) -> dict[str, Any]:
    """The verdict on the cheapest rule that rejects, and the warnings."""
    found = compared.verdict
    return {"warnings": []} if found is None else {"verdict": found.facts(), "warnings": list(found.warnings)}


def records(compared: Comparison) -> list[dict[str, Any]]:
    """One record per rule, from the cheapest to the most expensive."""
    found = []
    for at in compared.mean_cost.argsort(kind="stable").tolist():
        cost, apart, counts = compared.mean_cost_interval[at], compared.difference_interval[at], compared.tables[at]
        name, novel = compared.names[at], compared.novel[at]
        one = {"rule": name, "mean cost": float(compared.mean_cost[at]), "from": float(cost[0]), "to": float(cost[1])}
        one |= {"difference from best": float(compared.difference[at])}
        one |= {"at least": float(apart[0]), "at most": float(apart[1])}
        one |= {"significant": name not in compared.not_told_apart, "reject rate": counts.reject_rate}
        one |= {} if novel is None else {"share of novel rows": float(novel.mean())}
        found.append(one | rates_of(counts))
    return found


MOST = 200  # options
NOTATION = ("decimal", "thousands")
_WRITTEN = r"(--[A-Za-z-]+)(?: ('[^']*'|\"[^\"]*\"|[\w.-]*\w|,))?"
_OPTION, _ADVICE = re.compile(_WRITTEN), re.compile(rf"(?:pass|leave them out with) (?:{_WRITTEN} ?)+")
_COLUMN = re.compile(r"column ('[^']*'|\"[^\"]*\")")
LIKELY = ("class", "target", "label", "y", "outcome", "diagnosis", "status", "answer")


def run_check(given: Given) -> None:
    """Run the command."""
    guessed = given.target is None
    given = given.but(target=_target(given)) if guessed else given
    # the sign that some columns have may be the other one: what leaves out fewer columns is advised
    ways = [_followed(given), *(_followed(given, refused) for refused in (NOTATION,))]
    table, said, added = min(ways, key=lambda way: (way[0] is None, way[2].count("--ignore")))
    numbered = "\n".join(f"{at}. {one_line(text)}" for at, text in enumerate(said, 1))
    counts: dict[str, Any] = {"target": given.target, "guessed": guessed}
    if table is None:
        if given.json:
            print_json({**counts, "problems": said, "command": None})
        elif len(said) > 1:
            print(f"{given.data}:\n{numbered}")
        raise DataError(f"no option corrects this table: {said[-1]}")
    data = f"./{given.data}" if str(given.data).startswith("-") else str(given.data)
    words = ["abstain", "fit", data, "--target", given.target, *added, "--reject", "0.3", "-o", "my.model"]
    counts |= {"rows": len(table.y), "features": table.X.width, "classes": dict(Counter(table.y.tolist()))}
    if given.json:
        print_json({**counts, "problems": said, "command": shlex.join(words)})
        return
    classes = ", ".join(f"{name!r} in {count} rows" for name, count in counts["classes"].items())
    print(
        one_line(f"{given.data}: {counts['rows']} rows, {counts['features']} features; {given.target!r} is {classes}.")
    )
    if guessed:
        print(f"The column of the labels is a guess; name it with --target if it is not {given.target!r}.")
    print(numbered or "No problems found.")
    print(f"\nThis command works; state your own costs:\n  {one_line(shlex.join(words))}")


def _followed(given: Given, refused: Collection[str] = ()) -> tuple[TrainingTable | None, list[str], list[str]]:
    """Return the table as the advice of its errors and warnings leads to it, what they said, and the options.

    The table is None if no option is the way out; the last error is then the last of what was said. Columns that need
    one of the `refused` options are left out.
    """
    said, added = list[str](), list[str]()
    for _ in range(MOST):
        table, texts = _read(given)
        new = [text for text in texts if text not in said]
        said, steps = said + new, [step for text in new for step in _advised(text, given, refused)]
        if table is not None and not steps:
            return table, said, added
        if not steps:
            return None, [*(text for text in said if text != texts[-1]), texts[-1]], added
        for name, value in steps:
            kind, before = OPTIONS[name][0], getattr(given, name)
            as_given = float(value) if value and kind == FLOAT else value or True
            given = given.but(**{name: [*(before or []), value] if kind == TEXTS else as_given})
            added += [option_name(name), *([] if value is None else [value])]
    return None, said, added


def _read(given: Given) -> tuple[TrainingTable | None, list[str]]:
    """Return the table, or None, and what reading it says."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        table, texts = None, list[str]()
        try:
            found = read_training(given.data, TableOptions(given))
            if repeated := len(found.y) - found.X.with_columns(y=found.y.astype(str)).unique().height:
                texts.append(f"{repeated} rows repeat others; if these are the same cases, remove them.")
            if given.C is None or given.gamma is None:
                folds_for(found, 0, "C and gamma", f", or pass --C 1 --gamma {1 / max(1, found.X.width):.4g}")
            table = found
        except DataError as error:
            texts.append(in_options(str(error)))
    return table, [str(one.message) for one in caught if issubclass(one.category, UserWarning)] + texts


def _advised(text: str, given: Given, refused: Collection[str]) -> list[tuple[str, str | None]]:
    """Return the options that a sentence advises; those that leave out the column if it needs a correction."""
    found, column, steps = _ADVICE.search(text), _COLUMN.search(text), list[tuple[str, str | None]]()
    for option, value in _OPTION.findall(found[0]) if found else ():
        name = option[2:].replace("-", "_")
        kind, default, _ = OPTIONS[name]
        if name in refused or (kind != TEXTS and getattr(given, name) != default):  # stated before, for another column
            steps.clear()
            break
        steps.append((name, None if kind is bool else value.strip("'\"")))
    if not steps and column is not None and column[1][1:-1] not in (given.target, *(given.ignore or ())):
        return [("ignore", column[1][1:-1])]
    return steps


def _target(given: Given) -> Any:
    """Return the column that is probably the labels: by its name, or the last one with few different cells."""
    with opened(given.data, given.notation, "check") as table:
        frame = Batch.joined(table.batches).frame
    few = [column.name for column in frame if 2 <= column.drop_nulls().n_unique() <= min(20, frame.height // 2)]
    if not few:
        raise DataError(f"{given.data} has no column with few different labels; name the labels with --target.")
    return next((name for likely in LIKELY for name in few if name.lower() == likely), few[-1])
