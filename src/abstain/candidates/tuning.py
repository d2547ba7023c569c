"""The mean cost of every candidate of one machine on every fold: Bayes' cuts on the probabilities of held-out rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import _SigmoidCalibration
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing
from threadpoolctl import ThreadpoolController

from abstain.candidates.machines import MACHINES, Machine
from abstain.candidates.pricing import Pricing
from abstain.candidates.trials import Trials
from abstain.estimators.progress import SearchLine
from abstain.estimators.splitting import Splits

MANY_ROWS = 10_000  # from here on, fits may use all cores


def few_threads(rows: int) -> Any:
    """Limit BLAS and OpenMP to one thread for few rows: threads that wait for a busy core are fifty times slower."""
    return _controller().limit(limits=None if rows >= MANY_ROWS else 1)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to tune on.

    Attributes
    ----------
    X, y
        The rows and their labels.
    pricing : Pricing
        The true classes, and what decisions on them cost.
    splits : Splits
        The folds.
    """

    X: Any
    y: NDArray[Any]
    pricing: Pricing
    splits: Splits

    def held_out(self, machine: Machine, parameters: dict[str, Any], fold: int) -> list[NDArray[np.float64]]:
        """Probabilities of a fold's test rows, for each stage of a machine fitted on its training rows."""
        train, test = self.splits.parts[fold]
        part, others = _safe_indexing(self.X, train), _safe_indexing(self.X, test)
        return list(machine.probabilities(parameters, part, self.y[train], others))

    def costs_of(self, probabilities: Sequence[NDArray[np.float64]]) -> list[float]:
        """The mean cost of each fold by Bayes' rule, given the probabilities of its test rows."""
        folds = zip(probabilities, self.splits.tests, strict=True)
        return [float(self.pricing.prices(p, np.flatnonzero(test)).mean()) for p, test in folds]

    def sigmoids(self, probabilities: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        """Calibrate each fold by Platt's sigmoids, fitted to the held-out probabilities of the other folds.

        With more than two classes one sigmoid for each against the rest, normalised, as `CalibratedClassifierCV` does.
        """
        truths, found = [self.pricing.truth[test > 0] for test in self.splits.tests], []
        for fold, p in enumerate(probabilities):
            others, truth = (np.concatenate([*parts[:fold], *parts[fold + 1 :]]) for parts in (probabilities, truths))
            found.append(_calibrated(others, truth, self.pricing.codes, p))
        return found


def _calibrated(
    others: NDArray[np.float64], truth: NDArray[Any], codes: list[int], p: NDArray[np.float64]
) -> NDArray[np.float64]:
    columns = range(len(codes)) if len(codes) > 2 else (1,)
    own = [_SigmoidCalibration().fit(others[:, k], truth == codes[k]).predict(p[:, k]) for k in columns]
    if len(codes) == 2:
        return np.column_stack([1.0 - own[0], own[0]])
    stacked = np.column_stack(own)
    total = stacked.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, stacked / np.where(total > 0.0, total, 1.0), 1.0 / len(codes))


def tuned(
    name: str, rows: Rows, *, seed: int | None, limit: float | None, n_jobs: int | None, verbose: bool
) -> Trials:
    """Try the candidates of a machine until `limit` seconds are over; the first is tried in any case."""
    machine, began = MACHINES[name], time.monotonic()
    folds, stages = range(len(rows.splits.trains)), max(1, len(machine.stages))
    costs = np.full((len(machine.candidates), len(folds)), np.nan)
    shared = {"random_state": seed} | ({"n_jobs": n_jobs} if machine.takes_n_jobs else {})
    line = SearchLine(name, len(machine.grid) * len(folds), shown=verbose)
    with line, few_threads(len(rows.y)), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the last fit, on all rows, says it of itself
        for at, parameters in enumerate(machine.grid):
            if at > 0 and limit is not None and time.monotonic() - began >= limit:
                break
            found = [rows.held_out(machine, parameters | shared, fold) for fold in folds]
            for stage, probabilities in enumerate(zip(*found, strict=True)):
                shown = rows.sigmoids(probabilities) if machine.sigmoid else probabilities
                costs[at * stages + stage] = rows.costs_of(shown)
            line.report((at + 1) * len(folds))
    if late := int(np.isnan(costs[::stages, 0]).sum()):
        warnings.warn(
            f"{late} of the {len(machine.grid)} candidates of {name!r} count as not tried, because time ran out; raise "
            "the time limit, or use fewer rows.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return Trials(name, machine.candidates, costs)
