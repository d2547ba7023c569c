"""``abstain fit``: train on a table and write the model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain.cli.exit_codes import UsageError, exit_on_error
from abstain.cli.training import options as o

if TYPE_CHECKING:
    from abstain.cli.input.training_table import TrainingTable
    from abstain.cli.training.training import TrainingOptions

COSTS = ("false_positive", "false_negative", "reject")
Rows = Annotated[
    list[Path],
    typer.Argument(
        metavar="DATA",
        exists=True,
        dir_okay=False,
        help="Rows: a CSV (also .csv.gz), Parquet or Excel file; several Parquet files with --machine linear.",
    ),
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Model file to write.")]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Scheduler of a Dask cluster that fits --machine linear to Parquet files, as in tcp://10.0.0.5:8786.",
    ),
]
Novelty = Annotated[
    float | None,
    typer.Option(
        metavar="RATE",
        help="Reject rows unlike the training rows; the largest share of rows like these that this rejects, 0.01 if "
        "not given. It needs 2/RATE - 2 rows, 198 for 0.01.",
    ),
]
NoNovelty = Annotated[bool, typer.Option("--no-novelty", help="Do not reject rows unlike the training rows.")]
RejectLabel = Annotated[str | None, typer.Option(metavar="LABEL", help='Label of a reject; "reject" by default.')]


def command(
    data: Rows,
    *,
    target: o.Target,
    output: Output,
    false_positive: o.FalsePositive = None,
    false_negative: o.FalseNegative = None,
    reject: o.Reject = None,
    cost_matrix: o.CostMatrix = None,
    actions: o.Actions = None,
    reject_actions: o.RejectActions = None,
    reject_rate: o.RejectRate = None,
    max_error: o.MaxError = None,
    class_error: o.ClassError = None,
    confidence: o.Confidence = 0.9,
    novelty: Novelty = None,
    no_novelty: NoNovelty = False,
    false_positive_column: o.FalsePositiveColumn = None,
    false_negative_column: o.FalseNegativeColumn = None,
    reject_column: o.RejectColumn = None,
    pos_label: o.PosLabel = None,
    reject_label: RejectLabel = None,
    categorical: o.Categorical = None,
    ignore: o.Ignore = None,
    groups: o.Groups = None,
    encoding: o.Encoding = None,
    decimal: o.Decimal = ".",
    thousands: o.Thousands = None,
    dates: o.Dates = None,
    missing_value: o.MissingValue = None,
    drop_unlabelled: o.DropUnlabelled = False,
    machine: o.Machine = "svm",
    cluster: Cluster = None,
    C: o.C = None,
    gamma: o.Gamma = None,
    Cs: o.Cs = None,
    gammas: o.Gammas = None,
    search: o.Search = "auto",
    seed: o.Seed = 0,
    time_limit: o.TimeLimit = None,
    max_memory: o.MaxMemory = None,
    json: o.Json = False,
    force: o.Force = False,
) -> None:
    """Train on labelled rows and write the model.

    Numeric columns are scaled, text columns are one-hot encoded, missing cells are imputed; C and gamma, or the
    parameters of another --machine, are chosen by cross-validated mean cost. With a column of costs each row has its
    own: the model reads the same columns when it predicts and is evaluated. The model also rejects rows that are unlike
    the training rows, unless --no-novelty is given.
    """
    with exit_on_error() as heard:
        from abstain.cli.input.actions import check_alone, stated_actions
        from abstain.cli.input.classes import two_class_option
        from abstain.cli.input.cost_columns import check_positive_stated, cost_plan
        from abstain.cli.input.costs import stated_costs, two_prices
        from abstain.cli.input.grids import stated_grid, stated_search
        from abstain.cli.output.files import check_free
        from abstain.cli.output.printing import print_judged
        from abstain.cli.tables.mapped_table import training_rows
        from abstain.cli.tables.notation import Notation
        from abstain.cli.training.budgets import stated_budget
        from abstain.cli.training.cluster import check_cluster, connected
        from abstain.cli.training.guarding import guard_plan, stated_rate
        from abstain.cli.training.linear import LINEAR
        from abstain.cli.training.machines import checked_machine

        check_free(output, force=force, inputs=data)
        grid = (stated_grid("C", Cs, C), stated_grid("gamma", gammas, gamma, ("scale", "auto")), stated_search(search))
        checked_machine(machine)
        check_cluster(cluster, machine, C)
        rate = stated_rate(novelty, no_novelty)
        stated: dict[str, Any] = {
            "--pos-label": pos_label,
            "--false-positive": false_positive,
            "--false-negative": false_negative,
            "two costs of --reject": two_prices(reject, decimal),
            "--false-positive-column": false_positive_column,
            "--false-negative-column": false_negative_column,
            "--reject-column": reject_column,
            "--actions": actions,
        }
        given = {name: value for name, value in stated.items() if name != "--pos-label"}
        budget = stated_budget(
            reject_rate,
            max_error,
            confidence,
            given | {"--reject": reject, "--cost-matrix": cost_matrix},
            class_error=class_error,
        )
        others = {"--reject": reject, "--cost-matrix": cost_matrix, "--reject-label": reject_label}
        check_alone(stated | others | {"--reject-actions": reject_actions})
        errors = (false_positive, false_negative)
        by_row = cost_plan(
            dict(zip(COSTS, (false_positive_column, false_negative_column, reject_column), strict=True)),
            dict(zip(COSTS[:2], errors, strict=True)),
            reject,
            cost_matrix,
            decimal=decimal,
        )
        rows = training_rows(
            data,
            target,
            linear=machine == LINEAR,
            by_blocks=cluster is not None,
            pos_label=pos_label,
            categorical=categorical or [],
            ignore=ignore or [],
            groups=groups,
            max_memory=max_memory,
            notation=Notation.of(encoding, decimal, thousands, dates, missing_value),
            drop_unlabelled=drop_unlabelled,
            costs=by_row,
            only_two=two_class_option(stated),
        )
        from abstain.cli.training.training import TrainingOptions

        options = TrainingOptions(C, gamma, reject_label, seed, time_limit, *grid, machine)
        with connected(cluster) as client, rows as table:
            costs: Any = budget
            if actions is not None:
                costs = stated_actions(actions, table.classes, reject_actions)
            elif by_row:
                check_positive_stated(table.classes, pos_label)
            elif budget is None:
                costs = stated_costs(*errors, reject, cost_matrix, table.classes, pos_label=pos_label, decimal=decimal)
            options = replace(options, guard=guard_plan(rate, table, costs, seed))
            facts = fit(table, costs, options, output, force=force, client=client)
        facts["warnings"] += heard.unfinished
        print_judged(facts, json=json)


def fit(
    table: TrainingTable, costs: Any, options: TrainingOptions, output: Path, *, force: bool = False, client: Any = None
) -> dict[str, Any]:
    """Train on a table, save the model, and return its facts; `costs` may be a `Budget` instead.

    With a `client` of a cluster the table is a `MappedTable`, whose rows are sent there.
    """
    from abstain.cli.commands.expectations import expected_of
    from abstain.cli.output.files import writing
    from abstain.cli.tables.mapped_table import MappedTable
    from abstain.cli.training.budgets import Budget, budgeted
    from abstain.cli.training.cluster import fitting, spread
    from abstain.cli.training.linear import LINEAR, linear_facts, linear_machine
    from abstain.cli.training.machines import machine_facts, searched
    from abstain.cli.training.training import facts_of, fitted_pipeline, trained
    from abstain.estimators.unwrap import unguarded
    from abstain.files.save import write_model

    facts = None
    if isinstance(costs, Budget):
        model, facts = budgeted(table, options, costs)
    elif options.machine == "svm":
        model = trained(table, costs, options)
    elif options.machine == LINEAR:
        with fitting(client):
            taught = spread(client, table) if isinstance(table, MappedTable) and client is not None else table
            model = fitted_pipeline(taught, linear_machine(table, costs, options), options.guard)
        facts = linear_facts(unguarded(model)[-1]) | expected_of(table, model)
    else:
        if table.row_costs is not None:
            names = f"svm and {LINEAR}, not to {options.machine}"
            raise UsageError(f"columns of costs belong to --machine {names}; leave one out.")
        model, choice = searched(table, costs, options)
        facts = machine_facts(table, costs, unguarded(model)[-1], choice)
    with writing(output, force=force) as file:
        write_model(model, file)
    return facts_of(table, model, output, facts)
