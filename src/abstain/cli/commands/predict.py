"""``abstain predict``: write each row with the model's answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain.cli.commands import options as o
from abstain.cli.exit_codes import DataError, UsageError, exit_on_error

if TYPE_CHECKING:
    import polars as pl

    from abstain.cli.input.models import FittedModel
    from abstain.cli.input.read_table import Batch, InputTable

ADDED = ("label", "rejected", "score", "cost_negative", "cost_reject", "cost_positive")
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="CSV", help="CSV file to write; standard output if not given.")
]
Prefix = Annotated[str, typer.Option(metavar="TEXT", help="Prefix for the names of the added columns.")]


def command(
    model: o.Model,
    data: o.Data,
    *,
    output: Output = None,
    prefix: Prefix = "",
    json: o.Json = False,
    force: o.Force = False,
) -> None:
    """Write each row with label, rejected, score and the expected costs of the three decisions.

    The score is the log-odds of the class that sorts last, whichever class is positive; cost_negative and cost_positive
    are the expected costs of answering the negative and the positive class. The expected costs are accurate only near
    the thresholds, where decisions change. Rows are read and written a few megabytes at a time. With --json a summary
    is printed, which names the classes, and -o is required for the rows.
    """
    with exit_on_error():
        from abstain.cli.input.models import load_model
        from abstain.cli.output.printing import print_json

        if json and output is None:
            raise UsageError("--json prints a summary, so the rows need a separate file; specify it with -o.")
        counted = predict(load_model(model), data, output, prefix=prefix, force=force)
        if json:
            print_json(counted)


def predict(
    model: FittedModel, data: Path, output: Path | None, *, prefix: str = "", force: bool = False
) -> dict[str, Any]:
    """Write the rows of a table with the model's answers and return the counts."""
    from abstain.cli.input.read_table import opened
    from abstain.cli.output.files import check_free, replacing, write_csv
    from abstain.cli.output.printing import progress

    check_free(output, force=force)
    rows = rejected = 0
    with opened(data) as table, progress("predict", data) as report:
        model.check(table)
        _check_names(table, prefix)
        with replacing(output) as file:
            for batch in table.batches:
                answers = answered(model, table, batch, prefix)
                write_csv(answers, file, header=rows == 0)
                rows += answers.height
                rejected += int(answers[f"{prefix}rejected"].sum())
                report(table.position())
    named = {"score": model.score_means, "negative class": model.negative, "positive class": model.positive}
    return {"output": None if output is None else str(output), "rows": rows, "rejected": rejected, **named}


def answered(model: FittedModel, table: InputTable, batch: Batch, prefix: str) -> pl.DataFrame:
    """The rows of a batch with the columns of ADDED."""
    import polars as pl

    decided = model.decide(table, batch)
    values = (decided.label, decided.rejected, decided.score, *decided.expected_cost.T)
    added = {f"{prefix}{name}": value for name, value in zip(ADDED, values, strict=True)}
    return batch.frame.with_columns(pl.Series(name, value) for name, value in added.items())


def _check_names(table: InputTable, prefix: str) -> None:
    for name in ADDED:
        if prefix + name in table.columns:
            raise DataError(
                f"{table.path} already has a column {prefix + name!r}, which predict adds; rename it, or pass --prefix."
            )
