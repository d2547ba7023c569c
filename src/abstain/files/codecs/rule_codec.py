"""What follows from parameters and is compared with them: a rule, proofs and a search, as JSON and arrays, and back.

Of a rule a file has the classes, and cuts that do not follow from parameters; of a search what it has tried.
"""

import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields as fields_of
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from abstain.dual.proof import Proof, Status
from abstain.estimators.search.grid import AUTO, Grid, checked_Cs, first_pairs
from abstain.estimators.search.search import Searched
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.schema import FLAG, Arrays, Fields, fitting, layout, one_of, real, record, whole, within
from abstain.files.format.values import DTYPES, from_json, to_json
from abstain.kernels import KERNELS, Kernel
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine

WIDEST = 1024  # characters of a string dtype, unless a class itself is longer


def rule_state(rule: Any, cuts: tuple[float, ...] = ()) -> dict[str, Any]:
    """Return the classes of a rule and the cuts; costs and labels follow from the estimator's parameters."""
    classes = rule.labels.classes
    if classes.dtype.str not in DTYPES and classes.dtype.kind not in "UO":
        raise ValueError(f"a model file cannot contain classes of dtype {classes.dtype}; use plain numbers.")
    numbers = [to_json("cuts", float(cut)) for cut in cuts]
    return {"dtype": classes.dtype.str, "classes": to_json("classes_", classes.tolist()), "cuts": numbers}


def rule_from(given: Any, cuts: Callable[[int], tuple[int, ...]]) -> tuple[NDArray[Any], tuple[float, ...]]:
    """Return the classes and the cuts, of which there may be so many for this number of classes."""
    fields = Fields(given, "rule")
    classes, found = _classes(fields), tuple(from_json(cut) for cut in fields.take("cuts", list))
    if len(classes) < 2 or not np.array_equal(np.unique(classes), classes):
        raise ModelFileError("its classes are not two or more, different and sorted.")
    allowed = cuts(len(classes))
    if len(found) not in allowed or not all(isinstance(cut, float) for cut in found):
        raise ModelFileError(f"its rule does not have {' or '.join(map(str, allowed))} cuts, each a number.")
    return classes, found


def check_same(rule: Any, fitted: Any) -> None:
    """Compare the rule that the parameters imply with the fitted one."""
    refuse(not _same(rule, fitted), "its costs, thresholds or labels do not match its parameters.")


def _same(first: Any, second: Any) -> bool:
    """Return whether two values have the same type and, however deep, the same fields; NaN equals NaN."""
    if type(first) is not type(second):
        return False
    if is_dataclass(first):
        return all(_same(getattr(first, one.name), getattr(second, one.name)) for one in fields_of(first))
    if isinstance(first, np.ndarray):
        return first.dtype == second.dtype and np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
    if isinstance(first, tuple | list):
        return len(first) == len(second) and all(map(_same, first, second))
    return bool(first == second) or repr(first) == repr(second)


def _classes(fields: Fields) -> NDArray[Any]:
    dtype, values = fields.take("dtype", str), from_json(fields.take("classes", list))
    texts = all(isinstance(value, str) for value in values)
    if dtype in DTYPES and not any(isinstance(value, str) for value in values):
        return np.array(values, dtype=dtype)
    if texts and dtype == "|O":
        return np.array(values, dtype=object)
    width = re.fullmatch(r"[<>]U([1-9][0-9]{0,8})", dtype)
    if not texts or width is None or int(width[1]) > max(WIDEST, *map(len, values), 1):
        raise ModelFileError("its classes do not have the type given in its manifest.")
    return np.array(values, dtype=dtype)


PROOF = {"objective": real(), "dual_objective": real(), "gap": real(0.0), "violation": real(0.0)}
PROOF |= {"status": one_of([one.value for one in Status]), "iterations": whole(), "definite": FLAG}
UNBALANCED = 1e-6  # rounding error allowed in a sum, as a share of the sizes of its terms


def proofs_state(proofs: Sequence[Proof]) -> list[dict[str, Any]]:
    """Return the fields of proofs."""
    return [record(proof, PROOF) for proof in proofs]


def proofs_from(given: list[Any], count: int) -> tuple[Proof, ...]:
    """Make so many proofs."""
    refuse(len(given) != count, "it does not have one proof per machine.")
    return tuple(Proof(**Fields(one, "proof").record(PROOF)) for one in given)


def check_objectives(proof: Proof, *, room: float = 0.0, scale: float | None = None) -> None:
    """Check that the gap is at least the difference of the objectives, up to rounding and `room`.

    The gap is relative to the objective, or to `scale`. Whether the objectives are those of the machine depends on
    weights of training rows, which are not in a file.
    """
    sizes = abs(proof.objective) + abs(proof.dual_objective)
    apart, room = proof.objective - proof.dual_objective, room + UNBALANCED * sizes
    if not math.isfinite(sizes) or proof.gap >= sys.float_info.max:
        return
    refuse(apart < -room, "the dual value of its proof is above the primal one.")
    if apart - proof.gap * (abs(proof.objective) if scale is None else scale) > room:
        raise ModelFileError("the gap of its proof is smaller than the difference of its objectives.")


def check_expansion(proof: Proof, coef: Any, bias: float, kernel: Any, tol: float) -> None:
    """Check the proof of a kernel expansion.

    The gap counts the bias times the sum of the coefficients by its size, the objectives by its sign.
    """
    room = UNBALANCED * abs(bias) * float(np.abs(coef).sum()) + 3.0 * abs(bias * float(coef.sum()))
    if math.isfinite(room):
        check_objectives(proof, room=room)
    check_status(proof, kernel, tol)


def check_status(proof: Proof, kernel: Any, tol: float) -> None:
    """Check that the proof fits the kernel, and that "optimal" is proven."""
    if isinstance(kernel, Kernel) and kernel.formula.definite(kernel) and not proof.definite:
        raise ModelFileError("its kernel is marked as indefinite, but this kernel is always positive semidefinite.")
    _check_optimal(proof, tol, proven=proof.proves(tol))


def _check_optimal(proof: Proof, tol: float, *, proven: bool) -> None:
    if proof.status == Status.OPTIMAL and not proven:
        raise ModelFileError(f"its status is optimal, but its proof does not show that for tol={tol:g}.")


def check_linear(proof: Proof, w: Any, tol: float) -> None:
    """Check a proof against the weights and in itself.

    ::

        objective >= 1/2 |w|^2,    gap objective >= objective - dual objective >= 1/2 violation^2

    The losses are not negative, and the gap is a sum of such terms and of 1/2 |w - sum_i y_i gamma_i x_i|^2.
    """
    with np.errstate(over="ignore"):
        square = 0.5 * float(w @ w)
    refuse(not proof.definite, "its kernel is marked as indefinite, but a linear kernel is positive semidefinite.")
    check_objectives(proof)
    sizes = abs(proof.objective) + abs(proof.dual_objective)
    if proof.gap < sys.float_info.max and math.isfinite(sizes):
        if proof.objective < square - UNBALANCED * sizes:
            raise ModelFileError("the objective of its proof is smaller than its weights alone make it.")
        if 0.5 * proof.violation**2 - proof.gap * abs(proof.objective) > UNBALANCED * sizes:
            raise ModelFileError("the violation of its proof is larger than its gap allows.")
    _check_optimal(proof, tol, proven=proof.gap <= tol)


SEARCH = "search_"  # before the names of its arrays
# p pairs of a search on f folds
ALWAYS = layout(search_cs="f8 c", search_gammas="f8 g", search_costs="f8 p f")
# tuned: nan for pairs whose cuts were not tuned; then 1 where the pair may be chosen, by the fold left out, and by all;
# rows: only if pairs were tried on fewer rows, or not at all; mass: only if folds test rows of different weight;
# kernels: only if the kernel was chosen too, its place in `AUTO`
SOMETIMES = layout(search_tuned="f8 tp tf", search_rows="i8 p", search_mass="f8 p f", search_kernels="i8 g")
CLOSE = 1e-9  # two numbers computed in the same way on different machines


def grid_arrays(grid: Grid, n_rows: int) -> Arrays:
    """Return the arrays of a search on so many rows."""
    n, pairs = grid.n_splits, len(grid.Cs) * len(grid.gammas)
    tuned = [table.reshape(pairs, -1) for table in (grid.tuned, grid.near) if table is not None]
    found: dict[str, Any] = {"cs": grid.Cs, "gammas": grid.gammas if grid.has_gamma else np.empty(0)}
    found |= {"costs": grid.costs.reshape(-1, n), "tuned": np.column_stack(tuned) if tuned else None}
    found["rows"] = grid.rows.ravel() if (grid.rows != n_rows).any() else None  # of a search on subsamples
    found["kernels"] = np.array([AUTO.index(name) for name in grid.kernels]) if grid.kernels else None
    found["mass"] = None if grid.mass is None else grid.mass.reshape(-1, n)
    return {SEARCH + name: array for name, array in found.items() if array is not None}


def grid_from(arrays: Arrays, n_rows: int, *, halves: bool) -> Grid:
    """Make the grid of a search on so many rows from its arrays; only some searches halve the rows."""
    given = {name: array for name, array in arrays.items() if name.startswith(SEARCH)}
    optional = (SOMETIMES.keys() & given.keys()) - (set() if halves else {"search_rows"})
    fitting(given, ALWAYS | {name: SOMETIMES[name] for name in optional}, "search", {})
    arrays = within(arrays, SEARCH)
    Cs, gammas, costs = arrays["cs"], arrays["gammas"], arrays["costs"]
    rows = arrays.get("rows", np.full(len(costs), n_rows, dtype=np.int64))
    has_gamma = len(gammas) > 0
    shape = (len(Cs), max(1, len(gammas)), costs.shape[1])
    tuned, near = arrays.get("tuned", costs), None
    if tuned is not costs and tuned.shape[1] == 2 * shape[2] + 1:
        tuned, near = tuned[:, : shape[2]], tuned[:, shape[2] :]
    if not costs.size or len(costs) != shape[0] * shape[1] or tuned.shape != costs.shape:
        raise ModelFileError("its search has not tried every pair of its grid.")
    kernel = arrays.get("kernels", np.zeros(len(gammas), dtype=np.int64))
    parts = (Cs, *(gammas[kernel == one] for one in range(len(AUTO))))
    rising = all((np.diff(values) > 0).all() and (values > 0).all() for values in parts)
    rising &= bool((np.diff(kernel) >= 0).all() and np.isin(kernel, range(len(AUTO))).all())
    known = np.isfinite(tuned)
    there = known.any(axis=1)
    partly = tuned is not costs and (not there.any() or (known[there] != np.isfinite(costs[there])).any())
    if not rising or (costs < 0).any() or (tuned < 0).any() or partly:
        raise ModelFileError("its search has values of C, gamma or costs that are not possible.")
    untried = (rows == 0) & np.isnan(costs).all(axis=1) & ("kernels" in arrays)
    if (rows[~untried] < 1).any() or (rows > n_rows).any():
        raise ModelFileError("its search has pairs that were tried on no rows, or on more than there are.")
    mass = arrays.get("mass", np.ones(costs.shape))
    refuse(not (mass > 0).all(), "its search has folds that test rows of no weight.")
    widths = gammas if has_gamma else np.array([np.nan])
    cuts = None if tuned is costs else tuned.reshape(shape)
    found = Grid(Cs, widths, costs.reshape(shape), rows.reshape(shape[:2]), cuts, mass=mass.reshape(shape))
    found = replace(found, kernels=tuple(AUTO[one] for one in kernel) if "kernels" in arrays else ())
    if near is None:
        return found
    if not np.isin(near, (0.0, 1.0)).all() or (near.any(axis=1) != there).any():
        raise ModelFileError("its search has tuned cuts for other pairs than those near the best.")
    return replace(found, near=near.reshape(*shape[:2], -1) > 0)


def check_grid(estimator: Any, grid: Grid, costs: Any, largest_row_cost: float | None = None) -> None:
    """Check that the search tried what the parameters specify, as far as this is known without the training rows."""
    to_json("cv", estimator.cv)  # raises an error for splitters whose number of folds depends on the rows
    priced = costs is not None or largest_row_cost is not None
    stated = 1.0 if costs is None else float(costs.values.max())
    highest = stated if largest_row_cost is None else largest_row_cost
    # a number of values is compared before they are made: it may ask for any amount of memory
    tried = not isinstance(estimator.Cs, int | np.integer) or estimator.Cs == len(grid.Cs)
    Cs = checked_Cs(estimator.Cs) if tried else np.empty(0)
    tried &= len(Cs) == len(grid.Cs) and np.allclose(Cs, grid.Cs, rtol=CLOSE, atol=0.0)
    auto, names = estimator.kernel == "auto", np.array(grid.kernels or [""] * len(grid.gammas))
    takes_gamma = auto or KERNELS[estimator.kernel].takes_gamma
    tried &= grid.has_gamma == takes_gamma and {*names.tolist()} == {*(AUTO if auto else ("",))}
    tried &= not takes_gamma or all(_includes(grid.gammas[names == one], estimator.gammas) for one in np.unique(names))
    tried &= bool((grid.rows > 0)[first_pairs(estimator, *grid.rows.shape)].all())
    if not tried or check_cv(estimator.cv).get_n_splits() != grid.n_splits:
        raise ModelFileError("the C, gamma or number of folds of its search differ from its parameters.")
    if any((table > (1.0 + CLOSE) * highest).any() for table in (grid.costs, grid.tuned) if table is not None):
        raise ModelFileError("its search has mean costs above the highest cost.")
    if grid.tuned is not None and (estimator.cuts != "tuned" or not priced):
        raise ModelFileError("its search has tuned cuts that its parameters do not ask for.")


def _includes(found: NDArray[np.float64], gammas: Any) -> bool:
    """Return whether these are the gammas that the parameter specifies; "scale" and "auto" may be any number."""
    if isinstance(gammas, int | np.integer):
        return len(found) == gammas
    named = {*np.asarray(gammas, dtype=object).ravel().tolist()}
    numbers = [float(gamma) for gamma in named if not isinstance(gamma, str)]
    known = all(np.isclose(gamma, found, rtol=CLOSE, atol=0.0).any() for gamma in numbers)
    return known and len(numbers) <= len(found) <= len(named)


def tuned_score(fitted: Any) -> tuple[float, ...]:
    """Return the scale and shift of the score, if the search chose to tune it."""
    if not isinstance(fitted, Searched):
        return ()
    cuts: tuple[float, ...] = (fitted.scale, fitted.shift)
    if fitted.grid.best_is_tuned and len(fitted.rule.labels.classes) == 2:
        same = np.array_equal(_numbers(fitted.trained.rescaled(*cuts)), _numbers(fitted.machine))
    else:
        same, cuts = cuts == (1.0, 0.0) and fitted.machine is fitted.trained, ()
    refuse(not same, "its score is not what its training and its search found.")
    return cuts


def searched(kind: Any, fitted: Any, grid: Grid, cuts: Sequence[float]) -> Any:
    """Return the fitted value of a search, with the machine rescaled by a scale and a shift that are possible."""
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
