"""``abstain evaluate``: the decisions of a model on labelled rows, their mean cost, and key points of the curves."""

from __future__ import annotations

from typing import Any

from abstain.cli.commands.evaluation import Judged
from abstain.cli.commands.options import Given
from abstain.cli.exit_codes import one_line
from abstain.cli.input.deciding import drift_facts
from abstain.cli.input.models import load_model
from abstain.cli.output.files import check_free
from abstain.cli.output.printing import print_judged, print_table
from abstain.cli.output.reports import write_evaluation

OF_THEM = "of them novel"


def command(given: Given) -> None:
    """Run the command."""
    report = given.report
    check_free(report, force=given.force, inputs=[given.model, given.data])
    asked = {"id": given.id, "notation": given.notation, "drop_unlabelled": given.drop_unlabelled}
    judged = Judged.of(load_model(given.model), given.data, given.target, **asked)
    if report is not None:
        write_evaluation(judged, report, force=given.force)
    facts = judged.facts() | {"drift": drift_facts(judged.drift)}
    if given.json:
        print_judged(facts | judged.outside | ({} if report is None else {"report": str(report)}), json=True)
        return
    show(judged, facts)
    if report is not None:
        print(f"{one_line(str(report))} written: the report on {len(judged.y_true)} rows")


def show(judged: Judged, facts: dict[str, Any]) -> None:
    """Print the tables, the metrics, the key points and the verdict."""
    model, novel = judged.model, judged.model.guarded
    records, classes, actions = facts.pop("table"), facts.pop("classes"), facts.pop("actions", None)
    said: dict[str, str] = {}
    if actions is not None:
        header = (*actions, *["novel"] * novel)
        rows = [(one["actual"], *one["actions"], *[one["novel"]] * novel) for one in records]
    elif model.positive is None:
        header = (*(f"decided {name}" for name in classes), "rejected", *[OF_THEM] * novel)
        rows = [(one["actual"], *one["decided"], one["rejected"], *[one["novel"]] * novel) for one in records]
    else:
        columns = {"called negative": f"decided {model.negative}", "rejected": "rejected"}
        columns |= ({"novel": OF_THEM} if novel else {}) | {"called positive": f"decided {model.positive}"}
        header = (*columns.values(),)
        rows = [(classes[side], *(one[column] for column in columns)) for side, one in records.items()]
        said = {name: f"{name} (of {model.positive})" for name in ("sensitivity", "positive predictivity")}
        said["least mean cost of any two thresholds"] = "least mean cost of any two thresholds (chosen on these rows)"
    print_table(("", *header), [(f"actual {row[0]}", *row[1:]) for row in rows])
    if model.positive is None and actions is None:
        shares = ("coverage", "error among the accepted", "correct among its answers")
        print_table(("class", *shares), [(one["actual"], *(one[share] for share in shares)) for one in records])
    if accuracy := facts.pop("accuracy by reject rate", {}):
        print_table(("reject rate", *accuracy), [("accuracy among accepted rows", *accuracy.values())])
    print_judged({said.get(name, name): value for name, value in facts.items()}, json=False)
