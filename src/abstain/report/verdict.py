"""The verdict at the top of the page: the cost per row against those of deciding or rejecting every row."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from abstain.report.model import Report


def alternatives(report: Report) -> list[tuple[str, float]]:
    """What every row could get instead, with its cost per row, from the cheapest.

    "decide" is the forced choice of the same machine, "reject" a reject, "below" or "above" always the same class:
    the cheaper of the two.
    """
    found = report.measures()
    below, above = (report.table.counts.sum(axis=1) / report.table.total).tolist()
    constant = min(("below", report.costs.false_negative * above), ("above", report.costs.false_positive * below),
                   key=lambda pair: pair[1])  # fmt: skip
    both = [("decide", found["forced_cost"]), ("reject", found["rejecting_cost"]), constant]
    return sorted(both, key=lambda pair: pair[1])


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
