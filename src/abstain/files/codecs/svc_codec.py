"""Fitted RejectSVC, LinearRejectSVC and their searches, of any number of classes, as fields and arrays, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from abstain.estimators.fitting.kernel_fit import FittedMachines, FittedSVC
from abstain.estimators.fitting.training import implied
from abstain.estimators.linear.linear_svc import LinearRejectSVC
from abstain.estimators.linear.linear_svc_cv import FittedLinearSearch
from abstain.estimators.svm.svc import RejectSVC
from abstain.estimators.svm.svc_cv import FittedSearch
from abstain.files.codecs import machine_codec as machines
from abstain.files.codecs.machine_codec import MACHINE, check_kernel
from abstain.files.codecs.proof_codec import UNBALANCED, check_expansion, check_linear, proofs_from, proofs_state
from abstain.files.codecs.rule_codec import check_same, rule_from, rule_state
from abstain.files.codecs.search_codec import check_grid, grid_arrays, grid_from, search_specs, searched, tuned_score
from abstain.files.format.arrays import Arrays, Parts
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.schema import FINITE, Fields, beside, fitting, layout, prefixed, whole, within
from abstain.losses.tangent_hinge import COUNT, class_losses, ends_of_reject, own_cuts
from abstain.machines.class_machine import OneVsOneMachine
from abstain.machines.kernel_machine import KernelMachine
from abstain.rules.readouts import Ladders
from abstain.rules.rule import Rule
from abstain.rules.tuning.class_lead import Lead

# n training rows; of several classes, m machines on s of these rows of q classes, e entries of a sparse matrix
SETS = layout(sets="i1 n")
SHARED = layout(support="i8 s", biases="f8 m", class_support="i8 q")
REST = layout(coef="f8 m s", sets="i1 m n")
PAIRS = layout(coef_data="f8 e", coef_indices="i4|i8 e", coef_indptr="i4|i8 m+1")
ROUNDING = 1e-12  # in a coefficient that counts as 0, as a share of the largest that its row may have
HEAVIEST = 1e9  # times C: the largest weight of a row. Sample weights are not in the file
ROW_COSTS = {"largest": FINITE, "n_knots": whole(1)}


def svc_parts(estimator: RejectSVC) -> Parts:
    """Return the fields and arrays of a fitted RejectSVC or RejectSVCCV; an error if it contradicts its parameters."""
    fitted: Any = estimator._fitted_
    several, largest = fitted.rule.labels.n_classes > 2, fitted.largest_row_cost
    rule, losses = _implied(estimator, fitted.rule.labels.classes, largest, spread=bool(_spread(fitted.rule)))
    cuts, trained = _numbers(estimator, fitted, rule), getattr(fitted, "trained", fitted.machine)
    grid = getattr(fitted, "grid", None)
    C, gamma = (estimator.C, estimator.gamma) if grid is None else grid.best
    machine, arrays = _class_parts(fitted) if several else machines.machine_parts(trained)
    check_kernel(estimator, trained, gamma)
    found = {} if grid is None else grid_arrays(grid, trained.n_rows)
    if several:
        _check_machines(fitted, float(estimator.tol))
        state = {"machines": machine, "rule": rule_state(fitted.rule, cuts), "proofs": proofs_state(fitted.proofs)}
        return state | _row_costs(fitted) | _spread(fitted.rule), arrays | found
    if largest is None and losses[0].n_knots != fitted.n_knots:
        raise ModelFileError("the number of knots of its loss does not match its parameters.")
    _check_rows(fitted, trained, float(C) * (1.0 if largest is not None else losses[0].steepest))
    check_expansion(fitted.proof, trained.coef, trained.bias, trained.kernel, float(estimator.tol))
    state = {"machine": machine, "rule": rule_state(fitted.rule, cuts), "proof": proofs_state([fitted.proof])[0]}
    return state | _row_costs(fitted), prefixed(arrays, MACHINE) | {"sets": fitted.sets} | found


def _row_costs(fitted: FittedSVC) -> dict[str, Any]:
    """What is known of the costs of training rows, if they had any of their own."""
    largest = fitted.largest_row_cost
    return {} if largest is None else {"row_costs": {"largest": largest, "n_knots": fitted.n_knots}}


def svc_from(estimator: RejectSVC, fields: Fields, arrays: Arrays, n_features: int) -> FittedSVC:
    """Make the fitted value from fields and arrays; `svc_parts` compares them with the parameters."""
    searches = hasattr(estimator, "Cs")
    classes, cuts = _rule_from(fields, searches=searches)
    costs = fields.inner("row_costs").record(ROW_COSTS) if "row_costs" in fields else {}
    rule, losses = _implied(estimator, classes, costs.get("largest"), spread=fields.flag("spread"))
    n_knots = costs.get("n_knots", max(loss.n_knots for loss in losses))
    plain = len(classes) == 2 and (rule.costs is None or rule.costs.names is None)
    # a knot for each tangent of a row: at its cuts, and spread between them
    refuse(n_knots > (2 if plain else len(rule.answers) + COUNT), "the costs of its training rows are not possible.")
    if len(classes) > 2:
        rule = with_lead(rule, cuts) if cuts else rule
        found = _class_from(rule, fields, arrays, n_features, searches=searches)
        found = replace(found, n_knots=n_knots, largest_row_cost=costs.get("largest"))
        return FittedSearch.of(found, grid_from(arrays, found.machine.n_rows)) if searches else found
    machine = machines.machine_from(fields.inner("machine"), within(arrays, MACHINE), n_features)
    refuse(not isinstance(machine, KernelMachine), "its machine does not have the kernel that its parameters name.")
    own, n_rows = beside(arrays, MACHINE), machine.n_rows
    fitting(own, SETS | (search_specs(own) if searches else {}), "machine", {"n": n_rows})
    (proof,) = proofs_from([fields.take("proof", dict)], 1)
    held = np.array([np.sum(machine.coef < 0), np.sum(machine.coef > 0)], dtype=np.int32)
    given = (machine, rule, (proof,), costs.get("largest"))
    fitted = FittedSVC(*given, n_support=held, sets=own["sets"], n_knots=n_knots)
    return searched(FittedSearch, fitted, grid_from(own, n_rows), cuts) if searches else fitted


def linear_parts(estimator: LinearRejectSVC) -> Parts:
    """Return the fields and arrays of a fitted LinearRejectSVC or LinearRejectSVCCV."""
    fitted: FittedMachines = estimator._fitted_
    spread = _spread(fitted.rule)
    rule, _ = _implied(estimator, fitted.rule.labels.classes, fitted.largest_row_cost, spread=bool(spread))
    machine: Any = getattr(fitted, "trained", fitted.machine)
    state: dict[str, Any] = {"machine": {}, "rule": rule_state(fitted.rule, _numbers(estimator, fitted, rule))}
    # the norm of a machine on landmarks would take their kernel matrix, which may be large
    weights = np.atleast_2d(getattr(machine, "weights", np.zeros((len(fitted.proofs), 1))))
    for w, proof in zip(weights, fitted.proofs, strict=True):
        check_linear(proof, w, float(estimator.tol))
    if isinstance(machine, KernelMachine):
        state["machine"], arrays = machines.landmark_parts(estimator, machine)
    else:
        check_kernel(estimator, machine, None)
        state["machine"], arrays = machines.machine_parts(machine)
    state["proofs"] = proofs_state(fitted.proofs)
    if fitted.largest_row_cost is not None:
        state["largest_row_cost"] = fitted.largest_row_cost
    state |= spread
    arrays = prefixed(arrays, MACHINE)
    if not isinstance(fitted, FittedLinearSearch):
        return state, arrays
    n_rows = int(fitted.grid.rows.max())
    return state | {"n_rows": n_rows}, arrays | grid_arrays(fitted.grid, n_rows)


def linear_from(estimator: LinearRejectSVC, fields: Fields, arrays: Arrays, n_features: int) -> FittedMachines:
    """Make the fitted value from fields and arrays; `linear_parts` compares them with the parameters."""
    searches = hasattr(estimator, "Cs")
    classes, cuts = _rule_from(fields, searches=searches)
    largest = fields.take("largest_row_cost", FINITE) if "largest_row_cost" in fields else None
    rule, _ = _implied(estimator, classes, largest, spread=fields.flag("spread"))
    count = len(classes) if len(classes) > 2 else 1
    if count > 1 and cuts:
        rule, cuts = with_lead(rule, cuts), ()
    given = fields.inner("machine")
    make = machines.landmark_from if "kernel" in given else machines.machine_from
    machine = make(given, within(arrays, MACHINE), n_features, count)
    own = beside(arrays, MACHINE)
    fitting(own, search_specs(own, halves=False) if searches else {}, "machine", {})
    found = FittedMachines(machine, rule, proofs_from(fields.take("proofs", list), count), largest)
    if not searches:
        return found
    return searched(FittedLinearSearch, found, grid_from(own, fields.take("n_rows", whole(1))), cuts)


def with_lead(rule: Rule, numbers: Sequence[float]) -> Rule:
    """Return the rule with probabilities by a lead that is possible."""
    lead, finite = Lead(*numbers), all(map(math.isfinite, numbers))
    if not (isinstance(rule.readout, Ladders) and finite and lead.scale > 0.0 and lead.slope > 0.0):
        raise ModelFileError("the scale, slope and shift of its scores are not possible.")
    return rule.tuned(lead)


def _rule_from(fields: Fields, *, searches: bool) -> tuple[Any, tuple[float, ...]]:
    """Two numbers tune the score of two classes, three that of more; one, as in older files, is a scale alone."""
    tuned = {2: (0, 2)} if searches else {2: (0,)}
    return rule_from(fields.take("rule", dict), lambda n: tuned.get(n, (0, 1, 3) if searches else (0,)))


def _implied(estimator: Any, classes: Any, largest: float | None, *, spread: bool) -> tuple[Any, Any]:
    """Return the rule and the losses that follow from the parameters, the classes and the largest cost of a row."""
    if largest is not None and not (largest > 0.0 and estimator.rule == "chow"):
        raise ModelFileError("the costs of its training rows are not possible.")
    # each class twice, because scikit-learn warns of more than 20 labels that all differ
    linear = isinstance(estimator, LinearRejectSVC)
    rule: Any
    rule, losses = implied(estimator, np.repeat(classes, 2), linear=linear, by_row=largest is not None)
    if spread == bool(_spread(rule)):
        return rule, losses
    possible = not spread and rule.costs.names is None and largest is None
    refuse(not possible, "the tangents of its losses are not possible.")
    ends = ends_of_reject(rule.costs)  # as version 0.2 trained machines of several classes
    return replace(rule, readout=replace(rule.readout, tangents=ends)), class_losses(ends)


def _spread(rule: Rule) -> dict[str, bool]:
    """Return the field that says that the losses of several classes have tangents spread over their cuts."""
    ladders = isinstance(rule.readout, Ladders) and rule.costs is not None and own_cuts(rule.costs) is None
    return {"spread": True} if ladders and rule.readout.tangents.shape[-1] > 2 else {}  # type: ignore[attr-defined]


def _numbers(estimator: Any, fitted: Any, rule: Any) -> tuple[float, ...]:
    """Return the numbers that the search tuned, after comparing rule and search with the parameters."""
    grid, lead = getattr(fitted, "grid", None), getattr(fitted.rule.readout, "lead", None)
    if grid is not None:
        check_grid(estimator, grid, rule.costs, getattr(fitted, "largest_row_cost", None))
    tuned = grid is not None and grid.best_is_tuned and len(rule.labels.classes) > 2
    refuse((lead is not None) != tuned, "the probabilities of its rule are not what its search found.")
    cuts = tuned_score(fitted) if lead is None else astuple(lead)
    check_same(rule if lead is None else with_lead(rule, cuts), fitted.rule)
    return cuts


def _class_parts(fitted: FittedSVC) -> Parts:
    machine = fitted.machine
    kernel, storage, arrays = machines.expansion_parts(machine)
    arrays |= {"support": machine.support.astype("<i8"), "biases": machine.bias}
    arrays["class_support"] = fitted.n_support.astype("<i8")
    pairs = isinstance(machine, OneVsOneMachine)
    own = machines.csr_arrays(csr_array(machine.coef), "coef") if pairs else {"coef": machine.coef, "sets": fitted.sets}
    return {"kernel": kernel, "n_rows": machine.n_rows, "vectors": storage}, arrays | own


def _class_from(rule: Rule, fields: Fields, arrays: Arrays, n_features: int, *, searches: bool) -> FittedSVC:
    rest, q = isinstance(rule.readout, Ladders), len(rule.labels.classes)
    m = q if rest else q * (q - 1) // 2
    given = fields.inner("machines")
    n_rows = given.take("n_rows", whole(1))
    specs = SHARED | (REST if rest else PAIRS) | (search_specs(arrays) if searches else {})
    letters = {"d": n_features, "n": n_rows, "m": m, "q": q, "m+1": m + 1}
    kernel, vectors = machines.expansion_from(given, arrays, specs, letters)
    support, n_support = arrays["support"].astype(np.intp, copy=False), arrays["class_support"]
    inside = len(np.unique(support)) == len(support) and ((support >= 0) & (support < n_rows)).all()
    if not inside or (n_support < 0).any() or n_support.sum() != len(support):
        raise ModelFileError("the indices of its support vectors are not different indices of training rows.")
    proofs, biases = proofs_from(fields.take("proofs", list), m), arrays["biases"]
    if rest:
        machine = KernelMachine(kernel, vectors, arrays["coef"], biases, support, n_rows)
    else:
        coef = machines.csr_from(arrays, "coef", (m, len(support)))
        machine = OneVsOneMachine(kernel, vectors, coef, biases, support, n_rows, n_support)
    return FittedSVC(machine, rule, proofs, n_support=n_support.astype(np.int32), sets=arrays.get("sets"), n_knots=0)


def _check_rows(fitted: FittedSVC, machine: KernelMachine, top: float) -> None:
    """Check that coefficients sum to 0, up to the violation in the proof, and agree with the sets of their rows."""
    sets = np.asarray(fitted.sets)
    size = np.abs(machine.coef)
    largest = HEAVIEST * max(top, float(size.max(initial=0.0)))
    room = max(UNBALANCED * float(size.sum()), fitted.proof.violation * largest)
    if not size.all() or abs(float(machine.coef.sum())) > room:
        raise ModelFileError("its coefficients do not sum to 0, or one of them is 0.")
    refuse(((sets < 0) | (sets > 2 * fitted.n_knots)).any(), "its sets of training rows are out of range.")
    without = np.ones(len(sets), dtype=bool)
    without[machine.support] = False
    if sets[without].any() or (size[sets[machine.support] == 0] > ROUNDING * largest).any():
        raise ModelFileError("its sets of training rows do not match its coefficients.")


def _check_machines(fitted: FittedSVC, tol: float) -> None:
    """Check that the coefficients of each machine sum to 0, that every vector is used, and the proofs."""
    machine, coef = fitted.machine, csr_array(fitted.machine.coef)
    if np.bincount(coef.indices[coef.data != 0], minlength=coef.shape[1]).min(initial=1) < 1:
        raise ModelFileError("one of its support vectors has no coefficient.")
    if fitted.sets is not None and ((fitted.sets < 0) | (fitted.sets > 2 * fitted.n_knots)).any():
        raise ModelFileError("its sets of training rows are out of range.")
    for k, proof in enumerate(fitted.proofs):
        row = coef.data[coef.indptr[k] : coef.indptr[k + 1]]
        size = np.abs(row)
        room = max(UNBALANCED * float(size.sum()), proof.violation * float(size.max(initial=0.0)))
        refuse(abs(float(row.sum())) > room, "the coefficients of one of its machines do not sum to 0.")
        check_expansion(proof, row, float(machine.bias[k]), machine.kernel, tol)
