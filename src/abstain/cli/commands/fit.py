"""What trains on a table: ``abstain fit`` writes a model, ``abstain compare`` the held-out costs of all rules."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from abstain.cli.exit_codes import TimeUpError, UsageError, one_line, within
from abstain.cli.input.costs import check_reject_label
from abstain.cli.input.mapped_rows import training_rows
from abstain.cli.input.reviewed import with_verdicts
from abstain.cli.input.training_table import TableOptions, TrainingTable, read_training
from abstain.cli.options import Given
from abstain.cli.output.evaluation import rates_of
from abstain.cli.output.printing import print_judged, warn_all
from abstain.cli.output.reports import write_comparison
from abstain.cli.output.tables import check_free, writing
from abstain.cli.training.budgets import budgeted, stated_budget
from abstain.cli.training.cluster import check_cluster, connected
from abstain.cli.training.guarding import GuardPlan, guard_plan, stated_rate
from abstain.cli.training.machines import checked_machine, checked_machines, trained
from abstain.cli.training.training import LINEAR, checked_training, facts_of
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
        raise UsageError(
            "--also adds more of the rows that are hard than new rows have, so that shares cannot be promised; state "
            "costs, or leave it out."
        )
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
    folds = given.folds
    if folds > table.smallest_class:
        name, count = table.rarest
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
        if table.groups is None and table.smallest_class >= FEW:
            raise
        if table.groups is None:
            which = "rarest" if table.several else "rarer"
            few = f"the {table.smallest_class} rows of the {which} class are too few to split again"
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
        found.append({
            "rule": compared.names[at],
            "mean cost": float(compared.mean_cost[at]),
            "from": float(cost[0]),
            "to": float(cost[1]),
            "difference from best": float(compared.difference[at]),
            "at least": float(apart[0]),
            "at most": float(apart[1]),
            "significant": compared.names[at] not in compared.not_told_apart,
            "reject rate": counts.reject_rate,
            **({} if (novel := compared.novel[at]) is None else {"share of novel rows": float(novel.mean())}),
            **rates_of(counts),
        })  # fmt: skip
    return found
