"""Numbers in other notations are read when stated, refused with the option when not, and never become categories."""

import json

import numpy as np
import polars as pl
import pytest

from abstain.cli.exit_codes import UsageError
from abstain.cli.input.training_table import TableOptions, read_training
from abstain.cli.options import Given
from abstain.cli.tables.notation import Notation, looks_grouped
from cli.running import run, said

NUMBERS = [1234.5, 987654.25, 12.75, 3400.5, 1000000.5, 999.25] * 5
FIT = ("--target", "answer", "--reject", 0.3, "--C", 1, "--gamma", 1)


def written(number, decimal, thousands):
    whole, _, rest = f"{number:,.2f}".partition(".")
    return whole.replace(",", thousands) + decimal + rest


WAYS = {
    "comma": (",", "", ("--decimal", ","), "'1234,50' has a decimal comma; pass --decimal ','"),
    "comma, point": (",", ".", ("--decimal", ",", "--thousands", "."), "pass --decimal ',' --thousands '.'"),
    "point, comma": (
        ".",
        ",",
        ("--thousands", ","),
        "commas between thousands and a decimal point; pass --thousands ','",
    ),
    "comma, space": (",", " ", ("--decimal", ",", "--thousands", "space"), "pass --decimal ',' --thousands space"),
    "comma, narrow space": (
        ",",
        "\u202f",
        ("--decimal", ",", "--thousands", " "),
        "pass --decimal ',' --thousands space",
    ),
    "point, apostrophe": (".", "'", ("--thousands", "'"), 'pass --thousands "\'"'),
}


def write(path, texts):
    rows = "".join(f"{text};{at % 3};{'ab'[at % 2]}\n" for at, text in enumerate(texts))
    path.write_text("x;z;answer\n" + rows, encoding="utf-8")
    return path


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "plain_model"
    data = write(tmp_path / "plain.csv", [f"{number:.2f}" for number in NUMBERS])
    assert run("fit", data, *FIT, "-o", path).exit_code == 0
    return path


@pytest.mark.parametrize(("decimal", "thousands", "options", "text"), WAYS.values(), ids=WAYS)
def test_a_notation_is_named_and_then_read(tmp_path, plain, decimal, thousands, options, text):
    data = write(tmp_path / "data.csv", [written(number, decimal, thousands) for number in NUMBERS])
    arguments = ("fit", data, *FIT, "-o", tmp_path / "model")
    refused = run(*arguments)
    assert refused.exit_code == 3
    assert text in said(refused)
    assert run(*arguments, *options).exit_code == 0
    assert (tmp_path / "model").read_bytes() == plain.read_bytes()
    for command in ("predict", "evaluate"):  # also where only the model says that the column contains numbers
        refused = run(command, plain, data)
        assert refused.exit_code == 3
        assert text in said(refused)
        assert run(command, plain, data, *options).exit_code == 0
    assert run("compare", data, "--target", "answer", "--reject", 0.3).exit_code == 3


def numbers(notation, texts):
    return texts.to_frame().select(notation.number(pl.first())).to_series().to_list()


def test_the_numbers_are_those_written():
    for decimal, thousands, *_ in WAYS.values():
        notation = Notation(decimal=decimal, thousands="" if not thousands else thousands.replace("\u202f", " "))
        texts = pl.Series(
            [written(number, decimal, thousands) for number in NUMBERS] + ["-1", "+2", f"1{decimal}5e3", ""]
        )
        np.testing.assert_array_equal(numbers(notation, texts)[:-1], [*NUMBERS, -1, 2, 1500])
        assert numbers(notation, texts)[-1] is None


@pytest.mark.parametrize("text", ["1.5", "1.2345", "12.34.567", "1,2,3", "1.234,5.6", "x", "1..234", "+", ","])
def test_what_is_not_in_the_notation_is_not_a_number(text):
    assert numbers(Notation(decimal=",", thousands="."), pl.Series([text])) == [None]


def test_decimal_points_are_refused_where_commas_are_stated(tmp_path, plain):
    data = write(tmp_path / "data.csv", ["1.5", "2.25", "17.125"] * 10)
    result = run("predict", plain, data, "--decimal", ",")
    assert result.exit_code == 3
    assert "'1.5' has a decimal point; pass --decimal '.'" in said(result)


def test_a_comma_that_may_be_either_is_asked_about(tmp_path):
    data = write(tmp_path / "data.csv", [f"{at},250" for at in range(1, 31)])
    result = run("fit", data, *FIT, "-o", tmp_path / "model")
    assert result.exit_code == 3
    assert "pass --decimal ',' if it is a decimal comma, --thousands ',' if it separates thousands" in said(result)
    read = read_training(data, TableOptions(Given(target="answer", decimal=",")))
    assert read.X["x"].to_list()[:2] == [1.25, 2.25]


@pytest.mark.parametrize(
    ("texts", "warned"),
    [
        (["950", "1.200", "15.000", "7.350"], True),
        (["11.200", "15.000", "7.300", "8.100"], True),
        (["1.429", "2.571", "3.143", "4.857"], False),  # three decimals
        (["0.950", "1.200", "15.000", "7"], False),
        (["1.5", "1.200", "15.000", "7"], False),
        (["950", "1200", "15000", "7"], False),
        (["1950", "1.200", "15.000", "7.000"], False),
    ],
)
def test_points_that_may_separate_thousands_are_said(tmp_path, texts, warned):
    assert looks_grouped(pl.Series(texts)) is warned
    data = write(tmp_path / "data.csv", texts * 8)
    result = run("fit", data, *FIT, "-o", tmp_path / "model")
    assert result.exit_code == 0
    assert ("if they separate thousands, pass --thousands '.' --decimal ','" in result.stderr) is warned


@pytest.mark.parametrize("form", ["{}%", "{} %", "${}", "{:,} EUR", "\u20ac {}", "-{} \u20ac"])
def test_prices_and_shares_are_not_categories(tmp_path, form):
    data = write(tmp_path / "data.csv", [form.format(1000 + at % 9) for at in range(30)])
    result = run("fit", data, *FIT, "-o", tmp_path / "model")
    assert result.exit_code == 3
    assert "has a currency or percent sign; write plain numbers, or pass --categorical 'x'" in said(result)
    doses = write(tmp_path / "doses.csv", [f"{10 * (1 + at % 4)} mg" for at in range(30)])
    assert run("fit", doses, *FIT, "-o", tmp_path / "model").exit_code == 0


def test_a_text_that_means_missing_is_offered_and_kept_in_the_model(tmp_path):
    data = write(tmp_path / "data.csv", ["1.5", "2.5", "?", "3.5", "4.5"] * 6)
    arguments = ("fit", data, *FIT, "-o", tmp_path / "model")
    assert "'?' is not a number" in said(run(*arguments))
    assert "pass --missing-value '?'" in said(run(*arguments))
    facts = json.loads(run(*arguments, "--missing-value", "?", "--json").stdout)
    assert facts["read_as_missing"] == ["?"]
    assert run("predict", tmp_path / "model", data).exit_code == 0
    other = write(tmp_path / "other.csv", ["1.5", "!"])
    assert "'!' is not a number" in said(run("predict", tmp_path / "model", other))
    assert run("predict", tmp_path / "model", other, "--missing-value", "!").exit_code == 0


def test_a_missing_value_is_given_in_the_notation_of_the_table(tmp_path):
    data = write(tmp_path / "data.csv", ["1,5", "2,5", "-99,9", "3,5", "4,5"] * 6)
    given = Given(target="answer", decimal=",", missing_value=["-99,9", "a,b"])
    assert given.notation.missing == ("-99.9", "a,b")
    assert read_training(data, TableOptions(given)).X["x"].is_nan().sum() == 6


@pytest.mark.parametrize(
    "given", [("--decimal", ";"), ("--thousands", "x"), ("--decimal", ",", "--thousands", ","), ("--dates", "weeks")]
)
def test_an_impossible_notation_is_refused(table, model, given):
    result = run("predict", model, table, *given)
    assert result.exit_code == 2
    assert "must be" in said(result)


def test_a_notation_checks_itself():
    assert Notation.of(None, ".", None, None, None) == Notation()
    with pytest.raises(UsageError, match=r"--thousands '\.' must be one of"):
        Notation.of(None, ".", ".", None, None)
