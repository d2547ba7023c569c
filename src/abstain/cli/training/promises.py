"""Models with a promise on their errors: fitted on some of the rows, calibrated on the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from abstain.cli.exit_codes import UsageError
from abstain.cli.input.training_table import TrainingTable
from abstain.cli.training.training import TrainingOptions, fitted_pipeline
from abstain.estimators.fitting.splitting import held_out_rows
from abstain.estimators.threshold.fitted_rejector import labels_for
from abstain.estimators.threshold.threshold import ThresholdRejector
from abstain.html import percent
from abstain.preprocessing import ESTIMATOR
from abstain.rules.tuning.calibration_size import OTHERWISE, calibration_sizes
from abstain.rules.tuning.class_error import ClassErrorBound
from abstain.rules.tuning.request import Request
from abstain.rules.tuning.risk_control import ErrorBound

__all__ = ["promise_facts", "promised"]


def promised(
    table: TrainingTable,
    options: TrainingOptions,
    promise: dict[str, Any],
    classifier: Callable[[TrainingTable, TrainingOptions], Any],
) -> Pipeline:
    """Fit preprocessing, search and machine on some rows, and calibrate on rows that none of these has seen.

    `promise` has the parameters of a `ThresholdRejector` that say what is promised.
    """
    reject_label = options.reject_label or "auto"
    model = ThresholdRejector(None, **promise, cv="prefit", pos_label=table.positive, reject_label=reject_label)
    code = np.unique(table.y, return_inverse=True)[1] + 1
    try:
        request = Request.of(model)
        labels = labels_for(model, request, table.y)
        request = request.of_classes(labels, table.positive)
        sizes = calibration_sizes(request, labels, np.bincount(code)[1:], None)
        held = held_out_rows(code, sizes, table.groups, options.seed)
    except ValueError as error:
        raise UsageError(str(error).partition(OTHERWISE)[0]) from error
    fitting, calibration = (_part(table, rows) for rows in (np.setdiff1d(np.arange(len(code)), held), held))
    pipeline = fitted_pipeline(fitting, classifier(fitting, options))
    model.estimator = pipeline[-1]
    try:
        model.fit(pipeline[:-1].transform(calibration.rows), calibration.y)
    except ValueError as error:
        raise UsageError(str(error).partition(OTHERWISE)[0]) from error
    pipeline.steps[-1] = (ESTIMATOR, model)
    return pipeline


def _part(table: TrainingTable, rows: NDArray[np.intp]) -> TrainingTable:
    groups = None if table.groups is None else table.groups[rows]
    return replace(table, X=table.X[rows], y=table.y[rows], groups=groups)


def promise_facts(bound: ClassErrorBound | ErrorBound, rejected: float) -> dict[str, Any]:
    """What was promised, and on how many rows it rests."""
    share = f"{percent(rejected)} % of the calibration rows are rejected."
    facts: dict[str, Any] = {"calibration rows": bound.n_rows}
    if isinstance(bound, ClassErrorBound):
        of = ", ".join(f"{100 * rate:g} % of {label}" for label, rate in bound.class_error.items())
        sentence = f"At most {of} are answered as another class, on average over calibrations like this one"
    else:
        facts |= {"rows accepted": bound.accepted, "errors among them": bound.errors}
        ceilings = bound.max_error if isinstance(bound.max_error, dict) else {"": bound.max_error}
        of = ", ".join(
            f"{100 * ceiling:g} % of the rows answered{f' {label}' if label else ''}"
            for label, ceiling in ceilings.items()
        )
        sentence = f"At most {of} are wrong, for {100 * bound.confidence:g} % of calibrations like this one"
    return facts | {"verdict": {"sentence": f"{sentence}, if new rows are like these. {share}"}, "warnings": []}
