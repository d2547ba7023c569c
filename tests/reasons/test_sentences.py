"""The sentence of each kind of row, composed here from the arrays; and what a careless caller may pass."""

import numpy as np
import pandas as pd
import pytest

import abstain
from abstain import Actions, Costs, LinearRejectSVC, NoveltyRejector, RejectSVC
from abstain.preprocessing import CellPlan, default_pipeline
from reasons_cases import NUMERIC, TEXTS, mixed

REJECT = Costs(reject=0.3)
ACTIONS = Actions({"treat": {"ill": 0, "well": 1}, "leave": {"ill": 3, "well": 0}, "call": 0.3}, rejects=("call",))


def piped(machine, classes=2):
    X, y = mixed(400, classes=classes)
    return default_pipeline(machine, NUMERIC, TEXTS).fit(X, y), X, mixed(200, seed=1)[0]


def of_change(found, row, X):
    change = found.changes[row]
    if change is None:
        return "no change of a single column (of 5) within its range in training would settle it"
    name = found.columns[change.column]
    old = X[name].iloc[row]
    shown = old if isinstance(old, str) else "missing" if old is None or np.isnan(old) else None
    new = change.value if isinstance(change.value, str) else f"{change.value:.12g}"
    start = f"it would be answered {change.label} if {name} were {new} instead of "
    return start if shown is None else start + shown


def why(found, row, k):
    """The first clause: the two answers that are nearest, by hand."""
    decisions = found.decisions
    if not decisions.rejected[row]:
        return f"Answered {decisions.label[row]}; "
    names, cost = decisions.labels.actions.tolist(), decisions.expected_cost[row]
    cheapest = sorted((cost[at], at) for at, hands_on in enumerate(decisions.labels.hands_on) if not hands_on)[:2]
    order = cheapest if len(names) > 3 else sorted(cheapest, key=lambda one: one[1])
    likely = f" ({decisions.labels.classes[k]} {100 * decisions.probability[row][k]:.3g} %); "
    return f"Too close to call between {' and '.join(str(names[at]) for _, at in order)}{likely}"


@pytest.mark.parametrize(("machine", "classes"), [(LinearRejectSVC(REJECT), 2), (LinearRejectSVC(REJECT), 3)])
def test_columns_that_move_a_linear_score(machine, classes):
    model, X, new = piped(machine, classes)
    found = abstain.explain(model, new, training=X)
    for row, said in enumerate(found.sentence):
        k, rejected = 1 if classes == 2 else int(np.argmax(found.decisions.score[row])), found.decisions.rejected[row]
        assert said.startswith(why(found, row, k) + (of_change(found, row, new) if rejected else ""))
        parts = found.contributions[row] if classes == 2 else found.contributions[row, k]
        most = np.argmax(np.abs(parts))
        assert f"{found.columns[most]} " in said.split("; ")[-1]
        assert said.endswith(f" its score for {model.classes_[k]} most.")
        assert said.count(" raises") == (parts.max() > 0)
        assert said.count(" lowers") == (parts.min() < 0)


@pytest.mark.parametrize("costs", [REJECT, ACTIONS])
def test_training_rows_that_pull_a_kernel_score(costs):
    model, X, new = piped(RejectSVC(costs))
    found = abstain.explain(model, new, training=X, rows=np.arange(40))
    for row, said in enumerate(found.sentence):
        pulls = found.pulls.row[row]
        ends = f"training row {pulls[0] + 1} (well) raises and training row {pulls[-1] + 1} (ill) lowers"
        assert said.endswith(f"; {ends} its score for well most.")
        assert said.startswith(why(found, row, 1))
        assert not found.decisions.rejected[row] or of_change(found, row, new) in said


@pytest.mark.parametrize("classes", [2, 3])
def test_without_the_training_table_the_classes_of_alike_rows(classes):
    """Row numbers would be of a table that the reader does not have."""
    model, _, new = piped(RejectSVC(REJECT, gamma=0.2), classes)
    found = abstain.explain(model, new, rows=np.arange(40))
    machine, Z = model[-1].machine_, model[:-1].transform(new[:40])
    y = np.asarray(mixed(400, classes=classes)[1])[machine.support]
    near = np.argsort(((Z[:, np.newaxis] - machine.vectors) ** 2).sum(axis=2), axis=1)[:, :5]
    coef = np.atleast_2d(machine.coef)
    known = y if classes == 2 else np.where(coef.max(axis=0) > 0, y, None)
    for row, said in enumerate(found.sentence):
        of = [label for label in known[near[row]] if label is not None]
        label = said.rstrip(".").split(" ")[-1]
        count = max(of.count(one) for one in of)
        assert of.count(label) == count
        assert said.endswith(
            f"; of the 5 most alike training rows in the model {count} {'is' if count == 1 else 'are'} {label}."
        )
        assert "training row " not in said


def test_a_kernel_that_does_not_depend_on_the_distance_has_no_alike_rows():
    model, _, new = piped(RejectSVC(REJECT, kernel="poly", degree=2))
    assert all("alike" not in said and "training row" not in said for said in abstain.explain(model, new).sentence)


def test_numbers_and_dates_are_written_as_asked():
    model, X, new = piped(LinearRejectSVC(REJECT))
    plain = abstain.explain(model, new, training=X).sentence
    assert any("instead of 1" in said and "." in said.rstrip(".") for said in plain)
    found = abstain.explain(model, new, training=X, decimal=",").sentence
    assert found.tolist() == [f"{said[:-1].replace('.', ',')}." for said in plain]
    model[0].plan_ = CellPlan(dates=("age",))
    found = abstain.explain(model, new, training=X, date_format="%d.%m.%Y").sentence
    dates = [said.split("if age were ")[1] for said in found if "if age were " in said]
    assert dates
    assert all(said[6:10] == "1970" and said[5] == said[2] == "." for said in dates)


def test_novel_rows():
    X, y = mixed(400)
    model = NoveltyRejector(default_pipeline(RejectSVC(REJECT), NUMERIC, TEXTS), rate=0.05, random_state=0).fit(X, y)
    new = mixed(300, seed=1)[0]
    new.loc[0, "income"] = 10 * X["income"].max()
    found = abstain.explain(model, new)
    novel = np.flatnonzero(found.decisions.novel)
    assert 0 in novel
    for row in novel:
        assert found.sentence[row].startswith(
            f"Unlike the training rows (p-value {found.decisions.p_value[row]:.2g}): "
        )
        usual = "an unusual combination of values" in found.sentence[row]
        values = new.loc[row, NUMERIC].astype(float)
        inside = (values.isna() | ((values >= X[NUMERIC].min()) & (values <= X[NUMERIC].max()))).all()
        assert usual == inside
    assert "column 'income' is above the largest value in training" in found.sentence[0]


def test_dates_are_dates():
    model, X, new = piped(LinearRejectSVC(REJECT))
    model[0].plan_ = CellPlan(dates=("age",))
    found = abstain.explain(model, new, training=X)
    dates = [said for said in found.sentence if "if age were " in said]
    assert dates
    assert all(said.split("if age were ")[1].startswith("1970-0") for said in dates)


def test_rows_by_position_by_mask_and_none():
    model, _, new = piped(RejectSVC(REJECT))
    mask = abstain.decide(model, new).rejected
    by_mask, by_position = (
        abstain.explain(model, new, rows=mask),
        abstain.explain(model, new, rows=np.flatnonzero(mask)),
    )
    assert by_mask.sentence.tolist() == by_position.sentence.tolist()
    assert abstain.explain(model, new, rows=[]).sentence.tolist() == []
    assert isinstance(abstain.explain(model, new, rows=[]).to_frame(), pd.DataFrame)


def test_a_training_table_of_other_columns_is_refused():
    model, X, new = piped(RejectSVC(REJECT))
    with pytest.raises(ValueError, match="training lacks the column 'age' of X; pass the table of the fit"):
        abstain.explain(model, new, training=X.drop(columns="age"))
    labelled = abstain.explain(model, new, training=X.assign(label="ill")[["label", *X.columns[::-1]]], rows=[0])
    assert labelled.sentence[0] == abstain.explain(model, new, training=X, rows=[0]).sentence[0]
