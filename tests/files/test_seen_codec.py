"""What training had in each column, in model files: the same value again, or a ModelFileError."""

import copy
import io
import random

import numpy as np
import pandas as pd
import pytest

from abstain.estimators.novelty import column_range as seen_column
from abstain.estimators.novelty.training_ranges import SeenColumns
from abstain.files.codecs import guard_codec as seen_codec
from abstain.files.codecs.guard_codec import seen_from, seen_parts
from abstain.files.format.container import Container, write_members
from abstain.files.format.errors import ModelFileError
from abstain.files.format.manifest import FORMAT, declared_arrays, manifest_members, packed, read_arrays, read_manifest
from looping import looped

NAN = float("nan")
TABLE = pd.DataFrame(
    {
        "age": [20.0, 70.5, NAN, 45.0],
        "city": ["Ulm", "Köln", None, "Ulm"],
        "empty": [NAN] * 4,
        "code": pd.Categorical([1, 3, 2, 3]),
        "none": pd.Categorical([None] * 4),
        "prose": ["x" * 201, "y", "y", "y"],
    }
)
TABLES = {
    "frame": TABLE,
    "array": np.arange(12.0).reshape(4, 3),
    "integers": np.arange(6).reshape(2, 3),
    "no rows": np.empty((0, 2)),
    "no columns": np.empty((2, 0)),
    "extremes": [[1e308, -0.0, float("inf")], [5e-324, 0.0, -float("inf")]],
    "hostile names": pd.DataFrame({"<b>\x1b": ["\x00", "é"]}),
    "sparse": None,
}


def written(seen):
    """The bytes of a model file that contains only this."""
    state, arrays = seen_parts(seen)
    declared, members = packed(arrays)
    file = io.BytesIO()
    manifest = {"format": FORMAT, "model": {"seen": state}, "arrays": declared}
    write_members(file, manifest_members(manifest) | members)
    return file.getvalue()


def read_back(raw):
    container = Container.of(io.BytesIO(raw), len(raw))
    fields = read_manifest(container)
    model = fields.take("model", dict)
    return seen_from(model["seen"], read_arrays(container, declared_arrays(fields, container)))


@looped(case=TABLES)
def test_a_round_trip(case):
    seen = None if TABLES[case] is None else SeenColumns.of(TABLES[case])
    raw = written(seen)
    assert read_back(raw) == seen
    assert written(read_back(raw)) == raw


def test_the_loaded_value_finds_the_same():
    seen = SeenColumns.of(TABLE)
    new = TABLE.assign(age=[-1.0, 99.0, NAN, 1.0], city=["Rom"] * 4, empty=1.0)
    assert read_back(written(seen)).outside(new).words() == seen.outside(new).words() != []


def test_long_texts_are_not_stored():
    raw = written(SeenColumns.of(TABLE))
    assert b"xxxxx" not in raw
    assert SeenColumns.of(TABLE)["prose"].rest == 1


def field(name, value):
    return lambda state, _: state.__setitem__(name, value)


def entry(name, at, value):
    return lambda _, arrays: arrays[name].__setitem__(at, value)


def array(name, change):
    return lambda _, arrays: arrays.__setitem__(name, change(arrays[name]))


CITIES = ["Ulm", "Köln"]
ROWS, ORDER, NAMES = "count every row", "order of their counts", "one name for each column"
LISTED, TEXTS, LENGTH, RANGE = "list categories", "not different texts", "wrong length", "smallest value above"
FORGED = {
    "more rows": (field("rows", 5), ROWS),
    "negative rows": (field("rows", -4), "integer >= 0"),
    "rows as a truth value": (field("rows", True), "integer >= 0"),
    "negative missing": (entry("missing", 0, -1), ROWS),
    "overflow": (entry("present", 0, 2**63 - 1), ROWS),
    "name twice": (field("names", ["age"] * 6), NAMES),
    "names too few": (field("names", ["age"]), NAMES),
    "names of numbers": (field("names", [1, 2, 3, 4, 5, 6]), "list of strings"),
    "unknown field": (field("more", 1), "unknown field 'more'"),
    "column out of range": (field("categories", [[6, CITIES]]), LISTED),
    "column twice": (field("categories", [[1, CITIES], [1, CITIES]]), LISTED),
    "columns backwards": (field("categories", [[3, []], [1, CITIES]]), LISTED),
    "column by a truth value": (field("categories", [[True, CITIES]]), LISTED),
    "categories as a text": (field("categories", [[1, "Ulm"]]), LISTED),
    "categories as fields": (field("categories", {}), "must be a list"),
    "category of no text": (field("categories", [[1, ["Ulm", None]]]), TEXTS),
    "list as a category": (field("categories", [[1, [["Ulm"]]]]), TEXTS),
    "category twice": (field("categories", [[1, ["Ulm", "Ulm"]]]), TEXTS),
    "long category": (field("categories", [[1, ["Ulm" * 100]]]), TEXTS),
    "too many categories": (field("categories", [[1, [*map(str, range(1001))]]]), LISTED),
    "categories missing": (field("categories", []), LENGTH),
    "a count missing": (array("counts", lambda old: old[1:]), LENGTH),
    "count of 0": (entry("counts", 1, 0), ORDER),
    "negative count": (entry("counts", 1, -1), ORDER),
    "other order": (entry("counts", 1, 3), ORDER),
    "count of more rows": (entry("counts", 0, 4), ORDER),
    "smallest above largest": (entry("smallest", 0, 71.0), RANGE),
    "value of an empty column": (entry("largest", 1, 1.0), RANGE),
    "minus zero of an empty column": (entry("largest", 1, -0.0), RANGE),
    "an extreme missing": (array("smallest", lambda old: old[1:]), "does not match"),
    "single precision": (array("smallest", lambda old: old.astype("<f4")), "wrong dtype"),
    "two axes": (array("counts", lambda old: old[:, np.newaxis]), "wrong dtype or number of axes"),
    "an unknown array": (lambda _, arrays: arrays.__setitem__("evil", np.zeros(1)), "unknown array 'evil'"),
    "an array missing": (lambda _, arrays: arrays.pop("counts"), "lacks the array 'counts'"),
}


@looped(case=FORGED)
def test_forged_files_are_refused(case):
    change, reason = FORGED[case]
    state, arrays = seen_parts(SeenColumns.of(TABLE))
    seen_from(copy.deepcopy(state), arrays)
    change(state, arrays)
    with pytest.raises(ModelFileError, match=reason):
        seen_from(state, arrays)


@pytest.mark.parametrize("given", [7, [], "seen", {}, {"rows": 4}])
def test_fields_of_another_form_are_refused(given):
    _, arrays = seen_parts(SeenColumns.of(TABLE))
    with pytest.raises(ModelFileError):
        seen_from(given, arrays)


def test_arrays_without_fields_are_refused():
    with pytest.raises(ModelFileError, match="unknown array"):
        seen_from(None, seen_parts(SeenColumns.of(TABLE))[1])


def test_one_number_of_a_column_with_one_row():
    state, arrays = seen_parts(SeenColumns.of([[2.0]]))
    arrays["largest"][0] = 3.0
    with pytest.raises(ModelFileError, match=RANGE):
        seen_from(state, arrays)


@pytest.mark.parametrize("name", ["present", "missing", "smallest", "largest", "counts"])
def test_random_numbers_are_refused_or_another_value(name):
    rng = random.Random(0)  # noqa: S311
    seen = SeenColumns.of(TABLE)
    refused = 0
    for _ in range(100):
        state, arrays = seen_parts(seen)
        at = rng.randrange(len(arrays[name]))
        arrays[name][at] = rng.choice([-(2**62), -1, 0, 1, 2, 3, 4, 50, 2**62])
        try:
            found = seen_from(state, arrays)
        except ModelFileError:
            refused += 1
        else:
            again = seen_parts(found)
            assert again[0] == state
            assert {key: value.tobytes() for key, value in again[1].items()} == {
                key: value.tobytes() for key, value in arrays.items()
            }
    assert 0 < refused < 100


def test_damaged_bytes_are_refused():
    raw = written(SeenColumns.of(TABLE))
    rng = random.Random(0)  # noqa: S311
    for bit in rng.sample(range(8 * len(raw)), 300):
        altered = bytearray(raw)
        altered[bit // 8] ^= 1 << bit % 8
        with pytest.raises((ModelFileError, OSError)):
            read_back(bytes(altered))
    for end in range(0, len(raw), 97):
        with pytest.raises((ModelFileError, OSError)):
            read_back(raw[:end])


def test_too_many_columns(monkeypatch):
    parts = seen_parts(SeenColumns.of(TABLE))
    monkeypatch.setattr(seen_codec, "MOST_COLUMNS", 5)
    with pytest.raises(ModelFileError, match="more than 5 columns"):
        seen_from(*parts)
    with pytest.raises(ValueError, match="more than 5 columns"):
        seen_parts(SeenColumns.of(TABLE))


def test_as_many_categories_as_are_kept():
    table = pd.DataFrame({"c": [f"town {at}" for at in range(seen_column.KEPT + 5)]})
    seen = read_back(written(SeenColumns.of(table)))
    assert (len(seen["c"].counts), seen["c"].rest) == (seen_column.KEPT, 5)


def test_of_numbers_only_the_extremes_are_stored():
    column = np.random.default_rng(0).normal(size=(50, 1))
    _, arrays = seen_parts(SeenColumns.of(column))
    stored = {number for array in arrays.values() for number in array.tolist()}
    assert stored & {*column[:, 0].tolist()} == {column.min(), column.max()}
