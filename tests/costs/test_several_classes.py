"""Costs of more than two classes: the largest reject that can pay, and where answering begins to."""

from __future__ import annotations

import numpy as np
import pytest

from abstain import Costs, reject_svc_path
from abstain.losses.tangent_hinge import own_cuts, spread, task_tangents
from class_cases import ANSWERS, GENERAL, table_costs
from cost_kinds import TRIAGE


def test_the_table_has_the_truth_in_rows_and_the_reject_last():
    costs = Costs.from_table(
        {"c": {"a": 1, "b": 1}, "a": {"b": 1, "c": 2}, "b": {"a": 5, "c": 3}}, reject={"a": 0.1, "c": 0.3, "b": 0.2}
    )
    np.testing.assert_array_equal(costs.table(), np.column_stack([GENERAL, [0.1, 0.2, 0.3]]))
    np.testing.assert_array_equal(costs.of([0, 1, 2], [3, 0, 2]), [0.1, 5.0, 0.0])
    assert costs == Costs.from_matrix(GENERAL[::-1, ::-1], labels=["c", "b", "a"], reject=[0.3, 0.2, 0.1])
    assert eval(repr(costs)) == costs  # noqa: S307 (our own repr)
    assert len({costs, eval(repr(costs))}) == 1  # noqa: S307


def test_two_names_make_the_costs_of_two_classes():
    assert isinstance(Costs.from_matrix([[0, 1], [5, 0]], labels=["a", "b"]), Costs)
    with pytest.raises(ValueError, match="must be two"):
        Costs(labels=("a", "b", "c"))


@pytest.mark.parametrize("n", [3, 4, 7])
def test_rejecting_pays_up_to_one_minus_one_over_n(n):
    names, errors = list(range(n)), 1 - np.eye(n)
    most = 1 - 1 / n
    assert Costs.from_matrix(errors, labels=names, reject=0.999 * most).rejects
    assert not Costs.from_matrix(errors, labels=names, reject=most).rejects
    with pytest.raises(ValueError, match=rf"can never pay.*largest reject cost allowed is {f'{most:.12g}'[:8]}"):
        Costs.from_matrix(errors, labels=names, reject=1.001 * most)


def test_the_largest_reject_is_found_for_costs_of_any_size():
    # with a share d of the first class and halves of the rest, the answers cost 1 - d and d spread + (1 - d) / 2
    for unit in (1e-200, 1.0, 1e200):
        for far in (1e7, 1e9, 1e12):
            errors = unit * np.array([[0, far, far], [1, 0, 1], [1, 1, 0]])
            assert table_costs(errors, 0.4 * unit).largest_scale == pytest.approx(2.5, rel=1e-6)
            with pytest.raises(ValueError, match=r"can never pay.* allowed is (1|0\.9999)"):
                table_costs(errors / unit, 1.001)
    with pytest.raises(ValueError, match=r"differ by a factor of more than 1e\+15, from 1e-30 to 1 "):
        table_costs(np.array([[0, 1e30, 1e30], [1, 0, 1], [1, 1, 0]]), 0.1)


def test_the_mean_of_large_costs_is_finite():
    costs = table_costs(1e308 * (1 - np.eye(3)), 1e307)
    assert costs.mean_cost([0, 1, 2, 0], [1, 2, 0, 0]) == pytest.approx(0.75e308)


def test_the_largest_reject_is_that_of_a_search_over_probabilities():
    P = np.random.default_rng(0).dirichlet(np.ones(3), 20000)
    reject = np.array([0.2, 0.6, 0.3])
    share = float(np.max((P @ GENERAL).min(axis=1) / (P @ reject)))
    assert table_costs(GENERAL, 0.995 * share * reject).rejects
    with pytest.raises(ValueError, match="largest reject costs in this ratio"):
        table_costs(GENERAL, 1.01 * share * reject)


class TestTangents:
    @pytest.mark.parametrize("reject", [0.4, [0.2, 0.6, 0.3]])
    @pytest.mark.parametrize("matrix", [ANSWERS, GENERAL])
    def test_answering_pays_beyond_the_last_and_never_before_the_first(self, matrix, reject):
        costs = table_costs(matrix, reject)
        P = np.random.default_rng(1).dirichlet(np.full(3, 0.5), 20000)
        expected = P @ costs.table()
        for k in range(3):
            low, high = spread(costs)[k, [0, -1]]
            log_odds = np.log(P[:, k] / (1 - P[:, k]))
            answered = expected.argmin(axis=1) == k
            assert answered[log_odds > high + 1e-9].all()
            assert not answered[log_odds < low - 1e-9].any()
            assert high - 0.3 < log_odds[~answered].max()  # and no sooner

    def test_of_each_ray_the_cheapest_changes_between_the_ends(self):
        """Along rays from each other class, and from all others evenly, by brute force."""
        p = np.linspace(1e-3, 1 - 1e-3, 20001)[:, np.newaxis]
        for costs in (TRIAGE, table_costs(GENERAL, 0.4)):
            for k in range(3):
                others = np.delete(np.eye(3), k, axis=0)
                changes = []
                for start in (*others, others.mean(axis=0)):
                    chosen = ((1 - p) * start + p * np.eye(3)[k]) @ costs.values
                    at = p[np.flatnonzero(np.diff(chosen.argmin(axis=1))), 0]
                    changes += [*np.log(at / (1 - at))]
                np.testing.assert_allclose(task_tangents(costs)[k, [0, -1]], [min(changes), max(changes)], atol=2e-3)
                np.testing.assert_allclose(np.diff(task_tangents(costs)[k], 2), 0.0, atol=1e-12)  # evenly

    def test_bayes_cuts_exist_where_at_most_one_class_can_pass(self):
        costs = table_costs(ANSWERS, 0.4)
        cuts = np.log([0.6 / 0.4, 1.6 / 0.4, 3.6 / 0.4])
        np.testing.assert_allclose(own_cuts(costs), cuts)
        np.testing.assert_array_equal(task_tangents(costs), np.repeat(own_cuts(costs)[:, np.newaxis], 6, axis=1))
        np.testing.assert_allclose(spread(costs)[:, -1], cuts)  # rows with these costs have a tangent there, too
        assert own_cuts(table_costs(ANSWERS, 0.5)) is None  # half the least
        assert own_cuts(table_costs(GENERAL, 0.4)) is None
        assert own_cuts(table_costs(ANSWERS, [0.1, 0.2, 0.1])) is None
        assert own_cuts(TRIAGE) is None


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ({"a": {"b": 1}, "b": {"a": 1, "c": 1}, "c": {"a": 1, "b": 1}}, r"table\['a'\] has no cost for the answer 'c'"),
        ({"a": {"b": 1, "c": 0}, "b": {"a": 1, "c": 1}, "c": {"a": 1, "b": 1}}, "positive"),
        ({"a": {"a": 1, "b": 1, "c": 1}, "b": {"a": 1, "c": 1}, "c": {"a": 1, "b": 1}}, "must be 0"),
        ({"a": {"b": 1, "z": 1}, "b": {"a": 1, "c": 1}, "c": {"a": 1, "b": 1}}, "'z', which is not one of its classes"),
    ],
)
def test_what_is_not_a_table(table, text):
    with pytest.raises(ValueError, match=text):
        Costs.from_table(table)


def test_mean_cost_reads_labels():
    costs = Costs.from_matrix(GENERAL, labels=["a", "b", "c"], reject=0.4)
    truth, answers = ["a", "b", "c", "b"], ["a", "a", "reject", "b"]
    assert costs.mean_cost(truth, answers) == pytest.approx((0 + 5 + 0.4 + 0) / 4)
    assert costs.mean_cost(truth, answers, sample_weight=[0, 1, 0, 0]) == 5.0
    with pytest.raises(ValueError, match="'z'"):
        costs.mean_cost(["a", "z"], ["a", "b"])


def test_a_path_is_that_of_two_classes():
    costs, X = table_costs(GENERAL, 0.4), np.arange(18.0)[:, np.newaxis]
    with pytest.raises(ValueError, match=r"name the class 2, but y has \[0, 1\]"):
        reject_svc_path(X, [0, 1] * 9, costs)
    with pytest.raises(ValueError, match="y has 3 classes, and a path is that of one machine; follow one for each"):
        reject_svc_path(X, [0, 1, 2] * 6, costs)
