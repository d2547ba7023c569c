"""The mean cost of every candidate of one machine on every fold: Bayes' cuts on the probabilities of held-out rows."""

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.calibration import _SigmoidCalibration
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing
from threadpoolctl import ThreadpoolController

from abstain.arguments import checked_costs, mean_price
from abstain.candidates.machines import MACHINES, Late, Machine
from abstain.candidates.trials import Trials, first_least, views_of
from abstain.costs.costs import Costs
from abstain.costs.per_row import row_table
from abstain.costs.table import CostTable
from abstain.estimators.fitting.progress import SearchLine
from abstain.estimators.fitting.splitting import Splits
from abstain.labels import Labels

MANY_ROWS = 10_000  # from here on, fits may use all cores
FOREST_THREADS = 1_000  # rows from which the trees of a forest take longer than starting threads for them
FEW_ROWS = 1_000  # up to here the short fits of all candidates are small enough to be kept


_controller = cache(ThreadpoolController)  # made at the first use, when the libraries are loaded


def few_threads(rows: int) -> Any:
    """Limit BLAS and OpenMP to one thread for few rows: threads that wait for a busy core are fifty times slower."""
    return _controller().limit(limits=None if rows >= MANY_ROWS else 1)


def truth_and_costs(
    costs: Any, y: NDArray[Any], pos_label: Any, reject_label: Any, row_costs: Any = None
) -> tuple[NDArray[np.intp], CostTable]:
    """Check the costs and the labels of the rows; return the codes of the classes, and the costs of each row or all."""
    stated = None if costs is None and row_costs is not None else checked_costs(costs)
    of = Labels.of if stated is None else stated.labels_of
    labels = of(y, pos_label=pos_label, reject_label=reject_label, rejects=True)
    table = None if stated is None else stated.named(labels)
    truth = labels.encode(y)
    if row_costs is not None or table is None:
        table = row_table(row_costs, labels, table, len(truth))
    return truth, table


def zero_one(y: NDArray[Any], pos_label: Any, reject_label: Any) -> Costs:
    """Return costs of 1 for each error, at which rejecting never pays."""
    classes = Labels.of(y, pos_label=pos_label, reject_label=reject_label, rejects=False).classes
    if len(classes) == 2:
        return Costs()
    errors = 1.0 - np.eye(len(classes))
    return Costs.of_errors(tuple(classes.tolist()), errors, 1.0 - 1.0 / len(classes))


def decided(costs: CostTable, probability: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return Bayes' decision on each row, given the probabilities of all classes, (n, n_classes)."""
    if costs.n_classes > 2:
        return costs.cheapest(probability)
    with np.errstate(divide="ignore"):
        return costs.levels().decide(logit(probability[:, 1]))


def paid(truth: NDArray[np.intp], costs: CostTable, probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cost of Bayes' decision on each row."""
    return costs.of(truth, decided(costs, probability))


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to tune on.

    Attributes
    ----------
    X, y
        The rows and their labels.
    truth : ndarray of intp
        Codes of the true classes.
    costs : CostTable
        What decisions on them cost, perhaps for each row.
    splits : Splits
        The folds.
    weight : ndarray of float64 or None, default=None
        The weights of the rows in fits and means.
    row_costs : array-like, data frame or None, default=None
        The costs of the rows, as users give them.
    """

    X: Any
    y: NDArray[Any]
    truth: NDArray[np.intp]
    costs: CostTable
    splits: Splits
    weight: NDArray[np.float64] | None = None
    row_costs: Any = None

    def take(self, at: NDArray[np.intp]) -> "Rows":
        """Return some of the rows."""
        X, row_costs = (None if given is None else _safe_indexing(given, at) for given in (self.X, self.row_costs))
        splits = replace(self.splits, trains=self.splits.trains[:, at], tests=self.splits.tests[:, at])
        return Rows(X, self.y[at], self.truth[at], self.costs.take(at), splits, self.weights(at), row_costs)

    def weights(self, rows: NDArray[np.intp]) -> NDArray[np.float64] | None:
        """Return the weights of some rows."""
        return None if self.weight is None else self.weight[rows]

    def held_out(
        self, machine: Machine, parameters: dict[str, Any], fold: int, late: Late | None, short: Any = None
    ) -> tuple[list[NDArray[np.float64]], float, Any]:
        """Probabilities of a fold's test rows, for each stage of a machine fitted on its training rows, pace and fit.

        Some stages are missing, or all, if the fit was late before it had reached them. The pace is in seconds of a
        tree or an iteration for each training row. A `short` fit is continued.
        """
        train, test = self.splits.parts[fold]
        part, others = _safe_indexing(self.X, train), _safe_indexing(self.X, test)
        began = time.monotonic()
        given = part, self.y[train], self.weights(train), late
        classifier, number, done = machine.fitted(parameters, *given, short=short)
        pace = (time.monotonic() - began) / (number * len(train))
        return list(machine.probabilities(classifier, others)) if done or machine.stages else [], pace, classifier

    def costs_of(self, probabilities: Sequence[NDArray[np.float64]], folds: Any = slice(None)) -> list[float]:
        """The mean cost of each fold by Bayes' rule, given the probabilities of its test rows."""
        tested = zip(probabilities, map(np.flatnonzero, self.splits.tests[folds]), strict=True)
        return [mean_price(paid(self.truth[rows], self.costs.take(rows), p), self.weights(rows)) for p, rows in tested]

    def rejected(self, probabilities: Sequence[NDArray[np.float64]], folds: Any = slice(None)) -> float:
        """The share of these folds' test rows that Bayes' rule hands on."""
        tested, hands_on = [np.flatnonzero(test) for test in self.splits.tests[folds]], np.array(self.costs.hands_on)
        chosen = [decided(self.costs.take(at), p) for p, at in zip(probabilities, tested, strict=True)]
        weight = None if self.weight is None else self.weights(np.concatenate(tested))
        return float(np.average(hands_on[np.concatenate(chosen)], weights=weight))

    def blind(self, reject_label: Any) -> Trials:
        """The mean costs of each action for all rows alike, on the test rows of each fold."""
        actions = self.costs.titles(np.unique(self.y).tolist(), reject_label)
        same = [self.costs.of(self.truth, np.full(len(self.truth), action)) for action in range(len(actions))]
        parts = [np.flatnonzero(test) for test in self.splits.tests]
        costs = np.array([[mean_price(own[at], self.weights(at)) for at in parts] for own in same])
        return Trials("the same for all", [{"action": action} for action in actions], costs)

    def sigmoids(self, probabilities: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        """Calibrate each fold by Platt's sigmoids, fitted to the held-out probabilities of rows that it does not test.

        With more than two classes one sigmoid for each against the rest, normalised, as `CalibratedClassifierCV` does.
        """
        row, known = np.nonzero(self.splits.tests)[1], np.concatenate([*probabilities])
        found = []
        for test, p in zip(self.splits.tests, probabilities, strict=True):
            apart = row[test[row] == 0]  # a splitter may test a row in several folds
            found.append(_calibrated(known[test[row] == 0], self.truth[apart], self.weights(apart), p))
        return found


def _calibrated(
    others: NDArray[np.float64], truth: NDArray[Any], weight: Any, p: NDArray[np.float64]
) -> NDArray[np.float64]:
    n = p.shape[1]
    own = [sigmoid.predict(p[:, k]) for k, sigmoid in sigmoids_of(others, truth, weight).items()]
    if n == 2:
        return np.column_stack([1.0 - own[0], own[0]])
    stacked = np.column_stack(own)
    total = stacked.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, stacked / np.where(total > 0.0, total, 1.0), 1.0 / n)


def sigmoids_of(p: NDArray[np.float64], truth: NDArray[Any], weight: Any) -> dict[int, _SigmoidCalibration]:
    """Fit Platt's sigmoid to the probabilities of held-out rows: of two classes for the second, else for each."""
    columns = range(p.shape[1]) if p.shape[1] > 2 else (1,)
    return {k: _SigmoidCalibration().fit(p[:, k], truth == k, weight) for k in columns}


def _late(machine: Machine, end: float, fits: int) -> Late:
    """Say when a fit is late: at the end of the time, or after its share of it if it has reached a stage."""
    now = time.monotonic()
    share = now + (end - now) / fits
    first = machine.stages[0] if machine.stages else np.inf
    return lambda number: time.monotonic() >= (share if number >= first else end)


def tuned(
    name: str,
    rows: "Rows",
    *,
    seed: int | None,
    limit: float | None,
    n_jobs: int | None,
    verbose: bool,
    keep: bool = False,
    judge: bool = True,
) -> Trials:
    """Try the candidates of a machine until `limit` seconds are over; the first fit is begun in any case.

    With `keep`, what all of them say of the held-out rows is kept.

    Fits with stages share the time, and use more of it only to reach the first one; others take what they need. Short
    fits come first, and the best line of the grid is fitted in full: once for each view of the folds, or with `judge`
    False only for the choice on all of them, whose cost on other rows is then not known.
    """
    machine, end = MACHINES[name], None if limit is None else time.monotonic() + limit
    n, folds, stages = len(machine.grid), len(rows.splits.trains), max(1, len(machine.stages))
    costs, paces = np.full((n, stages, folds), np.nan), np.full((n, stages), np.nan)
    threads = n_jobs if len(rows.y) >= FOREST_THREADS else None
    shared = {"random_state": seed} | ({"n_jobs": threads} if machine.takes_n_jobs else {})
    held_out: dict[int, list[NDArray[np.float64]]] = {}
    said: dict[int, list[NDArray[np.float64]]] = {}
    views = views_of(folds, rows.splits.shared)
    views |= ~views.any(axis=1, keepdims=True)
    views = views if judge else views[-1:]
    going, wanted = np.ones((n, len(views)), dtype=bool), np.zeros((n, stages), dtype=bool)
    begun: dict[tuple[int, int], Any] | None = None if end is not None or len(rows.y) >= FEW_ROWS else {}
    kept, rounds, done = np.zeros((n, stages, len(views)), dtype=bool), machine.rounds, 0
    seen = kept.copy()  # by the choice for each view, which other fits must not move
    line = SearchLine(name, n * folds * len(rounds), shown=verbose)
    with line, few_threads(len(rows.y)), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the last fit, on all rows, says it of itself
        for short, reached in rounds:
            lines = np.flatnonzero(going.any(axis=1)).tolist()
            wanted[lines, :reached] = True
            for at, pace, found in _fits(machine, rows, lines, shared | short, end, begun=begun, first=not done):
                paces[at] = pace
                for stage, own in enumerate(found):
                    final = rows.sigmoids(own) if machine.sigmoid else own
                    costs[at, stage] = rows.costs_of(final)
                    if machine.sigmoid and not short:
                        held_out[at] = own
                    if keep:
                        said[at * stages + stage] = final
                line.report(done := done + 1)
            tried = np.isfinite(costs[:, :, 0])
            own = going[:, np.newaxis] & tried[:, :, np.newaxis]
            seen |= own
            if machine.stages or not short:
                kept |= own
            for view, folds_seen in enumerate(views if short else ()):
                means = np.where(seen[:, :, view], costs[:, :, folds_seen].mean(axis=2), np.nan)
                best = first_least(means.ravel())
                going[:, view] = False
                if best is not None and best % stages == reached - 1:
                    going[best // stages, view] = True
    if missing := int((wanted & np.isnan(costs[:, :, 0])).sum()):
        warnings.warn(
            f"{missing} of the {n * stages} candidates of {name!r} count as not tried, because time ran out; raise the "
            "time limit, or use fewer rows.",
            ConvergenceWarning,
            stacklevel=4,
        )
    every = n * stages
    left = kept.reshape(every, len(views))
    left = left if judge else np.column_stack([np.zeros((every, folds), dtype=bool), left])
    return Trials(name, machine.candidates, costs.reshape(every, folds), paces.ravel(), left, held_out, said)


def _fits(
    machine: Machine,
    rows: "Rows",
    lines: list[int],
    shared: dict[str, Any],
    end: float | None,
    *,
    begun: dict[tuple[int, int], Any] | None,
    first: bool,
) -> Iterator[tuple[int, float, list[list[NDArray[np.float64]]]]]:
    """Fit lines of the grid on all folds; yield each, its pace and, after the last fold, what it says of their rows.

    That is a list for each stage that all folds have reached, of the probabilities of each fold's test rows. The fits
    in `begun` are continued, and kept there.
    """
    fits = [(at, fold) for at in lines for fold in range(len(rows.splits.trains))]
    found: list[list[NDArray[np.float64]]] = []
    for number, (at, fold) in enumerate(fits):
        if (number or not first) and end is not None and time.monotonic() >= end:
            return
        late = None if end is None else _late(machine, end, len(fits) - number)
        short = None if begun is None else begun.get((at, fold))
        held_out, pace, classifier = rows.held_out(machine, machine.grid[at] | shared, fold, late, short)
        if begun is not None and machine.short:
            begun[at, fold] = classifier
        found = [*(found if fold else []), held_out]
        last = fold == len(rows.splits.trains) - 1
        yield at, pace, [list(stage) for stage in zip(*found, strict=False)] if last else []
