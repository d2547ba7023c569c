"""The queue of a review, and the decisions if only some rows can be reviewed: against all decisions there are."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from abstain import Actions, Costs, NoveltyRejector, RejectSVC, ThresholdRejector
from abstain.labels import Labels
from cost_kinds import KINDS, Kind, probabilities, rule_of, score_of

ROWS = 5


def random_costs(rng):
    """Costs of two or three classes, of answers and a reject or of named actions, at which rejecting can pay."""
    n = int(rng.integers(2, 4))
    errors = rng.uniform(0.5, 5.0, (n, n)) * (1 - np.eye(n))
    names = list(range(n))
    if rng.random() < 0.5:
        stated = Costs.from_matrix(errors, labels=names, reject=rng.uniform(0.05, 0.2, n).tolist())
        return Kind(stated, Labels.of(names, rejects=True))
    actions = {k: {j: errors[j, k] for j in names} for k in names}
    test = {0: 0.02} | {k: rng.uniform(0.3, 0.4) for k in names[1:]}
    stated = Actions(actions | {"ask": 0.15, "test": test})
    return Kind(stated, stated.labels_of(names, rejects=True))


def decisions_of(kind, P):
    return rule_of(kind).decide(score_of(P))


def cost_of(found, label):
    """The expected cost of these labels, by the position of each among the actions."""
    names = found.labels.actions.tolist()
    return sum(found.expected_cost[row, names.index(name)] for row, name in enumerate(label))


def test_no_decisions_with_so_many_rejects_cost_less():
    rng, differed = np.random.default_rng(0), 0
    for _ in range(300):
        kind = random_costs(rng)
        found = decisions_of(kind, rng.dirichlet(np.full(kind.labels.n_classes, 0.8), ROWS))
        hands_on = np.array(found.labels.hands_on)
        every = np.array([*product(range(len(hands_on)), repeat=ROWS)])
        costs, rejects = found.expected_cost[np.arange(ROWS), every].sum(axis=1), hands_on[every].sum(axis=1)
        for capacity in range(ROWS + 1):
            limited = found.within(capacity)
            assert limited.rejected.sum() == min(capacity, found.rejected.sum())
            here = cost_of(found, limited.label.tolist())
            assert here <= costs[rejects <= capacity].min() * (1 + 1e-9)
            reverse = found.queue[::-1][: limited.rejected.sum()]  # control: another order costs more, now and then
            label = found.forced.astype(found.label.dtype)
            label[reverse] = found.label[reverse]
            differed += cost_of(found, label.tolist()) > here * (1 + 1e-9)
    assert differed > 300


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_saving_of_every_kind_of_costs(kind):
    found = decisions_of(kind, probabilities(kind, seed=7))
    expected, hands_on = found.expected_cost, found.labels.hands_on
    for row in range(len(found)):
        answers = [cost for cost, on in zip(expected[row], hands_on, strict=True) if not on]
        others = [cost for cost, on in zip(expected[row], hands_on, strict=True) if on]
        assert found.saving[row] == min(answers) - min(others)
    assert (found.saving[found.rejected] >= -1e-12).all()
    assert (found.saving[~found.rejected] <= 1e-12).all()
    limited = found.within(2)
    assert limited.rejected.sum() == 2
    np.testing.assert_array_equal(np.flatnonzero(limited.rejected), np.sort(found.queue[:2]))
    over = found.rejected & ~limited.rejected
    assert set(limited.reason[over]) == {"over capacity"}
    np.testing.assert_array_equal(limited.label[over], found.forced[over])
    np.testing.assert_array_equal(limited.label[~over], found.label[~over])
    assert found.within(len(found)) is found
    assert not limited.costs_decide


def test_novel_rows_come_first_and_ties_keep_the_order():
    kind = KINDS["two"]
    found = decisions_of(kind, np.array([[0.9, 0.1]] * 6))
    novel = np.array([False, True, True, False, False, True])
    rejected = np.ones(6, dtype=bool)
    expected = np.where(novel[:, None], np.nan, found.expected_cost)
    guarded = replace(
        found, rejected=rejected, novel=novel, expected_cost=expected, p_value=np.array([1, 0.2, 0.1, 1, 1, 0.2])
    )
    assert guarded.queue.tolist() == [2, 1, 5, 0, 3, 4]
    limited = guarded.within(2)
    assert limited.reason.tolist()[1:3] == ["novel", "novel"]
    assert set(limited.reason[[0, 3, 4, 5]]) == {"over capacity"}
    assert guarded.within(0).rejected.sum() == 0


def test_a_guard_gives_the_p_values_that_order_the_queue():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = X[:, 0] + rng.normal(size=400) > 0
    guarded = NoveltyRejector(RejectSVC(Costs(reject=0.2)), rate=0.05).fit(X, y)
    rows = np.r_[X[:5], [[30.0, 30.0], [6.0, 6.0]]]
    found = guarded.decide(rows)
    np.testing.assert_array_equal(found.p_value, guarded.novelty(rows))
    np.testing.assert_array_equal(found.novel, guarded.novelty(rows) <= 0.05)
    assert set(found.queue[:2]) == {5, 6}
    assert found.to_frame()["p_value"].tolist() == found.p_value.tolist()


def test_without_expected_costs_the_saving_is_unknown():
    X = np.linspace(-1, 1, 40)[:, np.newaxis]
    found = RejectSVC().fit(X, X[:, 0] > 0).decide(X)
    assert np.isnan(found.saving).all()
    assert found.within(0) is found


@pytest.mark.parametrize("capacity", [-1, 2.5, True, "3", None, np.nan])
def test_a_capacity_that_is_not_a_number_of_rows_is_an_error(capacity):
    found = decisions_of(KINDS["two"], probabilities(KINDS["two"]))
    with pytest.raises(ValueError, match=r"capacity=.* must be a number of rows, a whole number of at least 0"):
        found.within(capacity)


def test_actions_that_all_hand_on_have_no_answer():
    actions = Actions({"call": {0: 0, 1: 2}, "visit": {0: 1, 1: 0}}, rejects=("call", "visit"))
    kind = Kind(actions, actions.labels_of([0, 1], rejects=True))
    found = decisions_of(kind, probabilities(kind))
    assert np.isnan(found.saving).all()
    with pytest.raises(ValueError, match="every action hands the case on"):
        found.within(3)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("asked", ["max_error", "class_error", "reject_rate"])
def test_without_expected_costs_the_least_sure_answers_come_first(classes, asked):
    rng = np.random.default_rng(0)
    X, centres = rng.normal(size=(900, 2)), np.array([[0, 0], [1.5, 0], [0, 1.5]])
    y = np.arange(900) % classes
    machine = ThresholdRejector(LinearDiscriminantAnalysis(), **{asked: 0.2}, random_state=0).fit(X + centres[y], y)
    rows = rng.normal(size=(200, 2)) + centres[np.arange(200) % classes]
    found = machine.decide(rows)
    assert np.isnan(found.saving).all()
    sure = np.abs(found.score - (0.5 if (found.score >= 0).all() else 0)) if classes == 2 else found.confidence
    assert 10 < found.rejected.sum() < 190
    np.testing.assert_array_equal(sure[found.queue], np.sort(sure[found.rejected]))
    assert (np.diff(found.queue) < 0).any(), "the order of the rows would pass, too"
    kept = found.within(5)
    assert sorted(np.flatnonzero(kept.rejected)) == sorted(found.queue[:5])
    if classes == 3:  # answers that are not rejected are surer, and the lead of the scores says the same
        assert sure[~found.rejected].min() >= sure[found.rejected].max()
        lead = np.diff(np.sort(found.score, axis=1), axis=1)[:, -1]
        assert asked == "class_error" or np.corrcoef(lead[found.rejected], sure[found.rejected])[0, 1] > 0.8
