"""Parquet files as rows: the preprocessing of `default_pipeline`, fitted and applied a part at a time."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from abstain.cli.exit_codes import DataError, Note
from abstain.cli.input.mapped_rows import ParquetRows, read_mapped
from abstain.cli.input.training_table import TableOptions
from abstain.cli.options import Given
from abstain.cli.tables.read_table import ParquetFiles
from abstain.costs.costs import Costs
from abstain.estimators.linear.linear_svc import LinearRejectSVC
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


def rows_of(table, folder, **options):
    names = [name for name in table.columns if name != "label"]
    files, y = ParquetFiles.of(written(table, folder)), table["label"].to_numpy()
    return ParquetRows.of(files, names, y, np.ones(len(y), dtype=bool), **options)


@pytest.mark.filterwarnings("ignore:column 'same'", "ignore:column 'none'")
def test_rows_are_those_of_the_default_pipeline(table, tmp_path, monkeypatch):
    monkeypatch.setattr("abstain.cli.tables.typed_tables.PARQUET_ROWS", 40)
    table = table.with_columns(none=pl.lit(None, pl.Float64))
    rows = rows_of(table, tmp_path)
    assert (rows.numeric, rows.categorical) == (["age", "size", "same", "none"], ["city"])
    blocks = list(rows.blocks())
    assert max(len(block) for block in blocks) == 40
    frame = table.to_pandas()
    whole = default_pipeline(LinearRejectSVC(), rows.numeric, ["city"])[:-1].fit(frame)
    expected = whole.transform(frame)
    assert rows.shape == expected.shape
    np.testing.assert_allclose(np.concatenate(blocks), expected, atol=1e-5)
    assert rows.preprocess.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
    # unseen and missing cells too
    new = frame.head(3).assign(city=["Köln", None, "Ulm"], size=[None, 1.0, 2.0])
    np.testing.assert_allclose(rows.preprocess.transform(new), whole.transform(new), atol=1e-12)


@pytest.mark.filterwarnings("ignore:column 'same'")
def test_a_machine_is_fitted_to_the_mapped_file(table, tmp_path):
    found = read_mapped(written(table, tmp_path), tmp_path, TableOptions(Given(target="label", pos_label="bad")))
    X, y = found.X, found.y
    assert isinstance(X, np.memmap)
    assert not X.flags.writeable
    assert y.tolist() == table["label"].to_list()
    assert len({id(label) for label in y}) == 2  # each text is in memory once
    machine = LinearRejectSVC(Costs(reject=0.2), pos_label="bad").fit(X, y)
    assert machine.status_ == "optimal"
    inside = LinearRejectSVC(Costs(reject=0.2), pos_label="bad").fit(np.array(X), y)
    np.testing.assert_array_equal(machine.coef_, inside.coef_)


@pytest.mark.filterwarnings("ignore:column 'same'", "ignore:.*rows without a label")
def test_rows_without_a_label_are_left_out(table, tmp_path, monkeypatch):
    monkeypatch.setattr("abstain.cli.tables.typed_tables.PARQUET_ROWS", 40)
    holes = table.with_columns(label=pl.when(pl.int_range(pl.len()).is_between(30, 150)).then(None).otherwise("label"))
    paths = written(holes, tmp_path)
    found = read_mapped(paths, tmp_path, TableOptions(Given(target="label", drop_unlabelled=True)))
    whole = table.filter(holes["label"].is_not_null())
    expected = default_pipeline(None, ["age", "size", "same"], ["city"])[0].fit_transform(whole.to_pandas())
    assert found.left_out == 121
    np.testing.assert_allclose(found.X, expected, atol=1e-5)


def test_places_are_those_in_their_files(table, tmp_path):
    files = ParquetFiles.of(written(table, tmp_path))
    assert files.place(100) == f"{tmp_path / 'part0.parquet'}: row 100"
    assert files.place(101) == f"{tmp_path / 'part1.parquet'}: row 1"
    assert files.height == 300


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.with_columns(label=pl.Series([*t["label"][:107], None, *t["label"][108:]])), "part1.*: row 8 has"),
        (lambda t: t.with_columns(size=pl.lit(float("inf"))), "'size': inf is too large"),
        (lambda t: t.with_columns(city=pl.Series([f"{i}" + "x" * (i % 3) for i in range(300)])), "'city'"),
        (lambda t: t.with_columns(size=pl.date(2024, 1, 1)), "'size' contains dates"),
        (lambda t: t.drop("label"), "no column 'label'"),
        (lambda t: t.select("label"), "no column besides 'label'"),
    ],
)
@pytest.mark.filterwarnings("ignore:column")
def test_ill_files_are_refused(table, tmp_path, change, message):
    with pytest.raises(DataError, match=message):
        read_mapped(written(change(table), tmp_path), tmp_path, TableOptions(Given(target="label")))


@pytest.mark.filterwarnings("ignore:column")
def test_columns_are_read_by_the_options(table, tmp_path, monkeypatch):
    monkeypatch.setattr("abstain.cli.input.mapped_rows.MOST_CATEGORIES", 100)
    names = pl.Series([f"row {at}" for at in range(300)])
    table = table.with_columns(city=names, day=pl.date(2024, 1, 1), half=pl.lit(0.5))
    paths = written(table, tmp_path)
    with pytest.raises(DataError, match="300 distinct texts, more than 100; pass --ignore 'city'"):
        read_mapped(paths, tmp_path, TableOptions(Given(target="label", ignore=["day"], keep=["city"])))
    with pytest.warns(Note, match="column 'city' has another text in nearly every row"):
        left = read_mapped(paths, tmp_path, TableOptions(Given(target="label", ignore=["day"])))
    assert "city" not in left.categorical
    with pytest.raises(DataError, match="'half' of --categorical has fractions"):
        read_mapped(paths, tmp_path, TableOptions(Given(target="label", ignore=["city, day"], categorical=["half"])))
    options = {"dates": "days", "missing_value": ["7"], "categorical": ["age"], "ignore": ["city"]}
    found = read_mapped(paths, tmp_path, TableOptions(Given(target="label", **options)))
    assert (found.numeric, found.categorical) == (["size", "same", "day", "half"], ["age"])
    assert (found.plan.dates, found.plan.missing) == (("day",), ("7",))


def test_files_with_other_columns_are_refused(table, tmp_path):
    paths = written(table, tmp_path)
    table.drop("age").write_parquet(paths[1])
    with pytest.raises(DataError, match="'age' is not in all files"):
        ParquetFiles.of(paths)
    paths[2].write_bytes(b"PAR1 not really")
    with pytest.raises(DataError, match="cannot be read"):
        ParquetFiles.of(paths[2:])
    with pytest.raises(DataError, match="no file is given"):
        ParquetFiles.of([])
    with pytest.raises(DataError, match="given twice"):
        ParquetFiles.of([paths[0], paths[0]])
