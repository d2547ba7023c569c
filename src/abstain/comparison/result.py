"""Comparison: the result of `abstain.compare`, as values, in words, as a text table and for notebooks."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.comparison.folds import HeldOut
from abstain.comparison.intervals import interval_of_mean
from abstain.comparison.verdict import FORCED, Verdict, verdict_on
from abstain.costs.answers import MOST
from abstain.frames import DataFrame, ReadOnly, frame_of, frozen
from abstain.html import aligned, html_table, percent

# The rates of a table of counts that have another name in a text than in a data frame.
_WORDS = {
    "reject_rate": "rejected",
    "error_rate": "errors",
    "selective_error": "selective error",
    "positive_predictivity": "predictivity",
    "worst_class_error": "worst class",
}
SIGNIFICANT = "All differences from the best are significant."
_MACHINES = (
    "All intervals are for the machines fitted on these folds and do not include variation between training sets."
)
_HINDSIGHT = "The cheapest is chosen on these rows, so its mean cost on new ones is a little higher."


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ReadOnly):
    """Models compared on the same held-out rows; the result of `abstain.compare`.

    Attributes
    ----------
    names : tuple of str
        The models, in the given order.
    prices : ndarray of shape (n_rows, n_models)
        The cost of each decision; the mean over repetitions if the folds repeat a row.
    rows : ndarray of shape (n_rows,)
        Indices of the rows in X.
    scores : tuple of (ndarray of shape (n_rows,) or None)
        The scores that each model decided by, oriented to ``classes_[1]``; (n_rows, n_classes) for more than two
        classes; None if it has none.
    tables : tuple of RejectTable, ClassTable or ActionTable
        Counts of decisions, for each model.
    fit_seconds, predict_seconds : ndarray of shape (n_models,)
        Means over the folds.
    costs : Costs or Actions
        The costs, of all rows or of each row of X.
    confidence : float
        Confidence of all intervals.
    n_splits : int
        Number of folds.
    left_out : tuple of (str, str)
        Rules that could not be compared, each with the reason.
    classes : tuple of label
        The negative and the positive class, or all classes, sorted; empty if unknown.
    blind_prices : ndarray of shape (n_rows, n_ways) or None
        The costs of the rows if all are rejected, or decided as each class in turn; with `Actions`, if one action is
        taken for all.
    forced_prices : tuple of (ndarray of shape (n_rows,) or None)
        The cost of each forced decision, for each model; None if the model is not one of this library that rejects.
    blind_names : tuple of str
        The names of the ways to treat all rows alike, in the order of `blind_prices`.
    novel : tuple of (ndarray of shape (n_rows,) or None)
        1 for the rows that the guard of each model rejects as unlike its training rows, 0 for others, the mean if the
        folds repeat a row; None if it has no guard.
    answers : tuple of HeldOut
        What each model decided on `rows`, each row by the machine of its fold; empty if the folds repeat a row.
    cautions : tuple of str
        A sentence for each model whose preprocessing is likely to cost something.
    """

    names: tuple[str, ...]
    prices: NDArray[np.float64]
    rows: NDArray[np.intp]
    scores: tuple[NDArray[np.float64] | None, ...]
    tables: tuple[Any, ...]
    fit_seconds: NDArray[np.float64]
    predict_seconds: NDArray[np.float64]
    costs: Any
    confidence: float
    n_splits: int
    left_out: tuple[tuple[str, str], ...] = ()
    classes: tuple[Any, ...] = ()
    blind_prices: NDArray[np.float64] | None = None
    forced_prices: tuple[NDArray[np.float64] | None, ...] = ()
    blind_names: tuple[str, ...] = ()
    novel: tuple[NDArray[np.float64] | None, ...] = ()
    answers: tuple[HeldOut, ...] = ()
    cautions: tuple[str, ...] = ()

    @property
    def mean_cost(self) -> NDArray[np.float64]:
        """The mean cost of each model."""
        return frozen(self.prices.mean(axis=0))

    @property
    def mean_cost_interval(self) -> NDArray[np.float64]:
        """Interval of each mean cost, shape (n_models, 2), one at a time."""
        bounds = (0.0, self._largest)
        return frozen(np.array([interval_of_mean(one, bounds, self.confidence) for one in self.prices.T]))

    @property
    def best(self) -> str:
        """The model with the smallest mean cost; ties go to the first."""
        return self.names[self._best]

    @property
    def difference(self) -> NDArray[np.float64]:
        """How much more each model costs than the best."""
        return frozen(self._paired.mean(axis=0))

    @property
    def difference_interval(self) -> NDArray[np.float64]:
        """Interval of the paired difference, shape (n_models, 2), for all pairs of models at once; 0 for the best."""
        m, bounds = len(self.names), (-self._largest, self._largest)
        found = [interval_of_mean(one, bounds, self.confidence, m * (m - 1) // 2) for one in self._paired.T]
        found[self._best] = (0.0, 0.0)
        return frozen(np.array(found))

    @property
    def not_told_apart(self) -> tuple[str, ...]:
        """The best model, and those not significantly different from it: 0 lies in the interval of the difference."""
        lower = self.difference_interval[:, 0]
        return tuple(name for at, name in enumerate(self.names) if at == self._best or lower[at] <= 0)

    @property
    def verdict(self) -> Verdict | None:
        """Whether the cheapest model that rejects is worth using; None if the labels of the rows are unknown.

        The alternatives are to reject every row, to decide one class (take one action) for every row, its own forced
        decisions, and the models that reject no row. If all models decide every row, it is the verdict on the cheapest
        of them.
        """
        if self.blind_prices is None:
            return None
        rejecting = [at for at, table in enumerate(self.tables) if table.rejected > 0]
        candidates = rejecting or list(range(len(self.names)))
        chosen = min(candidates, key=lambda at: self.mean_cost[at])
        forced = self.forced_prices[chosen] if self.forced_prices else None
        machines = {} if forced is None else {f"{self.names[chosen]}, {FORCED}": forced}
        machines |= {name: self.prices[:, at] for at, name in enumerate(self.names) if at not in rejecting}
        blind = dict(zip(self.blind_names, self.blind_prices.T, strict=True))
        own, rate = (self.names[chosen], self.prices[:, chosen]), self.tables[chosen].reject_rate
        given = {"reject_rate": rate, "largest": self._largest, "confidence": self.confidence}
        return verdict_on(*own, blind, machines, n_candidates=len(candidates), **given)

    def to_frame(self) -> DataFrame:
        """One row per model, from the cheapest to the most expensive, as a pandas DataFrame."""
        columns: dict[str, Any] = {}
        for name in ("mean_cost", "difference"):
            lower, upper = getattr(self, f"{name}_interval").T
            columns |= {name: getattr(self, name), f"{name}_lower": lower, f"{name}_upper": upper}
        rates = [table.rates for table in self.tables]
        columns |= {name: [of_model[name] for of_model in rates] for name in rates[0]}
        columns |= {"fit_seconds": self.fit_seconds, "predict_seconds": self.predict_seconds}
        return frame_of(columns, index=self.names).iloc[np.argsort(self.mean_cost, kind="stable")]

    def __repr__(self) -> str:
        return f"Comparison(names={self.names}, rows={len(self.rows)}, n_splits={self.n_splits}, best={self.best!r})"

    def __str__(self) -> str:
        lines, notes = aligned(_table(self), left=(0, 3)), [*_notes(self), *missing_rules(self)]
        return "\n".join([_title(self), "", *lines, "", *_judged(self), *notes])

    def _repr_html_(self) -> str:
        """Return the models as a table, for notebooks, with the significant differences in words."""
        head, *rows = ((*row[:4], *row[5:7]) for row in _table(self))
        words = " ".join([in_words(self), *_judged(self), *self.cautions])
        return html_table(_title(self), ("model", *head[1:]), rows, words)

    @property
    def _largest(self) -> float:
        """The largest cost that a decision can have."""
        return float(self.costs.table().max())

    @property
    def _best(self) -> int:
        # means that differ only by rounding count as equal
        return int(np.argmax(self.mean_cost <= self.mean_cost.min() * (1.0 + 1e-12)))

    @property
    def _paired(self) -> NDArray[np.float64]:
        return self.prices - self.prices[:, [self._best]]


def _judged(comparison: Comparison) -> list[str]:
    """The verdict as a sentence; none if the labels are unknown."""
    return [] if comparison.verdict is None else [comparison.verdict.sentence]


def missing_rules(comparison: Comparison) -> list[str]:
    """One sentence for each rule left out."""
    return [f"Left out: {name}; {reason}." for name, reason in comparison.left_out]


def _table(comparison: Comparison) -> list[tuple[str, ...]]:
    """The head, the models from the cheapest, and the alternatives of the verdict that are not models themselves."""
    rates = [_WORDS.get(rate, rate.removeprefix("share_")[:20]) for rate in comparison.tables[0].rates]
    head = ("", "mean cost", _interval(comparison), "difference from best", "", *rates, "fit", "predict")
    order = np.argsort(comparison.mean_cost, kind="stable").tolist()
    found = () if comparison.verdict is None else comparison.verdict.alternatives
    further = [(name, f"{cost:.4g}", *[""] * (len(head) - 2)) for name, cost in found if name not in comparison.names]
    return [head, *(_line(comparison, at) for at in order), *further]


def in_words(comparison: Comparison) -> str:
    """Which model costs least, and which ones cost significantly more."""
    at = comparison.names.index(comparison.best)
    low, high = comparison.mean_cost_interval[at]
    cost = f"{comparison.mean_cost[at]:.4g} per row ({_interval(comparison)} {low:.3g} to {high:.3g})"
    if len(comparison.names) == 1:
        return f"{comparison.best} costs {cost}."
    found: dict[bool, list[str]] = {True: [], False: []}
    for other in np.argsort(comparison.mean_cost, kind="stable").tolist():
        name, (low, high) = comparison.names[other], comparison.difference_interval[other]
        significant = name not in comparison.not_told_apart
        by = f", by {comparison.difference[other]:.3g} ({low:.3g} to {high:.3g})" if significant else ""
        if other != at:
            found[significant].append(f"{name}{by}")
    openings = {True: "Significantly more than that", False: "Not significantly more"}
    words = [f"{opening}: {'; '.join(found[which])}." for which, opening in openings.items() if found[which]]
    return " ".join([f"{comparison.best} costs least: {cost}.", *words, _HINDSIGHT])


def _interval(comparison: Comparison) -> str:
    return f"{100 * comparison.confidence:.4g}% interval"


def _line(comparison: Comparison, at: int) -> tuple[str, ...]:
    name, (low, high) = comparison.names[at], comparison.mean_cost_interval[at]
    least, most = comparison.difference_interval[at]
    seconds = (comparison.fit_seconds[at], comparison.predict_seconds[at])
    return (
        name,
        f"{comparison.mean_cost[at]:.4g}",
        f"{low:.3g} to {high:.3g}",
        "best" if name == comparison.best else f"{comparison.difference[at]:+.3g} ({least:+.3g} to {most:+.3g})",
        "~" if name in comparison.not_told_apart and name != comparison.best else "",
        *("-" if math.isnan(rate) else f"{percent(rate)}%" for rate in comparison.tables[at].rates.values()),
        *(f"{second:.2f} s" if second >= 1 else f"{1e3 * second:.3g} ms" for second in seconds),
    )


def _title(comparison: Comparison) -> str:
    counts = comparison.tables[0].counts.sum(axis=1)
    labels = [f" {str(label)[:60]!r}" for label in comparison.classes] or [""] * len(counts)
    sides = (" negative", " positive") if comparison.costs.pair else [""] * len(counts)
    named = [f"{count:,.0f}{side}{label}" for count, side, label in zip(counts, sides, labels, strict=True)][:MOST]
    if len(counts) > MOST:
        named.append(f"{counts[MOST:].sum():,.0f} of {len(counts) - MOST} more classes")
    return (
        f"{len(comparison.names)} models on {len(comparison.rows):,} rows ({', '.join(named)}), "
        f"{comparison.n_splits} folds; {comparison.costs.in_words()}"
    )


def _notes(comparison: Comparison) -> list[str]:
    level, ties = f"{100 * comparison.confidence:.4g}%", len(comparison.not_told_apart) - 1
    others = len(comparison.names) - 1
    if not others:
        notes = [f"The interval is for the machines fitted on these folds, with {level} confidence."]
    else:
        significance = f"~ no significant difference from the best ({ties} of {others})." if ties else SIGNIFICANT
        paired = f"Differences are paired by row; intervals hold for all pairs at once with {level} confidence."
        notes = [f"{significance} {paired}", f"{_MACHINES} {_HINDSIGHT}"]
    return [*notes, *comparison.cautions]
