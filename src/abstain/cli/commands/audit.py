"""``abstain audit``: what the verdicts of people say about a model and its promises."""

from __future__ import annotations

from itertools import combinations
from statistics import median
from typing import Any

import numpy as np

from abstain.cli.exit_codes import DataError
from abstain.cli.input.deciding import Deciding, drift_facts
from abstain.cli.input.models import FittedModel, load_model
from abstain.cli.input.reviewed import Review, fingerprint, read_review
from abstain.cli.options import Given
from abstain.cli.output.files import check_free
from abstain.cli.output.printing import print_judged
from abstain.cli.output.reports import write_audit
from abstain.review.audit import NONE, Audit, Case
from abstain.review.intervals import kappa


def command(given: Given) -> None:
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
    audit = Audit([*rows.values()], model.rule.labels, given.confidence)
    error, cost, beyond = audit.error(), audit.cost(), audit.of_rows(over=True).error()
    over, drawn, judged = audit.total("over"), audit.total("audited"), len(audit.judged)
    warned, said, spent = list[str](), list[str](), [seconds for review in reviews for seconds in review.seconds]
    sure = f"at {100 * audit.confidence:g} % between"
    kept = promises(audit.of_rows(over=False), model)
    if not drawn:
        warned.append("no row was audited, so the errors of the rows that the model answers are unknown; use --audit.")
    elif judged < drawn:
        warned.append(
            f"{drawn - judged} of {drawn} audited rows have no usable verdict; the intervals count them as right and as "
            "wrong."
        )
    if drawn and (none := [batch for batch in audit.batches if batch.answered and not batch.audited]):
        of = f"{len(none)} of {len(audit.batches)} batches have"
        warned.append(f"{of} no audited row, so any of their answers may be wrong; audit some rows of every batch.")
    said += [] if error is None else [_in_words(error, "audited answers", sure)]
    said += [] if beyond is None else [_in_words(beyond, f"audited answers among the {over} over capacity", sure)]
    if over and kept:
        said.append("The promise of the model is about the other answers.")
    if cost is not None:
        value, low, high = (f"{cost[name]:.4g}" for name in ("estimate", "from", "to"))
        said.append(f"A row costs model and people together {value}, {sure} {low} and {high}.")
    cases = None if given.cases is None else Deciding(model, how).read(given.cases, how)
    if cases is None and model.guarded:
        said.append("Pass the table of a batch by --cases to see whether its rows are like the training rows.")
    facts = {
        "batches": len(audit.batches),
        "rows the model answers": audit.total("answered"),
        "over capacity": over,
        "rows handed on": audit.total("handed_on"),
        "audited rows": drawn,
        "error among the answers": error,
        "error over capacity": beyond,
        "cost per row": cost,
        "rejected rows turned out as": audit.rejects(),
        "confidence": given.confidence,
        "verdict": {"sentence": " ".join(said) or "The verdicts say what the rejected rows are, and nothing else."},
        "warnings": warned,
        "promises": kept,
        "reviewers": [agreement(*two, audit) for two in combinations(reviews, 2)],
        "unsure": sum(review.unsure for review in reviews),
        "median seconds": median(spent) if spent else None,
        "not used": {str(review.path): review.not_used for review in reviews if review.not_used},
        "drift": None if cases is None else drift_facts(cases.drift()),
    }
    if given.output is not None:
        write_audit(facts, model, given)
    shown = facts if given.json else {name: value for name, value in facts.items() if value or name == "warnings"}
    print_judged(shown | ({} if given.output is None else {"report": str(given.output)}), json=given.json)


def _in_words(error: dict[str, Any], what: str, sure: str) -> str:
    value, low, high = (f"{100 * error[name]:.3g} %" for name in ("estimate", "from", "to"))
    return f"{error['wrong']} of {error['rows']} {what} are wrong: {value} of all, {sure} {low} and {high}."


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
