"""What a search has tried as arrays, and back, and what of it follows from the parameters."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from abstain.estimators.search.grid import Grid, checked_Cs
from abstain.estimators.search.search import Searched
from abstain.files.format.arrays import Arrays
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.schema import Layout, layout
from abstain.files.format.values import to_json
from abstain.kernels import KERNELS
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine

# p pairs of a search on f folds
SEARCH = layout(search_cs="f8 c", search_gammas="f8 g", search_costs="f8 p f")
# tuned: nan for pairs whose cuts were not tuned; then 1 where the pair may be chosen, by the fold left out, and by all;
# mass: only if folds test rows of different weight
SOMETIMES = layout(search_tuned="f8 tp tf", search_mass="f8 p f")
SUBSAMPLES = layout(search_rows="i8 p")  # only if pairs were tried on fewer rows
CLOSE = 1e-9  # two numbers computed in the same way on different machines


def grid_arrays(grid: Grid, n_rows: int) -> Arrays:
    """Return the arrays of a search on so many rows."""
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


def search_specs(arrays: Arrays, *, halves: bool = True) -> Layout:
    """Return the arrays that the file of a search must have, given those that it has; some searches halve the rows."""
    optional = SOMETIMES | (SUBSAMPLES if halves else {})
    return SEARCH | {name: spec for name, spec in optional.items() if name in arrays}


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
    refuse(not (mass > 0).all(), "its search has folds that test rows of no weight.")
    widths = gammas if has_gamma else np.array([np.nan])
    cuts = None if tuned is costs else tuned.reshape(shape)
    found = Grid(Cs, widths, costs.reshape(shape), rows.reshape(shape[:2]), cuts, mass=mass.reshape(shape))
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
    takes_gamma = KERNELS[estimator.kernel].takes_gamma
    tried &= grid.has_gamma == takes_gamma and (not takes_gamma or _includes(grid.gammas, estimator.gammas))
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
