"""``abstain evaluate``: the decisions of a model on labelled rows, their mean cost, and key points of the curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from abstain.cli.commands.options import FILE, NOTATION, TEXT, Given, command_of, option
from abstain.cli.exit_codes import one_line

if TYPE_CHECKING:
    from abstain.cli.commands.evaluation import Judged

OF_THEM = "of them novel"


@command_of(
    *("model", "data", "target", "report", "id", *NOTATION, "drop_unlabelled", "json", "force"),
    target=option(TEXT, "COL", "Column of the labels; detected if not given.", "--target", "-t"),
    report=option(FILE, "HTML", "Also write a report as one HTML file.", "--report"),
    id=option(TEXT, "COL", "Column that names the rows in the report, instead of lines.", "--id"),
)
def command(given: Given) -> None:
    """Evaluate a model on labelled rows that it was not trained on."""
    from abstain.cli.commands.evaluation import Judged
    from abstain.cli.input.drifting import drift_facts
    from abstain.cli.input.models import load_model
    from abstain.cli.output.files import check_free
    from abstain.cli.output.printing import print_judged
    from abstain.cli.output.reports import write_evaluation

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
    """Print the table, the metrics, the key points and the verdict."""
    from abstain.cli.output.printing import print_judged, print_table

    model = judged.model
    if model.several or model.actions is not None:
        show_classes(facts, novel=model.guarded)
        return
    negative, positive = str(model.negative), str(model.positive)
    counts = facts.pop("table")
    decided = {"called negative": f"decided {negative}", "rejected": "rejected"}
    decided |= ({"novel": OF_THEM} if model.guarded else {}) | {"called positive": f"decided {positive}"}
    rows = [
        (f"actual {name}", *(counts[side][column] for column in decided))
        for name, side in ((negative, "negative"), (positive, "positive"))
    ]
    print_table(("", *decided.values()), rows)
    accuracy = facts.pop("accuracy by reject rate", {})
    facts.pop("classes")
    said = {name: f"{name} (of {positive})" for name in ("sensitivity", "positive predictivity")}
    said |= {name: f"{name} (chosen on these rows)" for name in ("least mean cost of any two thresholds",)}
    if accuracy:
        print_table(("reject rate", *accuracy), [("accuracy among accepted rows", *accuracy.values())])
    print_judged({said.get(name, name): value for name, value in facts.items()}, json=False)


def show_classes(facts: dict[str, Any], *, novel: bool) -> None:
    """Print the same for several classes, or for actions."""
    from abstain.cli.output.printing import print_judged, print_table

    records, classes, actions = facts.pop("table"), facts.pop("classes"), facts.pop("actions", None)
    if actions is not None:
        rows = [(f"actual {one['actual']}", *one["actions"], *[one["novel"]] * novel) for one in records]
        print_table(("", *actions, *["novel"] * novel), rows)
    else:
        header = ("", *(f"decided {name}" for name in classes), "rejected", *[OF_THEM] * novel)
        last = [(one["rejected"], *[one["novel"]] * novel) for one in records]
        rows = [(f"actual {one['actual']}", *one["decided"], *ends) for one, ends in zip(records, last, strict=True)]
        print_table(header, rows)
        shares = ("coverage", "error among the accepted", "correct among its answers")
        print_table(("class", *shares), [(one["actual"], *(one[share] for share in shares)) for one in records])
    if accuracy := facts.pop("accuracy by reject rate", {}):
        print_table(("reject rate", *accuracy), [("accuracy among accepted rows", *accuracy.values())])
    print_judged(facts, json=False)
