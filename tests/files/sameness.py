"""What is saved comes back the same: the judge of the round trips."""

import dataclasses
import io
from dataclasses import fields

import numpy as np
from scipy import sparse

from abstain.costs.table import CostTable
from abstain.files.format.container import LARGEST
from abstain.files.model_file import read, write_model


def written(estimator):
    """The bytes that `save` writes, which it reads back."""
    file = io.BytesIO()
    write_model(estimator, file)
    return file.getvalue()


def again(estimator, folder=None):  # noqa: ARG001 (in memory: a disk that is flushed for each file takes most of the time)
    raw = written(estimator)
    return read(io.BytesIO(raw), len(raw), LARGEST)


def assert_same(first, second):
    """Equal values of equal types, however deep; of our own values the fields, not what was computed from them."""
    assert type(first) is type(second)
    if isinstance(first, CostTable):  # caches what is computed from it
        assert first == second
        return
    if dataclasses.is_dataclass(first):
        first, second = ({one.name: getattr(value, one.name) for one in fields(value)} for value in (first, second))
    if isinstance(first, dict):
        assert [*first] == [*second]
        for name, value in first.items():
            assert_same(value, second[name])
    elif isinstance(first, list | tuple):
        assert len(first) == len(second)
        for one, other in zip(first, second, strict=True):
            assert_same(one, other)
    elif sparse.issparse(first):
        assert_same([first.data, first.indices, first.indptr], [second.data, second.indices, second.indptr])
    elif isinstance(first, np.ndarray):
        assert first.dtype == second.dtype
        np.testing.assert_array_equal(first, second, strict=True)
    elif hasattr(first, "__dict__") and not callable(first):
        assert_same(vars(first), vars(second))
    else:
        assert first == second or (first != first and second != second)  # noqa: PLR0124 (nan)


def sorted_vars(estimator):
    return dict(sorted(vars(estimator).items()))
