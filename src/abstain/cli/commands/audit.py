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
from abstain.estimators.unwrap import final_estimator, unguarded
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
    batches = {case.drawn for case in rows.values()}
    answered, drawn, handed_on = (sum(counts) for counts in zip(*(batch[1:4] for batch in batches), strict=True))
    audit = Audit([*rows.values()], answered, handed_on, model.rule.labels, given.confidence)
    error, cost, judged, sure = (
        audit.error(),
        audit.cost(),
        len(audit.judged),
        f"at {100 * audit.confidence:g} % between",
    )
    warned, said, spent = list[str](), list[str](), [seconds for review in reviews for seconds in review.seconds]
    if not drawn:
        warned.append("no row was audited, so the errors of the rows that the model answers are unknown; use --audit.")
    elif judged < drawn:
        warned.append(f"{drawn - judged} of {drawn} audited rows have no usable verdict; the intervals leave them out.")
    if error is not None:
        value, low, high = (f"{100 * error[name]:.3g} %" for name in ("estimate", "from", "to"))
        said.append(f"{error['wrong']} of {judged} audited answers are wrong: {value} of all, {sure} {low} and {high}.")
    if cost is not None:
        value, low, high = (f"{cost[name]:.4g}" for name in ("estimate", "from", "to"))
        said.append(f"A row costs model and people together {value}, {sure} {low} and {high}.")
    cases = None if given.cases is None else Deciding(model, how).read(given.cases, how)
    facts = {
        "batches": len(batches),
        "rows the model answers": answered,
        "rows handed on": handed_on,
        "audited rows": drawn,
        "error among the answers": error,
        "cost per row": cost,
        "rejected rows turned out as": audit.rejects(),
        "confidence": given.confidence,
        "verdict": {"sentence": " ".join(said) or "The verdicts say what the rejected rows are, and nothing else."},
        "warnings": warned,
        "promises": promises(audit, model),
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


def promises(audit: Audit, model: FittedModel) -> list[dict[str, Any]]:
    """Return the ceilings on errors that the model was fitted for, and whether the verdicts agree."""
    final = final_estimator(unguarded(model.estimator))
    while hasattr(final, "estimator") and not hasattr(final, "certificate_"):
        final = final_estimator(final.estimator)  # a frozen one
    bound, found = getattr(final, "certificate_", None), list[dict[str, Any]]()
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
