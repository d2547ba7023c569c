"""The transformers before a Pipeline's last step as fields and arrays, and back.

A closed list: scikit-learn's scalers, imputer and encoders, and Pipelines and ColumnTransformers of these. How many
columns a step reads and how they are called follows from the step before it, so the file cannot contradict itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import preprocessing as sk
from sklearn.impute import SimpleImputer
from sklearn.utils.validation import check_is_fitted

from abstain.files.format.errors import ModelFileError
from abstain.files.format.pool import PoolReader, PoolWriter
from abstain.files.format.schema import Fields
from abstain.files.format.values import from_json, to_json
from abstain.files.sklearn_codecs import encoder_codec as encoders
from abstain.files.sklearn_codecs import imputer_codec as imputers
from abstain.files.sklearn_codecs import scaler_codec as scalers

GIVEN = "given"  # the parameter `categories`, if it lists them: they are those of the fitted encoder
NUMBERS = {np.dtype(kind).str: kind for kind in (np.float64, np.float32, np.int64, np.int32, np.int8)}


@dataclass(frozen=True)
class StepCodec:
    """A transformer, the parameters that it may have, and the functions that write and read its fitted state."""

    kind: Any
    parameters: tuple[str, ...]
    parts: Callable[[Any, PoolWriter], dict[str, Any]]
    fitted: Callable[[Any, Fields, PoolReader, int], int]


_ENCODER = ("categories", "dtype", "handle_unknown")
_QUANTILE = ("copy", "ignore_implicit_zeros", "n_quantiles", "output_distribution", "random_state", "subsample")
STEPS = {
    codec.kind.__name__: codec
    for codec in (
        StepCodec(
            sk.StandardScaler, ("copy", "with_mean", "with_std"), scalers.standard_parts, scalers.standard_from
        ),
        StepCodec(sk.MinMaxScaler, ("clip", "copy", "feature_range"), scalers.min_max_parts, scalers.min_max_from),
        StepCodec(sk.MaxAbsScaler, ("clip", "copy"), scalers.max_abs_parts, scalers.max_abs_from),
        StepCodec(
            sk.RobustScaler,
            ("copy", "quantile_range", "unit_variance", "with_centering", "with_scaling"),
            scalers.robust_parts,
            scalers.robust_from,
        ),
        StepCodec(sk.Normalizer, ("copy", "norm"), scalers.normalizer_parts, scalers.normalizer_from),
        StepCodec(sk.PowerTransformer, ("copy", "method", "standardize"), scalers.power_parts, scalers.power_from),
        StepCodec(sk.QuantileTransformer, _QUANTILE, scalers.quantile_parts, scalers.quantile_from),
        StepCodec(
            SimpleImputer,
            ("add_indicator", "copy", "fill_value", "keep_empty_features", "missing_values", "strategy"),
            imputers.imputer_parts,
            imputers.imputer_from,
        ),
        StepCodec(
            sk.OneHotEncoder,
            (*_ENCODER, "drop", "feature_name_combiner", "sparse_output"),
            encoders.encoder_parts,
            encoders.encoder_from,
        ),
        StepCodec(
            sk.OrdinalEncoder,
            (*_ENCODER, "encoded_missing_value", "unknown_value"),
            encoders.encoder_parts,
            encoders.encoder_from,
        ),
    )
}
SUPPORTED = f"{', '.join(STEPS)}, 'passthrough', 'drop', and Pipelines and ColumnTransformers of these"


@dataclass(frozen=True)
class Columns:
    """The columns that a step reads: how many, and their names if it reads a data frame."""

    count: int
    names: NDArray[Any] | None = None

    def at(self, indices: NDArray[np.int64]) -> Columns:
        """The columns at these indices."""
        return Columns(len(indices), None if self.names is None else self.names[indices])

    def set_on(self, step: Any) -> None:
        """Set the attributes that scikit-learn's `fit` derives from the columns."""
        step.n_features_in_ = self.count
        vars(step).pop("feature_names_in_", None)
        if self.names is not None:
            step.feature_names_in_ = self.names.copy()

    def check(self, step: Any) -> None:
        """Raise an error if a step was fitted to other columns."""
        names, kind = getattr(step, "feature_names_in_", None), type(step).__name__
        same = (None if names is None else names.tolist()) == (None if self.names is None else self.names.tolist())
        if step.n_features_in_ != self.count or not same:
            raise ValueError(
                f"estimator has a {kind} that was not fitted to the {self.count} columns that it gets here, or not "
                "under their names; fit the whole Pipeline again."
            )


def codec_of(step: Any) -> StepCodec:
    """The codec of a transformer; an error that lists the supported ones if it has none."""
    kind = type(step).__name__
    if kind not in STEPS or STEPS[kind].kind is not type(step):
        what = f"the step {step!r}" if isinstance(step, str) else f"a {kind}"
        raise ValueError(
            f"estimator has {what} before its last step, but a model file can contain only {SUPPORTED}; use these, "
            "save the last step alone, or use skops."
        )
    return STEPS[kind]


def check_output(step: Any) -> None:
    """Raise an error for a transformer that was set to return data frames."""
    chosen = getattr(step, "_sklearn_output_config", {}).get("transform")
    if chosen not in (None, "default"):
        raise ValueError(
            f"estimator has a {type(step).__name__} that was set by set_output to return something other than arrays, "
            'which a model file cannot contain; use set_output(transform="default") and fit again.'
        )


def step_parts(step: Any, pool: PoolWriter, columns: Columns) -> tuple[dict[str, Any], int]:
    """Give the fields of one fitted scaler, imputer or encoder, and the number of columns that it makes."""
    codec = codec_of(step)
    check_is_fitted(step)
    check_output(step)
    pool.count(columns.count, encoded=hasattr(step, "categories"))
    columns.check(step)
    state = {"kind": codec.kind.__name__, "parameters": parameters(step), **codec.parts(step, pool)}
    return state, width(step)


def width(step: Any) -> int:
    """The number of columns that a fitted scaler, imputer or encoder makes."""
    if isinstance(step, sk.OneHotEncoder):
        return encoders.encoded_width(step)
    return imputers.imputed_width(step) if isinstance(step, SimpleImputer) else int(step.n_features_in_)


def step_from(fields: Fields, pool: PoolReader, columns: Columns) -> tuple[Any, int]:
    """Make one scaler, imputer or encoder; `fields` are those of its state, without its kind."""
    codec = STEPS[fields.one_of("kind", STEPS)]
    pool.count(columns.count, encoded="categories" in codec.parameters)
    step = codec.kind(**_given(codec, fields.take("parameters", dict)))
    step._validate_params()
    made = codec.fitted(step, fields, pool, columns.count)
    fields.end()
    columns.set_on(step)
    return step, made


def parameters(step: Any) -> dict[str, Any]:
    """The parameters that differ from scikit-learn's defaults, as JSON; an error for one that cannot be stored."""
    codec = codec_of(step)
    default = codec.kind().get_params(deep=False)
    step._validate_params()
    found = {}
    for name, value in step.get_params(deep=False).items():
        if repr(value) == repr(default[name]):
            continue
        if name not in codec.parameters:
            raise ValueError(
                f"estimator has {codec.kind.__name__}({name}={value!r}), which a model file cannot contain; leave "
                f"{name} at its default, or use skops."
            )
        found[name] = _to_json(name, value)
    return found


def _to_json(name: str, value: Any) -> Any:
    if name == "categories":
        return GIVEN
    if name == "dtype":
        dtype = np.dtype(value).newbyteorder("<").str
        if dtype not in NUMBERS:
            raise ValueError(f"estimator has an encoder with dtype={value!r}; use one of float64, float32, int64.")
        return dtype
    if name == "drop" and not isinstance(value, str):
        raise ValueError(f"estimator has an encoder with drop={value!r}; use None, 'first' or 'if_binary'.")
    return to_json(name, value)


def _given(codec: StepCodec, given: dict[str, Any]) -> dict[str, Any]:
    known = {*codec.kind._get_param_names()} & {*codec.parameters}
    if unknown := sorted({*given} - known):
        raise ModelFileError(f"its parameter {unknown[0][:60]!r} does not exist in {codec.kind.__name__}.")
    return {name: _from_json(name, value) for name, value in given.items()}


def _from_json(name: str, value: Any) -> Any:
    if name == "categories":
        if value != GIVEN:
            raise ModelFileError("the categories of its encoder are given in a way that is not allowed.")
        return [[]]  # replaced by those of the fitted encoder
    if name == "dtype":
        if not isinstance(value, str) or value not in NUMBERS:
            raise ModelFileError("the dtype of its encoder is not allowed in a model file.")
        return NUMBERS[value]
    return from_json(value)
