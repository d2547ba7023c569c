"""The verdict at the top of the page: the cost per row against those of deciding or rejecting every row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from abstain.comparison.verdict import FORCED, REJECTING, Verdict, blind_prices, verdict_on
from abstain.costs import Costs
from abstain.metrics.table import RejectTable

if TYPE_CHECKING:
    from abstain.report.model import Report


def verdict_of(
    sign: NDArray[np.int8], choice: NDArray[np.int8], forced: NDArray[np.int8], costs: Costs, table: RejectTable
) -> Verdict:
    """The machine against "decide" (every row, by its forced choice), "reject", "below" and "above" (every row)."""
    blind = dict(zip(("reject", "below", "above"), blind_prices(costs, sign).T, strict=True))
    own, decided = costs.prices(sign, choice), {"decide": costs.prices(sign, forced)}
    rate, largest = table.reject_rate, float(costs.table().max())
    return verdict_on("The machine", own, blind, decided, reject_rate=rate, largest=largest)


def named(verdict: Verdict, below: str, above: str) -> Verdict:
    """The same verdict with its alternatives in words, for sentences without markup."""
    names = {"decide": FORCED, "reject": REJECTING}
    names |= {"below": f"deciding {below} for every row", "above": f"deciding {above} for every row"}
    return replace(verdict, alternatives=tuple((names[kind], cost) for kind, cost in verdict.alternatives))


def alternatives(report: Report) -> list[tuple[str, float]]:
    """The alternatives with their costs per row, from the cheapest; of the two classes only the cheaper one."""
    kinds = [kind for kind, _ in report.verdict.alternatives]
    dropped = max("below", "above", key=kinds.index)
    return [(kind, cost) for kind, cost in report.verdict.alternatives if kind != dropped]


def against(cost: float, other: float) -> str:
    """How much less or more a cost is than another one, to be followed by the name of the other.

    Examples
    --------
    >>> from abstain.report.verdict import against
    >>> against(0.06, 0.08), against(0.3, 0.2), against(0.1, 0.1)
    ('25 % less than', '50 % more than', 'as much as')
    """
    if abs(cost - other) <= 5e-4 * max(cost, other):
        return "as much as"
    if other == 0.0:
        return "more than"
    change = 100.0 * abs(cost - other) / other
    return f"{change:,.{0 if change >= 1 else 1}f} % {'less' if cost < other else 'more'} than"
