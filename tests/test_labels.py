"""Labels at the edge: what is a class, what is called a reject, and in which dtype the answer comes."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain.labels import NO_CLASS, Labels, two_classes
from abstain.reject_labels import default_reject_label
from looping import looped

CHOICES = np.array([0, 1, 2])  # of two classes: negative, reject, positive

# labels, the reject label they imply, the dtype that holds both
KINDS = {
    "strings": (np.array(["b", "a"]), "reject", "<U6"),
    "long strings": (np.array(["pathological", "normal"]), "reject", "<U12"),
    "object strings": (np.array(["b", "a"], dtype=object), "reject", object),
    "0 and 1": (np.array([1, 0]), -1, np.int64),
    "1 and 2": (np.array([1, 2]), -1, np.int64),
    "-1 and +1": (np.array([1, -1]), 0, np.int64),
    "-3 and 5": (np.array([-3, 5]), -4, np.int64),
    "-1 and 2": (np.array([-1, 2]), -2, np.int64),
    "int8 at its end": (np.array([-128, 127], dtype=np.int8), -129, np.int16),
    "uint8": (np.array([0, 255], dtype=np.uint8), -1, np.int16),
    "uint64": (np.array([0, 1], dtype=np.uint64), -1, np.int64),
    "floats": (np.array([0.0, 1.0]), -1.0, np.float64),
    "float32 signs": (np.array([-1.0, 1.0], dtype=np.float32), 0.0, np.float32),
    "float32 beyond its integers": (np.array([-(2.0**24), 1.0], dtype=np.float32), -(2.0**24) - 1, np.float64),
    "bool": (np.array([True, False]), -1, np.int8),
}


@pytest.mark.parametrize(("y", "reject", "dtype"), KINDS.values(), ids=KINDS)
def test_decoding_gives_classes_and_reject_label_in_one_plain_dtype(y, reject, dtype):
    labels = Labels.of(y, rejects=True)
    decoded = labels.decode(CHOICES)
    low, high = sorted(y.tolist())
    assert type(decoded) is np.ndarray
    assert decoded.dtype == dtype
    assert decoded.tolist() == [low, reject, high]
    assert labels.reject_label == reject == default_reject_label(labels.classes)


@pytest.mark.parametrize(("y", "reject", "dtype"), KINDS.values(), ids=KINDS)
def test_without_rejects_the_labels_keep_their_dtype(y, reject, dtype):
    del reject, dtype
    decoded = Labels.of(y, rejects=False).decode(np.array([0, 2]))
    assert decoded.dtype == y.dtype
    assert decoded.tolist() == sorted(y.tolist())


@pytest.mark.parametrize(("y", "reject", "dtype"), KINDS.values(), ids=KINDS)
@looped(first=[False, True])
def test_codes_follow_the_order_of_the_classes_whichever_is_positive(y, reject, dtype, first):
    del reject, dtype
    low, high = sorted(y.tolist())
    labels = Labels.of(y, pos_label=low if first else None, rejects=True)
    assert (labels.positive, labels.negative) == ((low, high) if first else (high, low))
    assert labels.orientation == (-1 if first else 1)
    assert labels.encode([high, low, high]).tolist() == [1, 0, 1]
    assert labels.answers == ((1, NO_CLASS, 0) if first else (0, NO_CLASS, 1))
    assert labels.decode(labels.choices(y)).tolist() == y.tolist()
    assert labels.choices(labels.decode(CHOICES)).tolist() == CHOICES.tolist()


@given(st.sets(st.integers(-(2**62), 2**62), min_size=2, max_size=2))
def test_the_default_reject_label_is_never_a_class(classes):
    labels = Labels.of(np.array(sorted(classes)), rejects=True)
    assert labels.reject_label not in classes
    assert labels.decode(CHOICES)[1] == labels.reject_label


@pytest.mark.parametrize(
    ("y", "given_label", "stored"),
    [
        (["a", "b"], "don't know", "don't know"),
        ([0, 1], np.int64(7), 7),
        ([0.0, 1.0], 2, 2.0),
        ([0.0, 1.0], 0.5, 0.5),
        ([True, False], 2, 2),
        (np.array([0, 1], dtype=np.uint8), 9, 9),
    ],
)
def test_a_reject_label_of_the_right_kind_is_taken(y, given_label, stored):
    labels = Labels.of(np.asarray(y), reject_label=given_label, rejects=True)
    assert labels.reject_label == stored
    assert type(labels.reject_label) is type(stored)
    assert labels.decode(CHOICES)[1] == stored


def test_a_reject_label_that_the_own_dtype_holds_keeps_it():
    labels = Labels.of(np.array([0, 1], dtype=np.uint8), reject_label=9, rejects=True)
    assert labels.decode(CHOICES).dtype == np.uint8


@pytest.mark.parametrize(
    ("y", "label", "words"),
    [
        (["a", "b"], "a", "is one of the classes"),
        ([0, 1], 1, "is one of the classes"),
        ([True, False], 0, "is one of the classes"),
        ([0.0, 1.0], 1, "is one of the classes"),
        (["a", "b"], -1, "does not have the type"),
        (["a", "b"], None, "does not have the type"),
        (["a", "b"], b"c", "does not have the type"),
        ([0, 1], None, "does not have the type"),
        ([0, 1], "reject", "does not have the type"),
        ([0, 1], -1.0, "does not have the type"),
        ([0, 1], True, "does not have the type"),
        ([0, 1], [-1], "does not have the type"),
        ([0.0, 1.0], float("nan"), "does not have the type"),
        ([True, False], None, "does not have the type"),
    ],
)
@looped(rejects=[False, True])
def test_a_wrong_reject_label_is_an_error(y, label, words, rejects):
    with pytest.raises(ValueError, match=words):
        Labels.of(np.asarray(y), reject_label=label, rejects=rejects)


@pytest.mark.parametrize(
    "y",
    [
        np.array(["accept", "reject"]),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        np.array([-(2**63), 1]),
        np.array([-(2.0**60), 1.0]),
    ],
    ids=["reject is a class", "uint64 full", "int64 full", "float without a neighbour"],
)
def test_where_no_reject_label_fits_only_a_rejecting_machine_is_refused(y):
    with pytest.raises(ValueError, match="reject_label"):
        Labels.of(y, rejects=True)
    assert Labels.of(y, rejects=False).decode(np.array([0, 2])).tolist() == sorted(y.tolist())


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1, 1], "only one class"),
        ([0.5, 1.5, 2.5], "Unknown label type"),
        (["a", None], "None of type NoneType"),
        (np.array(["a", None], dtype=object), "None of type NoneType"),
        (["a", float("nan")], "nan of type float"),
        (np.array(["a", np.nan], dtype=object), "nan of type float"),
        ([0.0, float("nan")], "NaN or infinity"),
        ([0.0, float("inf")], "NaN or infinity"),
        (["a", 1], "1 of type int"),
        (np.array([0, 1], dtype=object), "0 of type int"),
        (np.array([b"a", b"b"]), "Unknown label type"),
        (np.array([1j, 2j]), "Complex data not supported"),
        (np.array(["2020", "2021"], dtype="M8[Y]"), "Unknown label type"),
        ([[0, 1], [1, 0]], "1d array"),
    ],
)
def test_what_is_not_labels_of_classes_is_an_error(y, words):
    with pytest.raises(ValueError, match=words):
        Labels.of(y, rejects=True)


def test_objects_that_are_all_booleans_are_booleans():
    labels = Labels.of(np.array([True, False], dtype=object), rejects=False)
    assert labels.classes.dtype == bool


def test_numpy_string_dtype_is_understood():
    labels = Labels.of(np.array(["b", "a"], dtype=np.dtypes.StringDType()), rejects=True)
    assert labels.decode(CHOICES).tolist() == ["a", "reject", "b"]


@pytest.mark.parametrize(("y", "pos_label"), [([0, 1], 2), ([0, 1], "1"), (["a", "b"], "c"), (["a", "b"], 1)])
def test_a_pos_label_that_is_not_a_class_is_an_error(y, pos_label):
    with pytest.raises(ValueError, match=r"pos_label=.* is not one of the classes"):
        Labels.of(np.asarray(y), pos_label=pos_label, rejects=True)


def test_encoding_a_label_that_is_not_a_class_is_an_error():
    with pytest.raises(ValueError, match=r"y contains 'c', which is not"):
        Labels.of(np.array(["a", "b"]), rejects=True).encode(["a", "c"])


class TestSeveralClasses:
    @pytest.mark.parametrize(
        ("classes", "label"),
        [(["a", "b", "c"], "reject"), ([0, 1, 2], -1), ([-1, 0, 1], -2), ([-3, 5, 7], -4), ([-2.0, 1.0, 5.0], -3.0)],
    )
    def test_the_reject_is_the_last_action(self, classes, label):
        labels = Labels.of(classes, rejects=True)
        assert labels.reject_label == label
        assert labels.decode(np.array([3, 2, 0])).tolist() == [label, classes[2], classes[0]]
        assert labels.choices([label, classes[2]]).tolist() == [3, 2]

    def test_a_list_of_many_classes_is_not_taken_for_quantities(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert Labels.named(range(40), rejects=False).n_classes == 40
        with pytest.warns(UserWarning, match="could represent a regression"):
            Labels.of(range(40), rejects=False)

    def test_codes_go_there_and_back(self):
        y = np.array(["cow", "ant", "bee", "ant"], dtype=object)
        labels = Labels.of(y, rejects=True)
        assert labels.encode(y).tolist() == [2, 0, 1, 0]
        assert labels.decode(labels.encode(y)).tolist() == y.tolist()
        with pytest.raises(ValueError, match="'dog', which is not one of the classes"):
            labels.encode(["dog"])
        with pytest.raises(ValueError, match="is one of the classes"):
            Labels.of(y, reject_label="bee", rejects=True)

    def test_small_types_widen_only_as_needed(self):
        y = np.array([0, 1, 2], dtype=np.uint8)
        assert Labels.of(y, rejects=True).decode(np.array([3])).dtype == np.int8
        assert Labels.of(y, rejects=False).decode(np.array([1])).dtype == np.uint8

    def test_there_is_no_positive_one(self):
        labels = Labels.of([1, 2, 3], rejects=True)
        assert (labels.positive, labels.negative) == (None, None)
        with pytest.raises(ValueError, match="pos_label=2 is for two classes, and y has 3; leave it out"):
            Labels.of([1, 2, 3], pos_label=2, rejects=True)
        with pytest.raises(ValueError, match="Only binary classification is supported"):
            two_classes(labels)
