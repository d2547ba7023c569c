"""What a model is used for: to predict, to be evaluated, to be compared with a batch of rows, and to be exported.

``abstain predict`` writes each row with the model's answer; ``abstain evaluate`` prints the decisions on labelled rows,
their mean cost, and key points of the curves; ``abstain drift`` tests whether the rows of a table are together like the
training rows; ``abstain export`` writes the model as an ONNX graph for other programs.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from abstain.cli.exit_codes import DataError, Note, UsageError, one_line
from abstain.cli.input.columns import typed
from abstain.cli.input.deciding import NOTED, Deciding, drift_facts, reasons
from abstain.cli.input.judged import Judged
from abstain.cli.input.models import FittedModel, load_estimator, load_model
from abstain.cli.options import Given
from abstain.cli.output.evaluation import evaluation_facts, print_evaluation
from abstain.cli.output.printing import print_drift, print_facts, print_json, print_judged
from abstain.cli.output.reports import check_review, write_evaluation, write_review
from abstain.cli.output.tables import check_free, check_table, table_written, writing
from abstain.cli.tables.read_table import Batch, InputTable, opened
from abstain.estimators.unwrap import unguarded
from abstain.files.onnx.to_onnx import to_onnx
from abstain.preprocessing import CellPlan, plan_of


def run_predict(given: Given) -> None:
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


def run_evaluate(given: Given) -> None:
    """Run the command."""
    report = given.report
    check_free(report, force=given.force, inputs=[given.model, given.data])
    judged = Judged.of(load_model(given.model), given)
    if report is not None:
        write_evaluation(judged, report, force=given.force)
    facts = evaluation_facts(judged) | {"drift": drift_facts(judged.drift)}
    if given.json:
        print_judged(facts | judged.outside | ({} if report is None else {"report": str(report)}), json=True)
        return
    print_evaluation(judged, facts)
    if report is not None:
        print(f"{one_line(str(report))} written: the report on {len(judged.y_true)} rows")


def run_drift(given: Given) -> None:
    """Run the command."""
    deciding = Deciding(load_model(given.model), given.notation)
    if not deciding.model.guarded:
        raise DataError(f"{given.model} has no guard, and nothing to compare rows with; fit it without --no-novelty.")
    found = deciding.read(given.data, given.notation).drift()
    if given.json:
        print_json({**(drift_facts(found) or {}), **deciding.facts()})
        return
    print(found)
    for words in deciding.words():
        warnings.warn(f"{given.data}: {words}", Note, stacklevel=2)


def run_export(given: Given) -> None:
    """Run the command."""
    check_free(given.onnx, force=given.force, inputs=[given.model])
    estimator = load_estimator(given.model)
    pipeline = unguarded(estimator)
    plan = plan_of(pipeline[0]) if hasattr(pipeline, "steps") else CellPlan()
    if plan.costs:
        raise DataError(
            "the model reads the costs of each row from columns, and a graph has no input for them; decide with "
            "'abstain predict', or fit it with the same costs for all rows."
        )
    try:
        graph = to_onnx(estimator)
    except ImportError as error:
        raise UsageError(f"{error} (install the extra 'onnx': pip install 'abstain[onnx]')") from error
    except ValueError as error:
        raise DataError(f"the model cannot be written as ONNX: {error}") from error
    if plan != CellPlan():
        dates = ", ".join(repr(name) for name in plan.dates)
        words = [f"dates ({dates}) as days since 1970-01-01"] * bool(dates) + ["missing values as NaN or empty text"]
        warnings.warn(f"the graph takes {' and '.join(words)}; convert them before you call it.", Note, stacklevel=2)
    with writing(given.onnx, force=given.force) as file:
        file.write(graph.SerializeToString())
    print(f"{one_line(str(given.onnx))} written")
