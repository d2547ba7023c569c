"""CSV tables: the reader raises a DataError or a UsageError, or gives the cells that Python's csv module finds.

An input is two bytes of options and the bytes of a CSV file. Parquet and Excel files are left out: polars and fastexcel
parse them (tests/cli/input/test_damaged_tables.py has damaged ones).
"""

from __future__ import annotations

import csv
import io
import tempfile
import warnings
from pathlib import Path
from unittest import mock

import numpy as np

from abstain.cli.exit_codes import DataError, UsageError
from abstain.cli.input.training_table import TableOptions, read_training
from abstain.cli.options import Given
from abstain.cli.tables import csv_records
from abstain.cli.tables.csv_records import GZIP, OLD_EXCEL, PARQUET, ZIP
from abstain.cli.tables.notation import Notation
from abstain.cli.tables.read_table import opened

LONGEST = 4096
DATES = (None, "days", "day-first", "month-first")
ENCODINGS = (None, None, "latin-1", "utf-16")


def run(data: bytes) -> bool:
    """Try one input; whether its table was accepted. Any error other than the reader's own is a finding."""
    if len(data) < 2 or data[2:].startswith((PARQUET, ZIP, OLD_EXCEL, GZIP)):
        return False
    first, second, raw = data[0], data[1], data[2:]
    encoding = ENCODINGS[first >> 2 & 3]
    block = (csv_records.CHUNK, 1, 16, 64)[second >> 4 & 3]  # small blocks, so that records lie across their ends
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(csv_records, "CHUNK", block):
        path = Path(folder) / "table.csv"
        path.write_bytes(raw)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                given = Given(
                    encoding=encoding,
                    decimal=".,"[first & 1],
                    thousands=(None, ",", ".", " ")[first >> 4 & 3],
                    dates=DATES[second & 3],
                    missing_value=["-999"] if first & 2 else None,
                    drop_unlabelled=bool(second & 4),
                    max_memory=1 if second & 8 else None,
                )
                if encoding is None:
                    _compare(path, given.notation, raw)
                _train(path, given)
            except (DataError, UsageError):
                return False
    return True


def _compare(path: Path, notation: Notation, raw: bytes) -> None:
    """Compare the cells and their lines with those of the csv module, which reads the file in one piece."""
    with opened(path, notation) as table:
        found = [
            (place, *row)
            for batch in table.batches
            for place, row in zip(batch.places, batch.frame.rows(), strict=True)
        ]
        columns = table.columns
    marks = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
    text = raw.decode(next((name for mark, name in marks.items() if raw.startswith(mark)), "utf-8-sig"))
    for separator in ",;\t":
        reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=separator, strict=True)
        expected, line = [], 1
        try:
            for cells in reader:
                if cells:
                    expected.append((line, *(cell or None for cell in cells)))
                line = reader.line_num + 1
        except csv.Error:
            continue
        if [tuple(columns), *found] == [expected[0][1:], *expected[1:]]:
            return
    raise AssertionError("the cells or their lines differ from those that the csv module finds")


def _train(path: Path, given: Given) -> None:
    with opened(path, given.notation) as table:
        target = table.columns[-1]
    table = read_training(path, TableOptions(given.but(target=target)))
    X = table.X
    if len(table.y) != X.height or X.columns != [*table.numeric, *table.categorical] or len(set(table.y)) != 2:
        raise AssertionError("the parts of a training table contradict each other")
    for name in table.numeric:
        if np.isinf(X[name].to_numpy()).any():
            raise AssertionError(f"the numeric column {name!r} contains infinity")
