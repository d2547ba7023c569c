"""A fitted EmbeddedRejectSVC as fields and arrays, and back."""

from __future__ import annotations

import math
from typing import Any

from abstain.estimators.embedded.estimator import EmbeddedRejectSVC
from abstain.estimators.embedded.training import FittedEmbedded
from abstain.files.codecs.machine_codec import check_kernel, machine_from, machine_parts
from abstain.files.codecs.rule_codec import check_same, rule_from, rule_state
from abstain.files.codecs.svc_codec import MACHINE
from abstain.files.format.arrays import Arrays
from abstain.files.format.errors import ModelFileError
from abstain.files.format.schema import Fields, fitting, prefixed, within
from abstain.files.format.values import from_json, to_json
from abstain.labels import Labels
from abstain.machines.linear_machine import LinearMachine

STATUSES = ("local", "inaccurate", "iteration_limit", "time_limit")
ROUNDING = 1e-6  # of an objective near its lower bound


def embedded_parts(estimator: EmbeddedRejectSVC) -> tuple[dict[str, Any], Arrays]:
    """Give the fields and arrays of a fitted machine; an error if it contradicts its parameters."""
    fitted: FittedEmbedded = estimator._fitted_
    eps = fitted.rule.thresholds.upper
    machine, arrays = machine_parts(fitted.machine)
    check_same(estimator._rule(_labels(estimator, fitted.rule.labels.classes), eps), fitted.rule)
    check_kernel(estimator, fitted.machine, estimator.gamma)
    _check_bound(estimator, fitted)
    state = {
        "machine": machine,
        "rule": rule_state(fitted.rule, (eps,)),
        "objective": to_json("objective_", fitted.objective),
        "training_risk": to_json("training_risk_", fitted.training_risk),
        "lower_bound": to_json("lower_bound_", fitted.lower_bound),
        "status": fitted.status,
        "iterations": int(fitted.iterations),
    }
    return state, prefixed(arrays, MACHINE)


def embedded_from(estimator: EmbeddedRejectSVC, fields: Fields, arrays: Arrays, n_features: int) -> FittedEmbedded:
    """Make the fitted value of these fields and arrays; `embedded_parts` compares them with the parameters."""
    classes, (eps,) = rule_from(fields.take("rule", dict), 1)
    labels = _labels(estimator, classes)
    if not 0.0 <= eps <= 1.0 or (eps > 0.0 and not labels.rejects):
        raise ModelFileError("its reject band is not possible: eps must lie between 0 and 1, and be 0 without rejects.")
    fitting({name: one for name, one in arrays.items() if not name.startswith(MACHINE)}, {}, "machine", {})
    machine = machine_from(fields.take("machine", dict), within(arrays, MACHINE), n_features)
    if isinstance(machine, LinearMachine) != (estimator.kernel == "linear"):
        raise ModelFileError("its machine does not have the kernel that its parameters name.")
    risk, bound = fields.number("training_risk"), from_json(fields.take("lower_bound"))
    if not 0.0 <= risk <= 1.0 or not (bound is None or isinstance(bound, float)):
        raise ModelFileError("its training risk does not lie between 0 and 1, or its lower bound is not a number.")
    return FittedEmbedded(
        machine=machine,
        rule=estimator._rule(labels, eps),
        objective=fields.number("objective"),
        training_risk=risk,
        lower_bound=bound,
        status=fields.one_of("status", STATUSES),
        iterations=fields.whole("iterations"),
    )


def _check_bound(estimator: EmbeddedRejectSVC, fitted: FittedEmbedded) -> None:
    """Check that there is a lower bound if the parameters call for one, and that the objective is above it."""
    bound = fitted.lower_bound
    if (bound is None) == (estimator.solver == "dual" or bool(estimator.lower_bound)):
        raise ModelFileError("its lower bound is missing, or it has one that its parameters do not call for.")
    if fitted.objective < max(0.0, -math.inf if bound is None else (1.0 - ROUNDING) * bound):
        raise ModelFileError("its objective lies below its lower bound.")


def _labels(estimator: EmbeddedRejectSVC, classes: Any) -> Labels:
    rejects = estimator._loss().rejects
    return Labels.of(classes, pos_label=estimator.pos_label, reject_label=estimator.reject_label, rejects=rejects)
