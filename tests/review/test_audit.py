"""What verdicts say: against loops over all rows of simulated batches, and promises that are kept, broken or open."""

import numpy as np
import pytest

from abstain import Actions, Costs
from abstain.costs.action_labels import ActionLabels
from abstain.labels import Labels
from abstain.review.audit import NONE, Audit, Case

CLASSES = np.array(["a", "b"])
LABELS = Labels.of(CLASSES, rejects=True)
TABLE = Costs(1, 5, reject=(0.2, 0.6)).named(LABELS).values
ANSWER = {0: 0, 1: 2}  # the action that answers each class


def batch(rng, total=60, rejected=15, wrong=0.1):
    """The truth and the action of every row of a batch."""
    truth = rng.integers(2, size=total)
    answer = np.where(rng.random(total) < wrong, 1 - truth, truth)
    choice = np.array([ANSWER[code] for code in answer])
    choice[rng.choice(total, size=rejected, replace=False)] = 1
    return truth, choice


def audit_of(truth, choice, rng, drawn=20, known=1.0):
    """The audit of a batch of which some answered rows are drawn, and some rejected rows have a verdict."""
    answered, handed = np.flatnonzero(choice != 1), np.flatnonzero(choice == 1)
    cases = [Case(int(truth[at]), int(choice[at]), True, TABLE) for at in rng.choice(answered, drawn, replace=False)]
    cases += [Case(int(truth[at]) if rng.random() < known else NONE, 1, False, TABLE) for at in handed]
    return Audit(cases, len(answered), len(handed), LABELS)


def covered(found, true):
    return found["from"] - 1e-12 <= true <= found["to"] + 1e-12


@pytest.mark.parametrize(("total", "drawn"), [(35, 15), (300, 20)])
def test_intervals_cover_in_2000_simulations(total, drawn):
    rng, draws, inside, by_normal = np.random.default_rng(total), 2000, np.zeros(3), 0
    for _ in range(draws):
        truth, choice = batch(rng, total)
        found = audit_of(truth, choice, rng, drawn, known=0.8)
        answered = choice != 1
        wrong = answered & (choice != np.array([0, 2])[truth])
        error, of_b = wrong[answered].mean(), wrong[truth == 1].mean()
        inside += [
            covered(found.error(), error),
            covered(found.cost(), TABLE[truth, choice].mean()),
            covered(found.of_class("b"), of_b),
        ]
        p = found.error()["estimate"]
        half = 1.96 * np.sqrt(p * (1 - p) / drawn)
        by_normal += p - half <= error <= p + half
    assert (inside / draws >= 0.95).all(), inside / draws
    assert by_normal / draws < 0.93, "the control should fail"


def test_an_audit_of_everything_is_the_truth():
    rng = np.random.default_rng(0)
    truth, choice = batch(rng)
    found = audit_of(truth, choice, rng, drawn=45)
    for estimate, true in (
        (found.error(), (choice != np.array([0, 2])[truth])[choice != 1].mean()),
        (found.cost(), TABLE[truth, choice].mean()),
    ):
        assert estimate["estimate"] == pytest.approx(true)
        assert (estimate["from"], estimate["to"]) == pytest.approx((true, true))
    wrong_b = ((truth == 1) & (choice == 0)).sum() / (truth == 1).sum()
    assert found.of_class("b")["estimate"] == pytest.approx(wrong_b)
    assert (found.of_class("b")["from"], found.of_class("b")["to"]) == pytest.approx((wrong_b, wrong_b))


def test_rejected_rows_without_a_verdict_widen_the_cost_by_what_a_reject_may_cost():
    cases = [Case(0, 0, True, TABLE)] * 4 + [Case(0, 1, False, TABLE)]
    found = Audit(cases, 4, 3, LABELS).cost()
    assert found["from"] == pytest.approx((0.2 + 2 * 0.2) / 7)
    assert found["to"] == pytest.approx((0.2 + 2 * 0.6) / 7)
    assert found["estimate"] == pytest.approx(3 * 0.2 / 7)


def test_what_the_rejects_turned_out_to_be():
    cases = [Case(0, 1, False, None), Case(1, 1, False, None), Case(1, 1, False, None), Case(NONE, 1, False, None)]
    audit = Audit(cases, 10, 6, LABELS)
    assert audit.rejects() == {"a": 1, "b": 2, "no verdict": 3}
    assert audit.error() is None
    assert audit.cost() is None


def test_errors_by_answer():
    cases = [Case(0, 0, True, None)] * 8 + [Case(1, 0, True, None)] * 2 + [Case(1, 2, True, None)] * 5
    audit = Audit(cases, 40, 0, LABELS)
    assert (audit.error("a")["estimate"], audit.error("a")["rows"]) == (0.2, 10)
    assert audit.error("b")["estimate"] == 0.0


def test_actions_that_answer_no_class_have_a_cost_and_no_error():
    costs = Actions({"pay": {"a": 0, "b": 9}, "wait": {"a": 1, "b": 4}, "call": {"a": 2, "b": 2}}, rejects=("call",))
    labels = ActionLabels.over(LABELS, "auto", costs.names, costs.answers, costs.hands_on)
    cases = [Case(0, 0, True, costs.values), Case(1, 0, True, costs.values), Case(1, 2, False, costs.values)]
    audit = Audit(cases, 2, 1, labels)
    assert audit.error() is None
    assert audit.cost()["estimate"] == pytest.approx((0 + 9 + 2) / 3)
