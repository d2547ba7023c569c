"""``abstain fit``: train on a table and write the model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain.cli.commands import options as o
from abstain.cli.exit_codes import UsageError, exit_on_error

if TYPE_CHECKING:
    from abstain.cli.commands.training import TrainingOptions
    from abstain.cli.input.training_table import TrainingTable
    from abstain.costs import Costs

Output = Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Model file to write.")]
RejectLabel = Annotated[str | None, typer.Option(metavar="LABEL", help='Label of a reject; "reject" by default.')]


def command(
    data: o.Data,
    *,
    target: o.Target,
    output: Output,
    false_positive: o.FalsePositive = None,
    false_negative: o.FalseNegative = None,
    reject: o.Reject = None,
    cost_matrix: o.CostMatrix = None,
    pos_label: o.PosLabel = None,
    reject_label: RejectLabel = None,
    categorical: o.Categorical = None,
    ignore: o.Ignore = None,
    groups: o.Groups = None,
    C: o.C = None,
    gamma: o.Gamma = None,
    seed: o.Seed = 0,
    time_limit: o.TimeLimit = None,
    max_memory: o.MaxMemory = None,
    json: o.Json = False,
    force: o.Force = False,
) -> None:
    """Train on labelled rows and write the model.

    Numeric columns are scaled, text columns are one-hot encoded, missing cells are imputed; C and gamma are chosen by
    cross-validated mean cost.
    """
    with exit_on_error():
        from abstain.cli.input.costs import stated_costs
        from abstain.cli.input.training_table import read_training
        from abstain.cli.output.files import check_free
        from abstain.cli.output.printing import print_facts, print_json

        check_free(output, force=force)
        table = read_training(
            data,
            target,
            pos_label=pos_label,
            categorical=categorical or [],
            ignore=ignore or [],
            groups=groups,
            max_memory=max_memory,
        )
        costs = stated_costs(false_positive, false_negative, reject, cost_matrix, table.classes, pos_label=pos_label)
        from abstain.cli.commands.training import TrainingOptions

        facts = fit(table, costs, TrainingOptions(C, gamma, reject_label, seed, time_limit), output)
        (print_json if json else print_facts)(facts)


def fit(table: TrainingTable, costs: Costs, options: TrainingOptions, output: Path) -> dict[str, Any]:
    """Train on a table, save the model, and return its facts."""
    from abstain.cli.commands.training import facts_of, trained
    from abstain.files.save import save

    model = trained(table, costs, options)
    try:
        save(model, output)
    except OSError as error:
        raise UsageError(
            f"{output} cannot be written ({error.strerror or error}); free some disk space or use another name."
        ) from error
    return facts_of(table, model, output)
