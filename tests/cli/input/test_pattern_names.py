"""Columns whose names polars reads as patterns for other names, * and ^...$, are refused; similar names are not."""

import polars as pl
import pytest

from cli.running import run, said

FIT = ("--target", "y", "--reject", 0.3, "--C", 10, "--gamma", 0.5)


def written(folder, name, kind):
    path = folder / f"data.{kind}"
    frame = pl.DataFrame({name: [1, 2, 3, 4], "ab": [1.5, 0.5, 0.2, 0.1], "y": ["u", "v"] * 2})
    {"csv": frame.write_csv, "parquet": frame.write_parquet}[kind](path)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["*", "^a.*$", "^.*$", "^$"])
def test_a_name_that_is_a_pattern_is_refused(tmp_path, name, kind):
    path = written(tmp_path, name, kind)
    result = run("fit", path, *FIT, "-o", tmp_path / "model")
    assert result.exit_code == 3
    assert said(result).startswith(f"abstain: {path} names a column {name!r}, which polars reads as a pattern")
    assert said(result).endswith("rename it.")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["**", "a*", "^a", "a$", "$^", " *"])
def test_a_similar_name_is_a_name(tmp_path, name, kind):
    assert run("fit", written(tmp_path, name, kind), *FIT, "-o", tmp_path / "model").exit_code == 0
