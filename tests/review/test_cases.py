"""Which rows a review shows: the queue in order, and an audit drawn evenly, at random places."""

from types import SimpleNamespace

import numpy as np

from abstain import Costs
from abstain.labels import Labels
from abstain.review.cases import drawn_cases
from abstain.rules.decisions import Decisions

LABELS = Labels.of(np.array(["a", "b"]), rejects=True)
COSTS = Costs(reject=0.3).named(LABELS)


def decisions(rows=30, rejected=10, novel=2, seed=0):
    rng = np.random.default_rng(seed)
    P = np.concatenate([rng.uniform(0.35, 0.65, rejected), rng.choice([0.02, 0.98], rows - rejected)])
    rng.shuffle(P)
    cost = np.column_stack([P, np.full(rows, 0.3), 1 - P])
    hands_on = cost.argmin(axis=1) == 1
    label = np.where(hands_on, "reject", np.where(P > 0.5, "b", "a"))
    unlike = np.isin(np.arange(rows), np.flatnonzero(hands_on)[:novel])
    cost[unlike] = np.nan
    p = np.where(unlike, 0.001 * (1 + np.arange(rows)), 0.5)
    return Decisions(label, hands_on, np.log(P / (1 - P)), cost, label, LABELS, novel=unlike, p_value=p, costs=COSTS)


def drawn(*given, **options):
    return SimpleNamespace(**dict(zip(("rows", "audited"), drawn_cases(*given, **options), strict=True)))


def test_the_rejected_rows_come_in_the_order_of_the_queue():
    found = decisions()
    cases = drawn(found, audit=7, seed=3)
    assert cases.rows[~cases.audited].tolist() == found.queue.tolist()
    assert not found.rejected[cases.rows[cases.audited]].any()
    assert len({*cases.rows}) == len(cases.rows) == 17


def test_an_audit_of_more_rows_than_there_are_takes_all():
    assert drawn(decisions(), audit=50).audited.sum() == 20


def test_without_an_audit_no_row_is_audited():
    assert not drawn(decisions()).audited.any()


def test_every_answered_row_is_drawn_equally_often():
    found, counts, draws = decisions(), np.zeros(30), 2000
    for seed in range(draws):
        cases = drawn(found, 5, seed)
        counts[cases.rows[cases.audited]] += 1
    share = counts[~found.rejected] / draws
    assert np.abs(share - 5 / 20).max() < 5 * np.sqrt(0.25 * 0.75 / draws)
    assert not counts[found.rejected].any()


def test_places_say_nothing_about_the_role():
    # the mean place of audited rows is that of all rows; the control, at the end of the queue, is not
    places, after = [], []
    for seed in range(500):
        cases = drawn(decisions(), 5, seed)
        places.append(np.flatnonzero(cases.audited).mean())
        after.append(np.arange(10, 15).mean())
    assert abs(np.mean(places) - 7) < 0.3
    assert abs(np.mean(after) - 7) > 0.3


def test_the_same_seed_draws_the_same_rows():
    one, same, other = (drawn(decisions(), 5, seed).rows.tolist() for seed in (1, 1, 2))
    assert one == same != other
