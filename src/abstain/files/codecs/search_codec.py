"""What a search has tried as arrays, and back, and what of it follows from the parameters."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from abstain.estimators.search.grid import AUTO, Grid, checked_Cs, first_pairs
from abstain.estimators.search.search import Searched
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.schema import Arrays, fitting, layout, within
from abstain.files.format.values import to_json
from abstain.kernels import KERNELS
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine

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
