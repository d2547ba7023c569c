"""A table and a model that several files of tests use."""

import pytest

from cli.running import FIT, run, write_table


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("table") / "table.csv")


@pytest.fixture(scope="session")
def model(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model"
    assert run("fit", table, *FIT, "-o", path).exit_code == 0
    return path


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """New rows for a review."""
    return write_table(tmp_path_factory.mktemp("cases") / "cases.csv", rows=300, seed=5)
