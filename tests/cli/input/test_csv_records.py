"""Whatever Python's csv module writes, we read back cell by cell, with the right line numbers."""

import csv
import io

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from abstain.cli.exit_codes import DataError
from abstain.cli.tables import csv_records
from abstain.cli.tables.read_table import opened
from cli.running import run, said

# NUL, lone surrogates and CR outside quotes are faults of their own; csv.writer does not quote a CR.
CELL = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=8)
TABLE = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1, max_size=6)
)


def read(path):
    """All cells, empty ones as None, and their places."""
    with opened(path) as table:
        batches = list(table.batches)
    cells = [list(row) for batch in batches for row in batch.frame.iter_rows()]
    return table.columns, cells, [place for batch in batches for place in batch.places]


ENDS, QUOTING = st.sampled_from(["\n", "\r\n"]), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])


@given(rows=TABLE, end=ENDS, separator=st.sampled_from(",;\t|"), quoting=QUOTING)
def test_what_the_csv_module_writes_is_read_back(tmp_path_factory, rows, end, separator, quoting):
    assume(len(rows[0]) > 1 or separator == ",")  # the header of one column does not show another separator
    written = io.StringIO()
    writer = csv.writer(written, delimiter=separator, lineterminator=end, quoting=quoting)
    names = [f"c{at}" for at in range(len(rows[0]))]
    writer.writerow(names)
    places = []
    for row in rows:
        places.append(written.getvalue().count("\n") + 1)
        writer.writerow(row)
    path = tmp_path_factory.mktemp("table") / "table.csv"
    path.write_bytes(written.getvalue().encode())
    columns, cells, found = read(path)
    assert columns == names
    assert [[cell or "" for cell in row] for row in cells] == rows
    assert found == places


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=;\r"])
def test_a_line_above_the_names_may_state_the_separator(tmp_path, first):
    path = tmp_path / "table.csv"
    path.write_text(f"{first}\na,x,y;b\n1;2\n", encoding="utf-8")
    assert read(path) == (["a,x,y", "b"], [["1", "2"]], [3])
    path.write_text(f"{first}\na;a\n1;2\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 2 names columns 1 and 2 both 'a'"):
        read(path)


def test_chunks_join_to_the_whole(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" + "".join(f"{at},x{at}\n" for at in range(1000)), encoding="utf-8")
    whole = read(path)
    monkeypatch.setattr(csv_records, "CHUNK", 50)
    assert read(path) == whole
    with opened(path) as table:
        assert len(list(table.batches)) > 100


def test_a_fault_in_a_late_chunk_keeps_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_records, "CHUNK", 50)
    path = tmp_path / "table.csv"
    path.write_bytes(b"a,b\n" + b'1,"x\ny"\n' * 100 + b"1,\xff\n")
    with opened(path) as table, pytest.raises(DataError, match="line 202 is not UTF-8"):
        list(table.batches)


def test_a_line_without_end_is_refused(tmp_path, monkeypatch, model):
    monkeypatch.setattr(csv_records, "LONGEST", 1 << 20)
    path = tmp_path / "table.csv"
    path.write_bytes(b"a" * (1 << 21))
    result = run("predict", model, path)
    assert result.exit_code == 3
    assert "line 1 is longer than 1 MB" in said(result)


@pytest.mark.parametrize(("length", "fits"), [(16 << 20, True), ((16 << 20) + 1, False), (17_000_000, False)])
@pytest.mark.parametrize("before", [0, 1000, (1 << 20) - 20], ids=["first", "later", "across blocks"])
def test_a_line_has_at_most_16_MB(tmp_path, length, fits, before):
    """The bytes that a block had of the line did not count: 17,000,000 passed."""
    path = tmp_path / "table.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * (before // 4) + b"1," + b"x" * (length - 3) + b"\n3,4\n")
    with opened(path) as table:
        if fits:
            assert sum(batch.frame.height for batch in table.batches) == before // 4 + 2
            return
        with pytest.raises(DataError, match=f"line {before // 4 + 2} is longer than 16 MB; this is not a table"):
            list(table.batches)


def test_a_quote_never_closed_ends_the_reading(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_records, "LONGEST", 1 << 16)
    path = tmp_path / "table.csv"
    path.write_bytes(b'a,b\n1,2\n3,"4\n' + b"5,6\n" * (1 << 20))
    with path.open("rb") as file:
        with pytest.raises(DataError, match="line 3 opens a quote that is never closed"):
            list(csv_records.Records(file, path).batches())
        assert file.tell() < 1 << 21, "all of the file was read"


def test_a_cell_may_be_long(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('a,b\n1,"' + "x" * 200_000 + '"\n', encoding="utf-8")
    assert len(read(path)[1][0][1]) == 200_000


def test_quotes_change_nothing_but_the_parser(tmp_path, monkeypatch):
    """A block without quotes is parsed by polars, the same cells in quotes by the csv module."""
    monkeypatch.setattr(csv_records, "CHUNK", 40)
    cells = [f"{at}, x ,\u00e4{at % 7},{'NA' * (at % 2)},\ufeff,'" for at in range(100)]
    plain, quoted = tmp_path / "plain.csv", tmp_path / "quoted.csv"
    plain.write_text("a,b,c,d,e,f\n" + "\r\n".join(cells), encoding="utf-8")
    in_quotes = [",".join(f'"{cell}"' for cell in line.split(",")) for line in cells]
    quoted.write_text("a,b,c,d,e,f\n" + "\r\n".join(in_quotes), encoding="utf-8")
    assert read(plain) == read(quoted)


def test_a_long_and_a_short_row_do_not_make_up_for_each_other(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"a,b,c\n1,2,3\n1,2\n1,2,3,4\n")
    with opened(path) as table, pytest.raises(DataError, match="line 3 has 2 cells"):
        list(table.batches)
    path.write_bytes(b"a,b,c\n1,2,3,4\n1,2\n1,2,3\n")
    with opened(path) as table, pytest.raises(DataError, match="line 2 has 4 cells"):
        list(table.batches)


@pytest.mark.timeout(60)
def test_the_header_is_checked_in_linear_time(tmp_path):
    # comparing each of the names with all others takes minutes
    path = tmp_path / "table.csv"
    names = [f"c{at}" for at in range(200_000)]
    path.write_text(",".join(names) + "\n", encoding="utf-8")
    with opened(path) as table:
        assert table.columns == names


def test_a_header_may_hold_quotes_and_line_breaks(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b'"a ""b""\nc",d\n1,"2\r3"\n')
    assert read(path) == (['a "b"\nc', "d"], [["1", "2\r3"]], [3])


@pytest.mark.parametrize("suffix", [".parquet", ".pq"])
def test_parquet_gives_the_same_rows(tmp_path, suffix):
    import polars as pl

    path = tmp_path / f"table{suffix}"
    frame = pl.DataFrame({"n": [1.5, None], "c": pl.Series(["x", "y"], dtype=pl.Categorical), "t": [True, None]})
    frame.write_parquet(path)
    assert read(path) == (["n", "c", "t"], [[1.5, "x", "true"], [None, "y", None]], [1, 2])


def test_files_that_are_not_parquet_or_are_empty_are_refused(tmp_path, model):
    import polars as pl

    path = tmp_path / "table.parquet"
    path.write_bytes(b"PAR1 and nothing else PAR1")
    result = run("predict", model, path)
    assert result.exit_code == 3
    assert "cannot be read as Parquet" in said(result)
    pl.DataFrame({"age": [], "city": []}).write_parquet(path)
    result = run("predict", model, path)
    assert result.exit_code == 3
    assert "the table has no rows; add some" in said(result)


def test_a_parquet_column_of_dates_is_refused_by_name(tmp_path):
    import datetime as dt

    import polars as pl

    path = tmp_path / "table.parquet"
    pl.DataFrame({"when": [dt.date(2020, 1, 1)] * 4, "x": [1, 2, 3, 4], "answer": list("abab")}).write_parquet(path)
    arguments = ("fit", path, "--target", "answer", "--reject", 0.2, "--C", 1, "--gamma", 1, "-o", tmp_path / "m")
    result = run(*arguments)
    assert result.exit_code == 3
    assert "column 'when' contains dates" in said(result)
    assert run(*arguments, "--ignore", "when").exit_code == 0
