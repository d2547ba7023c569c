"""Settings shared by all tests."""

import polars as pl
import pytest
import sklearn
from hypothesis import settings
from sklearn.utils.fixes import parse_version

# The same examples in every run, and no time limit for one: a busy machine is not a failure.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# scikit-learn before 1.9 takes columns by name through the interchange protocol, which polars 2 has left
OLD = not hasattr(pl.DataFrame, "__dataframe__") and parse_version(sklearn.__version__) < parse_version("1.9")


@pytest.fixture(scope="session")
def polars():
    if OLD:
        pytest.skip("scikit-learn before 1.9 and polars 2 do not go together")
    return pl
