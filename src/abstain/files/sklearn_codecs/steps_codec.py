"""The transformers before a Pipeline's last step as fields and arrays, and back; parameters of any estimator as JSON.

A closed list: scikit-learn's scalers, imputer and encoders, and Pipelines and ColumnTransformers of these. How many
columns a step reads and how they are called follows from the step before it, so the file cannot contradict itself. Of
scikit-learn's parameters a file has only those that differ from the defaults.
"""

import json
from dataclasses import dataclass
from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from abstain.files.format.errors import ModelFileError, refuse, unsupported
from abstain.files.format.manifest import PoolReader, PoolWriter
from abstain.files.format.schema import TEXTS, Fields, one_of, optional, whole
from abstain.files.format.values import from_json, to_json
from abstain.files.sklearn_codecs.cells_codec import ENCODERS, IMPUTER
from abstain.files.sklearn_codecs.scaler_codec import SCALERS, StepCodec

MOST_JOBS = 1024  # threads that a file may request; predict starts all of them
# parameters that are estimators, which have fields of their own
APART = {"estimator", "estimators", "detector", "steps", "transformers", "remainder"}
# what parameters were before they existed, where that is not the default
EARLIER = {"RejectSVCCV": {"cuts": "bayes", "search": "full"}}
GIVEN = "given"  # the parameter `categories`, if it lists them: they are those of the fitted encoder
NUMBERS = {np.dtype(kind).str: kind for kind in (np.float64, np.float32, np.int64, np.int32, np.int8)}

# parameters of transformers that are not stored as any other value, and the types that they may have
SPECIAL: dict[str, Any] = {"categories": object, "dtype": object, "drop": str}
SPECIAL |= dict.fromkeys(("n_jobs", "sparse_threshold", "verbose", "verbose_feature_names_out"), (bool, int, float))


def identity(estimator: Any) -> dict[str, Any]:
    """Return the fields that say what an estimator is: its type and its parameters."""
    return {"kind": type(estimator).__name__, "parameters": parameters_of(estimator)}


def parameters_of(estimator: Any) -> dict[str, Any]:
    """Return the parameters as JSON; of the types in `KEPT` only some, and any other must have its default."""
    estimator._validate_params()  # as `load` does, which must accept what this writes
    kind = type(estimator)
    given = {name: value for name, value in estimator.get_params(deep=False).items() if name not in APART}
    if kind.__module__.startswith("sklearn."):  # whose defaults change
        default = {name: one.default for name, one in signature(kind.__init__).parameters.items()}
        given = {name: value for name, value in given.items() if repr(value) != repr(default[name])}
    special, found = SPECIAL if kind in KEPT else {}, {}
    for name, value in given.items():
        found[name] = _special(name, value) if name in special else to_json(name, value)
        if name not in KEPT.get(kind, given) or (name in special and found[name] is None):
            raise unsupported(f"has {kind.__name__}({name}={value!r})", f"leave {name} at its default")
    return found


def parameters_from(kind: Any, fields: Fields) -> dict[str, Any]:
    """Return the parameters in the file; those missing from a file of an earlier version keep their defaults."""
    given, known = fields.take("parameters", dict), {*kind._get_param_names()} - APART
    if unknown := sorted({*given} - (known & {*KEPT.get(kind, known)})):
        raise ModelFileError(f"its parameter {unknown[0][:60]!r} does not exist in {kind.__name__}.")
    special = SPECIAL if kind in KEPT else {}
    found = {name: _special_from(name, one) if name in special else from_json(one) for name, one in given.items()}
    again = {name: given[name] if name in special else to_json(name, found[name]) for name in sorted(found)}
    refuse(json.dumps(given) != json.dumps(again), "its parameters are not formatted as the library writes them.")
    jobs = found.get("n_jobs")
    refuse(type(jobs) is int and abs(jobs) > MOST_JOBS, f"its n_jobs={jobs} requests more than {MOST_JOBS} threads.")
    return EARLIER.get(kind.__name__, {}) | found


def _special(name: str, value: Any) -> Any:
    """Return a parameter of `SPECIAL` as JSON; None if a file cannot contain it."""
    if name == "categories":
        return GIVEN
    if name == "dtype":
        dtype = np.dtype(value).newbyteorder("<").str
        return dtype if dtype in NUMBERS else None
    return to_json(name, value) if isinstance(value, SPECIAL[name]) else None


def _special_from(name: str, value: Any) -> Any:
    """Return the parameter that `_special` wrote; the categories are replaced by those of the fitted encoder."""
    found = {"categories": [[]], "dtype": NUMBERS.get(str(value))}.get(name, value)
    if value is None or _special(name, found) != value:
        raise ModelFileError(f"its parameter {name!r} has a value that is not allowed in a model file.")
    return found


MOST_FEATURES = 2**31 - 1  # that a fit takes
STEPS = {codec.kind.__name__: codec for codec in (*SCALERS, IMPUTER, *ENCODERS)}
# The parameters that a file keeps; all others must have their defaults.
KEPT: dict[Any, tuple[str, ...]] = {
    Pipeline: ("verbose",),
    ColumnTransformer: ("n_jobs", "sparse_threshold", "verbose", "verbose_feature_names_out"),
    **{codec.kind: tuple(codec.parameters.split()) for codec in STEPS.values()},
}
SUPPORTED = f"{', '.join(STEPS)}, 'passthrough', 'drop', and Pipelines and ColumnTransformers of these"


@dataclass(frozen=True)
class Columns:
    """The columns that a step reads: how many, and their names if it reads a data frame."""

    count: int
    names: NDArray[Any] | None = None

    @classmethod
    def read_by(cls, estimator: Any) -> Self:
        """Return what a fitted estimator that is not a Pipeline reads."""
        return cls(int(estimator.n_features_in_), getattr(estimator, "feature_names_in_", None))

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Return what a fitted estimator reads: of a Pipeline, its first step that is not "passthrough"."""
        if type(estimator) is Pipeline:
            return cls.of(active_steps(estimator)[0])
        found = cls.read_by(estimator)
        if found.names is not None and len({*found.names}) < len(found.names):
            raise ValueError("estimator was fitted to a data frame with two columns of the same name; rename one.")
        return found

    @classmethod
    def taken(cls, fields: Fields) -> Self:
        """Take the fields of `state`."""
        count, names = fields.take("n_features", whole(1)), fields.take("feature_names", optional(TEXTS))
        refuse(count > MOST_FEATURES, f"it has {count:,} features, more than {MOST_FEATURES:,}.")
        refuse(names is not None and len(names) != count, "it does not have one name per feature.")
        return cls(count, None if names is None else np.array(names, dtype=object))

    @property
    def state(self) -> dict[str, Any]:
        """The columns as fields."""
        return {"n_features": self.count, "feature_names": None if self.names is None else self.names.tolist()}

    def at(self, indices: NDArray[np.int64]) -> Self:
        """Return the columns at these indices."""
        return type(self)(len(indices), None if self.names is None else self.names[indices])

    def set_on(self, step: Any) -> None:
        """Set the attributes that scikit-learn's `fit` derives from the columns."""
        step.n_features_in_ = self.count
        vars(step).pop("feature_names_in_", None)
        if self.names is not None:
            step.feature_names_in_ = self.names.copy()

    def check(self, step: Any) -> None:
        """Raise an error if a step was fitted to other columns."""
        if Columns.read_by(step).state != self.state:
            what = f"estimator has a {type(step).__name__} that was not fitted to the {self.count} columns that it gets"
            raise ValueError(f"{what} here, or not under their names; fit the whole Pipeline again.")

    def check_match(self, last: Any, *, named: bool = True) -> None:
        """Raise an error if these are not the columns of an estimator that follows, which may not have named them."""
        other = getattr(last, "n_features_in_", self.count) != self.count
        other |= not named and hasattr(last, "feature_names_in_")
        refuse(other, f"its steps make {self.count} features, which do not match those of its machine.")


def active_steps(pipeline: Pipeline) -> list[Any]:
    """Return the steps of a Pipeline that do something."""
    return [step for _, step in pipeline.steps if step is not None and not isinstance(step, str)]


def last_step(estimator: Any) -> Any:
    """Return the last step of a Pipeline, and anything else as it is."""
    return estimator[-1] if type(estimator) is Pipeline else estimator


def codec_of(step: Any) -> StepCodec:
    """Return the codec of a transformer; an error that lists the supported ones if it has none."""
    kind = type(step).__name__
    if kind not in STEPS or STEPS[kind].kind is not type(step):
        what = f"the step {step!r}" if isinstance(step, str) else f"a {kind}"
        raise unsupported(f"has {what} before its last step", f"use {SUPPORTED}, save the last step alone")
    return STEPS[kind]


def check_output(step: Any) -> None:
    """Raise an error for a transformer that was set to return data frames."""
    chosen = getattr(step, "_sklearn_output_config", {}).get("transform")
    if chosen not in (None, "default"):
        what = f"has a {type(step).__name__} that was set by set_output to return something other than arrays"
        raise unsupported(what, 'use set_output(transform="default") and fit it again')


def asked(given: Any) -> Any:
    """Return the type and the parameters of an estimator and of all estimators inside it; any other value as it is."""
    if isinstance(given, list | tuple | np.ndarray):
        return [asked(one) for one in given]
    if not hasattr(given, "get_params"):
        return given if given is None or isinstance(given, str) else repr(given)
    kind: Any = type(given)
    if kind is FrozenEstimator:
        return asked(given.estimator)
    if hasattr(given, "transform") and kind not in (Pipeline, ColumnTransformer):
        codec_of(given)
    own = given.get_params(deep=False)
    inner = {name: asked(own[name]) for name in (*APART, "categories") if name in own}
    return [kind, parameters_of(given), inner]


def step_parts(step: Any, pool: PoolWriter, columns: Columns) -> tuple[dict[str, Any], Columns]:
    """Return the fields of one fitted scaler, imputer or encoder, and the columns that it makes."""
    codec = codec_of(step)
    check_is_fitted(step)
    check_output(step)
    pool.count(columns.count, encoded=hasattr(step, "categories"))
    columns.check(step)
    return identity(step) | codec.parts(step, pool), Columns(codec.width(step))


def step_from(fields: Fields, pool: PoolReader, columns: Columns) -> tuple[Any, Columns]:
    """Make one scaler, imputer or encoder, and return it with the columns that it makes."""
    codec = STEPS[fields.take("kind", one_of(STEPS))]
    pool.count(columns.count, encoded="categories" in codec.parameters)
    step = codec.kind(**parameters_from(codec.kind, fields))
    step._validate_params()
    codec.fitted(step, fields, pool, columns.count)
    columns.set_on(step)
    return step, Columns(codec.width(step))
