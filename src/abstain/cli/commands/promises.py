"""Models with a ceiling on the error of each true class: fitted on some of the rows, calibrated on the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from abstain.cli.commands.training import TrainingOptions, fitted_pipeline
from abstain.cli.exit_codes import UsageError
from abstain.cli.input.training_table import TrainingTable
from abstain.estimators.conformal import held_out_rows
from abstain.estimators.threshold import ThresholdRejector
from abstain.preprocessing import ESTIMATOR
from abstain.rules.class_error import ClassErrorBound, named_rates

__all__ = ["promise_facts", "promised"]


def promised(
    table: TrainingTable,
    options: TrainingOptions,
    class_error: float | dict[str, float],
    classifier: Callable[[TrainingTable, TrainingOptions], Any],
) -> Pipeline:
    """Fit preprocessing, search and machine on some rows, and calibrate on rows that none of these has seen."""
    classes, code = np.unique(table.y, return_inverse=True)
    try:
        rates = named_rates(class_error, classes)
        if not all(0.0 < rate < 1.0 for rate in rates.values()):
            raise UsageError("--class-error must lie between 0 and 1, both excluded, as in 0.05.")
        held = held_out_rows(code + 1, rates, None, table.groups, options.seed)
    except ValueError as error:
        raise UsageError(str(error)) from error
    fitting, calibration = (_part(table, rows) for rows in (np.setdiff1d(np.arange(len(code)), held), held))
    pipeline = fitted_pipeline(fitting, classifier(fitting, options))
    model = ThresholdRejector(
        pipeline[-1],
        class_error=rates,
        cv="prefit",
        pos_label=table.positive,
        reject_label=options.reject_label or "auto",
    )
    try:
        model.fit(pipeline[:-1].transform(calibration.rows), calibration.y)
    except ValueError as error:
        raise UsageError(str(error)) from error
    pipeline.steps[-1] = (ESTIMATOR, model)
    return pipeline


def _part(table: TrainingTable, rows: NDArray[np.intp]) -> TrainingTable:
    groups = None if table.groups is None else table.groups[rows]
    return replace(table, X=table.X[rows], y=table.y[rows], groups=groups)


def promise_facts(bound: ClassErrorBound, rejected: float) -> dict[str, Any]:
    """What was promised, and on how many rows it rests."""
    shares = ", ".join(f"{100 * rate:g} % of {label}" for label, rate in bound.class_error.items())
    sentence = (
        f"At most {shares} are answered as another class, on average over calibrations like this one, if new rows are "
        f"like these. {100 * rejected:.1f} % of the calibration rows are rejected."
    )
    return {"calibration rows": bound.n_rows, "verdict": {"sentence": sentence}, "warnings": []}
