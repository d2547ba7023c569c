"""Every picture at every kind of costs: it shows what the machine decides, or says why there is none."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from abstain import Actions, Costs, RejectSVC
from abstain.losses.tangent_hinge import task_tangents
from abstain.plot import (
    AccuracyRejectDisplay,
    CostCurveDisplay,
    ErrorRejectDisplay,
    LossDisplay,
    RejectRegionDisplay,
    RiskCoverageDisplay,
)
from action_cases import CREDIT, THREE
from class_cases import GENERAL, gaussians, table_costs
from cost_kinds import TRIAGE, varied

mpl.use("Agg")
X, CODES = gaussians(120)
SEVERAL = table_costs(GENERAL, [0.3, 0.5, 0.2])
ASKED = Actions({0: {0: 0, 1: 3, 2: 6}, 1: {0: 1, 1: 0, 2: 3}, 2: {0: 2, 1: 1, 2: 0}, "ask": 0.4})
# costs, the labels of the classes, the positive one, and whether all actions are answers and one reject
KINDS = {
    "two": (Costs(1, 5, (0.4, 0.3)), ["no", "yes"], None, True),
    "two, the first positive": (Costs(1, 5, (0.4, 0.3)), ["no", "yes"], "no", True),
    "several": (SEVERAL, [0, 1, 2], None, True),
    "actions that are answers": (THREE, ["no", "yes"], None, True),
    "actions": (CREDIT, ["bad", "good"], None, False),
    "actions of several that are answers": (ASKED, [0, 1, 2], None, True),
    "actions of several": (TRIAGE, [0, 1, 2], None, False),
}
CURVES = [AccuracyRejectDisplay, CostCurveDisplay, ErrorRejectDisplay, RiskCoverageDisplay]


@pytest.fixture(scope="module")
def cells():
    """The machine of each kind, its rows and their own costs, if they have any."""
    found = {}

    def cell(kind, by_row):
        if (kind, by_row) not in found:
            costs, names, positive, _ = KINDS[kind]
            mine = len(names) > CODES
            rows, y = X[mine], np.array(names)[CODES[mine]]
            machine, given = RejectSVC(costs, pos_label=positive, C=10), {}
            if by_row:
                given["row_costs"] = varied(machine.fit(rows, y).rule_.costs, len(rows))
                machine = machine.set_params(costs=costs if costs.names is not None else None)
            found[kind, by_row] = machine.fit(rows, y, **given), rows, y, given
        return found[kind, by_row]

    return cell


def axes():
    return Figure().subplots()


@pytest.mark.parametrize("display", CURVES, ids=lambda display: display.__name__)
@pytest.mark.parametrize("by_row", [False, True], ids=["one table", "by row"])
@pytest.mark.parametrize("kind", KINDS)
def test_curves_begin_at_the_forced_choice_and_mark_the_decisions(kind, by_row, display, cells):
    machine, rows, y, given = cells(kind, by_row)
    if not KINDS[kind][-1]:
        with pytest.raises(ValueError, match="a curve needs one answer for each class and one reject"):
            display.from_estimator(machine, rows, y, ax=axes(), **given)
        return
    shown = display.from_estimator(machine, rows, y, ax=axes(), band=0.9, n_resamples=10, **given)
    found = machine.decide(rows, **given)
    wrong = np.mean(found.forced != y)
    rule, code = machine.rule_, machine.rule_.labels.encode(y)
    table = given.get("row_costs", None if rule.costs is None else rule.costs.values)
    places = {label: at for at, label in enumerate(rule.names.tolist())}

    def paid(labels):
        at = [places[label] for label in labels.tolist()]
        return np.mean([(table[i] if by_row else table)[code[i], at[i]] for i in range(len(y))])

    first = {
        AccuracyRejectDisplay: lambda: (shown.curve.accuracy[0], 1 - wrong),
        ErrorRejectDisplay: lambda: (shown.curve.error_rate[0], wrong),
        RiskCoverageDisplay: lambda: (shown.curve.risk[-1], wrong),
        CostCurveDisplay: lambda: (shown.curve.mean_cost[0], paid(found.forced)),
    }[display]()
    assert first[0] == pytest.approx(first[1])
    rejected, accepted = found.rejected.mean(), ~found.rejected
    errors = np.mean((found.label != y) & accepted)
    assert 0 < rejected < 1
    point = {
        AccuracyRejectDisplay: (rejected, np.mean(found.label[accepted] == y[accepted])),
        ErrorRejectDisplay: (rejected, errors),
        RiskCoverageDisplay: (1 - rejected, errors / accepted.mean()),
        CostCurveDisplay: (rejected, paid(found.label)),
    }[display]
    assert shown.decided == pytest.approx(point)


@pytest.mark.parametrize("kind", KINDS)
def test_regions_are_the_predictions(kind, cells):
    machine, rows, y, _ = cells(kind, by_row=False)
    shown = RejectRegionDisplay.from_estimator(machine, rows, y, grid_resolution=15, ax=axes())
    grid = np.column_stack([shown.xx0.ravel(), shown.xx1.ravel()])
    score, labels = shown.score.ravel(), [zone.label for zone in shown.zones]
    at = score.astype(int) if score.size and shown.zones[0].start != -np.inf else np.zeros(len(score), dtype=int)
    for zone in range(1, len(labels)) if shown.zones[0].start == -np.inf else ():
        at[score > shown.zones[zone].start] = zone
    assert [labels[k] for k in at] == machine.predict(grid).tolist()
    assert [labels[k] for k in shown.choice] == machine.predict(rows).tolist()
    assert len({(zone.colour, zone.alpha) for zone in shown.zones}) == len(shown.zones)
    words = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert sum("correct" in word for word in words) == (len(np.unique(y)) if KINDS[kind][-1] else 0)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_lie_below_the_loss_of_their_class(kind, cells):
    machine, rows, y, _ = cells(kind, by_row=False)
    classes = machine.classes_.tolist()
    label = classes[1] if len(classes) > 2 else None
    shown = LossDisplay.from_estimator(machine, rows, y, label=label, ax=axes())
    score = machine.decision_function(rows)
    turned = KINDS[kind][2] == classes[0]
    np.testing.assert_allclose(shown.score, score[:, 1] if len(classes) > 2 else -score if turned else score)
    np.testing.assert_array_equal(shown.sign, np.where(y == classes[0 if turned else 1], 1, -1))
    f, loss = shown.lines_[1].get_data()
    touches = np.log1p(np.exp(-f)) - loss
    tangents = task_tangents(machine.rule_.costs)
    known = np.atleast_1d(tangents if len(classes) == 2 else tangents[1]) * (-1 if turned else 1)
    assert np.abs(np.interp(known, f, touches)).max() < 1e-3
    assert touches.max() > 1e-2  # the control


@pytest.mark.parametrize("kind", ["two", "several"])
def test_costs_per_row_alone_have_no_regions_and_no_loss(kind, cells):
    machine, rows, y, _ = cells(kind, by_row=True)
    with pytest.raises(ValueError, match="fitted with row_costs and without costs"):
        RejectRegionDisplay.from_estimator(machine, rows, y)
    with pytest.raises(ValueError, match="a loss for each row, by its costs"):
        LossDisplay.from_estimator(machine, rows, y)
    with pytest.raises(ValueError, match="pass row_costs for these rows"):
        CostCurveDisplay.from_estimator(machine, rows, y)
