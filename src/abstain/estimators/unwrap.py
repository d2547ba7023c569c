"""What stands inside Pipelines and searches."""

from __future__ import annotations

from typing import Any


def final_estimator(estimator: Any) -> Any:
    """The classifier inside Pipelines and fitted searches."""
    while True:
        if hasattr(estimator, "steps"):
            estimator = estimator[-1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            return estimator


def of_final(estimator: Any, attribute: str) -> Any:
    """An attribute of the estimator, or of the one inside a Pipeline or a search; None if there is none."""
    while estimator is not None:
        if hasattr(estimator, attribute):
            return getattr(estimator, attribute)
        steps = getattr(estimator, "steps", None)
        estimator = steps[-1][1] if steps else getattr(estimator, "best_estimator_", None)
    return None
