"""What training had in each column, counted the same from every kind of table, and what of new rows is outside it."""

import copy
import datetime as dt
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from abstain.estimators.novelty import column_range as seen_column
from abstain.estimators.novelty.column_range import SeenCategories, SeenNumbers
from abstain.estimators.novelty.training_ranges import SeenColumns

NAN, INF = float("nan"), float("inf")
AGES, CITIES = [20.0, None, 70.0, 45.0], ["Ulm", "Bonn", None, "Ulm"]
EXPECTED = (SeenNumbers("age", 3, 1, 20.0, 70.0), SeenCategories("city", {"Ulm": 2, "Bonn": 1}, 0, 1))


def by_position(columns):
    return tuple(type(one)(at, *list(vars(one).values())[1:]) for at, one in enumerate(columns))


def as_objects():
    return np.array([AGES, CITIES], dtype=object).T


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (pd.DataFrame({"age": AGES, "city": CITIES}), EXPECTED),
        (pd.DataFrame({"age": pd.array([20, None, 70, 45], "Int64"), "city": pd.Categorical(CITIES)}), EXPECTED),
        (pd.DataFrame({"age": AGES, "city": pd.array(CITIES, "string")}), EXPECTED),
        (pl.DataFrame({"age": AGES, "city": CITIES}), EXPECTED),
        (pl.DataFrame({"age": AGES, "city": pl.Series(CITIES, dtype=pl.Categorical)}), EXPECTED),
        (pd.DataFrame({0: AGES, 1: CITIES}), by_position(EXPECTED)),
        (as_objects(), by_position(EXPECTED)),
    ],
)
def test_every_table_gives_the_same_counts(table, expected):
    seen = SeenColumns.of(table)
    assert (seen.rows, seen.columns) == (4, expected)
    assert not seen.outside(table)


def test_arrays_by_position_are_those_of_numpy():
    X = np.random.default_rng(0).normal(size=(50, 19))  # more columns than are read together
    X[3, 2] = X[4, 2] = NAN
    for array in (X, np.asfortranarray(X), X.tolist()):
        seen = SeenColumns.of(array)
        assert [column.name for column in seen] == [*range(19)]
        assert [column.smallest for column in seen] == np.nanmin(X, axis=0).tolist()
        assert [column.largest for column in seen] == np.nanmax(X, axis=0).tolist()
        assert [column.missing for column in seen] == [0, 0, 2] + [0] * 16
    assert SeenColumns.of(X.astype(np.float32))[5].largest == float(X[:, 5].max().astype(np.float32))


def test_missing_and_infinite_cells_of_floats():
    X = np.random.default_rng(0).normal(size=(40, 5))
    X[3:20, 0], X[:, 1], X[5, 2], X[6, 3] = NAN, NAN, INF, -INF
    most = np.finfo(np.float64).max
    found = SeenColumns.of(X).columns
    assert [one.missing for one in found] == [17, 40, 0, 0, 0]
    assert [one.present for one in found] == [23, 0, 40, 40, 40]
    assert (found[0].smallest, found[0].largest) == (np.nanmin(X[:, 0]), np.nanmax(X[:, 0]))
    assert (found[1].smallest, found[1].largest) == (INF, -INF)
    assert (found[2].largest, found[3].smallest) == (most, -most)
    assert found == by_position(SeenColumns.of(pd.DataFrame(X).add_prefix("c")).columns)


def test_booleans_are_numbers():
    cells = [True, False, True]
    for table in (np.array(cells)[:, np.newaxis], pd.DataFrame([cells]).T, pl.DataFrame({"b": cells})):
        (column,) = SeenColumns.of(table)
        assert (column.present, column.smallest, column.largest) == (3, 0.0, 1.0)


@pytest.mark.parametrize("library", [pd, pl])
def test_dates_are_days(library):
    dates = [dt.datetime.fromisoformat("1970-01-11"), None, dt.datetime.fromisoformat("1969-12-31T12:00")]
    (column,) = SeenColumns.of(library.DataFrame({"day": dates}))
    assert column == SeenNumbers("day", 2, 1, -0.5, 10.0)
    in_paris = pd.DataFrame({"day": pd.to_datetime(["1970-01-11T01:00+01:00"]).tz_convert("Europe/Paris")})
    assert SeenColumns.of(in_paris)["day"].largest == 10.0


@pytest.mark.parametrize("X", [sparse.csr_matrix(np.eye(3)), sparse.csc_array(np.eye(3)), [1.0, 2.0], np.eye(2) * 1j])
def test_no_counts_of_sparse_and_odd_tables(X):
    assert SeenColumns.of(X) is None
    with pytest.raises(ValueError, match="X must be a table"):
        SeenColumns.of(np.eye(3)).outside(X)


def test_words_name_the_extremes():
    radius = pd.DataFrame({"mean radius": np.linspace(6.981, 28.11, 426)})
    seen = SeenColumns.of(radius)
    assert seen.outside(radius).words() == []
    new = pd.DataFrame({"mean radius": np.linspace(69.81, 281.1, 143)})
    assert seen.outside(new).words() == [
        "column 'mean radius': 143 of 143 rows are above the largest value in training, 28.11 (largest here: 281.1)."
    ]
    new.iloc[0] = -1.5
    below = "1 of 143 rows is below the smallest value in training, 6.981 (smallest here: -1.5)"
    assert f"{below}; 142 of 143 rows are above" in seen.outside(new).words()[0]


def test_categories_and_gaps_in_words_and_facts():
    seen = SeenColumns.of(pd.DataFrame({"age": [1.0, 2.0], "city": ["Ulm", "Bonn"], "empty": [NAN, NAN]}))
    new = pd.DataFrame({"age": [1.0, NAN, 9.0], "city": ["Rome", "Oslo", "Rome"], "empty": [NAN, 5.0, NAN]})
    outside = seen.outside(new)
    age = "column 'age': 1 of 3 rows is above the largest value in training, 2 (largest here: 9); 1 of 3 rows has no "
    assert outside.words() == [
        "column 'city': 3 of 3 rows have 2 categories that did not occur in training, such as 'Rome', 'Oslo'.",
        f"{age}value; in training every row had one.",
        "column 'empty': 1 of 3 rows has a value; in training none had one.",
    ]
    ranges = {"below": 0, "above": 1, "rows": 3}
    empty = {"smallest in training": None, "largest in training": None, "smallest": 5.0, "largest": 5.0}
    assert outside.facts() == {
        "unseen categories": [{"column": "city", "rows": 3, "categories": 2, "such as": ["Rome", "Oslo"]}],
        "outside the range": [
            {
                "column": "age",
                **ranges,
                "smallest in training": 1.0,
                "largest in training": 2.0,
                "smallest": 1.0,
                "largest": 9.0,
            },
            {"column": "empty", **ranges, **empty},
        ],
        "newly missing": [{"column": "age", "rows": 1}],
    }


def test_missing_cells_are_outside_only_if_training_had_none():
    seen = SeenColumns.of([[1.0, NAN], [2.0, 3.0]])
    assert [one.newly_missing for one in seen.outside([[NAN, NAN]]).columns] == [1, 0]


def test_batches_add_up_to_the_whole():
    rng = np.random.default_rng(1)
    seen = SeenColumns.of(pd.DataFrame({"x": rng.normal(size=20), "c": rng.choice([*"abc"], 20)}))
    new = pd.DataFrame({"x": 5 * rng.normal(size=60), "c": rng.choice([*"abcdefg"], 60)})
    new.iloc[7] = [NAN, None]
    parts = [seen.outside(new.iloc[at : at + 9]) for at in range(0, 60, 9)]
    assert sum(parts) == seen.outside(new)
    assert sum(parts[1:]) != seen.outside(new)
    x, c = seen.outside(new).columns
    assert (x.below, x.above) == ((new["x"] < seen["x"].smallest).sum(), (new["x"] > seen["x"].largest).sum())
    assert c.unseen == new["c"][new["c"] > "c"].value_counts().to_dict()


def test_only_the_largest_counts_are_named():
    seen = SeenColumns.of(np.zeros((1, 9)))
    new = np.tril(np.ones((9, 9)))  # 9 rows above in column 0, 8 in column 1, ...
    words = seen.outside(new).words(3)
    assert [text.split(":")[0] for text in words[:3]] == ["column 0", "column 1", "column 2"]
    assert words[3] == "and 6 more columns have values that are outside those in training."
    assert seen.outside(new).words(8)[-1] == "and 1 more column has values that are outside those in training."
    assert len(seen.outside(new).words(9)) == 9


def test_many_categories_are_counted_together(monkeypatch):
    monkeypatch.setattr(seen_column, "KEPT", 2)
    table = pd.DataFrame({"c": [*"aaabbcd"]})
    (column,) = seen = SeenColumns.of(table)
    assert column == SeenCategories("c", {"a": 3, "b": 2}, 2, 0)
    assert not seen.outside(table)  # c and d are not unseen
    assert (seen.outside(table).columns[0].known, seen.outside(table).columns[0].present) == ((3, 2), 7)


def test_sums_keep_the_most_frequent_of_many_unseen_categories():
    seen = SeenColumns.of(pd.DataFrame({"c": ["a"]}))
    parts = [pd.DataFrame({"c": [f"{at}" for at in range(first, first + 600)] + ["often"]}) for first in (0, 600)]
    (column,) = sum(seen.outside(part) for part in parts).columns
    assert (len(column.unseen), column.unseen["often"], column.hidden, column.unseen_rows) == (1000, 2, 201, 1202)
    assert "1,202 of 1,202 rows have more than 1,000 categories that did not occur" in column.words()


def test_dates_in_words():
    outside = SeenColumns.of([[0.0], [10.5]]).outside([[-0.5], [1e300]])
    (words,) = outside.words(dates=[0])
    assert "below the smallest value in training, 1970-01-01 (smallest here: 1969-12-31)" in words
    assert "above the largest value in training, 1970-01-11 (largest here: 1e+300)" in words


def test_other_rows_are_counted_in_the_same_categories():
    seen = SeenColumns.of(pd.DataFrame({"x": [1.0, NAN], "c": ["a", "b"], "code": pd.Categorical([1, 2])}))
    new = pd.DataFrame({"code": [2, 2, 3], "c": ["b", "z", None], "x": ["4", "many", None]})  # in another order
    counted = [(column.known, column.unseen, column.present, column.missing) for column in seen.outside(new).columns]
    assert counted == [((), {"many": 1}, 1, 1), ((0, 1), {"z": 1}, 2, 1), ((0, 2), {"3": 1}, 3, 0)]
    assert seen.outside(new).columns[0].words() == (
        "column 'x': 1 of 3 rows is above the largest value in training, 1 (largest here: 4); 1 of 3 rows has text "
        "where training had numbers, such as 'many'."
    )


def test_columns_are_found_by_name_or_place():
    seen = SeenColumns.of(pd.DataFrame({"a": [1.0], "b": [2.0]}))
    assert not seen.outside(pl.DataFrame({"more": ["x"], "b": [2.0], "a": [1.0]}))
    assert not seen.outside(np.array([[1.0, 2.0]]))
    with pytest.raises(ValueError, match="lacks the column 'b'"):
        seen.outside(pd.DataFrame({"a": [1.0]}))
    with pytest.raises(ValueError, match="X has 3 columns, but the training rows had 2"):
        seen.outside(np.eye(3))
    with pytest.raises(KeyError):
        seen["c"]


def test_infinite_values_are_the_largest_number():
    assert not SeenColumns.of([[1.0], [INF]]).outside([[INF]])
    assert SeenColumns.of([[1.0], [2.0]]).outside([[-INF], [INF]]).columns[0].count == 2


def test_the_value_is_frozen_and_can_be_copied():
    seen = SeenColumns.of(pd.DataFrame({"age": AGES, "city": CITIES}))
    assert pickle.loads(pickle.dumps(seen)) == copy.deepcopy(seen) == seen  # noqa: S301
    assert hash(seen) == hash(copy.deepcopy(seen))
    with pytest.raises(AttributeError):
        seen.rows = 7


def test_tables_without_rows():
    seen = SeenColumns.of(pd.DataFrame({"x": [1.0], "c": ["a"]}))
    assert not seen.outside(pd.DataFrame({"x": [], "c": []}))
    assert SeenColumns.of(np.empty((0, 2)))[0] == SeenNumbers(0, 0, 0, INF, -INF)


def test_texts_in_a_column_that_was_empty():
    seen = SeenColumns.of(pd.DataFrame({"note": [None, None]}))
    assert seen.outside(pd.DataFrame({"note": ["x", None]})).words() == [
        "column 'note': 1 of 2 rows has text where training had no value, such as 'x'."
    ]
