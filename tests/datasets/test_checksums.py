"""The checksum sees every number and the shape, and nothing else."""

import hashlib
import struct

import numpy as np
import pytest
from public_data.checksums import BLOCK, CHECKSUMS, checksum, verify
from public_data.table import Table


def test_it_is_what_its_definition_says():
    X, y = [[1.0, -2.5], [0.1, 4.0], [0.0, 7.0]], [3, -1, 2]
    content = b"3 2\n" + struct.pack("<6d", *(value for row in X for value in row)) + struct.pack("<3q", *y)
    assert checksum(Table(np.array(X), np.array(y))) == hashlib.sha256(content).hexdigest()


def test_kind_and_layout_of_the_arrays_do_not_matter():
    X, y = np.arange(2 * BLOCK + 6).reshape(-1, 2), np.arange(BLOCK + 3) % 7
    expected = checksum(Table(X.astype(np.float64), y))
    for same in (X.astype(np.int32), np.asfortranarray(X), X.astype(">f8"), np.repeat(X, 2, axis=0)[::2]):
        assert checksum(Table(same, y.astype(np.int32))) == expected


@pytest.mark.parametrize("change", ["value", "class", "order", "shape", "last row"])
def test_any_change_is_seen(change):
    X, y = np.arange(12.0).reshape(6, 2), np.array([1, 2, 1, 2, 1, 2])
    before = checksum(Table(X, y))
    if change == "value":
        X[3, 1] = np.nextafter(X[3, 1], 100)
    elif change == "class":
        y[5] = 1
    elif change == "order":
        X = X[::-1]
    elif change == "shape":
        X = X.reshape(3, 4)
    else:
        X = X[:-1]
    assert checksum(Table(X, y)) != before


def test_another_table_is_refused_by_name():
    with pytest.raises(
        ValueError, match=rf"^the file does not hold .* 'pima': its 1 x 2 .* not {CHECKSUMS['pima'][:16]}\.\.\.; go\.$"
    ):
        verify("pima", Table(np.zeros((1, 2)), np.zeros(1, dtype=int)), "the file", "go")
