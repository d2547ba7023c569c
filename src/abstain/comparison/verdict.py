"""What decisions cost on labelled rows, and whether a machine is worth it against the alternatives on these rows.

With the cost c_i of the machine's decision on row i, and b_i of an alternative's ::

    saving = mean(b_i - c_i)          with its interval, paired by row: see `abstain.comparison.intervals`

The alternatives need no reject, no scores, or no machine at all: reject every row, decide one class (take one action)
for every row, decide every row by the machine's own forced choice. The cheapest of them is determined from the same
rows, so the interval holds for all of them at once (Bonferroni).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.comparison.intervals import interval_of_mean
from abstain.costs.table import CostTable
from abstain.html import percent
from abstain.metrics.outcomes import Outcomes, read, stated
from abstain.pairs import UNDECIDED

# From this share of rejected rows on, a machine hardly decides anything.
_NEARLY_ALL = 0.95
REJECTING, FORCED = "rejecting every row", "deciding every row without rejects"


@dataclass(frozen=True, eq=False)
class Judge:
    """The true labels of rows, and the costs of decisions on them.

    Attributes
    ----------
    truth : ndarray of shape (n,)
        The true labels.
    code : ndarray of shape (n,)
        Their places in `classes`.
    classes : tuple
        The negative and the positive class where two are answered or rejected; otherwise all, sorted.
    costs : CostTable
        The costs, of all rows or of each, with a row for each of `classes`.
    """

    truth: NDArray[Any]
    code: NDArray[np.intp]
    classes: tuple[Any, ...]
    costs: CostTable

    @property
    def positive(self) -> Any:
        """The positive class, if two are answered or rejected; else None."""
        return self.classes[1] if self.costs.pair else None

    @property
    def row_costs(self) -> NDArray[np.float64] | None:
        """The costs of each row, as a model takes them; None if all rows have the same."""
        return self.costs.as_rows() if self.costs.per_row else None

    def outcomes(self, predicted: Any, reject_label: Any, rows: Any = slice(None), weight: Any = None) -> Outcomes:
        """Read the predictions for these rows."""
        given = {"pos_label": self.positive, "reject_label": reject_label, "classes": self.classes}
        return read(self.truth[rows], predicted, self.costs.take(rows), sample_weight=weight, **given)

    def blind(self, rows: Any = slice(None)) -> dict[str, NDArray[np.float64]]:
        """Return the costs of these rows if all are treated alike, by the name of the treatment: a reject first."""
        costs, code, verb = self.costs.take(rows), self.code[rows], self.costs.verb
        names = [
            REJECTING if name is None else f"{verb} {str(name)[:60]!r} for every row"
            for name in costs.titles(self.classes, None)
        ]
        order = sorted(range(len(names)), key=lambda action: names[action] != REJECTING)
        return {names[action]: costs.of(code, np.full(len(code), action)) for action in order}


def judge_of(
    y: ArrayLike, costs: Any, row_costs: Any = None, pos_label: Any = None, *, classes: ArrayLike | None = None
) -> Judge:
    """Check labels and costs, and return the judge for them; the classes are `classes`, or those of y."""
    truth = np.asarray(y)
    known = (np.unique(truth) if classes is None else np.asarray(classes)).tolist()
    if isinstance(costs, CostTable) and costs.labels is not None:
        costs.check_names(tuple(known))
    found = read(y, UNDECIDED, stated(costs, row_costs), row_costs=row_costs, pos_label=pos_label, classes=known)
    if pos_label is not None and len(found.classes) > 2:
        raise ValueError(f"pos_label={pos_label!r} is for two classes; leave it out, and name all in the costs.")
    return Judge(truth, found.truth, found.classes, found.choices)


@dataclass(frozen=True)
class Verdict:
    """Whether a machine is worth using, against the cheapest alternative.

    Attributes
    ----------
    name : str
        The machine.
    cost, reject_rate : float
        Its mean cost, and the share of rows that it rejects.
    alternatives : tuple of (str, float)
        What could be done instead, with the mean costs, from the cheapest to the most expensive.
    saving : float
        How much less the machine costs than the cheapest alternative; negative if it costs more.
    interval : (float, float)
        Interval of the saving, paired by row, for all alternatives at once.
    confidence : float
        Its confidence.
    same : bool
        Whether the cheapest alternative costs the same on every row.
    needs_machine : bool
        Whether the cheapest alternative is a machine that decides every row, so that only the rejects are in question.
    n_candidates : int
        Number of machines of which this one was chosen on the same rows; the interval holds for all of them.
    """

    name: str
    cost: float
    reject_rate: float
    alternatives: tuple[tuple[str, float], ...]
    saving: float
    interval: tuple[float, float]
    confidence: float
    same: bool = False
    needs_machine: bool = False
    n_candidates: int = 1

    @property
    def cheapest(self) -> str:
        """The cheapest alternative."""
        return self.alternatives[0][0]

    @property
    def worth_using(self) -> bool | None:
        """True if the machine costs significantly less, False if it does not cost less, None if noise may be why.

        Against a machine that decides every row, which has the same noise, False means significantly more.
        """
        if self.same:
            return False
        if self.interval[0] > 0:
            return True
        worse = self.saving <= 0 and (not self.needs_machine or self.interval[1] <= 0)
        return False if worse else None

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        opening = {True: "is worth using", False: "is not worth using", None: "is not shown to be worth using"}
        level, (low, high) = f"{100 * self.confidence:.4g}%", self.interval
        aspect = " with rejects" if self.needs_machine and not self.worth_using else ""
        other = f"{self.cheapest} ({self.alternatives[0][1]:.4g})"
        count = len(self.alternatives)
        among = f"the cheapest of {count} alternatives on these rows" if count > 1 else "the alternative"
        if self.same:
            against = f"exactly as much as {other}, {among}"
        else:
            significant = "" if low > 0 or high < 0 else ", no significant difference"
            all_of = "machines and alternatives" if self.n_candidates > 1 else "alternatives"
            at_once = f", for all {all_of} at once" if count > 1 else ""
            against = (
                f"{abs(self.saving):.3g} {'less' if self.saving > 0 else 'more'} than {other}, {among}{significant} "
                f"({level} interval of the saving{at_once}: {low:.3g} to {high:.3g})"
            )
        return (
            f"{self.name} {opening[self.worth_using]}{aspect}: it rejects {percent(self.reject_rate)} % of the rows "
            f"and costs {self.cost:.4g} per row, {against}."
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for each reason not to use the machine; empty if there is none."""
        aspect = "using with rejects" if self.needs_machine else "using"
        other, cost = self.alternatives[0]
        cost = cost if self.worth_using is False else np.inf
        return cautions(self.name, self.cost, self.reject_rate, other, cost, aspect=aspect)

    def facts(self) -> dict[str, Any]:
        """The verdict as plain values."""
        low, high = self.interval
        return {
            "sentence": self.sentence,
            "worth using": self.worth_using,
            "cheapest alternative": self.cheapest,
            "saving": self.saving,
            "from": low,
            "to": high,
            "confidence": self.confidence,
            "alternatives": [{"name": name, "mean cost": cost} for name, cost in self.alternatives],
        }


def verdict_on(
    name: str,
    cost: NDArray[np.float64],
    blind: Mapping[str, NDArray[np.float64]],
    machines: Mapping[str, NDArray[np.float64]],
    *,
    reject_rate: float,
    largest: float,
    confidence: float = 0.95,
    n_candidates: int = 1,
) -> Verdict:
    """Judge a machine by the costs of its decisions and of the alternatives', row by row.

    `blind` are the alternatives that treat all rows alike, `machines` those that decide every row by a machine; these
    say whether rejects pay, and do not count for a machine that rejects no row.
    `largest` is the largest cost that a decision can have, and `n_candidates` the number of machines of which this one
    was chosen on the same rows.
    """
    alternatives = {**blind, **(machines if reject_rate > 0 else {})}
    others = np.column_stack(list(alternatives.values()))
    means = others.mean(axis=0)
    # means that differ only by rounding count as equal; ties go to the first
    at = int(np.argmax(means <= means.min() * (1.0 + 1e-12)))
    paired = others[:, at] - cost
    saving = _unrounded(float(paired.mean()), float(means[at]))
    names = list(alternatives)
    # an alternative that treats all rows alike has no other costs than those of these rows
    least, most = (others[:, at].min(), others[:, at].max()) if names[at] in blind else (0.0, largest)
    bounds = float(least) - largest, float(most)
    interval = interval_of_mean(paired, bounds, confidence, n_candidates * len(alternatives))
    low, high = (_unrounded(end, float(means[at])) for end in interval)
    order = [at, *(other for other in np.argsort(means, kind="stable").tolist() if other != at)]
    known = tuple((names[other], float(means[other])) for other in order)
    same, by_machine = not paired.any(), names[at] in machines
    own = name, float(cost.mean()), reject_rate
    return Verdict(*own, known, saving, (low, high), confidence, same, by_machine, n_candidates)


def cautions(
    name: str,
    cost: float,
    reject_rate: float,
    other: str,
    other_cost: float,
    *,
    tolerance: float = 1e-12,
    aspect: str = "using",
) -> tuple[str, ...]:
    """The warnings about a machine: it rejects nearly everything, or does not cost less than the cheapest alternative.

    A cost that is less by no more than a share of `tolerance` is worth a warning, too.
    """
    found = []
    if reject_rate >= _NEARLY_ALL:
        found.append(f"{name} rejects {percent(reject_rate)} % of the rows: it decides hardly anything.")
    if cost >= other_cost * (1.0 - tolerance):
        less = "not less" if cost >= other_cost * (1.0 - 1e-12) else "hardly less"
        found.append(
            f"{name} costs {cost:.4g} per row, {less} than {other} ({other_cost:.4g}): at these costs it is not "
            f"worth {aspect}."
        )
    return tuple(found)


def _unrounded(difference: float, size: float) -> float:
    """The difference, or 0 if it is only rounding of numbers of this size."""
    return 0.0 if abs(difference) <= 1e-12 * size else difference
