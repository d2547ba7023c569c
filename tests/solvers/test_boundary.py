"""Arguments that the library never passes to the native core: an error, where some once ended the process."""

import numpy as np
import pytest

from abstain import _native

N = 6
X = np.random.default_rng(0).standard_normal((N, 2))
SPARSE = {
    "starts": np.arange(N + 1, dtype=np.int64),
    "columns": np.zeros(N, dtype=np.int32),
    "values": np.ones(N),
    "features": 2,
}
TASK = {
    "sign": np.array([1, -1] * 3, dtype=np.int8),
    "weight": np.ones(N),
    "kind": np.zeros(N, dtype=np.int32),
    "knots": np.array([[0.0, 1.0]]),
    "slopes": np.array([[-2.0, -1.0]]),
}
KERNEL = {"kernel": "rbf", "coef0": 0.0, "degree": 3}
LIMITS = {"tol": 1e-3, "max_iter": 100, "seconds": 1.0, "cache_size": 1.0, "threads": 1, "report": None}


def solve(**changed):
    given = {"data": {"X": X}, **KERNEL, "gamma": 1.0, **TASK, "start": None, "method": "auto", **LIMITS}
    return _native.solve(**given | changed)


def solve_many(**changed):
    tasks = [TASK | {"scales": np.ones(1)}]
    given = {"data": {"X": X}, **KERNEL, "gammas": np.ones(1), "tasks": tasks, "method": "auto", **LIMITS}
    return _native.solve_many(**given | {"coefficients": True} | changed)


def path(**changed):
    limits = {name: LIMITS[name] for name in ("cache_size", "threads", "report")}
    given = {"data": {"X": X}, **KERNEL, "gamma": 1.0, **TASK, "lowest": 0.1, "highest": 1.0, **limits}
    return _native.path(**given | changed)


def expand(**changed):
    given = {"X": X, "support": X, "coef": np.ones(N), **KERNEL, "gamma": 1.0, "threads": 1}
    return _native.expand(**given | changed)


def kernel_values(**changed):
    given = {"X": {"X": X}, "Y": {"X": X[:2]}, **KERNEL, "gamma": 1.0, "threads": 1}
    return _native.kernel_values(**given | changed)


def empty(task):
    return {name: value[:0] if name in {"sign", "weight", "kind"} else value for name, value in task.items()}


NOTHING = SPARSE | {"starts": np.zeros(N + 1, np.int64), "columns": np.empty(0, np.int32), "values": np.empty(0)}
WRONG = {
    "total": (solve, {"total": np.nan}, "total must be finite"),
    "no rows": (solve, {"data": {"X": X[:0]}, **empty(TASK)}, "at least one row"),
    "no rows of a path": (path, {"data": {"gram": np.empty((0, 0))}, **empty(TASK)}, "at least one row"),
    "no columns": (solve, {"data": {"X": X[:, :0].copy()}}, "one column"),
    "no features": (expand, {"X": X[:, :0].copy(), "support": X[:, :0].copy()}, "number of features, and some"),
    "other features": (kernel_values, {"Y": {"X": X[:, :1].copy()}}, "the same number of features"),
    "other features in compressed rows": (
        kernel_values,
        {"X": SPARSE, "Y": SPARSE | {"features": 3}},
        "the same number of features",
    ),
    "dense and compressed rows": (kernel_values, {"Y": SPARSE}, "both be dense or both compressed"),
    "values of gram matrices": (kernel_values, {"X": {"gram": np.eye(2)}, "Y": {"gram": np.eye(2)}}, "both be dense"),
    "no kernel of this name": (kernel_values, {"kernel": "evil"}, "sigmoid or laplacian"),
    "features as text": (solve, {"data": SPARSE | {"features": "2"}}, "features must be a whole number"),
    "features as a fraction": (solve, {"data": SPARSE | {"features": 2.5}}, "features must be a whole number"),
    "no features in compressed rows": (solve, {"data": NOTHING | {"features": 0}}, "2\\^31 - 1 features"),
    "no compressed rows": (solve, {"data": NOTHING | {"starts": np.zeros(1, np.int64)}, **empty(TASK)}, "one row"),
    "too many features": (solve, {"data": SPARSE | {"features": 2**40}}, "2\\^31 - 1 features"),
    "missing features": (
        solve,
        {"data": {name: value for name, value in SPARSE.items() if name != "features"}},
        "features is missing",
    ),
    "a task that is a list": (solve_many, {"tasks": [[]]}, "a list of dicts"),
    "a kernel that is a text": (
        solve_many,
        {"tasks": [TASK | {"scales": np.ones(1), "kernel": "rbf"}]},
        "kernel must be a whole number",
    ),
    "a kernel below 0": (
        solve_many,
        {"tasks": [TASK | {"scales": np.ones(1), "kernel": -1}]},
        "kernel must be a whole number",
    ),
    "a round below 0": (
        solve_many,
        {"tasks": [TASK | {"scales": np.ones(1), "round": -1}]},
        "round must be a whole number",
    ),
    "a choice for other fits": (solve_many, {"choose": lambda *_: np.ones(2, dtype=bool)}, "an entry per fit"),
    "a choice of numbers": (solve_many, {"choose": lambda *_: np.ones(1)}, "an array of bool"),
    "negative gamma": (solve, {"gamma": -1.0}, "gamma must be finite and >= 0"),
    "gamma of nan": (expand, {"gamma": np.nan}, "gamma must be finite and >= 0"),
    "endless coef0": (solve, {"coef0": np.inf}, "coef0 finite"),
    "tol of nan": (solve, {"tol": np.nan}, "tol must be"),
    "negative cache": (solve, {"cache_size": -1.0}, "cache_size must be"),
    "cache of nan": (path, {"cache_size": np.nan}, "cache_size must be"),
    "path from 0": (path, {"lowest": 0.0}, "0 < lowest <= highest"),
    "path backwards": (path, {"lowest": 2.0}, "0 < lowest <= highest"),
    "endless path": (path, {"highest": np.inf}, "0 < lowest <= highest"),
    "knots that descend": (solve, {"knots": np.array([[1.0, 0.0]])}, "knots must be finite and ascend"),
    "knots of nan": (solve, {"knots": np.array([[0.0, np.nan]])}, "knots must be finite and ascend"),
    "slopes that descend": (solve, {"slopes": np.array([[-1.0, -2.0]])}, "slopes must be finite, negative and ascend"),
    "slopes above 0": (solve, {"slopes": np.array([[-1.0, 1.0]])}, "slopes must be finite, negative and ascend"),
}


@pytest.mark.parametrize(("call", "changed", "message"), WRONG.values(), ids=WRONG)
def test_wrong_arguments_are_refused(call, changed, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call(**changed)


@pytest.mark.parametrize("call", [solve, solve_many, path, expand, kernel_values])
def test_the_call_that_is_changed_is_right(call):
    assert call() is not None


def test_compressed_rows_that_are_right_are_accepted():
    assert solve(data=SPARSE)[3] == "optimal"


def test_the_bias_of_sums_that_overflowed_is_nan():
    rows = {name: TASK[name] for name in ("sign", "weight", "kind", "knots", "slopes")}
    starts = np.array([0, N], dtype=np.int64)
    expansion = np.append(np.zeros(N - 1), np.nan)
    assert np.isnan(_native.best_biases(starts=starts, **rows, expansion=expansion)).all()
