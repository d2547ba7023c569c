"""The comparison of rules on the page: a dot with its interval for each rule, and the differences in words."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from abstain.comparison.result import Comparison, in_words, missing_rules
from abstain.report.curves import tick_step
from abstain.report.text import amount, plain, share

_NAME, _SENTENCE = 60, 2000


@dataclass(frozen=True)
class RuleCost:
    """One rule; `places` are its mean cost and the ends of the interval, in percent of the width of the chart."""

    name: str
    cost: str
    interval: str
    rejected: str
    against_best: str
    significant: bool
    places: tuple[float, float, float]


@dataclass(frozen=True)
class ComparedRules:
    """The rules from the cheapest to the most expensive.

    Attributes
    ----------
    rules : tuple of RuleCost
        The rows of the chart.
    ticks : tuple of (str, float)
        Labels of the axis, from 0, and their places in percent of the width.
    confidence : str
        Confidence of the intervals.
    words : str
        Which rule costs least, and which ones cost significantly more.
    left_out : tuple of str
        Sentences on rules that could not be compared.
    """

    rules: tuple[RuleCost, ...]
    ticks: tuple[tuple[str, float], ...]
    confidence: str
    words: str
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, comparison: Comparison) -> Self:
        """Lay out a comparison."""
        ends = np.column_stack([comparison.mean_cost, comparison.mean_cost_interval])
        top = 1.02 * float(ends[np.isfinite(ends)].max()) or 1.0
        places = 100.0 * np.clip(ends / top, 0.0, 1.0)
        step = tick_step(top)
        ticks = [step * at for at in range(int(top / step * (1.0 + 1e-9)) + 1)]
        order = np.argsort(comparison.mean_cost, kind="stable").tolist()
        return cls(
            rules=tuple(_rule(comparison, at, tuple(places[at].round(2).tolist())) for at in order),
            ticks=tuple((amount(tick), round(100.0 * tick / top, 2)) for tick in ticks),
            confidence=f"{100 * comparison.confidence:.4g} %",
            words=plain(in_words(comparison), _SENTENCE),
            left_out=tuple(plain(sentence, _SENTENCE) for sentence in missing_rules(comparison)),
        )


def _rule(comparison: Comparison, at: int, places: tuple[float, float, float]) -> RuleCost:
    name, (low, high) = comparison.names[at], comparison.mean_cost_interval[at]
    least, most = comparison.difference_interval[at]
    significant, by = name not in comparison.not_told_apart, f"{amount(comparison.difference[at])} more"
    words = f"{by} ({amount(least)} to {amount(most)}): significant" if significant else f"{by}: not significant"
    words = "costs least" if name == comparison.best else words
    cost, rejected = amount(comparison.mean_cost[at]), share(comparison.tables[at].reject_rate)
    interval = f"{amount(low)} to {amount(high)}"
    return RuleCost(plain(name, _NAME), cost, interval, rejected, words, significant, places)
