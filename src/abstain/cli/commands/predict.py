"""What a model is used for: to predict, to be evaluated and audited, to be compared with rows, and to be exported.

``abstain predict`` writes each row with the model's answer; ``abstain evaluate`` prints the decisions on labelled rows,
their mean cost, and key points of the curves; ``abstain drift`` tests whether the rows of a table are together like the
training rows; ``abstain export`` writes the model as an ONNX graph for other programs; ``abstain audit`` says what the
verdicts of people say about the model and its promises.
"""

import warnings
from collections.abc import Iterator
from functools import partial
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np
import polars as pl

from abstain.cli.exit_codes import DataError, Note, UsageError, one_line
from abstain.cli.input.columns import typed
from abstain.cli.input.deciding import NOTED, Deciding, Judged, reasons
from abstain.cli.input.models import FittedModel, load_estimator, load_model
from abstain.cli.input.reviewed import Review, fingerprint, read_review
from abstain.cli.options import Given
from abstain.cli.output.printing import (
    evaluation_facts,
    print_drift,
    print_evaluation,
    print_facts,
    print_json,
    print_judged,
)
from abstain.cli.output.reports import check_review, write_audit, write_evaluation, write_review
from abstain.cli.output.tables import check_free, check_table, table_written, writing
from abstain.cli.tables.read_table import Batch, InputTable, opened
from abstain.comparison.drift_result import Drift
from abstain.estimators.unwrap import unguarded
from abstain.files.onnx.to_onnx import to_onnx
from abstain.preprocessing import CellPlan, plan_of
from abstain.review.audit import NONE, Audit, Case
from abstain.review.intervals import kappa


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
                    what = f"{data} already has a column {taken[0]!r}, which predict adds"
                    raise DataError(f"{what}; rename it, or pass --prefix.")
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
    facts: dict[str, Any] = {"output": None if output is None else str(output), "rows": rows, "rejected": rejected}
    facts |= {"reject rate": rejected / rows, "ambiguous": rejected - novel, "novel": novel}
    facts |= {} if given.capacity is None else {"over capacity": int((decided.reason == "over capacity").sum())}
    return facts | reviewed | model.named | deciding.facts() | {"drift": drift_facts(drift)}


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


def drift_facts(drift: Drift | None) -> dict[str, Any] | None:
    """The result as plain values, with the tests that find a difference."""
    if drift is None:
        return None
    names = {"what": "name", "here": "here", "before": "before", "difference": "difference", "p value": "corrected"}
    names |= {"in words": "words"}
    found = [{key: getattr(test, name) for key, name in names.items()} for test in drift.significant]
    facts = {"drifted": drift.drifted, "p value": drift.p_value, "effect": drift.effect, "differences": found}
    return facts | {"sentence": drift.sentence}


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
        what = "the model reads the costs of each row from columns, and a graph has no input for them"
        raise DataError(f"{what}; decide with 'abstain predict', or fit it with the same costs for all rows.")
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


TOTALS = {"rows the model answers": "answered", "over capacity": "over", "rows handed on": "handed_on"}
TOTALS |= {"audited rows": "audited"}


def run_audit(given: Given) -> None:
    """Run the command."""
    check_free(given.output, force=given.force, inputs=[given.model, *given.reviews])
    model, own = load_model(given.model), fingerprint(given.model)
    how = given.notation
    reviews = [read_review(path, Deciding(model, how), own, how) for path in given.reviews]
    rows: dict[str, Case] = {}
    for code, case in ((code, case) for review in reviews for code, case in review.rows.items()):
        if code not in rows or rows[code].truth == NONE:  # of several verdicts the first one counts
            rows[code] = case
    if all(case.truth == NONE for case in rows.values()):
        raise DataError(f"{given.reviews[0]} has no verdicts; fill in the column 'verdict' and save the file.")
    _check_batches(rows)
    audit = Audit([*rows.values()], model.rule.labels, given.confidence)
    kept, spent = promises(audit.of_rows(over=False), model), [time for review in reviews for time in review.seconds]
    error, cost, beyond = audit.error(), audit.cost(), audit.of_rows(over=True).error()
    cases = None if given.cases is None else Deciding(model, how).read(given.cases, how)
    said = _sentences(audit, error, cost, beyond, promised=bool(kept))
    if cases is None and model.guarded:
        said.append("With --cases and the table of a batch it also says whether these rows are like the training rows.")
    facts: dict[str, Any] = {"batches": len(audit.batches)} | {name: audit.total(of) for name, of in TOTALS.items()}
    facts |= {"error among the answers": error, "error over capacity": beyond, "cost per row": cost}
    facts |= {"rejected rows turned out as": audit.rejects(), "confidence": given.confidence}
    sentence = " ".join(said) or "The verdicts say what the rejected rows are, and nothing else."
    facts |= {"verdict": {"sentence": sentence}, "warnings": _warnings(audit), "promises": kept}
    facts["reviewers"] = [found for two in combinations(reviews, 2) if (found := agreement(*two, audit))["rows"]]
    facts |= {"unsure": sum(review.unsure for review in reviews), "median seconds": median(spent) if spent else None}
    facts["not used"] = {str(review.path): review.not_used for review in reviews if review.not_used}
    facts["drift"] = None if cases is None else drift_facts(cases.drift())
    if given.output is not None:
        write_audit(facts, model, given)
    shown = facts if given.json else {name: value for name, value in facts.items() if value or name == "warnings"}
    print_judged(shown | ({} if given.output is None else {"report": str(given.output)}), json=given.json)


def _check_batches(rows: dict[str, Case]) -> None:
    """Raise an error if two batches are mostly the same rows: the batch was predicted twice, and would count twice."""
    batches: dict[Any, set[Any]] = {}
    for code, case in rows.items():  # the number of the row, and what is in it
        batches.setdefault(case.drawn, set()).add(tuple(code.split("-")[-4:-1]))
    for one, other in combinations(batches.values(), 2):
        if 2 * len(one & other) > min(len(one), len(other)):
            what = "two of the review files are of the same rows, by two runs of 'abstain predict --review'"
            way = "pass the file of one run, and its copies for several reviewers"
            raise DataError(f"{what} with another seed, audit or capacity; {way}.")


def _warnings(audit: Audit) -> list[str]:
    """What makes the intervals wide."""
    drawn, judged = audit.total("audited"), len(audit.judged)
    if not drawn:
        return ["no row was audited, so the errors of the rows that the model answers are unknown; use --audit."]
    how = "the intervals count them as right and as wrong."
    found = [f"{drawn - judged} of {drawn} audited rows have no usable verdict; {how}"] if judged < drawn else []
    if none := sum(batch.answered > 0 == batch.audited for batch in audit.batches):
        of = f"{none} of {len(audit.batches)} batches have no audited row"
        found.append(f"{of}, so that any of their answers may be wrong; audit some rows of every batch.")
    return found


def _sentences(audit: Audit, error: Any, cost: Any, beyond: Any, *, promised: bool) -> list[str]:
    """What the audit says, in words."""
    sure, over, said = f"at {100 * audit.confidence:g} % between", audit.total("over"), list[str]()
    for one, where in ((error, ""), (beyond, f" among the {over} over capacity")):
        if one is not None:
            value, low, high = (f"{100 * one[name]:.3g} %" for name in ("estimate", "from", "to"))
            wrong = f"{one['wrong']} of {one['rows']} audited answers{where} are wrong"
            said.append(f"{wrong}: {value} of all, {sure} {low} and {high}.")
    if over and promised:
        said.append("The promises are about the answers that are not over capacity.")
    if cost is not None:
        value, low, high = (f"{cost[name]:.4g}" for name in ("estimate", "from", "to"))
        said.append(f"A row costs model and people together {value}, {sure} {low} and {high}.")
    return said


def promises(audit: Audit, model: FittedModel) -> list[dict[str, Any]]:
    """Return the ceilings on errors that the model was fitted for, and whether the verdicts agree."""
    bound, found = model.promise, list[dict[str, Any]]()
    for name, share_of in (("max_error", audit.error), ("class_error", audit.of_class)):
        asked = getattr(bound, name, None) or {}
        for label, ceiling in asked.items() if isinstance(asked, dict) else [(None, asked)]:
            if share := share_of(label):
                state = "kept" if share["to"] <= ceiling else "broken" if share["from"] > ceiling else "open"
                named = {"promise": name.replace("_", " "), "of": "all" if label is None else str(label)}
                found.append(named | {"state": state, "at most": float(ceiling)} | share)
    return found


def agreement(one: Review, other: Review, audit: Audit) -> dict[str, Any]:
    """Return how far the reviewers of two files agree on the rows that both have judged."""
    table = np.zeros((audit.labels.n_classes,) * 2, dtype=np.int64)
    for code, case in one.rows.items():
        if code in other.rows and NONE not in (verdicts := (case.truth, other.rows[code].truth)):
            table[verdicts] += 1
    found, (low, high) = kappa(table, audit.confidence)
    files = {"files": f"{one.path} and {other.path}", "rows": int(table.sum()), "same verdict": int(np.trace(table))}
    return files | {"kappa": found, "from": low, "to": high}
