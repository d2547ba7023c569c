"""``abstain fit``: train on a table and write the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abstain.cli.commands.options import COSTS, NOTATION, ROWS, Given, argument, command_of, option

if TYPE_CHECKING:
    from abstain.cli.input.training_table import TrainingTable
    from abstain.cli.training.training import TrainingOptions


@command_of(
    *("data", "target", "output", *COSTS, "reject_rate", "max_error", "class_error", "confidence", "novelty"),
    *("no_novelty", "false_positive_column", "false_negative_column", "reject_column", "pos_label", "reject_label"),
    *("categorical", "ignore", "groups", *NOTATION, "drop_unlabelled", "machine", "cluster", "C", "gamma", "Cs"),
    *("gammas", "search", "seed", "time_limit", "max_memory", "json", "force"),
    data=argument(list[Path], "DATA", f"{ROWS}; several Parquet files with --machine linear."),
    output=option(Path, "MODEL", "Model file to write.", "--output", "-o", default=...),
)
def command(given: Given) -> None:
    """Train on labelled rows and write the model.

    Numeric columns are scaled, text columns are one-hot encoded, missing cells are imputed; C and gamma, or the
    parameters of another --machine, are chosen by cross-validated mean cost. With a column of costs each row has its
    own: the model reads the same columns when it predicts and is evaluated. The model also rejects rows that are unlike
    the training rows, unless --no-novelty is given.
    """

    from abstain.cli.input.cost_options import CostOptions
    from abstain.cli.input.table_options import TableOptions
    from abstain.cli.output.files import check_free
    from abstain.cli.output.printing import print_judged
    from abstain.cli.tables.mapped_table import training_rows
    from abstain.cli.training.cluster import check_cluster, connected
    from abstain.cli.training.guarding import guard_plan, stated_rate
    from abstain.cli.training.machines import checked_machine
    from abstain.cli.training.training import LINEAR, TrainingOptions

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
    facts["warnings"] += given.heard.unfinished
    print_judged(facts, json=given.json)


def fit(
    table: TrainingTable, costs: Any, options: TrainingOptions, output: Path, *, force: bool = False, client: Any = None
) -> dict[str, Any]:
    """Train on a table, save the model, and return its facts; `costs` may be a `Budget` instead."""
    from abstain.cli.output.files import writing
    from abstain.cli.training.budgets import Budget, budgeted
    from abstain.cli.training.machines import trained
    from abstain.cli.training.training import facts_of
    from abstain.files.save import write_model

    is_budget = isinstance(costs, Budget)
    model, facts = budgeted(table, options, costs) if is_budget else trained(table, costs, options, client)
    with writing(output, force=force) as file:
        write_model(model, file)
    return facts_of(table, model, output, facts)
