"""True labels and decisions read together: codes, the reject label, and what is asked for where they do not say."""

import numpy as np
import pytest

from abstain.pairs import read_pairs


def codes(*given, **options):
    """The codes of the truth and what was answered: a class, or -1 for a reject."""
    pairs = read_pairs(*given, **options)
    return pairs.truth.tolist(), [pairs.labels.answers[at] for at in pairs.choice]


class TestReadPairs:
    @pytest.mark.parametrize(
        ("y_true", "y_pred"),
        [
            ([0, 1, 1], [0, -1, 1]),
            ([-1, 1, 1], [-1, 0, 1]),
            ([-3, 5, 5], [-3, -4, 5]),
            (["a", "b", "b"], ["a", "reject", "b"]),
            ([False, True, True], np.array([0, -1, 1], dtype=np.int8)),
            ([0.0, 1.0, 1.0], [0.0, -1.0, 1.0]),
        ],
    )
    def test_default_labels(self, y_true, y_pred):
        assert codes(y_true, y_pred) == ([0, 1, 1], [0, -1, 1])

    def test_pos_label_and_reject_label(self):
        pairs = read_pairs(["b", "a"], ["?", "a"], pos_label="a", reject_label="?")
        assert pairs.labels.positive == "a"
        assert (pairs.truth.tolist(), pairs.choice.tolist()) == ([1, 0], [1, 2])  # reject, then the positive class

    @pytest.mark.parametrize("y_true", [["b", "b"], [True, True]])
    def test_one_class_settles_strings_and_booleans(self, y_true):
        rejected, other = ("reject", "a") if y_true[0] == "b" else (-1, False)
        assert codes(y_true, [rejected, other], pos_label=y_true[0]) == ([1, 1], [-1, 0])

    def test_one_class_of_numbers_asks_for_the_reject_label(self):
        with pytest.raises(ValueError, match=r"does not determine the reject label; pass .* as reject_label"):
            read_pairs([1, 1], [1, 0])
        assert codes([1, 1], [1, 0], reject_label=-1) == ([1, 1], [1, 0])  # 0 is then the other class
        pairs = read_pairs([1, 1], [1, 0], pos_label=1, reject_label=0)
        positive = pairs.labels.classes.tolist().index(1)
        assert pairs.truth.tolist() == [positive] * 2
        assert pairs.choice.tolist() == [2, 1]
        assert pairs.stand_in not in (None, 0, 1)

    def test_one_class_in_all_asks_for_the_positive_one(self):
        with pytest.raises(ValueError, match=r"pass the positive one as pos_label"):
            read_pairs(["a", "a"], ["a", "reject"])
        assert codes(["a", "a"], ["a", "reject"], pos_label="b") == ([0, 0], [0, -1])

    def test_several_classes(self):
        assert codes([0, 2, 1], [0, -1, 2]) == ([0, 2, 1], [0, -1, 2])
        found = codes(["a", "b", "a"], ["?", "c", "a"], reject_label="?", known=("a", "b", "c"))
        assert found == ([0, 1, 0], [-1, 2, 0])

    def test_named_actions(self):
        pairs = read_pairs(["a", "b"], ["ask", "b"], known=("a", "b"), names=("b", "ask"))
        assert (pairs.truth.tolist(), pairs.choice.tolist()) == ([0, 1], [1, 0])
        with pytest.raises(ValueError, match=r"y_pred contains 'x', which is not one of the actions \['b', 'ask'\]"):
            read_pairs(["a", "b"], ["x", "b"], known=("a", "b"), names=("b", "ask"))

    @pytest.mark.parametrize(
        ("y_true", "y_pred", "options", "words"),
        [
            ([0, 1], [0, 2], {}, "y_pred contains 2"),
            ([0, 1], ["0", "1"], {}, "y_pred contains '0', '1'"),
            ([0, 1, 2], [0, 1, 3], {}, "y_pred contains 3"),
            ([0, 1], [0], {}, "inconsistent numbers of samples"),
            ([], [], {}, "empty"),
            ([0, 1], [0, 1], {"pos_label": 3}, "pos_label=3"),
            ([0, 1], [0, 1], {"reject_label": 1}, "is one of the classes"),
            (["reject", "b"], ["b", "b"], {}, "default reject label 'reject' is one of the classes"),
            (["a", "a"], ["b", "c"], {}, "more than one label"),
            (["a", None], ["a", "a"], {}, "y_true holds None"),
        ],
    )
    def test_errors_say_what_is_wrong(self, y_true, y_pred, options, words):
        with pytest.raises(ValueError, match=words):
            read_pairs(y_true, y_pred, **options)
