"""Every public function of the metrics at every kind of costs, against loops over the rows: right, or says why not."""

import inspect

import numpy as np
import pandas as pd
import pytest

from abstain import Actions, metrics
from abstain.metrics import ActionTable, ClassTable, RejectTable, get_scorer
from metrics.kinds import COSTS, KINDS, STATED

OF_ANSWERS = ("error_rate", "selective_error", "selective_accuracy", "sensitivity", "positive_predictivity")
OF_SCORES = ("aurc", "e_aurc", "augrc", "accuracy_reject_curve", "error_reject_curve", "risk_coverage_curve")
NO_ANSWER = "the action 'approve' is not the name of a class, so it is neither right nor wrong"
NO_CLASS = r"y_pred contains 'approve'.*, which is not one of the classes 'a', 'b'.* if it is the label of a reject"
NO_CURVE = r"costs has the actions \['approve', .*, and a curve needs one answer for each class and one reject"


def check_predictions(name, case):
    function, given = getattr(metrics, name), {}
    if case.has_answers and len(case.classes) == 3 and name in ("sensitivity", "positive_predictivity"):
        with pytest.raises(ValueError, match="with more than two, pass the class"):
            function(case.y, case.decisions)
        given = {"pos_label": "b"}
    if not case.has_answers and name in OF_ANSWERS:
        with pytest.raises(ValueError, match=NO_ANSWER):
            function(case.y, case.decisions)
        with pytest.raises(ValueError, match=NO_CLASS):
            function(case.y, case.taken)
        return
    expected = pytest.approx(case.rate(name))
    assert function(case.y, case.decisions, **given) == expected
    if name in OF_ANSWERS:
        given |= {"reject_label": "call"} if case.named else case.positive
    else:
        given |= case.as_labels()
    assert function(case.y, case.taken, **given) == expected
    weight = np.arange(len(case.y)) % 3
    again = np.repeat(case.y, weight), np.repeat(case.taken, weight)
    assert function(case.y, case.taken, sample_weight=weight, **given) == pytest.approx(function(*again, **given))


def check_confusion(name, case):
    function, expected = getattr(metrics, name), case.confusion()
    if name == "reject_confusion_matrix":
        assert function(case.y, case.decisions).tolist() == expected
    elif case.named:
        assert function(case.y, case.decisions, case.costs).tolist() == expected
    else:
        with pytest.raises(ValueError, match=r"not one of the (actions|classes of the costs)"):
            function(case.y, case.decisions, Actions(STATED["actions"]))
        with pytest.raises(ValueError, match="; for Costs use reject_confusion_matrix"):
            function(case.y, case.decisions, case.costs)


def check_mean_cost(name, case):
    function, expected = getattr(metrics, name), pytest.approx(case.mean_cost())
    given = {"row_costs": case.row_costs}
    assert function(case.y, case.decisions, case.costs, **given) == expected
    assert function(case.y, case.taken, case.costs, **given, **case.positive) == expected
    weight = np.arange(len(case.y)) % 3
    rows = {} if case.row_costs is None else {"row_costs": np.repeat(case.row_costs, weight, axis=0)}
    again = function(np.repeat(case.y, weight), np.repeat(case.taken, weight), case.costs, **rows, **case.positive)
    weighted = function(case.y, case.taken, case.costs, sample_weight=weight, **given, **case.positive)
    assert weighted == pytest.approx(again)
    if case.by_row:
        assert function(case.y, case.decisions, **given) == expected
        with pytest.raises(ValueError, match=r"row_costs must have|each of the \d+ rows"):
            function(case.y, case.decisions, case.costs, row_costs=case.row_costs[:-1])
        bad = np.array(case.row_costs)
        bad[3] = -1
        with pytest.raises(ValueError, match=r"row_costs must be .*finite.* at row 3"):
            function(case.y, case.decisions, case.costs, row_costs=bad)
    elif case.kind == "two":
        whole = np.tile([[0, 0.4, 1], [3, 0.4, 0]], (len(case.y), 1, 1))  # the layout of Costs.table()
        assert function(case.y, case.decisions, row_costs=whole) == expected
        with pytest.raises(ValueError, match="row_costs must be 0 for correct answers"):
            function(case.y, case.decisions, row_costs=whole + 0.1)
        with pytest.raises(ValueError, match="costs=None must be a Costs"):
            function(case.y, case.decisions)
    else:
        wide = np.ones((len(case.y), 3))
        with pytest.raises(ValueError, match=r"row_costs must have shape \(n, \d, \d\), .* shape is \(\d+, 3\)"):
            function(case.y, case.decisions, case.costs, row_costs=wide)


def check_scores(name, case):
    function = getattr(metrics, name)
    found, expected = function(case.y, case.score), case.curve(name)
    if isinstance(expected, tuple):
        for attribute, values in zip(expected[::2], expected[1::2], strict=True):
            np.testing.assert_allclose(getattr(found, attribute), values, atol=1e-12)
    else:
        assert found == pytest.approx(expected)
    with pytest.raises(TypeError, match="not Decisions; pass their scores"):
        function(case.y, case.decisions)
    if len(case.classes) == 3:
        with pytest.raises(ValueError, match=r"a column for each of the 3 classes of y_true, .* shape is \(90,\)"):
            function(case.y, case.score[:, 0])


def check_cost_curve(name, case):
    given, banded = {"row_costs": case.row_costs} | case.positive, name == "bootstrap_band"

    def function(score, y=case.y):
        if not banded:
            return metrics.cost_curve(y, score, case.costs, **given)
        grid = np.arange(len(case.y) + 1) / len(case.y)
        return metrics.bootstrap_band("cost", y, score, case.costs, grid=grid, n_resamples=2, **given)

    if not case.has_answers:
        with pytest.raises(ValueError, match=NO_CURVE):
            function(case.score)
        return
    found = function(case.score)
    np.testing.assert_allclose(found.estimate if banded else found.mean_cost, case.cost_curve(), atol=1e-12)
    if case.kind == "answers":  # high scores may mean the other class
        turned = metrics.cost_curve(case.y, -case.score, case.costs, row_costs=case.row_costs, pos_label="a")
        np.testing.assert_allclose(turned.mean_cost, case.cost_curve(), atol=1e-12)
    if len(case.classes) == 3:
        with pytest.raises(ValueError, match="score must have a"):
            function(case.score[:, 0])


def check_scorers(name, case):
    assert name == "get_scorer"
    given = {"row_costs": case.row_costs} if case.by_row else {}
    for metric in ("reject_rate", "coverage", *OF_ANSWERS):
        sign = -1 if metric in ("reject_rate", "error_rate", "selective_error") else 1
        scorer = get_scorer(metric, row_costs=bool(given), pos_label="b" if len(case.classes) == 3 else None)
        if not case.has_answers and metric in OF_ANSWERS:
            with pytest.raises(ValueError, match=NO_ANSWER):
                scorer(case.machine, case.X, case.y, **given)
        else:
            assert scorer(case.machine, case.X, case.y, **given) == pytest.approx(sign * case.rate(metric))
    if case.by_row:
        scorer = get_scorer("mean_cost", row_costs=True)
        with pytest.raises(ValueError, match="pass row_costs"):
            scorer(case.machine, case.X, case.y)
    scorer = get_scorer("mean_cost", None if given else case.costs, row_costs=bool(given))
    assert scorer(case.machine, case.X, case.y, **given) == pytest.approx(-case.mean_cost())
    for metric in ("aurc", "e_aurc", "augrc"):
        assert get_scorer(metric)(case.machine, case.X, case.y) == pytest.approx(-case.curve(metric))


CHECKS = {
    **dict.fromkeys(("reject_rate", "coverage", *OF_ANSWERS), check_predictions),
    **dict.fromkeys(OF_SCORES, check_scores),
    **dict.fromkeys(("reject_confusion_matrix", "action_confusion_matrix"), check_confusion),
    **dict.fromkeys(("cost_curve", "bootstrap_band"), check_cost_curve),
    "mean_cost": check_mean_cost,
    "get_scorer": check_scorers,
}


def test_every_function_is_in_the_table():
    assert set(CHECKS) == {name for name in metrics.__all__ if inspect.isfunction(getattr(metrics, name))}


@pytest.mark.filterwarnings("ignore:pos_label is not given")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(CHECKS))
def test_it_is_right_or_says_why_not(name, kind, cases):
    CHECKS[name](name, cases[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_one_other_decision_changes_the_counts_and_the_costs(kind, cases):
    """The control: the loops and the library must not agree about different decisions."""
    case, other = cases[kind], cases[kind].with_one_other()
    given = {"row_costs": case.row_costs}
    assert metrics.mean_cost(case.y, other.decisions, case.costs, **given) == pytest.approx(other.mean_cost())
    assert metrics.mean_cost(case.y, other.decisions, case.costs, **given) != pytest.approx(case.mean_cost())
    assert metrics.reject_confusion_matrix(case.y, other.decisions).tolist() == other.confusion() != case.confusion()
    assert metrics.coverage(case.y, other.decisions) != pytest.approx(case.rate("coverage"))


@pytest.mark.parametrize("kind", COSTS)
def test_the_public_tables_are_one_table(kind, cases):
    case = cases[kind]
    table = {"two": RejectTable, "three": ClassTable}.get(kind, ActionTable)
    given = (case.costs,) if table is ActionTable else ()
    counts = table.of(case.y, case.decisions, *given)
    assert counts.counts.tolist() == case.confusion()
    assert (counts.reject_rate, counts.coverage) == pytest.approx((case.rate("reject_rate"), case.rate("coverage")))
    cost = counts.mean_cost if table is ActionTable else counts.mean_cost(case.costs)
    assert cost == pytest.approx(case.mean_cost())
    shares = [np.mean(~case.rejected[case.y == label]) for label in case.classes]
    np.testing.assert_allclose(counts.class_coverage, shares)
    if not case.has_answers:
        with pytest.raises(ValueError, match=NO_ANSWER):
            counts.errors  # noqa: B018 (the look-up is the test)
    else:
        assert [counts.errors, counts.selective_accuracy] == pytest.approx(
            [len(case.y) * case.rate("error_rate"), case.rate("selective_accuracy")]
        )
        accepted = [(case.y == label) & ~case.rejected for label in case.classes]
        wrong = [np.mean(case.taken[rows] != case.y[rows]) for rows in accepted]
        np.testing.assert_allclose(counts.class_selective_error, wrong)
    frame = counts.to_frame()
    assert frame.to_numpy().tolist() == case.confusion()
    assert [*frame.columns] == (["negative", "reject", "positive"] if kind == "two" else case.actions)
    with pytest.raises(ValueError, match="read-only"):
        counts.counts[0, 0] = 7
    with pytest.raises(ValueError, match="costs"):
        RejectTable.of(["a", "b"], ["a", "b"]).mean_cost(COSTS["actions"])


def test_a_table_of_rows_has_no_mean_cost_of_its_own(cases):
    case = cases["actions by row"]
    weight = np.ones(len(case.y))
    table = ActionTable.of(case.y, case.decisions, case.costs, sample_weight=weight)
    assert table.mean_cost != pytest.approx(case.mean_cost())  # that of the stated costs, not of the rows
    assert table.counts.dtype == np.float64


@pytest.mark.parametrize("kind", ["actions", "answers", "three"])
def test_a_series_is_an_array_whatever_its_index(kind, cases):
    case = cases[kind]
    taken = pd.Series(case.taken, index=["label", "labels", "actions", *range(3, len(case.y))])
    assert metrics.mean_cost(case.y, taken, case.costs) == pytest.approx(case.mean_cost())
