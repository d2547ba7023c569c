"""Low-rank kernel machines, of two classes or of more, as fields and arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.estimators.linear.low_rank_fit import check_low_rank
from abstain.files.codecs.machine_codec import (
    DENSE,
    FLOAT,
    SPARSE,
    SPARSE_KINDS,
    check_kernel,
    kernel_from,
    vector_parts,
    vectors_from,
)
from abstain.files.format.arrays import Arrays
from abstain.files.format.errors import ModelFileError
from abstain.files.format.schema import Fields, Spec, fitting
from abstain.machines.class_machine import OneVsRestMachine
from abstain.machines.kernel_machine import KernelMachine

__all__ = ["landmark_from", "landmark_parts"]

# m machines on s landmarks
COEFFICIENTS: dict[str, Spec] = {"coef": (FLOAT, ("m", "s")), "biases": (FLOAT, ("m",))}

LandmarkMachine = KernelMachine | OneVsRestMachine


def landmark_parts(estimator: Any, machine: LandmarkMachine) -> tuple[dict[str, Any], Arrays]:
    """Give the fields and arrays of a machine on landmarks; an error if it contradicts the parameters."""
    _check(estimator, machine)
    kernel: Any = machine.kernel
    storage, arrays = vector_parts(machine)
    biases = machine.biases if isinstance(machine, OneVsRestMachine) else np.array([machine.bias])
    state = {"kernel": [kernel.name, kernel.gamma, kernel.coef0, kernel.degree], "vectors": storage}
    return state, arrays | {"coef": np.atleast_2d(machine.coef), "biases": biases}


def landmark_from(estimator: Any, given: Any, arrays: Arrays, n_features: int, machines: int) -> LandmarkMachine:
    """Make the machine of these fields and arrays, checking each of them and that they agree."""
    fields = Fields(given, "machine")
    kernel = kernel_from(fields)
    storage = fields.one_of("vectors", ("dense", *SPARSE_KINDS))
    fields.end()
    specs = COEFFICIENTS | (DENSE if storage == "dense" else SPARSE)
    numbers = fitting(arrays, specs, "machine", {"m": machines, "d": n_features})
    vectors, coef, biases = vectors_from(arrays, storage, numbers), arrays["coef"], arrays["biases"]
    s = numbers["s"]
    found: LandmarkMachine = (
        KernelMachine(kernel, vectors, coef[0], float(biases[0]), np.arange(s), s)
        if machines == 1
        else OneVsRestMachine(kernel, vectors, coef, biases, np.arange(s), s)
    )
    _check(estimator, found)
    return found


def _check(estimator: Any, machine: LandmarkMachine) -> None:
    if not check_low_rank(estimator):
        raise ModelFileError("its machine has landmarks, but its estimator is linear.")
    if not 0 < len(machine.support) <= estimator.n_components:
        raise ModelFileError(f"its machine has {len(machine.support)} landmarks, not 1 to {estimator.n_components}.")
    check_kernel(estimator, machine, estimator.gamma)
