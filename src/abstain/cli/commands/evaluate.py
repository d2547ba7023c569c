"""``abstain evaluate``: the decisions of a model on labelled rows, their mean cost, and key points of the curves."""

from __future__ import annotations

from abstain.cli.exit_codes import one_line
from abstain.cli.input.deciding import drift_facts
from abstain.cli.input.judged import Judged
from abstain.cli.input.models import load_model
from abstain.cli.options import Given
from abstain.cli.output.evaluation import evaluation_facts, print_evaluation
from abstain.cli.output.files import check_free
from abstain.cli.output.printing import print_judged
from abstain.cli.output.reports import write_evaluation


def command(given: Given) -> None:
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
