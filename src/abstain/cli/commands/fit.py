"""``abstain fit``: train on a table and write the model."""

from __future__ import annotations

from typing import Any

from abstain.cli.exit_codes import UsageError
from abstain.cli.input.mapped_rows import training_rows
from abstain.cli.input.reviewed import with_verdicts
from abstain.cli.input.training_table import TableOptions, TrainingTable
from abstain.cli.options import Given
from abstain.cli.output.printing import print_judged
from abstain.cli.output.tables import check_free, writing
from abstain.cli.training.budgets import budgeted, stated_budget
from abstain.cli.training.cluster import check_cluster, connected
from abstain.cli.training.guarding import guard_plan, stated_rate
from abstain.cli.training.machines import checked_machine, trained
from abstain.cli.training.training import LINEAR, checked_training, facts_of
from abstain.files.model_file import write_model


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
