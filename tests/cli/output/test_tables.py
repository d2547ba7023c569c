"""Tables are written as what their names say, with the same cells in each kind."""

import sys

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from abstain.cli.input.columns import typed
from abstain.cli.output import tables
from abstain.cli.tables.read_table import opened
from cli.running import EVEN, run, said, write_table

READERS = {".csv": pl.read_csv, ".parquet": pl.read_parquet, ".xlsx": pl.read_excel}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A table with an identifier, a code, a formula and a link, and a model of the other columns."""
    folder = tmp_path_factory.mktemp("tables")
    lines = write_table(folder / "plain.csv").read_text(encoding="utf-8").splitlines()
    own = ["id,code,card,text", *(f"{100 + at},0{at},{10**15 + at},=1+{at}" for at in range(len(lines) - 1))]
    (folder / "data.csv").write_text("\n".join(map(",".join, zip(own, lines, strict=True))) + "\n", encoding="utf-8")
    result = run("fit", folder / "plain.csv", *EVEN, "-o", folder / "model")
    assert result.exit_code == 0, result.output
    return folder


@pytest.mark.parametrize("kind", [".xlsx", ".parquet", ".pq", ".PARQUET"])
def test_each_kind_has_the_cells_of_the_csv(files, tmp_path, kind):
    for suffix in (".csv", kind):
        assert run("predict", files / "model", files / "data.csv", "-o", tmp_path / f"out{suffix}").exit_code == 0
    texts = {"code": pl.String, "card": pl.String}
    expected = pl.read_csv(tmp_path / "out.csv", schema_overrides=texts)
    expected = expected.with_columns(pl.col("text").str.strip_prefix("'"))  # which only a CSV needs
    found = (pl.read_excel if kind == ".xlsx" else pl.read_parquet)(tmp_path / f"out{kind}")
    assert_frame_equal(found, expected)
    assert found.schema["id"] == pl.Int64
    assert found.schema["age"] == pl.Float64
    assert found["text"][0] == "=1+0"
    with pytest.raises(AssertionError):  # control: a cell that differs is seen
        assert_frame_equal(found, expected.with_columns(pl.col("score") + 1e-3))


def test_the_types_of_a_parquet_file_are_kept(files, tmp_path):
    given = pl.read_csv(files / "data.csv").with_columns(pl.col("code").cast(pl.String), seen=pl.lit(True))
    given.write_parquet(tmp_path / "data.parquet")
    for kind in (".parquet", ".xlsx"):
        result = run("predict", files / "model", tmp_path / "data.parquet", "-o", tmp_path / f"out{kind}")
        assert result.exit_code == 0, result.output
    found = pl.read_parquet(tmp_path / "out.parquet")
    assert_frame_equal(found[given.columns], given.with_columns(seen=pl.lit("true")))
    assert pl.read_excel(tmp_path / "out.xlsx")["card"].to_list() == given["card"].to_list()


@pytest.mark.parametrize("name", ["out.txt", "out.tsv", "out", "out.xls", "out.csv.gz", "out.json"])
def test_other_endings_name_the_ones_that_are_allowed(files, tmp_path, name):
    for command in (("predict", files / "model", files / "data.csv", "-o"), ("demo", "--csv")):
        result = run(*command, tmp_path / name)
        assert result.exit_code == 2
        assert "must end in .csv, .parquet or .xlsx" in said(result)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", [*READERS])
def test_the_biopsies_are_written_in_each_kind(tmp_path, kind):
    assert run("demo", "--csv", tmp_path / f"b{kind}").exit_code == 0
    frames = [READERS[kind](tmp_path / f"b{part}{kind}") for part in ("", "_new")]
    assert [frame.shape for frame in frames] == [(284, 31), (285, 31)]


def test_a_workbook_needs_its_package(files, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "find_spec", lambda _: None)
    result = run("predict", files / "model", files / "data.csv", "-o", tmp_path / "out.xlsx")
    assert (result.exit_code, "pip install 'abstain[excel]'" in said(result)) == (2, True)
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)  # and only a workbook does
    assert run("predict", files / "model", files / "data.csv", "-o", tmp_path / "out.parquet").exit_code == 0


def test_what_a_sheet_cannot_hold_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "MOST_ROWS", 3)
    for frame in (pl.DataFrame({"a": np.arange(4)}), pl.DataFrame({"a": ["x" * 40_000]})):
        writing = tables.table_written(tmp_path / "out.xlsx", force=False)
        with pytest.raises(tables.UsageError, match=r"write a \.parquet"), writing as write:
            write(frame)
    with tables.table_written(tmp_path / "out.xlsx", force=False) as write:  # control
        write(pl.DataFrame({"a": ["x" * 1000] * 3}))
    assert [path.name for path in tmp_path.iterdir()] == ["out.xlsx"]


def test_cells_of_a_csv_are_numbers_where_all_are(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,d,e\n1,1.5,01,NA,x\n 2 ,,2,,1\n-3,2,3,,2\n", encoding="utf-8")
    with opened(path) as table:
        (batch,) = table.batches
        found = typed(table, batch.frame)
    kinds = {"a": pl.Int64, "b": pl.Float64, "c": pl.String, "d": pl.Float64, "e": pl.String}
    assert dict(found.schema) == kinds
    assert found["a"].to_list() == [1, 2, -3]
    assert found["b"].to_list() == [1.5, None, 2.0]
