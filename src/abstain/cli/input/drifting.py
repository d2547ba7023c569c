"""Whether the rows of a table are like the training rows: `abstain.drift` over its batches, as the rows are decided."""

from __future__ import annotations

from typing import Any

from abstain.comparison.batch_counts import DriftCounts, guarded_rows
from abstain.comparison.drift import drift_of
from abstain.comparison.drift_result import Drift
from abstain.estimators.unwrap import decide, final_estimator

__all__ = ["DriftOfTable", "drift_facts"]


class DriftOfTable:
    """Decisions on the batches of a table, with the counts that the tests for drift need.

    Parameters
    ----------
    estimator : fitted classifier, or Pipeline or search around one
        Without a guard there is nothing to compare rows with.
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator
        self._counts: DriftCounts | None = None
        self._guarded = hasattr(final_estimator(estimator), "guard_")

    def decide(self, rows: Any, row_costs: Any) -> Any:
        """Decide on a batch, and count it; the classifier and the detector score each row once."""
        if not self._guarded:
            return decide(self._estimator, rows, row_costs)
        guarded, X = guarded_rows(self._estimator, rows)
        now = guarded._fitted_
        found, unusual = now.decided(X, row_costs), now.guard.unusual(X)
        known = now.calibration.choices is not None
        choices = now.counted(found) if known else None
        new = DriftCounts.of_decided(guarded, X, unusual, choices)
        self._counts = new if self._counts is None else self._counts + new
        return now.without(found, now.guard.novel(unusual))

    def result(self) -> Drift | None:
        """The tests on all batches; None without a guard or rows."""
        return None if self._counts is None else drift_of(self._estimator, self._counts)


def drift_facts(drift: Drift | None) -> dict[str, Any] | None:
    """The result as plain values, with the tests that find a difference."""
    if drift is None:
        return None
    found = [
        {
            "what": test.name,
            "here": test.here,
            "before": test.before,
            "difference": test.difference,
            "p value": test.corrected,
            "in words": test.words,
        }
        for test in drift.significant
    ]
    return {
        "drifted": drift.drifted,
        "p value": drift.p_value,
        "effect": drift.effect,
        "differences": found,
        "sentence": drift.sentence,
    }
