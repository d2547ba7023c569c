"""Arguments as users give them: numbers, costs in a unit of their own, a weight for each row, dask arrays; warnings."""

import math
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from numbers import Integral, Real
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_DIGITS = 13  # of numbers that other units would change in the last one
_POWERS = np.array([float(f"1e{k}") for k in range(309)])
_MOST = 1e14  # p q of fractions p / q, which then differ by more than a share of 1e-14
_ROUNDED = 8e-16  # share by which a factor on all costs may change their quotients


def real_number(name: str, value: object) -> float:
    """Return `value` as a float; anything but a real number (a bool, a string, nan) is an error naming the argument."""
    if not isinstance(value, float) and (isinstance(value, bool) or not isinstance(value, Real)):
        # ValueError for every bad value, as in scikit-learn.
        raise ValueError(f"{name}={value!r} must be a real number, not {type(value).__name__}.")  # noqa: TRY004
    number = float(value)
    if math.isnan(number):
        raise ValueError(f"{name}={value!r} must be a number, not nan.")
    return number


def positive_number(name: str, value: object) -> float:
    """Return `value` as a finite float > 0, or raise an error."""
    number = real_number(name, value)
    if not 0.0 < number < math.inf:
        raise ValueError(f"{name}={value!r} must be positive and finite.")
    return number


def share_between(name: str, value: object, example: float) -> float:
    """Return a share strictly between 0 and 1, or raise an error."""
    share = real_number(name, value)
    if not 0.0 < share < 1.0:
        raise ValueError(f"{name}={value!r} must be strictly between 0 and 1, such as {example:g}.")
    return share


def whole_number(name: str, value: object, what: str = "an integer >= 0", least: int = 0) -> int:
    """Return the value as an int, a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ValueError(f"{name}={value!r} must be {what}.")
    return int(value)


def row_weights(sample_weight: ArrayLike | None, n: int) -> NDArray[np.float64] | None:
    """Return one finite weight >= 0 per row, with a finite sum > 0; None if none are given.

    Everywhere a weight of k is the same as the row given k times, and 0 as the row left out.
    """
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise ValueError(f"sample_weight must have one entry per row, shape ({n},); its shape is {weight.shape}.")
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(f"sample_weight must be finite and >= 0, got {weight[at]:g} at row {at}; 0 drops a row.")
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one row needs more.")
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not np.isfinite(total):
        raise ValueError(f"sample_weight sums to {total:g}; divide the weights by their mean.")
    return weight


def mean_price(prices: NDArray[np.float64], sample_weight: ArrayLike | None) -> float:
    """Return the weighted mean of the costs of rows, in units of a power of two: their own sum may overflow."""
    unit = int(np.frexp(np.max(np.abs(prices), initial=0.0))[1])
    return math.ldexp(float(np.average(np.ldexp(prices, -unit), weights=row_weights(sample_weight, len(prices)))), unit)


def threads(n_jobs: int | None) -> int:
    """Count threads as joblib does: None is one, -1 all the processors, -2 all but one; never more than there are."""
    if n_jobs is None:
        return 1
    from joblib import cpu_count  # slow to import

    return max(1, min(n_jobs, cpu_count()) if n_jobs > 0 else cpu_count() + 1 + n_jobs)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep matrix products to the thread that asks for them: `n_jobs` holds, and the bits are the same for any.

    The limit is the process's; it ends with the last of the threads that asked for it.
    """
    with _blas_lock:
        _blas_limits.append(_blas_limits[-1] if _blas_limits else _blas().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _blas_lock:
            ended = _blas_limits.pop()
            if not _blas_limits:
                ended.restore_original_limits()


_blas_lock = Lock()
_blas_limits: list[Any] = []  # the same limit once for each thread that asked


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()  # which looks for the loaded libraries, and that takes milliseconds


def warn_caller(text: str) -> None:
    """Issue a `UserWarning` at the line outside this library and scikit-learn that led here."""
    level, frame = 1, sys._getframe(0)  # noqa: SLF001 (the standard way to walk the stack)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("abstain", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, UserWarning, stacklevel=level)


def in_own_unit(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return costs of shape (..., classes, actions) in a unit of their own, in which any common factor is gone.

    ::

        unit = min over true classes of the highest cost of an action

    Quotients of costs with few digits are fractions of whole numbers, up to rounding that depends on the factor. The
    number nearest to the fraction has the same bits in all units, and no knot of a loss moves.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        own = table / table.max(axis=-1, keepdims=True).min(axis=-2, keepdims=True)
    usual = (np.isfinite(own) & ((own > 0) == (table > 0))).all(axis=(-2, -1), keepdims=True)
    return np.where(usual, fractions(own), table)


def fractions(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p / q for numbers that are p / q up to rounding, with whole p and q and p q <= 1e14; others stay."""
    found = values.ravel().copy()
    at = np.flatnonzero((found > 1.0 / _MOST) & (found < _MOST))
    x = rest = found[at]  # of a continued fraction, whose last two convergents are p / q and p_0 / q_0
    p, p_0, q, q_0 = (np.full(len(at), start) for start in (1.0, 0.0, 0.0, 1.0))
    while len(at):
        whole = np.floor(rest)
        p, p_0, q, q_0 = whole * p + p_0, p, whole * q + q_0, q
        few, near = p * q <= _MOST, np.abs(p - q * x) <= _ROUNDED * p
        found[at] = np.where(few & near, p / q, x)
        left = few & ~near & (rest > whole)
        at, x, p, p_0, q, q_0, rest = (each[left] for each in (at, x, p, p_0, q, q_0, rest - whole))
        rest = 1.0 / rest
    return found.reshape(values.shape)


def significant(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers >= 0 rounded to 13 significant decimal digits."""
    usable = (values > 1e-280) & (values < 1e280)
    places = (_DIGITS - 1) - np.floor(np.log10(np.where(usable, values, 1.0))).astype(np.intp)
    scale = _POWERS[np.abs(places)]
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.where(places > 0, np.rint(values * scale) / scale, np.rint(values / scale) * scale)
    return np.where(usable, found, values)


def checked_costs(costs: object, call: str = "{}") -> Any:
    """Return the costs, or raise an error that shows how to state them in `call`."""
    if hasattr(costs, "hands_on"):  # a table of costs, which is made of such numbers
        return costs
    from sklearn.utils._param_validation import InvalidParameterError  # slow to import

    stated = call.format("Costs(false_positive=1, false_negative=5, reject=0.3)")
    # a ValueError and a TypeError, as for scikit-learn's own parameters
    raise InvalidParameterError(f"costs={costs!r} must be a Costs, not a {type(costs).__name__}; write {stated}.")


def is_dask(values: Any) -> bool:
    """Whether this is a dask array; dask is not imported for that."""
    return isinstance(values, getattr(sys.modules.get("dask.array"), "Array", ()))


def refuse_lazy(values: Any, name: str = "X") -> None:
    """Raise an error for a lazy frame of polars."""
    if type(values).__name__ == "LazyFrame":
        raise TypeError(f"{name} is a LazyFrame of polars, which has no rows yet; pass {name}.collect().")


def refuse_dask_frame(values: Any) -> None:
    """Raise an error for a data frame of dask, which scikit-learn would load into memory, or a lazy one of polars."""
    refuse_lazy(values)
    if type(values).__module__.partition(".")[0] == "dask" and not is_dask(values):
        raise TypeError(
            f"X is a {type(values).__module__}.{type(values).__name__}; convert it to a dask array, for example with "
            "frame.to_dask_array(lengths=True)."
        )


def refuse_dask(X: Any, who: str, instead: str = "use LinearRejectSVC, which reads the chunks one by one") -> None:
    """Raise an error for dask arrays and frames, which would be loaded into memory as a whole."""
    refuse_dask_frame(X)
    if is_dask(X):
        raise TypeError(f"X is a dask array, and {who} takes rows in memory; {instead}, or pass X.compute().")


def computed(values: Any) -> Any:
    """Return the values of a dask array; anything else as it is."""
    return values.compute() if is_dask(values) else values
