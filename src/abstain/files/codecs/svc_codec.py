"""Fitted RejectSVC and RejectSVCCV as fields and arrays, and back."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from abstain.dual.proof import Proof
from abstain.dual.solution import Status
from abstain.estimators.fitting.implied import implied
from abstain.estimators.fitting.kernel_fit import FittedSVC
from abstain.estimators.search.grid import Grid, checked_Cs
from abstain.estimators.search.search import Searched
from abstain.estimators.svm.svc import RejectSVC
from abstain.estimators.svm.svc_cv import FittedSearch, RejectSVCCV
from abstain.files.codecs.machine_codec import FLOAT, check_kernel, machine_from, machine_parts
from abstain.files.codecs.rule_codec import check_same, rule_from, rule_state
from abstain.files.format.arrays import Arrays
from abstain.files.format.errors import ModelFileError
from abstain.files.format.schema import Fields, Spec, fitting, prefixed, within
from abstain.files.format.values import from_json, to_json
from abstain.kernels import KERNELS, Kernel
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine

MACHINE = "machine."
# n training rows; p pairs of a search on f folds
SETS: dict[str, Spec] = {"sets": (("|i1",), ("n",))}
SEARCH: dict[str, Spec] = {
    "search_cs": (FLOAT, ("c",)),
    "search_gammas": (FLOAT, ("g",)),
    "search_costs": (FLOAT, ("p", "f")),
}
SOMETIMES: dict[str, Spec] = {
    # nan for pairs whose cuts were not tuned; then 1 where the pair may be chosen, by the fold left out, and by all
    "search_tuned": (FLOAT, ("tp", "tf")),
    "search_mass": (FLOAT, ("p", "f")),  # only if folds test rows of different weight
}
SUBSAMPLES: dict[str, Spec] = {"search_rows": (("<i8",), ("p",))}  # only if pairs were tried on fewer rows
NUMBERS = ("objective", "dual_objective", "gap", "violation")
UNBALANCED = 1e-6  # rounding error allowed in a sum, as a share of the sizes of its terms
ROUNDING = 1e-12  # likewise in a coefficient that counts as 0, as a share of the largest that its row may have
HEAVIEST = 1e9  # times C: the largest weight of a row. Sample weights are not in the file
CLOSE = 1e-9  # two numbers computed in the same way on different machines


def svc_parts(estimator: RejectSVC) -> tuple[dict[str, Any], Arrays]:
    """Give the fields and arrays of a fitted machine; an error if it contradicts its parameters."""
    fitted: FittedSVC = estimator._fitted_
    grid = fitted.grid if isinstance(fitted, FittedSearch) else None
    rule, steepest, n_knots = _implied(estimator, fitted.rule.labels.classes, _row_costs_state(fitted))
    trained = fitted.trained if isinstance(fitted, FittedSearch) else fitted.machine
    machine, arrays = machine_parts(trained)
    if grid is not None:
        check_grid(estimator, grid, rule.costs, fitted.largest_row_cost)
    C, gamma = (estimator.C, estimator.gamma) if grid is None else grid.best
    check_kernel(estimator, trained, gamma)
    cuts = tuned_score(fitted)
    check_same(rule, fitted.rule)
    if n_knots != fitted.n_knots:
        raise ModelFileError("the number of knots of its loss does not match its parameters.")
    _check_rows(fitted, trained, float(C) * steepest)
    check_proof(fitted.proof, trained, float(estimator.tol))
    state: dict[str, Any] = {
        "machine": machine,
        "rule": rule_state(fitted.rule, cuts),
        "proof": proof_state(fitted.proof),
        **_row_costs_state(fitted),
    }
    arrays = prefixed(arrays, MACHINE) | {"sets": np.asarray(fitted.sets)}
    return state, arrays | ({} if grid is None else grid_arrays(grid, fitted.machine.n_rows))


def grid_arrays(grid: Grid, n_rows: int) -> Arrays:
    """Give the arrays of a search on so many rows."""
    arrays: Arrays = {"search_cs": grid.Cs, "search_gammas": grid.gammas if grid.has_gamma else np.empty(0)}
    arrays["search_costs"] = grid.costs.reshape(-1, grid.n_splits)
    if grid.tuned is not None:
        arrays["search_tuned"] = grid.tuned.reshape(-1, grid.n_splits)
        if grid.near is not None:
            near = grid.near.reshape(-1, grid.n_splits + 1)
            arrays["search_tuned"] = np.column_stack([arrays["search_tuned"], near])
    if (grid.rows != n_rows).any():  # a search on subsamples
        arrays["search_rows"] = grid.rows.ravel()
    if grid.mass is not None:
        arrays["search_mass"] = grid.mass.reshape(-1, grid.n_splits)
    return arrays


def search_specs(arrays: Arrays, *, halves: bool = False) -> dict[str, Spec]:
    """The arrays of a search that a file must have, given the ones that it has; only one that halves has subsamples."""
    optional = SOMETIMES | (SUBSAMPLES if halves else {})
    return SEARCH | {name: spec for name, spec in optional.items() if name in arrays}


def svc_from(estimator: RejectSVC, fields: Fields, arrays: Arrays, n_features: int) -> FittedSVC:
    """Make the fitted value from fields and arrays; `svc_parts` compares them with the parameters."""
    searches = isinstance(estimator, RejectSVCCV)
    classes, cuts = rule_from(fields.take("rule", dict), *((0, 2) if searches else (0,)))
    trained_by = {"row_costs": fields.take("row_costs", dict)} if "row_costs" in fields else {}
    rule, _, n_knots = _implied(estimator, classes, trained_by)
    machine = machine_from(fields.take("machine", dict), within(arrays, MACHINE), n_features)
    if not isinstance(machine, KernelMachine):
        raise ModelFileError("its machine does not have the kernel that its parameters name.")
    own = {name: array for name, array in arrays.items() if not name.startswith(MACHINE)}
    fitting(own, SETS | (search_specs(own, halves=True) if searches else {}), "machine", {"n": machine.n_rows})
    largest = trained_by["row_costs"]["largest"] if trained_by else None
    held = np.array([np.sum(machine.coef < 0), np.sum(machine.coef > 0)], dtype=np.int32)
    given = (machine, rule, (proof_from(fields),), largest)
    fitted = FittedSVC(*given, n_support=held, sets=own["sets"], n_knots=n_knots)
    return searched(FittedSearch, fitted, grid_from(own, machine.n_rows), cuts) if searches else fitted


def _row_costs_state(fitted: FittedSVC) -> dict[str, Any]:
    """What a file needs of the costs of training rows, which are not in it; nothing if they had none."""
    if fitted.largest_row_cost is None:
        return {}
    return {"row_costs": {"largest": fitted.largest_row_cost, "n_knots": fitted.n_knots}}


def _implied(estimator: Any, classes: NDArray[Any], trained_by: dict[str, Any]) -> tuple[Any, float, int]:
    """The rule, the largest slope of a loss, and the number of knots."""
    rule, (loss,) = implied(estimator, classes)
    if not trained_by:
        return rule, loss.steepest, loss.n_knots
    fields = Fields(dict(trained_by["row_costs"]), "costs of its rows")
    largest, n_knots = fields.number("largest"), fields.whole("n_knots", least=1)
    fields.end()
    if largest <= 0.0 or n_knots > 2 or estimator.rule != "chow":
        raise ModelFileError("the costs of its training rows are not possible.")
    return implied(estimator, classes, by_row=True)[0], 1.0, n_knots


def tuned_score(fitted: Any) -> tuple[float, ...]:
    """The scale and shift of the score, if the search chose to tune it."""
    if not isinstance(fitted, Searched):
        return ()
    cuts: tuple[float, ...] = (fitted.scale, fitted.shift)
    if fitted.grid.best_is_tuned and len(fitted.rule.labels.classes) == 2:
        same = np.array_equal(_numbers(fitted.trained.rescaled(*cuts)), _numbers(fitted.machine))
    else:
        same, cuts = cuts == (1.0, 0.0) and fitted.machine is fitted.trained, ()
    if not same:
        raise ModelFileError("its score is not what its training and its search found.")
    return cuts


def searched(kind: Any, fitted: Any, grid: Grid, cuts: Sequence[float]) -> Any:
    """The fitted value of a search, with the machine rescaled by a scale and a shift that are possible."""
    if not cuts:
        return kind.of(fitted, grid)
    scale, shift = cuts
    with np.errstate(over="ignore", invalid="ignore"):
        found = kind.of(fitted, grid, (scale, shift))
    if not (scale >= sys.float_info.min and np.isfinite([scale, shift, *_numbers(found.machine)]).all()):
        raise ModelFileError("the scale or the shift of its score is not possible.")
    return found


def _numbers(machine: KernelMachine | LinearMachine) -> NDArray[np.float64]:
    return np.append(machine.weights if isinstance(machine, LinearMachine) else machine.coef, machine.bias)


def _check_rows(fitted: FittedSVC, machine: KernelMachine, top: float) -> None:
    """Check that coefficients sum to 0, up to the violation in the proof, and agree with the sets of their rows."""
    sets = np.asarray(fitted.sets)
    size = np.abs(machine.coef)
    largest = HEAVIEST * max(top, float(size.max(initial=0.0)))
    room = max(UNBALANCED * float(size.sum()), fitted.proof.violation * largest)
    if not size.all() or abs(float(machine.coef.sum())) > room:
        raise ModelFileError("its coefficients do not sum to 0, or one of them is 0.")
    if ((sets < 0) | (sets > 2 * fitted.n_knots)).any():
        raise ModelFileError("its sets of training rows are out of range.")
    without = np.ones(len(sets), dtype=bool)
    without[machine.support] = False
    if sets[without].any() or (size[sets[machine.support] == 0] > ROUNDING * largest).any():
        raise ModelFileError("its sets of training rows do not match its coefficients.")


def check_proof(proof: Proof, machine: KernelMachine, tol: float) -> None:
    """Check that the gap is at least the difference of the objectives (rounding may add to it), and the status.

    Whether the objectives are those of the machine depends on weights of training rows, which are not in a file.
    """
    apart, sizes = proof.objective - proof.dual_objective, abs(proof.objective) + abs(proof.dual_objective)
    sizes += abs(machine.bias) * float(np.abs(machine.coef).sum())
    # the gap counts the bias times the sum of the coefficients by its size, the objectives by its sign
    room = UNBALANCED * sizes + 3.0 * abs(machine.bias * float(machine.coef.sum()))
    known = proof.gap < sys.float_info.max and math.isfinite(sizes)
    if known and apart - proof.gap * abs(proof.objective) > room:
        raise ModelFileError("the gap of its proof is smaller than the difference of its objectives.")
    if known and apart < -room:
        raise ModelFileError("the dual value of its proof is above the primal one.")
    check_status(proof, machine, tol)


def check_status(proof: Proof, machine: KernelMachine, tol: float) -> None:
    """Check that the proof fits the kernel, and that "optimal" is proven."""
    kernel = machine.kernel
    if isinstance(kernel, Kernel) and kernel.formula.definite(kernel) and not proof.definite:
        raise ModelFileError("its kernel is marked as indefinite, but this kernel is always positive semidefinite.")
    if proof.status == Status.OPTIMAL and not proof.proves(tol):
        raise ModelFileError(f"its status is optimal, but its proof does not show that for tol={tol:g}.")


def proof_state(proof: Proof) -> dict[str, Any]:
    """Give a proof as JSON."""
    numbers = {name: to_json(name, getattr(proof, name)) for name in NUMBERS}
    return {**numbers, "status": proof.status, "iterations": int(proof.iterations), "definite": proof.definite}


def proof_from(fields: Fields) -> Proof:
    """Take a proof from the field "proof"."""
    given = Fields(fields.take("proof", dict), "proof")
    numbers = {name: from_json(given.take(name)) for name in NUMBERS}
    status, iterations = given.one_of("status", [one.value for one in Status]), given.whole("iterations")
    definite = given.take("definite", bool)
    given.end()
    if not all(isinstance(value, float) and not math.isnan(value) for value in numbers.values()):
        raise ModelFileError("its proof does not have four numbers.")
    if not (numbers["gap"] >= 0.0 and numbers["violation"] >= 0.0):
        raise ModelFileError("the gap or the violation of its proof is negative.")
    return Proof(**numbers, status=status, iterations=iterations, definite=definite)


def check_grid(estimator: Any, grid: Grid, costs: Any, largest_row_cost: float | None = None) -> None:
    """Check that the search tried what the parameters specify, as far as this is known without the training rows."""
    to_json("cv", estimator.cv)  # raises an error for splitters whose number of folds depends on the rows
    priced = costs is not None or largest_row_cost is not None
    stated = 1.0 if costs is None else float(costs.table().max())
    highest = stated if largest_row_cost is None else largest_row_cost
    # a number of values is compared before they are made: it may ask for any amount of memory
    tried = not isinstance(estimator.Cs, int | np.integer) or estimator.Cs == len(grid.Cs)
    Cs = checked_Cs(estimator.Cs) if tried else np.empty(0)
    tried &= len(Cs) == len(grid.Cs) and np.allclose(Cs, grid.Cs, rtol=CLOSE, atol=0.0)
    takes_gamma = KERNELS[estimator.kernel].takes_gamma
    tried &= grid.has_gamma == takes_gamma and (not takes_gamma or _includes(grid.gammas, estimator.gammas))
    if not tried or check_cv(estimator.cv).get_n_splits() != grid.n_splits:
        raise ModelFileError("the C, gamma or number of folds of its search differ from its parameters.")
    if any((table > (1.0 + CLOSE) * highest).any() for table in (grid.costs, grid.tuned) if table is not None):
        raise ModelFileError("its search has mean costs above the highest cost.")
    if grid.tuned is not None and (estimator.cuts != "tuned" or not priced):
        raise ModelFileError("its search has tuned cuts that its parameters do not ask for.")


def _includes(found: NDArray[np.float64], gammas: Any) -> bool:
    """Whether these are the gammas that the parameter specifies; "scale" and "auto" may be any number."""
    if isinstance(gammas, int | np.integer):
        return len(found) == gammas
    named = {*np.asarray(gammas, dtype=object).ravel().tolist()}
    numbers = [float(gamma) for gamma in named if not isinstance(gamma, str)]
    known = all(np.isclose(gamma, found, rtol=CLOSE, atol=0.0).any() for gamma in numbers)
    return known and len(numbers) <= len(found) <= len(named)


def grid_from(arrays: Arrays, n_rows: int) -> Grid:
    """Make the grid of a search on so many rows from its arrays."""
    Cs, gammas, costs = arrays["search_cs"], arrays["search_gammas"], arrays["search_costs"]
    rows = arrays.get("search_rows", np.full(len(costs), n_rows, dtype=np.int64))
    has_gamma = len(gammas) > 0
    shape = (len(Cs), max(1, len(gammas)), costs.shape[1])
    tuned, near = arrays.get("search_tuned", costs), None
    if tuned is not costs and tuned.shape[1] == 2 * shape[2] + 1:
        tuned, near = tuned[:, : shape[2]], tuned[:, shape[2] :]
    if not costs.size or len(costs) != shape[0] * shape[1] or tuned.shape != costs.shape:
        raise ModelFileError("its search has not tried every pair of its grid.")
    rising = all((np.diff(values) > 0).all() and (values > 0).all() for values in (Cs, gammas))
    known = np.isfinite(tuned)
    there = known.any(axis=1)
    partly = tuned is not costs and (not there.any() or (known[there] != np.isfinite(costs[there])).any())
    if not rising or (costs < 0).any() or (tuned < 0).any() or partly:
        raise ModelFileError("its search has values of C, gamma or costs that are not possible.")
    if (rows < 1).any() or (rows > n_rows).any():
        raise ModelFileError("its search has pairs that were tried on no rows, or on more than there are.")
    mass = arrays.get("search_mass", np.ones(costs.shape))
    if not (mass > 0).all():
        raise ModelFileError("its search has folds that test rows of no weight.")
    widths = gammas if has_gamma else np.array([np.nan])
    cuts = None if tuned is costs else tuned.reshape(shape)
    found = Grid(Cs, widths, costs.reshape(shape), has_gamma, rows.reshape(shape[:2]), cuts, mass=mass.reshape(shape))
    if near is None:
        return found
    if not np.isin(near, (0.0, 1.0)).all() or (near.any(axis=1) != there).any():
        raise ModelFileError("its search has tuned cuts for other pairs than those near the best.")
    return replace(found, near=near.reshape(*shape[:2], -1) > 0)
