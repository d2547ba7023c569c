"""A fitted EmbeddedRejectSVC as fields and arrays, and back."""

from __future__ import annotations

import math
from typing import Any

from abstain.estimators.embedded.estimator import EmbeddedRejectSVC
from abstain.estimators.embedded.training import FittedEmbedded
from abstain.files.codecs.machine_codec import EXPANSION, LINEAR, MACHINE, check_kernel, machine_from, machine_parts
from abstain.files.codecs.rule_codec import check_same, rule_from, rule_state
from abstain.files.format import schema
from abstain.files.format.arrays import Arrays, Parts
from abstain.files.format.errors import ModelFileError
from abstain.labels import Labels
from abstain.machines.linear_machine import LinearMachine

FOUND = {
    "objective": schema.FINITE,
    "training_risk": schema.real(0.0, 1.0),
    "lower_bound": schema.optional(schema.real()),
    "status": schema.one_of(("local", "inaccurate", "iteration_limit", "time_limit")),
    "iterations": schema.whole(),
}
ROUNDING = 1e-6  # of an objective near its lower bound


def embedded_parts(estimator: EmbeddedRejectSVC) -> Parts:
    """Return the fields and arrays of a fitted machine; an error if it contradicts its parameters."""
    fitted: FittedEmbedded = estimator._fitted_
    eps = fitted.rule.thresholds.upper
    form = LINEAR if isinstance(fitted.machine, LinearMachine) else EXPANSION
    machine, arrays = machine_parts(form, fitted.machine)
    check_same(estimator._rule(_labels(estimator, fitted.rule.labels.classes), eps), fitted.rule)
    check_kernel(estimator, fitted.machine, estimator.gamma)
    _check_bound(estimator, fitted)
    state = {"machine": machine, "rule": rule_state(fitted.rule, (eps,)), **schema.record(fitted, FOUND)}
    return state, schema.prefixed(arrays, MACHINE)


def embedded_from(
    estimator: EmbeddedRejectSVC, fields: schema.Fields, arrays: Arrays, n_features: int
) -> FittedEmbedded:
    """Make the fitted value of these fields and arrays; `embedded_parts` compares them with the parameters."""
    classes, (eps,) = rule_from(fields.take("rule", dict), lambda _: (1,))
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
