"""The test rows of all folds with their scores: what decisions on them cost, and how best to read their scores.

Each fold is decided with the correction of the other folds, so that no row's label affects its own decision.

A machine trained on few rows gives scores that are too large or too small near its cuts. Held-out scores show by how
much. One score becomes log-odds by two numbers, e^t score + b (`rules/tuning/sigmoid.py`). The machine is rescaled by
them, so that the cuts stay Bayes'. Scores of several classes become probabilities by three
(`Lead`), which the rule keeps.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.costs.table import CostTable
from abstain.estimators.fitting.splitting import Splits
from abstain.estimators.search.grid import TIE, Grid
from abstain.rules.rule import Rule
from abstain.rules.tuning.sigmoid import Lead, fitted_lead, shrunk_sigmoids

FEWEST = 10  # held-out rows of each class, or for several classes on average; with fewer, Bayes' cuts stay


@dataclass(frozen=True)
class Correction:
    """How scores are corrected: rescaled, or by a rule with probabilities of its own.

    Attributes
    ----------
    t, shift : float
        The score becomes e^t score + shift.
    lead : Lead or None
        The probabilities of several classes.
    """

    t: float = 0.0
    shift: float = 0.0
    lead: Lead | None = None

    @property
    def scale(self) -> float:
        """The factor on the score."""
        return float(np.exp(self.t))

    def rule(self, rule: Any) -> Any:
        """Return the rule that decides by scores that are read so."""
        return rule if self.lead is None else rule.tuned(self.lead)


UNTUNED = Correction()


def corrections(
    rule: Any,
    scores: NDArray[np.float64],
    code: NDArray[np.intp],
    weight: NDArray[np.float64],
    start: Sequence[Correction] | None = None,
) -> list[Correction]:
    """Fit a correction to the scores of each machine, (machines, rows) or (machines, rows, classes); mean weight 1."""
    if scores.ndim > 2:
        if not len(code):
            return [UNTUNED] * len(scores)
        return [Correction(lead=fitted_lead(rule.readout.heights(each), code, weight)) for each in scores]
    sign = np.where(code == 1, 1, -1).astype(np.int8)
    first = None if start is None else np.array([(one.t, one.shift) for one in start])
    return [Correction(float(t), float(b)) for t, b in shrunk_sigmoids(scores, sign, weight, first)]


ERRORS = 1.0  # pairs within this many standard errors of the least mean cost may be best with other thresholds


@dataclass(frozen=True, eq=False)
class Pricing:
    """Decides training rows by their scores, and finds the cost of each decision.

    Attributes
    ----------
    rule : Rule
    code : intp array of shape (n,)
        The classes of the training rows.
    row_costs : CostTable or None
        Their own costs, if any; otherwise the costs of the rule count, or an error costs 1.
    """

    rule: Rule
    code: NDArray[np.intp]
    row_costs: CostTable | None = None

    @classmethod
    def of(cls, training: Any, rows: NDArray[np.intp]) -> Self:
        """Take some of the rows of a `Training`."""
        own = training.row_costs
        return cls(training.rule, training.code[rows], None if own is None else own.take(rows))

    def paid(
        self, row: Any, scores: NDArray[np.float64], read: Sequence[Correction] | None = None
    ) -> NDArray[np.float64]:
        """Return the cost of the choices of machines for these training rows, (machines, rows).

        The scores are of shape (machines, rows), or (machines, rows, classes); each machine may have its correction.
        """
        rule, truth = self.rule_of(row), self.code[row]
        if scores.ndim == 2:
            if read is not None:
                scale, shift = np.array([(one.scale, one.shift) for one in read]).T[..., np.newaxis]
                scores = scale * scores + shift
            return rule.cost(truth, rule.choose(scores))
        rules = [rule] * len(scores) if read is None else [one.rule(rule) for one in read]
        found = [one.cost(truth, one.choose(score)) for one, score in zip(rules, scores, strict=True)]
        return np.array(found).reshape(len(scores), len(truth))

    def rule_of(self, row: Any) -> Rule:
        """Return the rule that decides these training rows."""
        return self.rule if self.row_costs is None else self.rule.of_rows(self.row_costs.take(row))


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """The test rows of all folds, one after the other, and their scores by all pairs of a search.

    Attributes
    ----------
    scores : float64 array of shape (pairs, m), or (pairs, m, classes)
        The held-out score of each row, by pairs in the order of C, then gamma.
    fold, row : intp arrays of shape (m,)
        The fold in which the row is tested, and its number; a splitter may test a row in several folds.
    code : intp array of shape (m,)
        Their classes.
    weight : float64 array of shape (m,)
        Their weights in the mean cost, which sum to 1.
    """

    scores: NDArray[np.float64]
    fold: NDArray[np.intp]
    row: NDArray[np.intp]
    code: NDArray[np.intp]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, scores: NDArray[np.float64], splits: Splits, code: NDArray[np.intp], used: NDArray[np.bool_]) -> Self:
        """Take the test rows of the folds `used` out of scores, (Cs, gammas, test rows of all folds, ...)."""
        fold, row = np.nonzero(splits.tests)
        kept = used[fold]
        fold, row, pairs = fold[kept], row[kept], scores.shape[0] * scores.shape[1]
        held_out = scores.reshape(pairs, *scores.shape[2:])
        held_out = held_out if kept.all() else held_out[:, kept]
        return cls(held_out, fold, row, code[row], splits.weights(used)[fold, row])

    def can_tell(self, rule: Any) -> bool:
        """Whether scores of this rule mean probabilities, and two folds or more have enough rows of its classes."""
        n = len(rule.labels.classes)
        if not rule.readout.known or len(np.unique(self.fold)) < 2:
            return False
        if n > 2:
            return len(np.unique(self.row)) >= FEWEST * n
        return rule.readout.unit == 1.0 and min(len(np.unique(self.row[self.code == k])) for k in range(n)) >= FEWEST

    def near_best(self, costs: NDArray[np.float64], pricing: Pricing, n_splits: int) -> NDArray[np.bool_]:
        """Mark the pairs with a mean cost within a standard error of the least; pairs with `costs` of nan do not count.

        The shape is (pairs, folds + 1): without the test rows of each fold, so that they have no part in the choice
        that they judge, and last, on all rows.
        """
        near = np.zeros((len(costs), n_splits + 1), dtype=bool)
        finished = np.flatnonzero(np.isfinite(costs))
        if not len(finished):
            return near
        paid = pricing.paid(self.row, self.scores[finished])
        for fold in (*np.unique(self.fold).tolist(), -1):
            others = ~np.isin(self.row, self.row[self.fold == fold])
            if not others.any():
                others[:] = True
            weight = self.weight[others] / self.weight[others].sum()
            mean = paid[:, others] @ weight
            more = paid[:, others] - paid[np.argmax(mean <= mean.min() * (1.0 + TIE)), others]
            mean = more @ weight
            error = np.sqrt((weight**2 * (more - mean[:, np.newaxis]) ** 2).sum(axis=1))
            near[finished, fold] = mean <= ERRORS * error * (1.0 + TIE)
        return near

    def tuned_costs(self, pairs: NDArray[np.intp], pricing: Pricing) -> tuple[NDArray[np.float64], list[Correction]]:
        """Return the mean cost of these pairs on every fold with the correction of the other folds, and the one of all.

        The costs have the shape (pairs, folds), for the folds that are there.
        """
        final, apart = self._corrections(pairs, pricing)
        scores, costs = self.scores[pairs], []
        for fold, read in apart.items():
            test = self.fold == fold
            paid = pricing.paid(self.row[test], scores[:, test], read)
            costs.append(paid @ (self.weight[test] / self.weight[test].sum()))
        return np.column_stack(costs), final

    def probabilities(self, pair: int, pricing: Pricing, *, tune: bool) -> dict[int, NDArray[np.float64]]:
        """Return what a pair says of the test rows of each fold, tuned with the correction of the other folds."""
        _, apart = self._corrections(np.array([pair]), pricing) if tune else ([], {})
        found = {}
        for fold in np.unique(self.fold).tolist():
            read = apart[fold][0] if tune else UNTUNED
            score = read.scale * self.scores[pair, self.fold == fold] + read.shift
            found[fold] = read.rule(pricing.rule).readout.probabilities(score)
        return found

    def _corrections(
        self, pairs: NDArray[np.intp], pricing: Pricing
    ) -> tuple[list[Correction], dict[int, list[Correction]]]:
        """Return the correction of each pair by all rows, and those for each fold, by the rows it does not test."""
        scores, n_rows = self.scores[pairs], len(np.unique(self.row))
        final = corrections(pricing.rule_of(self.row), scores, self.code, n_rows * self.weight)
        apart = {}
        for fold in np.unique(self.fold).tolist():
            train = ~np.isin(self.row, self.row[self.fold == fold])
            weight = self.weight[train] / max(float(self.weight[train].sum()), np.finfo(np.float64).tiny)
            counts = len(np.unique(self.row[train])) * weight
            rule = pricing.rule_of(self.row[train])
            apart[fold] = corrections(rule, scores[:, train], self.code[train], counts, final)
        return final, apart


def placed(grid: Grid, pricing: Pricing, rows: HeldOutRows, *, tune: bool) -> tuple[Grid, Correction]:
    """Return the grid with the costs of tuned scores and the rejects of its best pair, and the pair's correction."""
    correction, stated = UNTUNED, pricing.rule.costs is not None or pricing.row_costs is not None
    if tune and stated and rows.can_tell(pricing.rule):
        grid, correction = _tuned(grid, pricing, rows)
    best = int(np.ravel_multi_index(grid.place, grid.rows.shape))
    done = np.isfinite(grid.costs[grid.place])[rows.fold]
    if not done.any():
        return grid, correction
    weight = rows.weight * done
    rule = correction.rule(pricing.rule_of(rows.row))
    rejects = rule.is_reject(rule.choose(correction.scale * rows.scores[best] + correction.shift))
    return replace(grid, rejected=float(weight[rejects].sum() / weight.sum())), correction


def _tuned(grid: Grid, pricing: Pricing, rows: HeldOutRows) -> tuple[Grid, Correction]:
    folds = np.unique(rows.fold)
    last = np.where((grid.rows == grid.rows.max())[:, :, np.newaxis], grid.costs[:, :, folds], np.nan)
    near = rows.near_best(last.mean(axis=2).ravel(), pricing, grid.n_splits)
    pairs = np.flatnonzero(near.any(axis=1))
    if not len(pairs):
        return grid, UNTUNED
    means, found = rows.tuned_costs(pairs, pricing)
    table = np.full((grid.rows.size, grid.n_splits), np.nan)
    table[np.ix_(pairs, folds)] = means
    grid = replace(grid, tuned=table.reshape(grid.costs.shape), near=near.reshape(*grid.rows.shape, -1))
    if not grid.best_is_tuned:
        return grid, UNTUNED
    return grid, found[int(np.searchsorted(pairs, np.ravel_multi_index(grid.place, grid.rows.shape)))]
