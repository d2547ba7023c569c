"""``abstain fit``: train on a table and write the model."""

from __future__ import annotations

from typing import Any

from abstain.cli.input.budgets import Budget
from abstain.cli.input.mapped_rows import training_rows
from abstain.cli.input.training_table import TableOptions, TrainingTable
from abstain.cli.options import Given
from abstain.cli.output.files import check_free, writing
from abstain.cli.output.printing import print_judged
from abstain.cli.training.budgets import budgeted
from abstain.cli.training.cluster import check_cluster, connected
from abstain.cli.training.guarding import guard_plan, stated_rate
from abstain.cli.training.machines import checked_machine, trained
from abstain.cli.training.training import LINEAR, checked_training, facts_of
from abstain.files.save import write_model


def command(given: Given) -> None:
    """Run the command."""
    check_free(given.output, force=given.force, inputs=given.data)
    checked_machine(given.machine)
    given = checked_training(given)
    check_cluster(given.cluster, given.machine, given.C)
    rate, options = stated_rate(given.novelty, given.no_novelty), TableOptions(given)
    linear, by_blocks = given.machine == LINEAR, given.cluster is not None
    rows = training_rows(given.data, options, linear=linear, by_blocks=by_blocks)
    with connected(given.cluster) as client, rows as table:
        costs = options.costs.of(table.classes)
        facts = fit(table, costs, given.but(guard=guard_plan(rate, table, costs, given.seed)), client)
    facts["warnings"] += given.unfinished
    print_judged(facts, json=given.json)


def fit(table: TrainingTable, costs: Any, given: Given, client: Any = None) -> dict[str, Any]:
    """Train on a table, save the model, and return its facts; `costs` may be a `Budget` instead."""
    is_budget = isinstance(costs, Budget)
    model, facts = budgeted(table, given, costs) if is_budget else trained(table, costs, given, client)
    with writing(given.output, force=given.force) as file:
        write_model(model, file)
    return facts_of(table, model, given.output, facts)
