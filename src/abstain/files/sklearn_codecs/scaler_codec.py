"""Fitted transformers of scikit-learn as tables of attributes, and the scalers, which are no more than that.

Each is fitted to two numbers first, which sets what the installed scikit-learn keeps beside the saved attributes and
refuses parameters that it would refuse.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn import preprocessing as sk
from sklearn.base import clone

from abstain.files.format.errors import ModelFileError
from abstain.files.format.manifest import PoolReader, PoolWriter
from abstain.files.format.schema import Fields

ROUNDING = 1e-5  # of a square root in single precision


@dataclass(frozen=True)
class StepCodec:
    """A transformer, the parameters that it may have, and its fitted attributes.

    Attributes
    ----------
    kind : type
    parameters : str
    numbers : str
        Its fitted arrays with a number for each column, by their names without the last underscore.
    others : dict of str to str
        The dtypes and axes of each other array, as for `PoolReader.take`.
    consistent : callable
        Whether the attributes of a transformer are possible together and with its parameters.
    derived : callable
        The attributes that follow from these.
    """

    kind: Any
    parameters: str
    numbers: str = ""
    others: dict[str, str] = field(default_factory=dict)
    consistent: Callable[[Any], bool] = lambda _: True
    derived: Callable[[Any], dict[str, Any]] = lambda _: {}

    @property
    def attributes(self) -> dict[str, str]:
        """The dtypes and axes of all fitted arrays."""
        return dict.fromkeys(self.numbers.split(), "f8|f4 n") | self.others

    def parts(self, step: Any, pool: PoolWriter) -> dict[str, Any]:
        """Return the fields of a fitted transformer."""
        for name, value in self.derived(step).items():
            if np.asarray(value).tobytes() != np.asarray(getattr(step, name)).tobytes():
                raise self._contradiction()
        fitted = {name: getattr(step, f"{name}_") for name in self.attributes}
        return {name: None if value is None else pool.put(value) for name, value in fitted.items()}

    def fitted(self, step: Any, fields: Fields, pool: PoolReader, n: int) -> None:
        """Set the fitted attributes of a transformer of n columns."""
        fitted_quietly(step, np.array([[1.0], [2.0]]))
        self.set_on(step, fields, pool, n)

    def set_on(self, step: Any, fields: Fields, pool: PoolReader, n: int) -> None:
        """Set the attributes of a transformer that has been fitted to something."""
        for name, form in self.attributes.items():
            if getattr(step, f"{name}_") is None:
                fields.take(name, type(None))
            else:
                array = pool.take(name, fields.take(name), form, n)
                setattr(step, f"{name}_", array.item() if form in COUNT.values() else array[()])
        if not self.consistent(step):
            raise self._contradiction()
        step.__dict__.update(self.derived(step))

    def width(self, step: Any) -> int:
        """Return the number of columns that a fitted transformer makes."""
        return int(step.n_features_in_)

    def _contradiction(self) -> ModelFileError:
        return ModelFileError(f"the arrays of its {self.kind.__name__} contradict each other or its parameters.")


def fitted_quietly(step: Any, X: Any) -> Any:
    """Fit a step to stand-in rows; its warnings are about rows that nobody gave."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return step.fit(X)


def _derived(step: Any, rows: Any, *names: str) -> dict[str, Any]:
    """Return the attributes of these names that a fit to these rows gives."""
    again = fitted_quietly(clone(step), np.array(rows))
    return {name: getattr(again, name) for name in names}


def _standard(step: Any) -> bool:
    """(x - mean) / scale, with scale = sqrt(var), or 1 for constants."""
    scale, variance = step.scale_, step.var_
    right = bool((step.n_samples_seen_ > 0).all()) and (variance is None or bool((variance >= 0).all()))
    if scale is None or not right:
        return right
    close = np.isclose(scale, np.sqrt(variance), rtol=ROUNDING, atol=0.0)
    return bool((scale > 0).all() and (close | (scale == 1)).all())


def _min_max(step: Any) -> bool:
    """Low + (x - min) (high - low) / (max - min)."""
    least, most = step.data_min_, step.data_max_
    ordered = least.dtype == most.dtype and bool((least <= most).all())
    return ordered and bool(np.isfinite(most - least).all()) and step.n_samples_seen_ > 0


def _ranges(step: Any) -> dict[str, Any]:
    return _derived(step, [step.data_min_, step.data_max_], "scale_", "min_", "data_range_")


def _max_abs(step: Any) -> bool:
    """X / max |x|."""
    return not np.signbit(step.max_abs_).any() and step.n_samples_seen_ > 0


def _max_abs_scale(step: Any) -> dict[str, Any]:
    return _derived(step, [step.max_abs_], "scale_")


def _quantiles(step: Any) -> bool:
    """Columns mapped by their quantiles, which lie at evenly spaced references."""
    found = step.quantiles_
    return 1 <= len(found) <= step.n_quantiles and bool((found[1:] >= found[:-1]).all())


def _references(step: Any) -> dict[str, Any]:
    n = len(step.quantiles_)
    return {"n_quantiles_": n, "references_": np.linspace(0, 1, n, endpoint=True)}


class _PowerCodec(StepCodec):
    """A power of each column, then a StandardScaler unless `standardize` is False."""

    def parts(self, step: Any, pool: PoolWriter) -> dict[str, Any]:
        state = super().parts(step, pool)
        return state | {"scaler": STANDARD.parts(step._scaler, pool) if step.standardize else None}

    def set_on(self, step: Any, fields: Fields, pool: PoolReader, n: int) -> None:
        super().set_on(step, fields, pool, n)
        given = fields.take("scaler", dict if step.standardize else type(None))
        if step.standardize:
            STANDARD.set_on(step._scaler, Fields(given, "scaler"), pool, n)
            step._scaler.n_features_in_ = n


COUNT, WEIGHTED = {"n_samples_seen": "i8"}, {"n_samples_seen": "f8|f4|i8, f8|f4|i8 n"}
STANDARD = StepCodec(sk.StandardScaler, "copy with_mean with_std", "mean var scale", WEIGHTED, _standard)
ROBUST = "copy quantile_range unit_variance with_centering with_scaling"
QUANTILE = "copy ignore_implicit_zeros n_quantiles output_distribution random_state subsample"
SCALERS = (
    STANDARD,
    StepCodec(sk.MinMaxScaler, "clip copy feature_range", "data_min data_max", COUNT, _min_max, _ranges),
    StepCodec(sk.MaxAbsScaler, "clip copy", "max_abs", COUNT, _max_abs, _max_abs_scale),
    StepCodec(sk.RobustScaler, ROBUST, "center scale", {}, lambda x: x.scale_ is None or bool((x.scale_ > 0).all())),
    StepCodec(sk.Normalizer, "copy norm"),
    _PowerCodec(sk.PowerTransformer, "copy method standardize", "lambdas"),
    StepCodec(sk.QuantileTransformer, QUANTILE, "", {"quantiles": "f8|f4 q n"}, _quantiles, _references),
)
