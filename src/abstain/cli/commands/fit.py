"""``abstain fit``: train on a table and write the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from abstain.cli.input.budgets import Budget
from abstain.cli.input.costs import CostOptions
from abstain.cli.input.mapped_rows import training_rows
from abstain.cli.input.table_options import TableOptions
from abstain.cli.input.training_table import TrainingTable
from abstain.cli.options import Given
from abstain.cli.output.files import check_free, writing
from abstain.cli.output.printing import print_judged
from abstain.cli.training.budgets import budgeted
from abstain.cli.training.cluster import check_cluster, connected
from abstain.cli.training.guarding import guard_plan, stated_rate
from abstain.cli.training.machines import checked_machine, trained
from abstain.cli.training.training import LINEAR, TrainingOptions, facts_of
from abstain.files.save import write_model


def command(given: Given) -> None:
    """Run the command."""
    check_free(given.output, force=given.force, inputs=given.data)
    checked_machine(given.machine)
    options = TrainingOptions.of(given)
    check_cluster(given.cluster, given.machine, given.C)
    rate = stated_rate(given.novelty, given.no_novelty)
    stated = CostOptions(given)
    linear, by_blocks = given.machine == LINEAR, given.cluster is not None
    rows = training_rows(given.data, TableOptions.of(given, stated), linear=linear, by_blocks=by_blocks)
    with connected(given.cluster) as client, rows as table:
        costs = stated.of(table.classes)
        options = replace(options, guard=guard_plan(rate, table, costs, given.seed))
        facts = fit(table, costs, options, given.output, force=given.force, client=client)
    facts["warnings"] += given.unfinished
    print_judged(facts, json=given.json)


def fit(
    table: TrainingTable, costs: Any, options: TrainingOptions, output: Path, *, force: bool = False, client: Any = None
) -> dict[str, Any]:
    """Train on a table, save the model, and return its facts; `costs` may be a `Budget` instead."""
    is_budget = isinstance(costs, Budget)
    model, facts = budgeted(table, options, costs) if is_budget else trained(table, costs, options, client)
    with writing(output, force=force) as file:
        write_model(model, file)
    return facts_of(table, model, output, facts)
