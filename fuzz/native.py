"""The native core: any arguments give an answer or a ValueError, TypeError or MemoryError; the process never crashes.

The bytes of an input are read as choices: a function, a valid call of it, and what is wrong with this call. Run by
`make fuzz` on a build under the address and undefined-behaviour sanitizers, whose edges count as coverage.
"""

from __future__ import annotations

import contextlib
import time
from typing import Any

import numpy as np

LONGEST = 512
SECONDS = 0.2  # of one call
ORDINARY = (0.0, 1.0, -1.0, 0.5, 2.0, -3.25, 1e-3, 100.0, 1e-8)
VALUES = (*ORDINARY, 1e8, 1e155, -1e155, 1e308, 5e-324, np.inf, -np.inf, np.nan)
WHOLE = (0, 1, -1, 2, 3, 7, 64, 127, -128, 2**31 - 1, -(2**31))
TYPES = (np.float32, np.int64, np.int32, np.int8, np.uint8, np.complex128, np.bool_, object)


class Choices:
    """The bytes of an input, read one by one; zeros after the last."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def below(self, n: int) -> int:
        """A number from 0 to n - 1."""
        at, self._at = self._at, self._at + 1
        return (self._data[at] if at < len(self._data) else 0) % n

    def one_of(self, *options: Any) -> Any:
        """One of the options."""
        return options[self.below(len(options))]

    def rarely(self) -> bool:
        """True for one byte in 24."""
        return self.below(24) == 23

    def numbers(self, *shape: int) -> Any:
        """Numbers: a few chosen values, then a pattern of these; seldom one that is not ordinary."""
        chosen = [VALUES[self.below(len(VALUES if self.rarely() else ORDINARY))] for _ in range(4)]
        rng = np.random.default_rng(self.below(256))
        values = rng.choice(chosen, size=shape)
        return values + rng.standard_normal(shape) if self.below(2) else values

    def spoilt(self, value: Any) -> Any:
        """A value of an argument, seldom replaced by something that is not allowed or by another of its kind."""
        if not self.rarely():
            return value
        kind = self.below(8)
        if kind == 0:
            return self.one_of(None, 1, "a", [], {}, 0.5, b"", (1, 2, 3, 4))
        if not isinstance(value, np.ndarray):
            return self.one_of(*VALUES) if isinstance(value, float) else self.one_of(*WHOLE)
        with np.errstate(all="ignore"):
            if kind == 1:
                return value.astype(self.one_of(*TYPES))
            if kind == 2:
                return value[: self.below(1 + len(value))] if value.ndim else value
            if kind == 3:
                return np.concatenate([value, value])[::2] if value.ndim else value  # not contiguous
            if kind == 4:
                shaped = (value[np.newaxis], value.reshape(-1), np.asfortranarray(value))
                return self.one_of(*shaped, value[:0], value[..., :0])
            if kind == 5:
                return np.frombuffer(b"\0" + value.tobytes(), np.uint8)[1:].view(value.dtype).reshape(value.shape)
            changed = value.copy()
            if changed.size:
                others = VALUES if changed.dtype.kind == "f" else (-1, 0, 1, 99)
                changed.flat[self.below(changed.size)] = self.one_of(*others)
            return changed


def run(data: bytes, native: Any = None) -> bool:
    """Try one call; whether it gave an answer. Any other error than the three allowed ones is a finding."""
    if native is None:
        from abstain import _native as native
    choices = Choices(data)
    calls = _solve, _solve_many, _path, _expand, _objective, _primal, _dual, _inner
    call = choices.one_of(*calls, _block, _solve_parts, _expand_parts, _best_biases)
    with np.errstate(all="ignore"):
        name, arguments = call(choices)
        arguments = {key: choices.spoilt(value) for key, value in arguments.items()}
        if type(arguments.get("threads")) is int:
            arguments["threads"] %= 4
        try:
            made = getattr(native, name)(**arguments)
        except (ValueError, TypeError, MemoryError):
            return False
        if name == "LinearBlock":
            _use(choices, made, arguments)
    return True


def _report() -> Any:
    """A report of progress that ends the call after some time."""
    end = time.monotonic() + SECONDS
    return lambda *_: time.monotonic() > end


def _rows(choices: Choices) -> tuple[dict[str, Any], int]:
    n = 1 + choices.below(40)
    n = n * 64 if choices.below(32) == 31 else 0 if choices.rarely() else n  # from 1,000 rows on other code runs
    d = choices.below(6)
    layout = choices.below(3)
    if layout == 0:
        return {"X": choices.spoilt(choices.numbers(n, d))}, n
    if layout == 1 and n <= 200:
        X = choices.numbers(n, d)
        return {"gram": choices.spoilt(X @ X.T if choices.below(2) else choices.numbers(n, n))}, n
    lengths = np.array([choices.below(1 + d) for _ in range(min(n, 50))], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(np.resize(lengths, n))]).astype(np.int64)
    entries = int(starts[-1])
    columns = np.array([choices.below(max(1, d)) for _ in range(min(entries, 50))] or [0], dtype=np.int32)
    arrays = {
        "starts": choices.spoilt(starts),
        "columns": choices.spoilt(np.resize(columns, entries).astype(np.int32)),
        "values": choices.spoilt(choices.numbers(entries)),
        "features": choices.spoilt(d),
    }
    if type(arrays["features"]) is int:
        arrays["features"] = min(arrays["features"], 1 << 16)  # the sanitizer ends the process where memory runs out
    if choices.rarely():
        del arrays[choices.one_of(*arrays)]
    return arrays, n


def _kernel(choices: Choices) -> dict[str, Any]:
    name = choices.one_of("rbf", "linear", "poly", "sigmoid", "precomputed", "evil")
    return {
        "kernel": choices.one_of("evil", "laplacian") if name == "evil" else name,
        "coef0": choices.one_of(*VALUES[: 6 if choices.below(4) else len(VALUES)]),
        "degree": choices.one_of(3, 1, 2, 0, -1, 20, 2**31 - 1),
    }


def _gamma(choices: Choices) -> float:
    return float(choices.one_of(*VALUES)) if choices.rarely() else choices.one_of(0.5, 1.0, 2.0, 0.01)


def _task(choices: Choices, n: int) -> dict[str, Any]:
    kinds, pieces = 1 + choices.below(3), 1 + choices.below(3)
    pieces = 60 + choices.below(8) if choices.rarely() else pieces
    rng = np.random.default_rng(choices.below(256))
    tame = choices.below(8)  # ordinary losses: ascending knots, ascending slopes below 0
    knots = np.sort(choices.numbers(kinds, pieces)) if tame else choices.numbers(kinds, pieces)
    slopes = -np.sort(-rng.random((kinds, pieces)))[:, ::-1] if tame else choices.numbers(kinds, pieces)
    return {
        "sign": rng.choice([-1, 1], n).astype(np.int8),
        "weight": np.abs(choices.numbers(n)),
        "kind": rng.integers(0, kinds, n).astype(np.int32),
        "knots": np.ascontiguousarray(knots),
        "slopes": np.ascontiguousarray(-np.abs(slopes) if tame else slopes),
    }


def _limits(choices: Choices) -> dict[str, Any]:
    return {
        "method": choices.one_of("auto", "smo", "active-set", "search", "evil"),
        "tol": choices.one_of(1e-3, 1e-6, 1e-12, 0.0, -1.0, 1.0, np.nan, np.inf),
        "max_iter": choices.one_of(500, 0, 1, 20, -1, 2**62),
        "seconds": choices.one_of(SECONDS, 0.0, 0.01, -1.0, np.nan),
        "cache_size": choices.one_of(1.0, 0.0, 0.001, 100.0, -1.0, np.nan, np.inf, 1e300),
        "threads": choices.below(4),
        "report": _report(),
    }


def _solve(choices: Choices) -> tuple[str, dict[str, Any]]:
    data, n = _rows(choices)
    start = choices.numbers(n) if choices.below(3) == 0 else None
    given = {**_kernel(choices), "gamma": _gamma(choices), **_task(choices, n), "start": start}
    return "solve", {"data": data, **given, **_limits(choices)}


def _solve_many(choices: Choices) -> tuple[str, dict[str, Any]]:
    data, n = _rows(choices)
    gammas = np.array([_gamma(choices) for _ in range(choices.below(4))])
    tasks: list[Any] = []
    for _ in range(choices.below(5)):
        task = {key: choices.spoilt(value) for key, value in _task(choices, n).items()}
        task["scales"] = choices.spoilt(np.cumsum(np.full(choices.below(4), 0.5)))
        if choices.below(2):
            task["kernel"] = choices.spoilt(choices.below(4))
        if choices.below(2):
            task["start"] = choices.spoilt(choices.numbers(n))
        if choices.rarely():
            del task[choices.one_of(*task)]
        tasks.append(task if not choices.rarely() else choices.one_of(None, [], 1))
    given = {"data": data, "gammas": gammas, "tasks": tasks, "coefficients": bool(choices.below(2))}
    return "solve_many", {**given, **_kernel(choices), **_limits(choices)}


def _path(choices: Choices) -> tuple[str, dict[str, Any]]:
    data, n = _rows(choices)
    ends = {"lowest": choices.one_of(0.01, 1.0, *VALUES), "highest": choices.one_of(10.0, 1.0, *VALUES)}
    limits = {key: value for key, value in _limits(choices).items() if key in ("cache_size", "threads", "report")}
    return "path", {"data": data, **_kernel(choices), "gamma": _gamma(choices), **_task(choices, n), **ends, **limits}


def _expand(choices: Choices) -> tuple[str, dict[str, Any]]:
    n, m, d = choices.below(70), choices.below(70), choices.below(20)
    X, support, coef = choices.numbers(n, d), choices.numbers(m, d), choices.numbers(m)
    given = {**_kernel(choices), "gamma": _gamma(choices), "threads": choices.below(4)}
    if choices.below(2) == 0:
        return "expand", {"X": X, "support": support, "coef": coef, **given}
    rows = _rows(choices)[0]
    return "kernel_values", {"X": rows, "Y": choices.one_of(rows, {"X": X}, _rows(choices)[0]), **given}


def _linear_rows(choices: Choices) -> tuple[dict[str, Any], int]:
    data, n = _rows(choices)
    data = {"X" if name == "gram" else name: value for name, value in data.items()}
    for name in data.keys() & {"X", "values"}:
        if isinstance(data[name], np.ndarray) and data[name].dtype == np.float64 and choices.below(2):
            data[name] = data[name].astype(np.float32)
    if isinstance(data.get("X"), np.ndarray):
        data["centre"] = choices.spoilt(choices.numbers(*data["X"].shape[1:2]))
    return data, n


def _block(choices: Choices) -> tuple[str, dict[str, Any]]:
    data, n = _linear_rows(choices)
    return "LinearBlock", {"data": data, **_task(choices, n), "threads": choices.below(4)}


def _use(choices: Choices, block: Any, given: dict[str, Any]) -> None:
    """Call methods of a block, while what it was made from is changed, replaced and deleted."""
    data, n = given["data"], len(given["sign"])
    width = 1 + (data["X"].shape[1] if "X" in data else data["features"])
    for _ in range(choices.below(12)):
        sigma, whether = float(choices.one_of(*VALUES)), bool(choices.below(2))
        call, *arguments = choices.one_of(
            (block.score, choices.numbers(width)), (block.along, choices.numbers(width)), (block.move, sigma),
            (block.slopes, sigma, choices.numbers(choices.below(5))), (block.gradient, sigma, whether),
            (block.hessian, whether, choices.one_of(1, 2, 0, -1, 2**40)) if width < 500 else (block.between,),
            (block.hessian_times, choices.numbers(width)), (block.hessian_diagonal, whether), (block.accept,),
            (block.loss,), (block.shift,), (block.dual, sigma, 1.0), (block.flags,), (block.gamma,),
            (block.start, choices.numbers(n)), (block.attach, _linear_rows(choices)[0]), (block.attach, dict(data)),
            (data.clear,), (given["kind"].fill, choices.one_of(2**30, 7)), (given["sign"].fill, choices.one_of(100, 0)),
        )  # fmt: skip
        with contextlib.suppress(ValueError, TypeError, MemoryError, OverflowError):
            call(*map(choices.spoilt, arguments))


def _parts(choices: Choices, n: int) -> tuple[dict[str, Any], int]:
    """Parts of n rows, and the number of rows of all parts together."""
    starts = np.cumsum([0, *(1 + choices.below(9) for _ in range(choices.below(5)))]).astype(np.int64)
    rows = np.array([choices.below(n) for _ in range(starts[-1])], dtype=np.int64)
    return {"rows": rows, "starts": starts}, int(starts[-1])


def _parted(choices: Choices, n: int, d: int) -> dict[str, Any]:
    """Rows, or their kernel values, perhaps with longer rows."""
    if choices.below(2):
        return {"X": choices.numbers(n, d)}
    return {"X": None, "gram": choices.numbers(n, n + choices.below(3) - 1)}


def _solve_parts(choices: Choices) -> tuple[str, dict[str, Any]]:
    n, d = 1 + choices.below(40), choices.below(6)
    parts, total = _parts(choices, n)
    if choices.below(32) == 31:  # parts of 1,000 rows and more have a way of their own
        parts, total = {"rows": np.arange(1100) % n, "starts": np.array([0, 1100])}, 1100
    given = {**_parted(choices, n, d), **parts, **_kernel(choices), "gamma": _gamma(choices)}
    given["values_first"] = bool(choices.below(2))
    return "solve_parts", {**given, **_task(choices, total), **_limits(choices)}


def _expand_parts(choices: Choices) -> tuple[str, dict[str, Any]]:
    n, d = 1 + choices.below(70), choices.below(20)
    parts, total = _parts(choices, n)
    given = {**_parted(choices, n, d), **parts, "coef": choices.numbers(total), "gamma": _gamma(choices)}
    return "expand_parts", {**given, **_kernel(choices), "threads": choices.below(4)}


def _best_biases(choices: Choices) -> tuple[str, dict[str, Any]]:
    parts, total = _parts(choices, 1)
    task, expansion = _task(choices, total), choices.numbers(total)
    sought = choices.one_of("best_biases", "measured", "made_feasible", "unsure_rows")
    if sought == "unsure_rows":
        return sought, _unsure_rows(choices)
    if sought == "best_biases":
        return sought, {"starts": parts["starts"], **task, "expansion": expansion}
    given = {**task, "total": choices.one_of(*VALUES), "beta": choices.numbers(total)}
    if sought == "made_feasible":
        return sought, given
    bias = choices.numbers(len(parts["starts"]) - 1)
    return sought, {"starts": parts["starts"], **given, "F": expansion, "bias": bias, "lift": choices.one_of(*VALUES)}


def _unsure_rows(choices: Choices) -> dict[str, Any]:
    n, d, m = choices.below(140), choices.below(9), choices.below(20)
    names = ("most", "gamma", "least", "clip")
    return {
        "X": choices.numbers(n, d),
        **{name: choices.numbers(d) for name in ("centre", "spread")},
        "residuals": choices.numbers(d, d), "middles": choices.numbers(m, d), "coef": choices.numbers(m),
        **{name: choices.one_of(*VALUES) for name in names},
    }


def _embedded(choices: Choices) -> tuple[dict[str, Any], int]:
    n, d = choices.below(30), choices.below(5)
    costs = choices.one_of((0.2, 0.1, 100.0, 1.0), (1.0, 0.5, 1.0, 0.01), (0.5, 0.6, 1.0, 1.0), None)
    costs = costs or tuple(choices.one_of(*VALUES) for _ in range(4))
    sign = np.random.default_rng(choices.below(256)).choice([-1, 1], n).astype(np.int8)
    return {"z": choices.numbers(n, d), "sign": sign, "penalty": choices.numbers(d), "costs": costs}, d


def _objective(choices: Choices) -> tuple[str, dict[str, Any]]:
    given, d = _embedded(choices)
    return "embedded_objective", {**given, "point": choices.numbers(d + 2)}


def _primal(choices: Choices) -> tuple[str, dict[str, Any]]:
    given, d = _embedded(choices)
    ways = {"starts": choices.numbers(choices.below(4), d + 2), "hops": choices.below(4), "seed": choices.below(256)}
    limits = {"max_iter": choices.one_of(50, 0, -1, 2**62), "seconds": SECONDS, "report": _report()}
    return "embedded_primal", {**given, **ways, **limits}


def _dual(choices: Choices) -> tuple[str, dict[str, Any]]:
    given = _embedded(choices)[0] | {"max_iter": choices.one_of(20, 0, -1, 2**62)}
    return "embedded_dual", {**given, "seconds": SECONDS, "report": _report()}


def _inner(choices: Choices) -> tuple[str, dict[str, Any]]:
    given, _ = _embedded(choices)
    return "embedded_inner", {"costs": given["costs"], "eps": choices.one_of(*VALUES), "t": choices.one_of(*VALUES)}
