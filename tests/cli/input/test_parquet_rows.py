"""Parquet files as rows: the preprocessing of `default_pipeline`, fitted and applied a part at a time."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from abstain.cli.exit_codes import DataError
from abstain.cli.input.parquet_rows import ParquetRows
from abstain.costs import Costs
from abstain.estimators.linear_svc import LinearRejectSVC
from abstain.preprocessing import default_pipeline


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    n = 300
    size = np.where(rng.random(n) < 0.1, None, rng.exponential(5, n))
    city = rng.choice(["Bonn", "Ulm", "Trier", None], n)
    data = {"age": rng.integers(18, 80, n), "size": size.tolist(), "city": city.tolist(), "same": np.full(n, 7.0)}
    score = data["age"] / 20 + (city == "Ulm") + rng.standard_normal(n)
    return pl.DataFrame(data | {"label": np.where(score > 2.5, "bad", "good")}, strict=False)


def written(table, folder, parts=3):
    paths = []
    for part in range(parts):
        paths.append(folder / f"part{part}.parquet")
        table[part * 100 : part * 100 + 100].write_parquet(paths[-1], row_group_size=30)
    return paths


def test_rows_are_those_of_the_default_pipeline(table, tmp_path, monkeypatch):
    monkeypatch.setattr("abstain.cli.input.typed_tables.PARQUET_ROWS", 40)
    rows = ParquetRows.of(written(table, tmp_path), "label")
    assert (rows.numeric, rows.categorical) == (("age", "size", "same"), ("city",))
    blocks = list(rows.blocks())
    assert max(len(block) for block, _ in blocks) == 40
    frame = table.to_pandas()
    whole = default_pipeline(LinearRejectSVC(), ["age", "size", "same"], ["city"])[:-1].fit(frame)
    expected = whole.transform(frame)
    assert rows.shape == expected.shape
    np.testing.assert_allclose(np.concatenate([block for block, _ in blocks]), expected, atol=1e-5)
    assert rows.preprocess.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
    # unseen and missing cells too
    new = frame.head(3).assign(city=["Köln", None, "Ulm"], size=[None, 1.0, 2.0])
    np.testing.assert_allclose(rows.preprocess.transform(new), whole.transform(new), atol=1e-12)


def test_a_machine_is_fitted_to_the_mapped_file(table, tmp_path):
    rows = ParquetRows.of(written(table, tmp_path), "label")
    X, y = rows.mapped(tmp_path / "rows.npy")
    assert isinstance(X, np.memmap)
    assert not X.flags.writeable
    assert y.tolist() == table["label"].to_list()
    found = LinearRejectSVC(Costs(reject=0.2), pos_label="bad").fit(X, y)
    assert found.status_ == "optimal"
    inside = LinearRejectSVC(Costs(reject=0.2), pos_label="bad").fit(np.array(X), y)
    np.testing.assert_array_equal(found.coef_, inside.coef_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.with_columns(label=pl.Series([*t["label"][:7], None, *t["label"][8:]])), "row 8 has no label"),
        (lambda t: t.with_columns(size=pl.lit(None, pl.Float64)), "'size' has no value"),
        (lambda t: t.with_columns(size=pl.lit(float("inf"))), "'size' has infinite values"),
        (lambda t: t.with_columns(city=pl.Series([f"{i}" for i in range(300)])), "distinct texts"),
        (lambda t: t.with_columns(size=pl.date(2024, 1, 1)), "'size' has the type Date"),
        (lambda t: t.drop("label"), "'label' does not exist"),
        (lambda t: t.select("label"), "is the only column left"),
    ],
)
def test_ill_files_are_refused(table, tmp_path, monkeypatch, change, message):
    monkeypatch.setattr("abstain.cli.input.parquet_rows.MOST_CATEGORIES", 200)
    with pytest.raises(DataError, match=message):
        list(ParquetRows.of(written(change(table), tmp_path), "label").blocks())


def test_files_with_other_columns_are_refused(table, tmp_path):
    paths = written(table, tmp_path)
    table.drop("age").write_parquet(paths[1])
    with pytest.raises(DataError, match="'age' is not in all files"):
        ParquetRows.of(paths, "label")
    paths[2].write_bytes(b"PAR1 not really")
    with pytest.raises(DataError, match="cannot be read"):
        ParquetRows.of(paths[2:], "label")
    with pytest.raises(DataError, match="no file is given"):
        ParquetRows.of([], "label")
