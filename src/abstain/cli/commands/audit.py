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
from abstain.cli.output.printing import print_judged
from abstain.cli.output.reports import write_audit
from abstain.cli.output.tables import check_free
from abstain.review.audit import NONE, Audit, Case
from abstain.review.intervals import kappa


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
    facts = {
        "batches": len(audit.batches),
        "rows the model answers": audit.total("answered"),
        "over capacity": audit.total("over"),
        "rows handed on": audit.total("handed_on"),
        "audited rows": audit.total("audited"),
        "error among the answers": error,
        "error over capacity": beyond,
        "cost per row": cost,
        "rejected rows turned out as": audit.rejects(),
        "confidence": given.confidence,
        "verdict": {"sentence": " ".join(said) or "The verdicts say what the rejected rows are, and nothing else."},
        "warnings": _warnings(audit),
        "promises": kept,
        "reviewers": [found for two in combinations(reviews, 2) if (found := agreement(*two, audit))["rows"]],
        "unsure": sum(review.unsure for review in reviews),
        "median seconds": median(spent) if spent else None,
        "not used": {str(review.path): review.not_used for review in reviews if review.not_used},
        "drift": None if cases is None else drift_facts(cases.drift()),
    }
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
            raise DataError(
                "two of the review files are of the same rows, by two runs of 'abstain predict --review' with another "
                "seed, audit or capacity; pass the file of one run, and its copies for several reviewers."
            )


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
