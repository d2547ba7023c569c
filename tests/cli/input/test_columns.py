"""scikit-learn before 1.9 does not accept columns of polars 2 by name: the commands then pass it pandas."""

import json
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from abstain import preprocessing
from abstain.cli.input import columns
from abstain.cli.input.columns import flagged, for_sklearn
from cli.running import FIT, pipeline_of, run, said


def refuse_polars(monkeypatch):
    for module in (preprocessing, columns):
        monkeypatch.setattr(module, "takes_polars", lambda: False)


@pytest.fixture
def old(monkeypatch):
    """As under an older scikit-learn: polars is not taken, and meeting it is an error."""
    refuse_polars(monkeypatch)
    met = []
    fit = preprocessing.ColumnTransformer.fit_transform

    def watched(self, X, y=None, **given):
        assert not isinstance(X, pl.DataFrame)
        met.append(type(X))
        return fit(self, X, y, **given)

    monkeypatch.setattr(preprocessing.ColumnTransformer, "fit_transform", watched)
    return met


def test_every_command_gives_the_same_results_through_pandas(table, model, tmp_path, old):
    one, other = tmp_path / "model", tmp_path / "answers.csv"
    assert run("fit", table, *FIT, "-o", one).exit_code == 0
    assert set(old) == {pd.DataFrame, np.ndarray}  # the second when the file is read back
    np.testing.assert_array_equal(pipeline_of(one)[-1].dual_coef_, pipeline_of(model)[-1].dual_coef_)
    assert one.read_bytes() == model.read_bytes()
    assert run("predict", one, table, "-o", other).exit_code == 0
    assert run("evaluate", one, table).exit_code == 0
    report = tmp_path / "report.html"
    compare = ("compare", table, "--target", "answer", "--reject", 0.2, "--folds", 2, "--machine", "logistic")
    result = run(*compare, "--json", "-o", report)
    assert result.exit_code == 0, result.output
    assert len(json.loads(result.stdout)["rules"]) == 1


def test_cells_are_passed_to_pandas_unchanged(monkeypatch):
    refuse_polars(monkeypatch)
    given = pl.DataFrame({"</script>": [1.5, float("nan")], "=cmd": ["a", None]})
    handed = for_sklearn(given)
    assert handed.columns.tolist() == given.columns
    np.testing.assert_array_equal(handed["</script>"], [1.5, np.nan])
    assert handed["=cmd"].isna().tolist() == [False, True]
    assert for_sklearn(given.head(0)).shape == (0, 2)
    monkeypatch.undo()
    if preprocessing.takes_polars():
        assert for_sklearn(given) is given


class NoPandas:
    """As if pandas were not installed."""

    @staticmethod
    def find_spec(name, *_):
        if name.partition(".")[0] == "pandas":
            raise ImportError(name)


def test_without_pandas_the_error_says_what_to_install(table, model, tmp_path, monkeypatch):
    refuse_polars(monkeypatch)
    monkeypatch.delitem(sys.modules, "pandas")
    monkeypatch.setattr(sys, "meta_path", [NoPandas, *sys.meta_path])
    for arguments in (("fit", table, *FIT, "-o", tmp_path / "model"), ("predict", model, table)):
        result = run(*arguments)
        assert result.exit_code == 2
        assert "cannot select columns of polars 2 by name; install pandas, or scikit-learn 1.9 or later" in said(result)


def test_blocks_of_columns_are_the_whole_table(monkeypatch):
    numbers = pl.DataFrame({f"x{at}": [float(at), -1.0, float("nan")] for at in range(7)})
    whole = {name: found.tolist() for name, found in flagged(numbers, lambda block: block > 2.0)}
    assert whole == {f"x{at}": [True, False, False] for at in range(3, 7)}
    for cells in (1, 6, 7):
        monkeypatch.setattr(columns, "BLOCK", cells)
        assert {name: found.tolist() for name, found in flagged(numbers, lambda block: block > 2.0)} == whole
    assert not dict(flagged(numbers.select([]), lambda block: block > 2.0))
