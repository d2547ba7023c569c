"""Parameters of estimators as JSON, and back; of scikit-learn's only those that differ from its defaults."""

from __future__ import annotations

import json
from collections.abc import Collection
from inspect import signature
from typing import Any

import numpy as np

from abstain.files.format.errors import ModelFileError, refuse, unsupported
from abstain.files.format.values import from_json, to_json

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


def parameters_of(estimator: Any, kept: Collection[str] | None = None) -> dict[str, Any]:
    """Return the parameters as JSON; if only some may be `kept`, any other must have its default."""
    estimator._validate_params()  # as `load` does, which must accept what this writes
    kind = type(estimator)
    given = {name: value for name, value in estimator.get_params(deep=False).items() if name not in APART}
    if kind.__module__.startswith("sklearn."):  # whose defaults change
        default = {name: one.default for name, one in signature(kind.__init__).parameters.items()}
        given = {name: value for name, value in given.items() if repr(value) != repr(default[name])}
    special, found = {} if kept is None else SPECIAL, {}
    for name, value in given.items():
        found[name] = _special(name, value) if name in special else to_json(name, value)
        if (kept is not None and name not in kept) or (name in special and found[name] is None):
            raise unsupported(f"has {kind.__name__}({name}={value!r})", f"leave {name} at its default")
    return found


def parameters_from(kind: Any, given: dict[str, Any], kept: Collection[str] | None = None) -> dict[str, Any]:
    """Return the parameters in the file; those missing from a file of an earlier version keep their defaults."""
    known = {*kind._get_param_names()} - APART
    if unknown := sorted({*given} - (known if kept is None else known & {*kept})):
        raise ModelFileError(f"its parameter {unknown[0][:60]!r} does not exist in {kind.__name__}.")
    special = {} if kept is None else SPECIAL
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
