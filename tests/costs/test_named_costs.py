"""Costs by class name: the costs of the table, whatever the sort order, the positive class, or who asks."""

import pickle
import warnings
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from abstain import Costs, RejectSVC
from abstain.labels import Labels

TABLE = {"good": {"good": 0, "bad": 1}, "bad": {"good": 5, "bad": 0}}
NAMED = Costs.from_table(TABLE, reject=0.5)


def test_the_table_is_read_by_name():
    assert NAMED.labels == ("bad", "good")
    # with "bad" positive a missed bad costs 5; with "good" positive it is a false positive that does
    assert NAMED.with_positive("bad") == Costs(false_positive=1, false_negative=5, reject=0.5)
    assert NAMED.with_positive("good") == Costs(false_positive=5, false_negative=1, reject=0.5)


def test_rejects_by_name():
    costs = Costs.from_table(TABLE, reject={"good": 0.2, "bad": 0.4})
    assert costs.with_positive("bad") == Costs(1, 5, (0.2, 0.4))
    assert costs.with_positive("good") == Costs(5, 1, (0.4, 0.2))
    assert Costs.from_matrix([[0, 1], [5, 0]], (0.2, 0.4), labels=["good", "bad"]) == costs
    assert costs.with_reject({"good": 0.1, "bad": 0.3}).with_positive("bad") == Costs(1, 5, (0.1, 0.3))


def test_order_of_the_classes_does_not_matter():
    turned = Costs.from_table({"bad": {"good": 5}, "good": {"bad": 1}}, reject=0.5)
    assert turned == NAMED
    assert hash(turned) == hash(NAMED)
    assert Costs.from_matrix([[0, 1], [5, 0]], labels=["good", "bad"], reject=0.5) == NAMED
    assert Costs.from_matrix([[0, 5], [1, 0]], labels=["bad", "good"], reject=0.5) == NAMED
    other = Costs.from_matrix([[0, 1], [5, 0]], labels=["bad", "good"], reject=0.5)
    assert other != NAMED
    assert Costs(5, 1, 0.5) != NAMED  # the same costs without names


def test_it_is_a_value():
    assert eval(repr(NAMED)) == NAMED  # noqa: S307 (our own repr)
    unequal = Costs.from_table(TABLE, reject={"good": 0.2, "bad": 0.4})
    assert eval(repr(unequal)) == unequal  # noqa: S307
    assert repr(Costs(1, 5, 0.3)) == "Costs(false_positive=1.0, false_negative=5.0, reject=0.3)"
    for again in (pickle.loads(pickle.dumps(NAMED)), deepcopy(NAMED), clone(RejectSVC(NAMED)).costs):  # noqa: S301
        assert again == NAMED
    assert RejectSVC(NAMED).get_params()["costs"] is NAMED


def test_mean_cost_needs_no_positive_class():
    truth, answer = ["good", "bad", "bad", "good"], ["bad", "good", "reject", "good"]
    expected = (1 + 5 + 0.5 + 0) / 4
    assert NAMED.mean_cost(truth, answer) == expected
    assert NAMED.mean_cost(truth, answer, pos_label="bad") == expected
    assert NAMED.mean_cost(["bad"], ["good"]) == 5  # one class is enough: the costs name the other
    assert NAMED.mean_cost(["bad"], ["bad"]) == 0


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (1.0, 2.0), (False, True)])
def test_numbers_and_booleans_are_names_too(labels):
    low, high = labels
    costs = Costs.from_table({high: {low: 5}, low: {high: 1}}, reject=0.4)
    y = np.array([low, high, high])
    assert costs.mean_cost(y, np.array([high, low, high])) == 2
    assert costs.labels == (low, high)


@pytest.mark.parametrize(
    ("table", "reject", "text"),
    [
        ({"a": 1, "b": 5}, 0.3, "must map each true class to the costs of the answers"),
        ({"a": {"b": 1}}, 0.3, r"costs are for two classes or more, but these name 1: \['a'\]"),
        ({"a": {"b": 1}, 2: {"a": 1}}, 0.3, "all strings or all numbers"),
        ({"a": {"b": 1}, "b": {"c": 1}}, 0.3, r"table\['b'\] has a cost for 'c', which is not one of its classes"),
        ({"a": {"b": 1}, "b": {}}, 0.3, r"table\['b'\] has no cost for the answer 'a'"),
        ({"a": {"b": 0}, "b": {"a": 1}}, 0.3, "the cost of answering 'b' when 'a' is true=0 must be positive"),
        ({"a": {"a": 2, "b": 3}, "b": {"a": 1}}, 0.3, "must be 0: it is the correct answer. Subtract it"),
        ({"a": {"b": 1}, "b": {"a": 1}}, (0.2, 0.3), "a dict with one for each class"),
        ({"a": {"b": 1}, "b": {"a": 1}}, {"a": 0.2}, r"one cost for each of the classes \['a', 'b'\]"),
        ({"a": {"b": 1}, "b": {"a": 5}}, 0.9, r"reject\['a'\]/table\['a'\]\['b'\].*= 1.08 > 1"),
    ],
)
def test_what_is_not_a_table(table, reject, text):
    with pytest.raises(ValueError, match=text):
        Costs.from_table(table, reject=reject)


def test_what_is_not_a_matrix():
    with pytest.raises(ValueError, match=r"needs a 2 x 2 matrix; its shape is \(3, 3\)"):
        Costs.from_matrix(np.eye(3), labels=["a", "b"])
    with pytest.raises(ValueError, match="must be different"):
        Costs.from_matrix([[0, 1], [1, 0]], labels=["a", "a"])
    with pytest.raises(ValueError, match=r"must be sorted; Costs\.from_table takes classes in any order"):
        Costs(1, 5, 0.3, labels=("b", "a"))


def test_classes_of_y_must_be_named():
    with pytest.raises(ValueError, match=r"name the classes \['bad', 'good'\], but y has 'ugly'"):
        NAMED.named(Labels.of(["good", "ugly"], rejects=True))
    with pytest.raises(ValueError, match=r"encoded y as 0, 1, .* abstain\.Forced\(classifier, classes="):
        RejectSVC(NAMED).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("content", [[1.0, 5.0, 0.3], [1.0, 5.0, 0.3, ["b", "a"]], [1.0, 5.0, 0.3, ["a", ["b"]]], "ab"])
def test_a_file_cannot_name_classes_in_another_way(content):
    from abstain.files.format.values import from_json, to_json

    assert from_json(to_json("costs", NAMED)) == NAMED
    with pytest.raises(ValueError, match=r"sorted|all strings or all numbers|wrong number of entries"):
        from_json({"NamedCosts": content})


def test_an_unknown_positive_class_is_refused():
    named = Costs.from_table({"healthy": {"disease": 1}, "disease": {"healthy": 10}}, reject=0.3)
    assert named.with_positive("healthy") == Costs(10, 1, 0.3)
    for unknown in ("Healthy", "sick", None, 1):
        with pytest.raises(ValueError, match=r"positive=.* is not one of the classes \['disease', 'healthy'\]"):
            named.with_positive(unknown)


def test_labels_without_an_order_are_refused():
    with pytest.raises(TypeError, match="must have an order"):
        Costs.from_matrix([[0, 1], [5, 0]], labels={"good", "bad"}, reject=0.5)


def test_a_data_frame_keeps_its_names():
    frame = pd.DataFrame([[0, 1], [5, 0]], index=["good", "bad"], columns=["good", "bad"])
    expected = Costs.from_table({"good": {"bad": 1}, "bad": {"good": 5}}, reject=0.5)
    assert Costs.from_matrix(frame, reject=0.5) == expected
    assert Costs.from_matrix(frame, labels=["bad", "good"], reject=0.5) == expected
    assert Costs.from_matrix(frame[["bad", "good"]], reject=0.5) == expected
    assert Costs.from_table(frame, reject=0.5) == expected
    assert Costs.from_matrix(pd.DataFrame([[0, 1], [5, 0]])) == Costs(1, 5)  # pandas' own numbers are not names
    with pytest.raises(ValueError, match="are not the names"):
        Costs.from_matrix(frame, labels=["yes", "no"])
    with pytest.raises(ValueError, match="must be the same classes"):
        Costs.from_matrix(pd.DataFrame([[0, 1], [5, 0]], index=["good", "bad"], columns=["a", "b"]))


def test_notebooks_show_the_names():
    named = Costs.from_table({"healthy": {"disease": 1}, "disease": {"healthy": 10}}, reject=0.3)
    assert "decided healthy" in named._repr_html_()
    assert "positive" not in named._repr_html_()


def test_measures_of_one_class_say_which_they_assumed():
    from abstain import metrics

    true, predicted = ["disease", "disease", "healthy", "healthy"], ["healthy", "reject", "disease", "healthy"]
    for metric in (metrics.sensitivity, metrics.positive_predictivity):
        with pytest.warns(UserWarning, match="is that of 'healthy', which sorts last; pass pos_label='healthy' or"):
            metric(true, predicted)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            metric(true, predicted, pos_label="healthy")
            metric([0, 1, 1], [0, 1, -1])
    with pytest.warns(UserWarning, match="of which y has only 'disease'"):
        metrics.mean_cost(["disease"] * 3, ["disease", "healthy", "healthy"], Costs(1, 10, 0.3))
