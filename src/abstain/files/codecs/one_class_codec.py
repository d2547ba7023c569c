"""A fitted OneClassSVM or NoveltyDetector as fields and arrays, and back."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from abstain.dual.certificate import shortest_scale
from abstain.estimators.novelty.novelty_detector import FAR, Columns, FittedDetector, NoveltyDetector
from abstain.estimators.svm.one_class import FittedOneClass, OneClassSVM
from abstain.files.codecs.machine_codec import EXPANSION, MACHINE, check_kernel, machine_from, machine_parts
from abstain.files.codecs.proof_codec import UNBALANCED, check_objectives, check_status, proofs_from, proofs_state
from abstain.files.format.arrays import Arrays, Parts
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.schema import Fields, beside, fitting, layout, prefixed, within
from abstain.kernels import Kernel
from abstain.machines.kernel_machine import KernelMachine

# d features; two parts of the score
COLUMNS = ("origin", "floor", "centre", "spread")
OWN = layout(**dict.fromkeys(COLUMNS, "f8 d"), residuals="f8 d d", units="f8 2", excess="f8 2")


def one_class_parts(estimator: OneClassSVM) -> Parts:
    """Return the fields and arrays of a fitted machine; an error if it contradicts its parameters."""
    fitted: FittedOneClass = estimator._fitted_
    machine, arrays = machine_parts(EXPANSION, fitted.machine)
    check_kernel(estimator, fitted.machine, estimator.gamma)
    _check(fitted)
    check_status(fitted.proof, fitted.machine.kernel, float(estimator.tol))
    return {"machine": machine, "proof": proofs_state([fitted.proof])[0]}, prefixed(arrays, MACHINE)


def one_class_from(estimator: OneClassSVM, fields: Fields, arrays: Arrays, n_features: int) -> FittedOneClass:
    """Make the fitted value from fields and arrays; `one_class_parts` compares them with the parameters."""
    del estimator
    machine = machine_from(EXPANSION, fields.inner("machine"), within(arrays, MACHINE), d=n_features)
    return FittedOneClass(replace(machine, balanced=False), *proofs_from([fields.take("proof", dict)], 1))


def _check(fitted: FittedOneClass) -> None:
    """Check that coefficients are positive, the dual value is that of a length, and the gap no smaller than it can be.

    The gap is relative to the larger objective, or to more where both are nearly 0: then nothing is compared.
    """
    coef, proof = fitted.machine.coef, fitted.proof
    refuse(not len(coef) or not (coef > 0.0).all(), "it has no coefficients, or one of them is not above 0.")
    larger, least = max(abs(proof.objective), abs(proof.dual_objective)), _least_scale(fitted.machine)
    if proof.definite and proof.dual_objective > max(UNBALANCED * larger, least):
        raise ModelFileError("the dual value of its proof is above 0, where it is minus half the square of a length.")
    if larger > least:
        check_objectives(proof, scale=larger)


def _least_scale(machine: KernelMachine) -> float:
    """Return what a gap is relative to at least; infinite if the kernel values are not known."""
    if machine.is_precomputed or not isinstance(machine.kernel, Kernel):
        return math.inf
    with np.errstate(over="ignore", invalid="ignore"):
        return shortest_scale(machine.coef, machine.kernel.diagonal(machine.vectors))


def detector_parts(estimator: NoveltyDetector) -> Parts:
    """Return the fields and arrays of a fitted detector; an error if they contradict each other."""
    now: FittedDetector = estimator._fitted_
    state, machine = one_class_parts(now.one_class)
    own = {name: getattr(now.columns, name) for name in COLUMNS}
    own |= {"residuals": np.ascontiguousarray(now.residuals), "units": now.units, "excess": now.excess}
    positive = (now.columns.spread, now.units, now.excess, np.diag(now.residuals))
    if not all((numbers > 0.0).all() for numbers in positive) or (now.columns.floor < 0.0).any():
        raise ModelFileError("a unit of its detector is not above 0.")
    refuse((np.abs(now.machine.vectors) > FAR).any(), "its detector has vectors beyond the cells that it clips.")
    return state, own | machine


def detector_from(estimator: NoveltyDetector, fields: Fields, arrays: Arrays, n_features: int) -> FittedDetector:
    """Make the fitted value from fields and arrays."""
    del estimator
    own = beside(arrays, MACHINE)
    fitting(own, OWN, "detector", {"d": n_features})
    one_class = NoveltyDetector.part()
    one_class._fitted_ = one_class_from(one_class, fields, arrays, n_features)
    one_class.n_features_in_ = n_features
    columns = Columns(*(own[name] for name in COLUMNS))
    return FittedDetector(columns, own["residuals"], one_class, own["units"], own["excess"])
