"""What verdicts say: against loops over all rows of simulated batches, and promises that are kept, broken or open."""

from dataclasses import replace

import numpy as np
import pytest

from abstain import Actions, Costs
from abstain.costs.action_labels import ActionLabels
from abstain.labels import Labels
from abstain.review.audit import NONE, Audit, Case
from abstain.review.codes import Drawn
from abstain.review.intervals import share_interval

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


def drawn_from(answered, audited, handed_on=0, over=0, batch="h0"):
    return Drawn(batch, answered, over, audited, handed_on, 0)


def audit_of(truth, choice, rng, drawn=20, known=1.0, batch="h0"):
    """The audit of a batch of which some answered rows are drawn, and some rejected rows have a verdict."""
    answered, handed = np.flatnonzero(choice != 1), np.flatnonzero(choice == 1)
    of = drawn_from(len(answered), drawn, len(handed), batch=batch)
    audited = rng.choice(answered, drawn, replace=False)
    cases = [Case(int(truth[at]), int(choice[at]), True, TABLE, of) for at in audited]
    cases += [Case(int(truth[at]) if rng.random() < known else NONE, 1, False, TABLE, of) for at in handed]
    return Audit(cases, LABELS)


def covered(found, true):
    return found["from"] - 1e-12 <= true <= found["to"] + 1e-12


def true_values(truth, choice):
    """The error of the answers, the cost of a row, and the share of class b that is answered wrongly."""
    answered = choice != 1
    wrong = answered & (choice != np.array([0, 2])[truth])
    return wrong[answered].mean(), TABLE[truth, choice].mean(), wrong[truth == 1].mean()


def found_values(audit):
    return audit.error(), audit.cost(), audit.of_class("b")


@pytest.mark.parametrize(("total", "drawn"), [(35, 15), (300, 20)])
@pytest.mark.parametrize("draws", [200, pytest.param(2000, marks=pytest.mark.long)])
def test_intervals_cover_in_simulations(total, drawn, draws):
    rng, inside, by_normal = np.random.default_rng(total), np.zeros(3), 0
    for _ in range(draws):
        truth, choice = batch(rng, total)
        found, true = found_values(audit_of(truth, choice, rng, drawn, known=0.8)), true_values(truth, choice)
        inside += [*map(covered, found, true)]
        p = found[0]["estimate"]
        half = 1.96 * np.sqrt(p * (1 - p) / drawn)
        by_normal += p - half <= true[0] <= p + half
    assert (inside / draws >= 0.95).all(), inside / draws
    assert by_normal / draws < 0.93, "the control should fail"


BATCHES = [
    ((1000, 20, 0.02), (150, 20, 0.2)),  # rows, audited, errors
    ((60, 15, 0.05), (900, 10, 0.01), (90, 30, 0.3)),
]


@pytest.mark.parametrize("batches", BATCHES)
@pytest.mark.parametrize("draws", [150, pytest.param(2000, marks=pytest.mark.long)])
def test_intervals_of_unequal_batches_cover_in_simulations(batches, draws):
    rng, inside, pooled = np.random.default_rng(len(batches)), np.zeros(3), 0
    for _ in range(draws):
        tables = [batch(rng, rows, rows // 10, wrong) for rows, _, wrong in batches]
        parts = [audit_of(*one, rng, batches[at][1], 0.8, f"h{at}") for at, one in enumerate(tables)]
        audit = Audit([case for part in parts for case in part.cases], LABELS)
        true = true_values(*map(np.concatenate, zip(*tables, strict=True)))
        inside += [*map(covered, found_values(audit), true)]
        wrong = sum(map(audit.wrong, audit.judged))
        low, high = share_interval(wrong, len(audit.judged), audit.total("answered"))
        pooled += low <= true[0] <= high
    assert (inside / draws >= 0.95).all(), inside / draws
    assert pooled / draws < 0.85, "the control should fail"


def test_several_batches_count_by_their_rows():
    one, two = drawn_from(900, 10), drawn_from(100, 10, batch="h1")
    cases = [Case(0, 0, True, TABLE, one)] * 10
    cases += [Case(1, 0, True, TABLE, two)] * 5 + [Case(0, 0, True, TABLE, two)] * 5
    audit = Audit(cases, LABELS)
    assert audit.error()["estimate"] == pytest.approx(0.05)
    assert audit.cost()["estimate"] == pytest.approx(0.05 * 5)
    assert Audit(cases[::-1], LABELS).error() == audit.error()


@pytest.mark.parametrize("lacking", [NONE, "deleted"])
def test_missing_verdicts_that_depend_on_the_truth_do_no_harm(lacking):
    """Three of five wrong rows have no verdict: the intervals cover; without these rows they do not."""
    rng, draws, inside, without = np.random.default_rng(4), 300, np.zeros(3), 0
    for _ in range(draws):
        truth, choice = batch(rng, 400, 40, wrong=0.15)
        audit = audit_of(truth, choice, rng, 60)
        unsure = [case.audited and audit.wrong(case) and rng.random() < 0.6 for case in audit.cases]
        cases = [
            replace(case, truth=NONE) if gone else case
            for case, gone in zip(audit.cases, unsure, strict=True) if lacking == NONE or not gone
        ]  # fmt: skip
        found, true = Audit(cases, LABELS), true_values(truth, choice)
        inside += [*map(covered, found_values(found), true)]
        seen = len(found.judged)
        low, high = share_interval(found.error()["wrong"], seen, (choice != 1).sum())
        without += low <= true[0] <= high
    assert (inside / draws >= 0.95).all(), inside / draws
    assert without / draws < 0.8, "the control should fail"


def test_an_audit_of_everything_is_the_truth():
    rng = np.random.default_rng(0)
    truth, choice = batch(rng)
    found = audit_of(truth, choice, rng, drawn=45)
    for estimate, true in zip(found_values(found), true_values(truth, choice), strict=True):
        assert estimate["estimate"] == pytest.approx(true)
        assert (estimate["from"], estimate["to"]) == pytest.approx((true, true))


def test_rejected_rows_without_a_verdict_widen_the_cost_by_what_a_reject_may_cost():
    of = drawn_from(4, 4, 3)
    found = Audit([Case(0, 0, True, TABLE, of)] * 4 + [Case(0, 1, False, TABLE, of)], LABELS).cost()
    assert found["from"] == pytest.approx((0.2 + 2 * 0.2) / 7)
    assert found["to"] == pytest.approx((0.2 + 2 * 0.6) / 7)
    assert found["estimate"] == pytest.approx(3 * 0.2 / 7)


def test_audited_rows_without_a_verdict_widen_the_cost_by_what_their_answer_may_cost():
    of = drawn_from(4, 4)
    found = Audit([Case(0, 0, True, TABLE, of)] * 2 + [Case(NONE, 0, True, TABLE, of)], LABELS)  # one was deleted
    assert (found.cost()["from"], found.cost()["to"]) == pytest.approx((0, (5 + 5) / 4))
    assert (found.error()["from"], found.error()["to"]) == (0.0, 0.5)
    other = Audit([Case(1, 2, True, TABLE, of)] * 3 + [Case(NONE, 2, True, TABLE, of)], LABELS)
    assert other.cost()["to"] == pytest.approx(1 / 4)


def test_rows_over_capacity_are_apart():
    of = drawn_from(50, 20, 10, over=30)
    cases = [Case(0, 0, True, TABLE, of)] * 8 + [Case(1, 0, True, TABLE, of, over=True)] * 12
    audit = Audit([*cases, *[Case(1, 1, False, TABLE, of)] * 10], LABELS)
    own, beyond = audit.of_rows(over=False), audit.of_rows(over=True)
    assert (own.error()["wrong"], own.error()["rows"], own.error()["to"]) == (0, 8, share_interval(0, 8, 20)[1])
    assert (beyond.error()["wrong"], beyond.error()["rows"]) == (12, 12)
    assert beyond.error()["from"] == share_interval(12, 12, 30)[0]
    # of class b the model rejects the ten handed on and those over capacity, and answers none
    assert own.of_class("b")["estimate"] == 0.0
    assert audit.of_class("b")["estimate"] > 0.5


def test_what_the_rejects_turned_out_to_be():
    of = drawn_from(10, 0, 6)
    audit = Audit([Case(truth, 1, False, None, of) for truth in (0, 1, 1, NONE)], LABELS)
    assert audit.rejects() == {"a": 1, "b": 2, "no verdict": 3}
    assert audit.error() is None
    assert audit.cost() is None


def test_errors_by_answer():
    of = drawn_from(40, 15)
    cases = [Case(0, 0, True, None, of)] * 8 + [Case(1, 0, True, None, of)] * 2 + [Case(1, 2, True, None, of)] * 5
    audit = Audit(cases, LABELS)
    assert (audit.error("a")["estimate"], audit.error("a")["rows"]) == pytest.approx((0.2, 10))
    assert (audit.error("a")["from"], audit.error("a")["to"]) == share_interval(2, 10)
    assert audit.error("b")["estimate"] == 0.0
    lacking = Audit(cases[1:], LABELS).error("a")  # a row with the answer a is lacking
    assert (lacking["from"], lacking["to"]) == (share_interval(2, 10)[0], share_interval(3, 10)[1])
    two = Audit([*cases, *(replace(case, drawn=drawn_from(90, 15, batch="h1")) for case in cases)], LABELS)
    assert two.error("a")["estimate"] == pytest.approx(0.2)
    assert two.error("a")["from"] < 0.2 < two.error("a")["to"]


def test_actions_that_answer_no_class_have_a_cost_and_no_error():
    costs = Actions({"pay": {"a": 0, "b": 9}, "wait": {"a": 1, "b": 4}, "call": {"a": 2, "b": 2}}, rejects=("call",))
    labels, of = ActionLabels.over(LABELS, "auto", costs.names, costs.answers, costs.hands_on), drawn_from(2, 2, 1)
    cases = [Case(truth, choice, choice == 0, costs.values, of) for truth, choice in ((0, 0), (1, 0), (1, 2))]
    audit = Audit(cases, labels)
    assert audit.error() is None
    assert audit.cost()["estimate"] == pytest.approx((0 + 9 + 2) / 3)
