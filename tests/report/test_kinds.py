"""A page for every kind of costs: counts, costs and curves by loops over the rows, with costs of each row or of all."""

import numpy as np
import pytest

from abstain import Costs, NoveltyRejector, RejectSVC
from abstain.report import render, report_for
from action_cases import CREDIT, THREE
from class_cases import GENERAL, gaussians, table_costs
from cost_kinds import TRIAGE, varied

X, CODES = gaussians(120)
# costs, the classes, the positive one, and whether all actions are answers and one reject
KINDS = {
    "two": (Costs(1, 5, (0.4, 0.3)), ["no", "yes"], None, True),
    "two, the first positive": (Costs(1, 5, (0.4, 0.3)), ["no", "yes"], "no", True),
    "several": (table_costs(GENERAL, [0.3, 0.5, 0.2]), [0, 1, 2], None, True),
    "actions that are answers": (THREE, ["no", "yes"], None, True),
    "actions": (CREDIT, ["bad", "good"], None, False),
    "actions of several": (TRIAGE, [0, 1, 2], None, False),
}


@pytest.mark.parametrize("guarded", [False, True], ids=["plain", "guarded"])
@pytest.mark.parametrize("by_row", [False, True], ids=["one table", "by row"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_page_counts_and_prices_the_decisions(kind, by_row, guarded):
    costs, names, positive, answers = KINDS[kind]
    mine = len(names) > CODES
    rows, y = X[mine], np.array(names)[CODES[mine]]
    machine, given = RejectSVC(costs, pos_label=positive, C=10), {}
    if by_row:
        given["row_costs"] = varied(machine.fit(rows, y).rule_.costs, len(rows))
        machine = machine.set_params(costs=costs if costs.names is not None else None)
    machine = NoveltyRejector(machine, rate=0.1, random_state=0) if guarded else machine
    machine.fit(rows, y, **given)
    report, found = report_for(machine, rows, y, **given), machine.decide(rows, **given)
    rule, code = machine.rule_, machine.rule_.labels.encode(y)
    order = rule.names.tolist()
    table = given["row_costs"] if by_row else np.broadcast_to(rule.costs.values, (len(y), *rule.costs.values.shape))
    paid = np.array([table[i, code[i], order.index(label)] for i, label in enumerate(found.label.tolist())])
    assert report.mean_cost == pytest.approx(paid.mean())
    forced = [table[i, code[i], order.index(label)] for i, label in enumerate(found.forced.tolist())]
    assert report.forced_cost == pytest.approx(np.mean(forced))
    assert report.table.rejected == found.rejected.sum() > 0
    shown = {str(name) if costs.names is not None or name in names else "reject": name for name in order}
    for one in report.classes:
        truth = next(label for label in names if str(label) == one.name)
        assert one.counts == tuple(np.sum((y == truth) & (found.label == shown[name])) for name in report.choices)
        assert one.mean_cost == pytest.approx(paid[y == truth].mean())
    assert (report.kind, report.by_row) == ("actions" if costs.names is not None else "classes", by_row)
    slider = not by_row and costs.names is None and len(names) == 2
    assert (report.slider is not None) == slider
    titles = ["accuracy among accepted rows", "cost per row"]
    assert [plot.title for plot in report.plots] == ([] if slider else titles if answers else titles[1:])
    assert all(plot.rings[plot.point] is not None for plot in report.plots)
    assert report.novel == (found.novel.sum() if guarded else 0)
    page = render(report)
    assert "each row has its own costs" in page or not by_row
    assert str(int(report.table.rejected)) in page


def test_curves_of_rows_with_own_costs_begin_at_the_forced_choice():
    rows, y = X[CODES < 2], CODES[CODES < 2]
    own = np.column_stack([np.ones(len(y)), np.linspace(1, 9, len(y)), np.linspace(0.1, 0.4, len(y))])
    for positive in (0, 1):
        machine = RejectSVC(pos_label=positive, C=10).fit(rows, y, row_costs=own)
        accuracy, cost = report_for(machine, rows, y, row_costs=own).plots
        forced = machine.predict_forced(rows, row_costs=own)
        starts = [float(plot.line[1:].split("L")[0].split(",")[1]) for plot in (accuracy, cost)]
        paid = np.where(forced == y, 0.0, np.where(y == positive, own[:, 1], own[:, 0])).mean()
        for plot, start, value in zip((accuracy, cost), starts, (np.mean(forced == y), paid), strict=True):
            (low, bottom), (high, top) = (
                (float(text.rstrip(" %").replace("−", "-")), at) for text, at in (plot.y_ticks[0], plot.y_ticks[-1])
            )
            unit = 100.0 if "%" in plot.y_ticks[0][0] else 1.0
            assert low + (start - bottom) / (top - bottom) * (high - low) == pytest.approx(
                unit * value, abs=0.02 * unit
            )
