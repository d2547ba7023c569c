"""``abstain predict``: write each row with the model's answer."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abstain.cli.commands.options import FILE, NOTATION, Given, command_of, option
from abstain.cli.exit_codes import DataError, Note, UsageError

if TYPE_CHECKING:
    import polars as pl

    from abstain.cli.input.drifting import DriftOfTable
    from abstain.cli.input.models import FittedModel
    from abstain.cli.input.outside_notes import OutsideTraining
    from abstain.cli.tables.notation import Notation
    from abstain.cli.tables.read_table import Batch, InputTable

ADDED = ("label", "rejected", "reason", "score", "cost_negative", "cost_reject", "cost_positive")


@command_of(
    *("model", "data", "output", "prefix", "spreadsheet_safe", *NOTATION, "json", "force"),
    output=option(FILE, "CSV", "CSV file to write; standard output if not given.", "--output", "-o"),
    prefix=option(str, "TEXT", "Prefix for the names of the added columns.", default=""),
    spreadsheet_safe=option(
        bool, None, "Put an apostrophe before texts that a spreadsheet would run as formulas, or do not.", default=True
    ),
)
def command(given: Given) -> None:
    """Write each row with label, rejected, reason, score and the expected costs of the decisions.

    The reason is decided, ambiguous, or novel for rows that are rejected as unlike the training rows.
    The score is the log-odds of the class that sorts last, whichever class is positive; cost_negative and cost_positive
    are the expected costs of answering the negative and the positive class. More than two classes have score_CLASS and
    cost_CLASS each, actions cost_ACTION. The expected costs are accurate only near
    the thresholds, where decisions change. Rows are read and written a few megabytes at a time. With --json a summary
    is printed, which names the classes, and -o is required for the rows.
    """
    from abstain.cli.input.models import load_model
    from abstain.cli.input.outside_notes import NOTED
    from abstain.cli.output.files import check_free
    from abstain.cli.output.printing import print_drift, print_facts, print_json

    output, notation = given.output, given.notation
    if given.json and output is None:
        raise UsageError("--json prints a summary, so the rows need a separate file; specify it with -o.")
    check_free(output, force=given.force, inputs=[given.model, given.data])
    asked = {"prefix": given.prefix, "safe": given.spreadsheet_safe, "notation": notation, "force": given.force}
    counted = predict(load_model(given.model), given.data, output, **asked)
    if given.json:
        print_json(counted)
    elif output is not None:
        print_facts({name: value for name, value in counted.items() if name not in (*NOTED, "drift")})
        print_drift(counted["drift"])


def predict(
    model: FittedModel,
    data: Path,
    output: Path | None,
    *,
    prefix: str = "",
    safe: bool = True,
    notation: Notation | None = None,
    force: bool = False,
) -> dict[str, Any]:
    """Write the rows of a table with the model's answers and return the counts."""
    from abstain.cli.input.drifting import DriftOfTable, drift_facts
    from abstain.cli.input.outside_notes import OutsideTraining
    from abstain.cli.output.files import write_csv, writing
    from abstain.cli.output.printing import progress
    from abstain.cli.tables.read_table import PLAIN, opened

    rows, rejected, novel, notation = 0, 0, 0, notation or PLAIN
    model = model.reading(notation)
    outside, drift = OutsideTraining(model.seen, model.plan.dates), DriftOfTable(model.estimator)
    with opened(data, notation) as table, progress("predict", data) as report:
        model.check(table)
        _check_names(table, prefix, added_names(model))
        with writing(output, force=force) as file:
            for batch in table.batches:
                answers = answered(model, table, batch, prefix, outside=outside, drift=drift)
                written = {"separator": table.separator, "decimal": notation.decimal}
                write_csv(answers, file, header=rows == 0, safe=safe, **written)
                rows += answers.height
                rejected += int(answers[f"{prefix}rejected"].sum())
                novel += int((answers[f"{prefix}reason"] == "novel").sum())
                report(table.position())
    for words in outside.words():
        warnings.warn(f"{data}: {words}", Note, stacklevel=2)
    found = drift.result()
    if output is None and found is not None and found.drifted:  # otherwise the summary says it
        warnings.warn(f"{data}: {found.sentence}", Note, stacklevel=2)
    return {
        "output": None if output is None else str(output),
        "rows": rows,
        "rejected": rejected,
        "reject rate": rejected / rows,
        "ambiguous": rejected - novel,
        "novel": novel,
        **model.named,
        **outside.facts(),
        "drift": drift_facts(found),
    }


def answered(
    model: FittedModel,
    table: InputTable,
    batch: Batch,
    prefix: str,
    *,
    outside: OutsideTraining | None = None,
    drift: DriftOfTable | None = None,
) -> pl.DataFrame:
    """The rows of a batch with the columns of `added_names`."""
    import polars as pl

    decided = model.decide(table, batch, outside, drift)
    scores = decided.score.T if model.several else [decided.score]
    values = (decided.label, decided.rejected, decided.reason, *scores, *decided.expected_cost.T)
    added = {f"{prefix}{name}": value for name, value in zip(added_names(model), values, strict=True)}
    return batch.frame.with_columns(pl.Series(name, value) for name, value in added.items())


def added_names(model: FittedModel) -> list[str]:
    """The columns that predict adds: of several classes a score and a cost each, of actions a cost each."""
    if model.several:
        classes = [str(label) for label in model.classes]
        handed_on = "reject" if "reject" not in classes else str(model.reject_label)
        costs = [f"cost_{name}" for name in (*classes, handed_on)]
        return [*ADDED[:3], *(f"score_{name}" for name in classes), *costs]
    if model.actions is not None:
        return [*ADDED[:4], *(f"cost_{name}" for name in model.actions.names)]
    return list(ADDED)


def _check_names(table: InputTable, prefix: str, names: list[str]) -> None:
    for name in names:
        if prefix + name in table.columns:
            raise DataError(
                f"{table.path} already has a column {prefix + name!r}, which predict adds; rename it, or pass --prefix."
            )
