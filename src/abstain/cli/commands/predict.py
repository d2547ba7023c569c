"""``abstain predict``: write each row with the model's answer."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from abstain.cli.exit_codes import DataError, Note, UsageError
from abstain.cli.input.columns import typed
from abstain.cli.input.deciding import NOTED, Deciding, drift_facts, reasons
from abstain.cli.input.models import FittedModel, load_model
from abstain.cli.options import Given
from abstain.cli.output.printing import print_drift, print_facts, print_json
from abstain.cli.output.review_files import check_review, write_review
from abstain.cli.output.tables import check_table, table_written
from abstain.cli.tables.read_table import Batch, InputTable, opened


def command(given: Given) -> None:
    """Run the command."""
    if given.json and given.output is None:
        raise UsageError("--json prints a summary, so the rows need a separate file; specify it with -o.")
    check_review(given)
    check_table(given.output, force=given.force, inputs=[given.model, given.data])
    counted = predict(load_model(given.model), given)
    if given.json:
        print_json(counted)
    elif given.output is not None:
        print_facts({name: value for name, value in counted.items() if name not in (*NOTED, "drift")})
        print_drift(counted["drift"])


def predict(model: FittedModel, given: Given) -> dict[str, Any]:
    """Write the rows of a table with the model's answers and return the counts."""
    data, output, notation = given.data, given.output, given.notation
    rows, rejected, novel, deciding = 0, 0, 0, Deciding(model, notation)
    with opened(data, notation, "predict") as table:
        model.check(table)
        how = {"separator": table.separator, "decimal": notation.decimal, "safe": given.spreadsheet_safe}
        with table_written(output, partial(typed, table), force=given.force, **how) as write:
            for batch, decided in decisions(deciding, table, given):
                columns = decided.columns
                if given.reasons:
                    told: Any = np.full(len(decided), None)
                    told[decided.queue] = reasons(deciding.model, table, batch, decided, decided.queue)
                    columns = columns | {"sentence": told.tolist()}
                added = [pl.Series(given.prefix + name, values) for name, values in columns.items()]
                if taken := [column.name for column in added if column.name in table.columns]:
                    raise DataError(
                        f"{data} already has a column {taken[0]!r}, which predict adds; rename it, or pass --prefix."
                    )
                write(batch.frame.with_columns(added))
                rows += batch.frame.height
                rejected += int(decided.rejected.sum())
                novel += int((decided.reason == "novel").sum())
        reviewed = {} if given.review is None else write_review(deciding.model, table, batch, decided, given)
    drift = deciding.drift()
    drifted = [drift.sentence] if output is None and drift is not None and drift.drifted else []
    if model.promise is not None and (over := int((decided.reason == "over capacity").sum())):
        drifted.append(f"{over} rows over capacity get an answer, which the model's ceiling on errors does not cover.")
    for words in deciding.words() + drifted:  # otherwise the summary says that they have drifted
        warnings.warn(f"{data}: {words}", Note, stacklevel=2)
    return {
        "output": None if output is None else str(output),
        "rows": rows,
        "rejected": rejected,
        "reject rate": rejected / rows,
        "ambiguous": rejected - novel,
        "novel": novel,
        **({} if given.capacity is None else {"over capacity": int((decided.reason == "over capacity").sum())}),
        **reviewed,
        **model.named,
        **deciding.facts(),
        "drift": drift_facts(drift),
    }


def decisions(deciding: Deciding, table: InputTable, given: Given) -> Iterator[tuple[Batch, Any]]:
    """Yield the rows with their decisions: batch by batch, or all at once for a review or within a capacity."""
    if given.review is None and given.capacity is None:
        yield from ((batch, deciding.decide(table, batch)) for batch in table.batches)
        return
    whole = Batch.joined(table.batches)
    decided = deciding.decide(table, whole)
    try:
        yield whole, decided if given.capacity is None else decided.within(given.capacity)
    except ValueError as error:
        raise UsageError(str(error)) from error
