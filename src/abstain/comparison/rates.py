"""The rates of a table of counts that a comparison shows, by the names of the columns of its data frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.metrics.action_table import ActionTable
from abstain.metrics.class_table import ClassTable

_COMMON = ("reject_rate", "error_rate", "selective_error")
# The column of a data frame -> the head of a column of text.
_WORDS = {
    "reject_rate": "rejected",
    "error_rate": "errors",
    "selective_error": "selective error",
    "positive_predictivity": "predictivity",
    "worst_class_error": "worst class",
}


def rates_of(table: Any) -> dict[str, float]:
    """Give the rates: of two classes, those of the positive one too; of several, that of the worst; of actions, all."""
    if isinstance(table, ActionTable):
        shares = (table.counts.sum(axis=0) / table.total).tolist()
        return {"reject_rate": table.reject_rate} | {
            f"share_{name}": share for name, share in zip(table.actions.names, shares, strict=True)
        }
    found = {name: float(getattr(table, name)) for name in _COMMON}
    if not isinstance(table, ClassTable):
        return found | {name: float(getattr(table, name)) for name in ("sensitivity", "positive_predictivity")}
    known = table.class_selective_error[np.isfinite(table.class_selective_error)]
    return found | {"worst_class_error": float(known.max()) if known.size else float("nan")}


def heading(rate: str) -> str:
    """The head of the column of a rate, as text."""
    return _WORDS.get(rate, rate.removeprefix("share_")[:20])
