"""A code says whether a row is of this model and unchanged, survives other programs, and hides the role of the row."""

import math

import pytest

from abstain.review.codes import AUDITED, HANDED_ON, Drawn, canonical, code_of, recognised, unchanged

DRAWN = Drawn("h0123456789abcdef", 400, 5, 20, 30, 7)
CELLS = {"age": 1.5, "city": "Ulm", "ward": None}


@pytest.mark.parametrize("role", [AUDITED, HANDED_ON])
def test_who_has_the_model_recognises_a_row_and_its_role(role):
    code = code_of(DRAWN, 12, "model", CELLS, role)
    assert recognised(code, "model", CELLS) == (DRAWN, role == AUDITED)
    assert recognised(code, "other", CELLS) is None
    assert recognised(code, "model", CELLS | {"age": 1.6}) is None
    assert recognised(code.replace("-400-", "-401-"), "model", CELLS) is None, "the numbers of the batch count too"


@pytest.mark.parametrize("text", ["", "12", "a-b-c-d-e-f-g", "h-1-2-3-4-5", "h-1-2-3-4--5-h", "h-1-2-3-4-\u0661-h"])
def test_other_texts_are_not_codes(text):
    assert recognised(text, "model", CELLS) is None


def test_every_part_of_a_row_changes_its_code():
    codes = {
        code_of(DRAWN, 12, "model", CELLS, AUDITED),
        code_of(DRAWN, 12, "model", CELLS, HANDED_ON),
        code_of(DRAWN, 12, "other", CELLS, AUDITED),
        code_of(DRAWN, 13, "model", CELLS, AUDITED),
        code_of(DRAWN, 12, "model", CELLS | {"age": 1.5001}, AUDITED),
        code_of(DRAWN, 12, "model", CELLS | {"city": "Bonn"}, AUDITED),
        code_of(DRAWN, 12, "model", CELLS | {"ward": "x"}, AUDITED),
        code_of(DRAWN._replace(handed_on=31), 12, "model", CELLS, AUDITED),
        code_of(DRAWN._replace(over=6), 12, "model", CELLS, AUDITED),
        code_of(DRAWN, 12, "model", CELLS | {"room": None}, AUDITED),
    }
    assert len(codes) == 10


def test_the_visible_part_does_not_depend_on_the_role():
    one, other = (code_of(DRAWN, 12, "model", CELLS, role).rpartition("-") for role in (AUDITED, HANDED_ON))
    assert one[0] == other[0]
    assert one[2] != other[2]


@pytest.mark.parametrize(
    ("one", "other"),
    [(0.1 + 0.2, 0.3), (-0.0, 0.0), (3, 3.0), (math.nan, None), (" Ulm", "Ulm"), ("'=1+1", "=1+1"), ("", None)],
)
def test_what_other_programs_change_in_saving_is_the_same(one, other):
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(("one", "other"), [(1.0, 1.0001), ("a", "b"), (0.0, None), (1.0, -1.0), ("A", "a")])
def test_what_people_change_is_not(one, other):
    assert canonical(one) != canonical(other)


def test_without_the_model_a_changed_row_is_seen_and_other_columns_are_not_compared():
    code = code_of(DRAWN, 12, "model", CELLS, AUDITED)
    assert unchanged(code, dict(reversed(CELLS.items())))
    assert unchanged(code, CELLS | {"age": 1.6}) is False
    assert unchanged(code, {"age": 1.5}) is None
    for text in ("", "12", "my own row"):
        assert unchanged(text, CELLS) is False
