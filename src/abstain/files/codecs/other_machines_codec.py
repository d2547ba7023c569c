"""A fitted EmbeddedRejectSVC, OneClassSVM or NoveltyDetector as fields and arrays, and back."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from abstain.dual.certificate import shortest_scale
from abstain.estimators.embedded.estimator import EmbeddedRejectSVC
from abstain.estimators.embedded.training import FittedEmbedded
from abstain.estimators.novelty.novelty_detector import FAR, Columns, FittedDetector, NoveltyDetector
from abstain.estimators.svm.one_class import FittedOneClass, OneClassSVM
from abstain.files.codecs import rule_codec as rules
from abstain.files.codecs.machine_codec import EXPANSION, LINEAR, MACHINE, check_kernel, machine_from, machine_parts
from abstain.files.format import schema
from abstain.files.format.errors import ModelFileError, refuse
from abstain.kernels import Kernel
from abstain.labels import Labels
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine

FOUND = {
    "objective": schema.FINITE,
    "training_risk": schema.real(0.0, 1.0),
    "lower_bound": schema.optional(schema.real()),
    "status": schema.one_of(("local", "inaccurate", "iteration_limit", "time_limit")),
    "iterations": schema.whole(),
}
ROUNDING = 1e-6  # of an objective near its lower bound


def embedded_parts(estimator: EmbeddedRejectSVC) -> schema.Parts:
    """Return the fields and arrays of a fitted machine; an error if it contradicts its parameters."""
    fitted: FittedEmbedded = estimator._fitted_
    eps = fitted.rule.thresholds.upper
    form = LINEAR if isinstance(fitted.machine, LinearMachine) else EXPANSION
    machine, arrays = machine_parts(form, fitted.machine)
    rules.check_same(estimator._rule(_labels(estimator, fitted.rule.labels.classes), eps), fitted.rule)
    check_kernel(estimator, fitted.machine, estimator.gamma)
    _check_bound(estimator, fitted)
    state = {"machine": machine, "rule": rules.rule_state(fitted.rule, (eps,)), **schema.record(fitted, FOUND)}
    return state, schema.prefixed(arrays, MACHINE)


def embedded_from(
    estimator: EmbeddedRejectSVC, fields: schema.Fields, arrays: schema.Arrays, n_features: int
) -> FittedEmbedded:
    """Make the fitted value of these fields and arrays; `embedded_parts` compares them with the parameters."""
    classes, (eps,) = rules.rule_from(fields.take("rule", dict), lambda _: (1,))
    labels = _labels(estimator, classes)
    if not 0.0 <= eps <= 1.0 or (eps > 0.0 and not labels.rejects):
        raise ModelFileError("its reject band is not possible: eps must lie between 0 and 1, and be 0 without rejects.")
    given = fields.inner("machine")
    form = EXPANSION if "kernel" in given else LINEAR
    machine = machine_from(form, given, schema.within(arrays, MACHINE), d=n_features)
    if (form is LINEAR) != (estimator.kernel == "linear"):
        raise ModelFileError("its machine does not have the kernel that its parameters name.")
    return FittedEmbedded(machine=machine, rule=estimator._rule(labels, eps), **fields.record(FOUND))


def _check_bound(estimator: EmbeddedRejectSVC, fitted: FittedEmbedded) -> None:
    """Check that there is a lower bound if the parameters call for one, and that the objective is above it."""
    bound = fitted.lower_bound
    if (bound is None) == (estimator.solver == "dual" or bool(estimator.lower_bound)):
        raise ModelFileError("its lower bound is missing, or it has one that its parameters do not call for.")
    if fitted.objective < max(0.0, -math.inf if bound is None else (1.0 - ROUNDING) * bound):
        raise ModelFileError("its objective lies below its lower bound.")


def _labels(estimator: EmbeddedRejectSVC, classes: Any) -> Labels:
    rejects = estimator._loss().rejects
    return Labels.named(classes, pos_label=estimator.pos_label, reject_label=estimator.reject_label, rejects=rejects)


# d features; two parts of the score
COLUMNS = ("origin", "floor", "centre", "spread")
OWN = schema.layout(**dict.fromkeys(COLUMNS, "f8 d"), residuals="f8 d d", units="f8 2", excess="f8 2")


def one_class_parts(estimator: OneClassSVM) -> schema.Parts:
    """Return the fields and arrays of a fitted machine; an error if it contradicts its parameters."""
    fitted: FittedOneClass = estimator._fitted_
    machine, arrays = machine_parts(EXPANSION, fitted.machine)
    check_kernel(estimator, fitted.machine, estimator.gamma)
    _check(fitted)
    rules.check_status(fitted.proof, fitted.machine.kernel, float(estimator.tol))
    return {"machine": machine, "proof": rules.proofs_state([fitted.proof])[0]}, schema.prefixed(arrays, MACHINE)


def one_class_from(_: Any, fields: schema.Fields, arrays: schema.Arrays, n_features: int) -> FittedOneClass:
    """Make the fitted value from fields and arrays; `one_class_parts` compares them with the parameters."""
    machine = machine_from(EXPANSION, fields.inner("machine"), schema.within(arrays, MACHINE), d=n_features)
    return FittedOneClass(replace(machine, balanced=False), *rules.proofs_from([fields.take("proof", dict)], 1))


def _check(fitted: FittedOneClass) -> None:
    """Check that coefficients are positive, the dual value is that of a length, and the gap no smaller than it can be.

    The gap is relative to the larger objective, or to more where both are nearly 0: then nothing is compared.
    """
    coef, proof = fitted.machine.coef, fitted.proof
    refuse(not len(coef) or not (coef > 0.0).all(), "it has no coefficients, or one of them is not above 0.")
    larger, least = max(abs(proof.objective), abs(proof.dual_objective)), _least_scale(fitted.machine)
    if proof.definite and proof.dual_objective > max(rules.UNBALANCED * larger, least):
        raise ModelFileError("the dual value of its proof is above 0, where it is minus half the square of a length.")
    if larger > least:
        rules.check_objectives(proof, scale=larger)


def _least_scale(machine: KernelMachine) -> float:
    """Return what a gap is relative to at least; infinite if the kernel values are not known."""
    if machine.is_precomputed or not isinstance(machine.kernel, Kernel):
        return math.inf
    with np.errstate(over="ignore", invalid="ignore"):
        return shortest_scale(machine.coef, machine.kernel.diagonal(machine.vectors))


def detector_parts(estimator: NoveltyDetector) -> schema.Parts:
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


def detector_from(_: Any, fields: schema.Fields, arrays: schema.Arrays, n_features: int) -> FittedDetector:
    """Make the fitted value from fields and arrays."""
    own = schema.beside(arrays, MACHINE)
    schema.fitting(own, OWN, "detector", {"d": n_features})
    one_class = NoveltyDetector.part()
    machine = one_class_from(one_class, fields, arrays, n_features)
    vars(one_class).update(_fitted_=machine, n_features_in_=n_features)
    columns = Columns(*(own[name] for name in COLUMNS))
    return FittedDetector(columns, own["residuals"], one_class, own["units"], own["excess"])
