"""Costs of more than two classes, and labels of more than two classes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from abstain import Costs, reject_svc_path
from abstain.class_labels import ClassLabels
from class_cases import ANSWERS, GENERAL, table_costs


def test_the_table_has_the_truth_in_rows_and_the_reject_last():
    costs = Costs.from_table(
        {"c": {"a": 1, "b": 1}, "a": {"b": 1, "c": 2}, "b": {"a": 5, "c": 3}}, reject={"a": 0.1, "c": 0.3, "b": 0.2}
    )
    np.testing.assert_array_equal(costs.table(), np.column_stack([GENERAL, [0.1, 0.2, 0.3]]))
    np.testing.assert_array_equal(costs.prices([1, 2, 3], [0, 1, 3]), [0.1, 5.0, 0.0])
    assert costs == Costs.from_matrix(GENERAL[::-1, ::-1], labels=["c", "b", "a"], reject=[0.3, 0.2, 0.1])
    assert eval(repr(costs)) == costs  # noqa: S307 (our own repr)
    assert len({costs, eval(repr(costs))}) == 1  # noqa: S307


def test_expected_costs_are_averages_of_prices():
    costs, rng = table_costs(GENERAL, [0.2, 0.6, 0.3]), np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3))
    by_hand = [sum(P[j] * costs.prices([j + 1], [choice])[0] for j in range(3)) for choice in (1, 2, 3, 0)]
    np.testing.assert_allclose(costs.expected(P), by_hand)


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
        for spread in (1e7, 1e9, 1e12):
            errors = unit * np.array([[0, spread, spread], [1, 0, 1], [1, 1, 0]])
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


@pytest.mark.parametrize("reject", [0.4, [0.2, 0.6, 0.3]])
@pytest.mark.parametrize("matrix", [ANSWERS, GENERAL])
def test_answering_begins_to_pay_between_the_tangents(matrix, reject):
    costs = table_costs(matrix, reject)
    P = np.random.default_rng(1).dirichlet(np.full(3, 0.5), 20000)
    expected = P @ costs.table()
    for k in range(3):
        low, high = costs.tangents(k)[0], costs.tangents(k)[-1]
        log_odds = np.log(P[:, k] / (1 - P[:, k]))
        pays = expected[:, k] < expected[:, 3]
        assert pays[log_odds > high + 1e-9].all()
        turns = log_odds[pays].min()
        # from below only what mass on a class with errors[j, k] <= reject_j allows
        if (np.delete(matrix[:, k] - np.broadcast_to(reject, 3), k) > 0).all():
            assert not pays[log_odds < low - 1e-9].any()
            assert turns < low + 0.3


def test_bayes_cuts_exist_where_at_most_one_class_can_pass():
    costs = table_costs(ANSWERS, 0.4)
    np.testing.assert_allclose(costs.cuts, np.log([0.6 / 0.4, 1.6 / 0.4, 3.6 / 0.4]))
    assert table_costs(ANSWERS, 0.5).cuts is None  # half the least
    assert table_costs(GENERAL, 0.4).cuts is None
    assert table_costs(ANSWERS, [0.1, 0.2, 0.1]).cuts is None


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


def test_costs_of_several_classes_are_refused_where_two_are_meant():
    with pytest.raises(ValueError, match="takes two classes only"):
        reject_svc_path([[0.0], [1.0]] * 9, [0, 1] * 9, table_costs(GENERAL, 0.4))


class TestLabels:
    @pytest.mark.parametrize(
        ("classes", "label"),
        [(["a", "b", "c"], "reject"), ([0, 1, 2], -1), ([-1, 0, 1], -2), ([-3, 5, 7], -4), ([-2.0, 1.0, 5.0], -3.0)],
    )
    def test_the_default_reject_label(self, classes, label):
        labels = ClassLabels.of(classes, rejects=True)
        assert labels.reject_label == label
        decoded = labels.decode(np.array([0, 3, 1]))
        assert decoded.tolist() == [label, classes[2], classes[0]]

    def test_a_list_of_many_classes_is_not_taken_for_quantities(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert ClassLabels.named(range(40), rejects=False).n_classes == 40
        with pytest.warns(UserWarning, match="could represent a regression"):
            ClassLabels.of(range(40), rejects=False)

    def test_codes_go_there_and_back(self):
        y = np.array(["cow", "ant", "bee", "ant"], dtype=object)
        labels = ClassLabels.of(y, rejects=True)
        assert labels.encode(y).tolist() == [3, 1, 2, 1]
        assert labels.decode(labels.encode(y)).tolist() == y.tolist()
        with pytest.raises(ValueError, match="'dog', which is not one of the classes"):
            labels.encode(["dog"])
        with pytest.raises(ValueError, match="is one of the classes"):
            ClassLabels.of(y, reject_label="bee", rejects=True)

    def test_small_types_widen_only_as_needed(self):
        y = np.array([0, 1, 2], dtype=np.uint8)
        assert ClassLabels.of(y, rejects=True).decode(np.array([0])).dtype == np.int8
        assert ClassLabels.of(y, rejects=False).decode(np.array([1])).dtype == np.uint8
