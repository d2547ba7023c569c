import math

import pytest

from abstain.report.text import amount, cell, plain, share, unique_names


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("yes", "yes"),
        (3, "3"),
        ("", "(empty)"),
        ("a\nb\0", "a⟨U+000A⟩b⟨U+0000⟩"),
        ("\u202efdp", "⟨U+202E⟩fdp"),
        ("\ud800", "?"),
        ("שלום", "שלום"),
        ("👩\u200d🔬", "👩\u200d🔬"),
    ],
)
def test_text_is_one_line_with_nothing_invisible(value, shown):
    assert plain(value) == shown


def test_long_text_keeps_its_two_ends():
    shown = plain("head" + "x" * 1000 + "tail", 40)
    assert len(shown) == 40
    assert (shown[:4], shown[-4:]) == ("head", "tail")
    assert "…" in shown


def test_classes_that_look_alike_are_told_apart():
    assert unique_names(["a", "b"]) == ("a", "b")
    below, above = unique_names("a" * 100 + one + "b" * 100 for one in "12")
    assert below != above


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (0.3, "0.3"), (-1.23456, "−1.235"), (1e-5, "1e−5"), (123456.0, "1.235e5"), (-math.inf, "−∞")],
)
def test_amounts(value, shown):
    assert amount(value) == shown


def test_what_is_not_a_number_is_not_available():
    assert amount(math.nan) == share(math.nan) == "n/a"
    assert (share(0.1234), share(0.0025), share(0), share(1.0)) == ("12.3 %", "0.3 %", "0.0 %", "100.0 %")
    assert (cell(0.123456), cell("x"), cell(True), cell(1234567)) == ("0.1235", "x", "True", "1234567")
