"""What the training rows had in each column, a `SeenColumns`, as fields and arrays, and back.

Arrays have an entry for each column (`present`, `missing`), for each column of numbers (`smallest`, `largest`; 0 where
no number is present) and for each category (`counts`); the names and the categories are in the manifest.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from abstain.estimators.novelty.column_range import KEPT, LONGEST, SeenCategories, SeenColumn, SeenNumbers
from abstain.estimators.novelty.training_ranges import SeenColumns
from abstain.files.format.arrays import Arrays
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.pool import MOST_COLUMNS
from abstain.files.format.schema import TEXTS, Fields, fitting, layout, of_type, optional, stored, whole

COLUMNS = layout(present="i8 n", missing="i8 n", smallest="f8 numbers", largest="f8 numbers", counts="i8 texts")
FIELDS = {"rows": whole(), "names": optional(TEXTS), "categories": of_type(list)}
WHERE = "description of its training columns"


def seen_parts(seen: SeenColumns | None) -> tuple[dict[str, Any] | None, Arrays]:
    """Return the fields and arrays of a `SeenColumns`; None and no arrays if there is none."""
    if seen is None:
        return None, {}
    columns = seen.columns
    if len(columns) > MOST_COLUMNS:
        raise ValueError(f"estimator cannot be saved: it has more than {MOST_COLUMNS:,} columns. Use fewer, or skops.")
    numbers = [column for column in columns if isinstance(column, SeenNumbers)]
    texts = [(at, column) for at, column in enumerate(columns) if isinstance(column, SeenCategories)]
    named = any(isinstance(column.name, str) for column in columns)
    state = {
        "rows": seen.rows,
        "names": [column.name for column in columns] if named else None,
        "categories": [[at, list(column.counts)] for at, column in texts],
    }
    given = {name: [getattr(column, name) for column in columns] for name in ("present", "missing")}
    for name in ("smallest", "largest"):
        given[name] = [getattr(column, name) if column.present else 0.0 for column in numbers]
    given["counts"] = [count for _, column in texts for count in column.counts.values()]
    return state, stored(given, COLUMNS)


def seen_from(given: Any, arrays: Arrays) -> SeenColumns | None:
    """Make the value again; a ModelFileError if its parts contradict each other."""
    lengths = fitting(arrays, {} if given is None else COLUMNS, WHERE, {})
    if given is None:
        return None
    fields, n = Fields(given, WHERE), lengths["n"]
    fields.only(*FIELDS)
    refuse(n > MOST_COLUMNS, f"it has more than {MOST_COLUMNS:,} columns.")
    rows, names, texts = fields.record(FIELDS).values()
    if names is not None and (not names or len(names) != n or len({*names}) != n):
        raise _wrong("does not have one name for each column")
    names, texts = range(n) if names is None else names, _texts(texts, n)
    if lengths["numbers"] != n - len(texts) or lengths["texts"] != sum(map(len, texts.values())):
        raise _wrong("has arrays of the wrong length")
    extremes = zip(arrays["smallest"].tolist(), arrays["largest"].tolist(), strict=True)
    counts = iter(arrays["counts"].tolist())
    columns: list[SeenColumn] = []
    for at, (present, missing) in enumerate(zip(arrays["present"].tolist(), arrays["missing"].tolist(), strict=True)):
        if present < 0 or missing < 0 or present + missing != rows:
            raise _wrong("does not count every row of a column once")
        if at in texts:
            of_column = {text: next(counts) for text in texts[at]}
            columns.append(_categories(names[at], of_column, present, missing))
        else:
            columns.append(_numbers(names[at], present, missing, *next(extremes)))
    return SeenColumns(rows, tuple(columns))


def _numbers(name: str | int, present: int, missing: int, smallest: float, largest: float) -> SeenNumbers:
    if present == 0 and repr(smallest) == repr(largest) == "0.0":  # not -0.0, which is not written
        return SeenNumbers(name, 0, missing, np.inf, -np.inf)
    if present == 0 or smallest > largest or (present == 1 and smallest < largest):
        raise _wrong("has a smallest value above the largest, or values of a column without any")
    return SeenNumbers(name, present, missing, smallest, largest)


def _categories(name: str | int, counts: dict[str, int], present: int, missing: int) -> SeenCategories:
    ranked = [(-count, text) for text, count in counts.items()]
    rest = present - sum(counts.values())
    if any(count < 1 for count in counts.values()) or any(one >= two for one, two in pairwise(ranked)) or rest < 0:
        raise _wrong("has categories that are not in the order of their counts, or counts of more rows than there are")
    return SeenCategories(name, counts, rest, missing)


def _texts(given: list[Any], n: int) -> dict[int, list[str]]:
    """Return the categories of each column that has them, by its position."""
    found: dict[int, list[str]] = {}
    last = -1
    for entry in given:
        at, texts = entry if isinstance(entry, list) and len(entry) == 2 else (None, None)
        if type(at) is not int or not last < at < n or not isinstance(texts, list) or len(texts) > KEPT:
            raise _wrong("does not list categories by column")
        if not all(isinstance(text, str) and len(text) <= LONGEST for text in texts) or len({*texts}) != len(texts):
            raise _wrong("has categories that are not different texts of ordinary length")
        found[at], last = texts, at
    return found


def _wrong(what: str) -> ModelFileError:
    return ModelFileError(f"the {WHERE} {what}.")
