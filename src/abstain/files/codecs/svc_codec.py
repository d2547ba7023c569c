"""Fitted RejectSVC, LinearRejectSVC and their searches, of any number of classes, as fields and arrays, and back."""

import math
from collections.abc import Sequence
from dataclasses import astuple, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from abstain.costs.answers import AnswerTable
from abstain.estimators.fitting.kernel_fit import FittedMachines, FittedSVC
from abstain.estimators.fitting.training import implied
from abstain.estimators.linear.linear_svc import LinearRejectSVC
from abstain.estimators.linear.low_rank_fit import check_low_rank
from abstain.estimators.search.grid import with_kernel
from abstain.files.codecs import machine_codec as forms
from abstain.files.codecs import rule_codec as rules
from abstain.files.codecs.machine_codec import EXPANSION, MACHINE, check_kernel, machine_from, machine_parts
from abstain.files.codecs.rule_codec import SEARCH, check_grid, grid_arrays, grid_from, searched, tuned_score
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.schema import FINITE, Arrays, Fields, Parts, beside, fitting, layout, prefixed, whole, within
from abstain.losses.tangent_hinge import COUNT, class_losses, ends_of_reject, own_cuts
from abstain.machines.kernel_machine import KernelMachine
from abstain.rules.readouts import Ladders
from abstain.rules.rule import Rule
from abstain.rules.tuning.sigmoid import Lead

SETS = layout(sets="i1 n")  # n training rows
ROUNDING = 1e-12  # in a coefficient that counts as 0, as a share of the largest that its row may have
HEAVIEST = 1e9  # times C: the largest weight of a row. Sample weights are not in the file
ROW_COSTS = {"largest": FINITE, "n_knots": whole(1)}


def svc_parts(estimator: Any) -> Parts:
    """Return the fields and arrays of a fitted machine or search; an error if it contradicts its parameters."""
    fitted, linear = estimator._fitted_, isinstance(estimator, LinearRejectSVC)
    trained, grid = getattr(fitted, "trained", fitted.machine), getattr(fitted, "grid", None)
    largest, spread = fitted.largest_row_cost, _spread(fitted.rule)
    rule, losses = _implied(estimator, fitted.rule.labels.classes, largest, spread=bool(spread))
    numbers, proofs = _numbers(estimator, fitted, rule), rules.proofs_state(fitted.proofs)
    form, name, prefix = _form(rule, linear=linear, landmarks=isinstance(trained, KernelMachine))
    own = {} if linear else {"class_support": fitted.n_support, "sets": fitted.sets}
    machine, arrays = machine_parts(form, trained, **own)
    C, gamma = (estimator.C, estimator.gamma) if grid is None else grid.best
    if linear:
        _check_weights(estimator, fitted, trained)
        row_costs: Any = {"largest_row_cost": largest}
    else:
        _check_expansions(fitted, trained, float(C), losses[0], float(estimator.tol))
        row_costs = {"row_costs": {"largest": largest, "n_knots": fitted.n_knots}}
    check_kernel(with_kernel(estimator, getattr(grid, "kernel", None)), trained, gamma)
    state: dict[str, Any] = {name: machine, "rule": rules.rule_state(fitted.rule, numbers)}
    state |= {"proof": proofs[0]} if form is EXPANSION else {"proofs": proofs}
    state |= ({} if largest is None else row_costs) | spread
    arrays = prefixed(arrays, prefix) | ({"sets": fitted.sets} if form is EXPANSION else {})
    if grid is None:
        return state, arrays
    n_rows = int(grid.rows.max()) if linear else trained.n_rows
    return state | ({"n_rows": n_rows} if linear else {}), arrays | grid_arrays(grid, n_rows)


def svc_from(estimator: Any, fields: Fields, arrays: Arrays, n_features: int, *_: Any) -> FittedMachines:
    """Make the fitted value from fields and arrays; `svc_parts` compares them with the parameters."""
    linear, searches = isinstance(estimator, LinearRejectSVC), hasattr(estimator, "Cs")
    classes, cuts = _rule_from(fields, searches=searches)
    if linear:
        costs = {"largest": fields.maybe("largest_row_cost", FINITE)}
    else:
        costs = fields.inner("row_costs").record(ROW_COSTS) if "row_costs" in fields else {}
    spread = fields.maybe("spread", bool, default=False)
    rule, losses = _implied(estimator, classes, costs.get("largest"), spread=spread)
    n_knots, q = costs.get("n_knots", max(loss.n_knots for loss in losses)), len(classes)
    # a knot for each tangent of a row: at its cuts, and spread between them
    most = 2 if rule.labels.sides else len(rule.answers) + COUNT
    refuse(n_knots > most, "the costs of its training rows are not possible.")
    if q > 2 and cuts:
        rule, cuts = with_lead(rule, cuts), ()
    own = beside(arrays, SEARCH) if searches else arrays
    landmarks = isinstance(given := fields.maybe("machine"), dict) and "kernel" in given
    form, name, prefix = _form(rule, linear=linear, landmarks=landmarks)
    m = 1 if q == 2 else q * (q - 1) // 2 if form is forms.PAIRS else q
    machine = machine_from(form, fields.inner(name), within(own, prefix), d=n_features, m=m, q=q)
    alone = form is EXPANSION
    if alone:
        fitting(beside(own, prefix), SETS, "machine", {"n": machine.n_rows})
    proofs = rules.proofs_from([fields.take("proof", dict)] if alone else fields.take("proofs", list), m)
    found = FittedMachines(machine, rule, proofs, costs.get("largest"))
    if not linear:
        held = [np.sum(machine.coef < 0), np.sum(machine.coef > 0)] if alone else own["class_support"]
        more = {"n_support": np.array(held, dtype=np.int32), "sets": own.get("sets"), "n_knots": n_knots}
        found = FittedSVC(**vars(found), **more)
    if not searches:
        return found
    n_rows = fields.take("n_rows", whole(1)) if linear else machine.n_rows
    return searched(estimator._fitted_kind, found, grid_from(arrays, n_rows, halves=not linear), cuts)


def _form(rule: Rule, *, linear: bool, landmarks: bool) -> tuple[forms.Form, str, str]:
    """Return the form of a machine with this rule, its field and the prefix of its arrays."""
    several = rule.labels.n_classes > 2
    if several and not linear:
        return forms.CLASSES if isinstance(rule.readout, Ladders) else forms.PAIRS, "machines", ""
    weights = forms.LANDMARKS if landmarks else forms.LINEAR_CLASSES if several else forms.LINEAR
    return weights if linear else EXPANSION, "machine", MACHINE


def with_lead(rule: Rule, numbers: Sequence[float]) -> Rule:
    """Return the rule with probabilities by a lead that is possible."""
    lead, finite = Lead(*numbers), all(map(math.isfinite, numbers))
    if not (isinstance(rule.readout, Ladders) and finite and lead.scale > 0.0 and lead.slope > 0.0):
        raise ModelFileError("the scale, slope and shift of its scores are not possible.")
    return rule.tuned(lead)


def _rule_from(fields: Fields, *, searches: bool) -> tuple[Any, tuple[float, ...]]:
    """Two numbers tune the score of two classes, three that of more; one, as in older files, is a scale alone."""
    tuned = {2: (0, 2)} if searches else {2: (0,)}
    return rules.rule_from(fields.take("rule", dict), lambda n: tuned.get(n, (0, 1, 3) if searches else (0,)))


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
    possible = not spread and isinstance(rule.costs, AnswerTable) and largest is None
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
    rules.check_same(rule if lead is None else with_lead(rule, cuts), fitted.rule)
    return cuts


def _check_weights(estimator: Any, fitted: FittedMachines, machine: Any) -> None:
    """Check the proofs of linear machines, and the number of landmarks, on which the norm is not computed."""
    # the norm of a machine on landmarks would take their kernel matrix, which may be large
    weights = np.atleast_2d(getattr(machine, "weights", np.zeros((len(fitted.proofs), 1))))
    for w, proof in zip(weights, fitted.proofs, strict=True):
        rules.check_linear(proof, w, float(estimator.tol))
    if isinstance(machine, KernelMachine):
        refuse(not check_low_rank(estimator), "its machine has landmarks, but its estimator is linear.")
        count, most = len(machine.support), estimator.n_components
        refuse(not 0 < count <= most, f"its machine has {count} landmarks, not 1 to {most}.")


def _check_expansions(fitted: FittedSVC, machine: KernelMachine, C: float, loss: Any, tol: float) -> None:
    """Check the sets of training rows, and that the coefficients of each machine sum to 0, and the proofs."""
    sets = np.zeros(1) if fitted.sets is None else fitted.sets
    refuse(((sets < 0) | (sets > 2 * fitted.n_knots)).any(), "its sets of training rows are out of range.")
    if fitted.rule.labels.n_classes == 2:
        _check_rows(fitted, machine, C, loss)
        rules.check_expansion(fitted.proof, machine.coef, machine.bias, machine.kernel, tol)
        return
    coef = csr_array(machine.coef)
    if np.bincount(coef.indices[coef.data != 0], minlength=coef.shape[1]).min(initial=1) < 1:
        raise ModelFileError("one of its support vectors has no coefficient.")
    for k, proof in enumerate(fitted.proofs):
        row = coef.data[coef.indptr[k] : coef.indptr[k + 1]]
        size = np.abs(row)
        room = max(rules.UNBALANCED * float(size.sum()), proof.violation * float(size.max(initial=0.0)))
        refuse(abs(float(row.sum())) > room, "the coefficients of one of its machines do not sum to 0.")
        rules.check_expansion(proof, row, float(machine.bias[k]), machine.kernel, tol)


def _check_rows(fitted: FittedSVC, machine: KernelMachine, C: float, loss: Any) -> None:
    """Check that coefficients sum to 0, up to the violation in the proof, and agree with the sets of their rows."""
    sets, size, by_row = np.asarray(fitted.sets), np.abs(machine.coef), fitted.largest_row_cost is not None
    if not by_row and loss.n_knots != fitted.n_knots:
        raise ModelFileError("the number of knots of its loss does not match its parameters.")
    largest = HEAVIEST * max(C * (1.0 if by_row else loss.steepest), float(size.max(initial=0.0)))
    room = max(rules.UNBALANCED * float(size.sum()), fitted.proof.violation * largest)
    if not size.all() or abs(float(machine.coef.sum())) > room:
        raise ModelFileError("its coefficients do not sum to 0, or one of them is 0.")
    without = np.ones(len(sets), dtype=bool)
    without[machine.support] = False
    if sets[without].any() or (size[sets[machine.support] == 0] > ROUNDING * largest).any():
        raise ModelFileError("its sets of training rows do not match its coefficients.")
