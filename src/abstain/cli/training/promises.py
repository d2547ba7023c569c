"""Models with a promise on their errors: fitted on some of the rows, calibrated on the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
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
    model: ThresholdRejector,
    classifier: Callable[[TrainingTable, TrainingOptions], Any],
) -> Pipeline:
    """Fit preprocessing, search and machine on some rows, and calibrate `model` on rows that none of these has seen."""
    code = np.unique(table.y, return_inverse=True)[1] + 1
    with _plain_errors():
        request = Request.of(model)
        labels = labels_for(model, request, table.y)
        request = request.of_classes(labels, table.positive)
        sizes = calibration_sizes(request, labels, np.bincount(code)[1:], None)
        held = held_out_rows(code, sizes, table.groups, options.seed)
    fitting, calibration = table.take(np.setdiff1d(np.arange(len(code)), held)), table.take(held)
    pipeline = fitted_pipeline(fitting, classifier(fitting, options))
    model.estimator = pipeline[-1]
    with _plain_errors():
        model.fit(pipeline[:-1].transform(calibration.rows), calibration.y)
    pipeline.steps[-1] = (ESTIMATOR, model)
    return pipeline


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Leave out of errors what no option can change."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error).partition(OTHERWISE)[0]) from error


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
