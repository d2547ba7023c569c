"""The rates of a table of counts that a comparison shows, by the names of the columns of its data frame."""

from __future__ import annotations

import numpy as np

from abstain.metrics.counts import Counts

# The column of a data frame -> the head of a column of text.
_WORDS = {
    "reject_rate": "rejected",
    "error_rate": "errors",
    "selective_error": "selective error",
    "positive_predictivity": "predictivity",
    "worst_class_error": "worst class",
}


def rates_of(table: Counts) -> dict[str, float]:
    """Return the rates of rejects and errors, and of the positive class or the worst; of actions, their shares."""
    found = {"reject_rate": table.reject_rate}
    if table.choices.names is not None:
        shares = (table.counts.sum(axis=0) / table.total).tolist()
        return found | {f"share_{name}": share for name, share in zip(table.names, shares, strict=True)}
    names = ["error_rate", "selective_error", *(["sensitivity", "positive_predictivity"] if table.pair else [])]
    found |= {name: float(getattr(table, name)) for name in names}
    if table.pair:
        return found
    known = table.class_selective_error[np.isfinite(table.class_selective_error)]
    return found | {"worst_class_error": float(known.max()) if known.size else float("nan")}


def heading(rate: str) -> str:
    """The head of the column of a rate, as text."""
    return _WORDS.get(rate, rate.removeprefix("share_")[:20])
