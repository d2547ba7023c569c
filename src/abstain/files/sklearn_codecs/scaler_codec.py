"""Fitted scalers of scikit-learn as fields and arrays, and back.

Each is fitted to two numbers first, which sets what the installed scikit-learn keeps beside the saved attributes and
refuses parameters that it would refuse.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from abstain.files.format.errors import ModelFileError
from abstain.files.format.pool import FLOAT, WHOLE, PoolReader, PoolWriter
from abstain.files.format.schema import Fields

ROUNDING = 1e-5  # of a square root in single precision
CHANGED = "the arrays of its {} contradict each other or its parameters."


def fitted_quietly(step: Any, X: Any) -> Any:
    """Fit a step to stand-in rows; its warnings are about rows that nobody gave."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return step.fit(X)


def _started(step: Any) -> Any:
    return fitted_quietly(step, np.array([[1.0], [2.0]]))


def standard_parts(step: Any, pool: PoolWriter) -> dict[str, Any]:
    """Write (x - mean) / scale, with scale = sqrt(var), or 1 for constants."""
    named = {"mean": step.mean_, "var": step.var_, "scale": step.scale_}
    state: dict[str, Any] = {name: None if array is None else pool.put(array) for name, array in named.items()}
    return state | {"n_samples_seen": pool.put(step.n_samples_seen_)}


def standard_from(step: Any, fields: Fields, pool: PoolReader, n: int) -> int:
    """Set the mean, variance and scale of a StandardScaler."""
    _set_standard(_started(step), fields, pool, n)
    return n


def _set_standard(step: Any, fields: Fields, pool: PoolReader, n: int) -> None:
    for name in ("mean", "var", "scale"):
        absent = getattr(step, f"{name}_") is None
        setattr(step, f"{name}_", fields.take(name, type(None)) if absent else pool.take(fields, name, (n,)))
    seen = pool.take(fields, "n_samples_seen", (), (n,), dtypes=(*FLOAT, *WHOLE))
    scale, variance = step.scale_, step.var_
    right = bool((seen > 0).all())
    if variance is not None:
        right &= bool((variance >= 0).all())
    if scale is not None:
        right &= bool((scale > 0).all())
        right &= bool((np.isclose(scale, np.sqrt(variance), rtol=ROUNDING, atol=0.0) | (scale == 1)).all())
    if not right:
        raise ModelFileError(CHANGED.format("StandardScaler"))
    step.n_samples_seen_ = seen[()]


def min_max_parts(step: Any, pool: PoolWriter) -> dict[str, Any]:
    """Write low + (x - min) (high - low) / (max - min); the other attributes follow from min and max."""
    again = fitted_quietly(clone(step), np.vstack([step.data_min_, step.data_max_]))
    for name in ("scale_", "min_", "data_range_"):
        if getattr(again, name).tobytes() != getattr(step, name).tobytes():
            raise ModelFileError(CHANGED.format("MinMaxScaler"))
    named = {"data_min": step.data_min_, "data_max": step.data_max_, "n_samples_seen": step.n_samples_seen_}
    return {name: pool.put(array) for name, array in named.items()}


def min_max_from(step: Any, fields: Fields, pool: PoolReader, n: int) -> int:
    """Fit a MinMaxScaler to the smallest and the largest row."""
    least, most = pool.take(fields, "data_min", (n,)), pool.take(fields, "data_max", (n,))
    seen = _seen(fields, pool)
    if least.dtype != most.dtype or not (least <= most).all() or not np.isfinite(most - least).all():
        raise ModelFileError(CHANGED.format("MinMaxScaler"))
    fitted_quietly(step, np.vstack([least, most]))
    step.data_min_, step.data_max_, step.n_samples_seen_ = least, most, seen
    return n


def max_abs_parts(step: Any, pool: PoolWriter) -> dict[str, Any]:
    """Write x / max |x|."""
    again = fitted_quietly(clone(step), step.max_abs_[np.newaxis])
    if again.scale_.tobytes() != step.scale_.tobytes():
        raise ModelFileError(CHANGED.format("MaxAbsScaler"))
    return {"max_abs": pool.put(step.max_abs_), "n_samples_seen": pool.put(step.n_samples_seen_)}


def max_abs_from(step: Any, fields: Fields, pool: PoolReader, n: int) -> int:
    """Fit a MaxAbsScaler to the largest sizes."""
    most, seen = pool.take(fields, "max_abs", (n,)), _seen(fields, pool)
    if np.signbit(most).any():
        raise ModelFileError(CHANGED.format("MaxAbsScaler"))
    fitted_quietly(step, most[np.newaxis])
    step.n_samples_seen_ = seen
    return n


def _seen(fields: Fields, pool: PoolReader) -> int:
    seen = int(pool.take(fields, "n_samples_seen", (), dtypes=WHOLE))
    if seen < 1:
        raise ModelFileError("one of its scalers has seen no rows.")
    return seen


def robust_parts(step: Any, pool: PoolWriter) -> dict[str, Any]:
    """Write (x - median) / distance of two quantiles."""
    named = {"center": step.center_, "scale": step.scale_}
    return {name: None if array is None else pool.put(array) for name, array in named.items()}


def robust_from(step: Any, fields: Fields, pool: PoolReader, n: int) -> int:
    """Set the centre and scale of a RobustScaler."""
    _started(step)
    for name in ("center", "scale"):
        absent = getattr(step, f"{name}_") is None
        setattr(step, f"{name}_", fields.take(name, type(None)) if absent else pool.take(fields, name, (n,)))
    if step.scale_ is not None and not (step.scale_ > 0).all():
        raise ModelFileError(CHANGED.format("RobustScaler"))
    return n


def normalizer_parts(step: Any, pool: PoolWriter) -> dict[str, Any]:  # noqa: ARG001 (nothing is learnt)
    """Write x / |x|, of which nothing is learnt."""
    return {}


def normalizer_from(step: Any, fields: Fields, pool: PoolReader, n: int) -> int:  # noqa: ARG001
    """A Normalizer learns nothing."""
    _started(step)
    return n


def power_parts(step: Any, pool: PoolWriter) -> dict[str, Any]:
    """A power of each column, then a StandardScaler unless `standardize` is False."""
    lambdas = pool.put(step.lambdas_)
    return {"lambdas": lambdas, "scaler": standard_parts(step._scaler, pool) if step.standardize else None}


def power_from(step: Any, fields: Fields, pool: PoolReader, n: int) -> int:
    """Set the powers and the scaler inside a PowerTransformer."""
    _started(step)
    step.lambdas_ = pool.take(fields, "lambdas", (n,))
    if not step.standardize:
        fields.take("scaler", type(None))
        return n
    inner = Fields(fields.take("scaler", dict), "scaler")
    _set_standard(step._scaler, inner, pool, n)
    inner.end()
    step._scaler.n_features_in_ = n
    return n


def quantile_parts(step: Any, pool: PoolWriter) -> dict[str, Any]:
    """Columns mapped by their quantiles, which lie at evenly spaced references."""
    if step.references_.tobytes() != np.linspace(0, 1, step.n_quantiles_, endpoint=True).tobytes():
        raise ModelFileError(CHANGED.format("QuantileTransformer"))
    return {"quantiles": pool.put(step.quantiles_)}


def quantile_from(step: Any, fields: Fields, pool: PoolReader, n: int) -> int:
    """Set the quantiles of a QuantileTransformer."""
    _started(step)
    quantiles = pool.take(fields, "quantiles", (None, n))
    if not 1 <= len(quantiles) <= step.n_quantiles or not (quantiles[1:] >= quantiles[:-1]).all():
        raise ModelFileError(CHANGED.format("QuantileTransformer"))
    step.quantiles_, step.n_quantiles_ = quantiles, len(quantiles)
    step.references_ = np.linspace(0, 1, len(quantiles), endpoint=True)
    return n
