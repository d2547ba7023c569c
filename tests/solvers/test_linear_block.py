"""The block of linear rows holds what it reads: the caller may delete, replace or change everything it was given."""

import gc
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from abstain import _native

ROWS, FEATURES = 2000, 5


def tables():
    return np.array([[0.0, 1.0]]), np.array([[-2.0, -1.0]])


def dense(dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    return {"X": rng.standard_normal((ROWS, FEATURES)).astype(dtype), "centre": np.ones(FEATURES)}


def compressed(dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(ROWS * FEATURES).astype(dtype)
    columns = np.tile(np.arange(FEATURES, dtype=np.int32), ROWS)
    starts = np.arange(0, ROWS * FEATURES + 1, FEATURES, dtype=np.int64)
    return {"values": values, "columns": columns, "starts": starts, "features": FEATURES}


def rows_of(data):
    if "X" in data:
        return data["X"].astype(np.float64) - data["centre"]
    return data["values"].astype(np.float64).reshape(ROWS, FEATURES)


def inputs():
    sign = np.where(np.arange(ROWS) % 2, 1, -1).astype(np.int8)
    return {"sign": sign, "weight": np.ones(ROWS), "kind": np.zeros(ROWS, dtype=np.int32)}


def block_of(data, given=None, beside=None):
    given = inputs() if given is None else given
    return _native.LinearBlock(data, *given.values(), *tables(), 2, beside)


def littered():
    """Memory that was given back is taken again, with other numbers in it."""
    gc.collect()
    return [np.full(size, 1e300) for size in (ROWS * FEATURES, ROWS * FEATURES // 2, FEATURES, ROWS) for _ in range(8)]


def loss(block):
    block.score(np.arange(1.0, FEATURES + 2.0))
    return block.loss()


def expected(data):
    margin = inputs()["sign"] * (rows_of(data) @ np.arange(1.0, FEATURES + 1.0) + FEATURES + 1.0)
    return np.sum(np.maximum(0.0, 1.0 - margin) + np.maximum(0.0, -margin))


@pytest.mark.parametrize("make", [dense, compressed])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("how", ["deleted", "replaced", "cleared"])
def test_the_arrays_of_the_dict_may_go(make, dtype, how):
    data = make(dtype)
    right, block = expected(data), block_of(data)
    for name in list(data):
        if how == "deleted":
            del data[name]
        elif how == "replaced":
            data[name] = None
    data.clear()
    litter = littered()
    assert loss(block) == pytest.approx(right, rel=1e-6)
    assert len(litter) == 32


@pytest.mark.parametrize("make", [dense, compressed])
def test_rows_that_are_attached_may_go_too(make):
    block, other = block_of(make()), make(seed=1)
    right = expected(other)
    block.attach(other)
    other.clear()
    littered()
    assert loss(block) == pytest.approx(right)


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ({"columns": np.full(ROWS * FEATURES, 99, dtype=np.int32)}, ValueError),
        ({"starts": np.arange(3, dtype=np.int64)}, ValueError),
        ({"values": np.ones(3, dtype=np.int64)}, TypeError),
        ({"features": "many"}, TypeError),
        ({"features": FEATURES + 1}, ValueError),
    ],
    ids=["columns", "starts", "values", "features", "other shape"],
)
def test_rows_that_cannot_be_attached_leave_the_block_as_it_was(bad, error):
    data = compressed()
    block = block_of(data)
    with pytest.raises(error):
        block.attach(compressed(seed=1) | bad)
    littered()
    assert loss(block) == pytest.approx(expected(data))


@pytest.mark.parametrize("name", ["sign", "kind"])
def test_what_was_checked_stays_checked(name):
    """A kind beyond the table would be read from memory that is not the table's."""
    data, given = dense(), inputs()
    block = block_of(data, given)
    given[name][:] = {"sign": 100, "kind": 2**30}[name]
    assert loss(block) == pytest.approx(expected(data))


def test_one_call_at_a_time():
    """Threads that share a block, or the threads of one, wait for nothing and break nothing: they are refused."""
    data = dense()
    first = block_of(data)
    blocks, refused, right = [first, block_of(data, beside=first)], [], expected(data)
    wrong = []

    def work(block):
        for _ in range(300):
            try:
                block.score(np.arange(1.0, FEATURES + 2.0))
                block.attach(dict(data))
                found = block.loss()
            except ValueError as error:
                refused.append(str(error))
                continue
            if found != pytest.approx(right):
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(blocks[at % 2],)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert set(refused) <= {"the block, or one that shares its threads, is in use by another call"}
    assert loss(first) == pytest.approx(right), "and it is free again"


def misaligned(values):
    return np.frombuffer(b"\0" + values.tobytes(), np.uint8)[1:].view(values.dtype).reshape(values.shape)


@pytest.mark.parametrize("name", ["X", "centre", "weight", "kind", "knots", "slopes"])
def test_misaligned_arrays_are_refused(name):
    data, given, (knots, slopes) = dense(), inputs(), tables()
    arguments = {"data": data, **given, "knots": knots, "slopes": slopes, "threads": 1}
    _native.LinearBlock(**arguments)
    place = data if name in data else arguments
    place[name] = misaligned(place[name])
    assert not place[name].flags.aligned
    with pytest.raises(TypeError, match=r"aligned|incompatible function arguments"):
        _native.LinearBlock(**arguments)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "values is missing"),
        ({"X": np.ones((3, 2))}, "centre is missing"),
        ({"X": np.ones((3, 2)), "centre": np.ones(3)}, "an entry per column"),
        ({"X": np.ones((0, 2)), "centre": np.ones(2)}, "at least one row"),
        ({"X": np.asfortranarray(np.ones((3, 2))), "centre": np.ones(2)}, "C-contiguous"),
        ({"X": np.ones((3, 2), dtype=np.int64), "centre": np.ones(2)}, "right type"),
        ({"X": np.ones((3, 2)), "centre": np.ones(2)}, "an entry per row"),
    ],
)
def test_other_shapes_and_types_are_refused(data, message):
    with pytest.raises((ValueError, TypeError), match=message):
        block_of(data)


def test_the_process_survives_all_of_it():
    """In a process of its own: where a block read memory that is gone, it could end the tests."""
    script = """
        import numpy as np
        from abstain import _native
        n = 1 << 18
        for _ in range(20):
            data = {"X": np.ones((n, 16)), "centre": np.zeros(16)}
            given = (np.ones(n, dtype=np.int8), np.ones(n), np.zeros(n, dtype=np.int32))
            block = _native.LinearBlock(data, *given, np.array([[1.0]]), np.array([[-1.0]]), 1)
            data.clear()  # 32 MB, given back to the system at once
            block.score(np.zeros(17))
            print(block.loss())
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 (our own command)
    assert done.returncode == 0, done.returncode
    assert set(done.stdout.split()) == {str(float(1 << 18))}
