"""Fit the classifier of a ThresholdRejector for a promise: rows are scored by classifiers not fitted on them.

Scores of folds with a classifier that is then fitted on all rows are not offered: nothing bounds the errors of that
one. In simulations with nearly no regularisation it missed 35 % of a class at a `class_error` of 5 %, and 44 % of its
accepted rows were wrong at a `max_error` of 25 %.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from abstain.estimators.fitting.splitting import Groups, held_out_rows, parts_of
from abstain.estimators.threshold.out_of_fold import (
    ROWS_TWICE,
    SAME_ROWS,
    UNEQUAL_SHARES,
    Scored,
    check_classes,
    fitted_part,
    folds_of,
    is_prefit,
    unfitted_machine,
)
from abstain.labels import NO_CLASS, Labels, label_vector
from abstain.machines.cross_machine import ClassCalibration, CrossMachine
from abstain.machines.response_machine import ResponseMachine
from abstain.rules.tuning.calibration_size import calibration_sizes
from abstain.rules.tuning.request import Request

__all__ = ["promise_fit", "refuse_unused"]

DEFAULT_CV = 5
FOLDS = (
    "scores of folds would belong to other classifiers than the one that decides, which is fitted on all rows: nothing "
    'is promised then; leave cv out to hold rows out, or use cv="prefit" with rows that the classifier was not fitted '
    "on"
)
CROSS = ', or conformal="cross", where the classifiers of the folds decide together'


def refuse_unused(settings: Any, promise: str) -> None:
    """Raise an error for values of `cv` and `conformal` that a promise cannot use."""
    cv, cross = settings.cv, settings.conformal == "cross"
    if cross and promise == "max_error":
        raise ValueError('conformal="cross" is for class_error; leave it out, and max_error holds rows out.')
    if isinstance(cv, str) and cv == "train":
        raise ValueError(f"{promise} cannot be promised: {SAME_ROWS}")
    if is_prefit(settings):
        if cross:
            raise ValueError(
                'cv="prefit" and FrozenEstimator have one classifier, and conformal="cross" one for each fold; leave '
                "one out."
            )
    elif not cross and not (isinstance(cv, int) and cv == DEFAULT_CV):
        raise ValueError(f"{promise} with cv={cv!r}: {FOLDS}{CROSS if promise == 'class_error' else ''}.")


def promise_fit(
    settings: Any,
    X: Any,
    y: Any,
    groups: Groups | None,
    parameters: dict[str, Any],
    *,
    request: Request,
    labels: Labels,
    weight: NDArray[np.float64] | None = None,
) -> Scored:
    """Fit the classifier, or one for each fold, without the rows that it scores.

    Parameters
    ----------
    settings : ThresholdRejector
    X, y, groups
        The rows.
    parameters : dict
        For the classifier's `fit`.
    request : Request
        For these classes.
    labels : Labels
    weight : ndarray or None
        Rows of weight 0 are not calibrated on.
    """
    code = np.unique(label_vector(y, "y"), return_inverse=True)[1]
    if settings.conformal == "cross":
        absent = np.zeros(len(code), dtype=bool) if weight is None else weight == 0.0
        return _cross(settings, (X, y), (np.where(absent, NO_CLASS, code), len(labels.classes)), groups, parameters)
    sizes = calibration_sizes(request, labels, np.bincount(code), settings.calibration_size)
    held = held_out_rows(code, sizes, groups, settings.random_state)
    part = (np.setdiff1d(np.arange(len(code)), held), held)
    check_classes([part], y, "the calibration rows leave")
    folds = folds_of(settings, y, groups) if request.method.needs_probabilities else None
    machine, sigmoid = unfitted_machine(settings, request, folds)
    found, score = fitted_part(machine, (X, y), part, groups if sigmoid else None, parameters)
    counts, own = np.bincount(code), np.bincount(code[held], minlength=len(sizes))
    unequal = groups is None and (np.abs(own - counts * (len(held) / len(code))) > 1).any()
    return Scored(found, score, held, UNEQUAL_SHARES if unequal else "", held_out=True)


def _cross(
    settings: Any, data: tuple[Any, Any], codes: tuple[Any, int], groups: Groups | None, parameters: Any
) -> Scored:
    """One classifier for each fold; together they give p-values.

    `codes` are those of the true classes, or -1 for a row to leave out of these, and the number of classes.
    """
    code, n_classes = codes
    parts = parts_of(folds_of(settings, data[1], groups), *data, groups)
    check_classes(parts, data[1])
    index = np.concatenate([np.asarray(test) for _, test in parts])
    if len(np.unique(index)) < len(index):
        raise ValueError(f"class_error cannot be promised: {ROWS_TWICE}")
    machine = ResponseMachine.of(settings.estimator)
    tasks = (delayed(fitted_part)(machine, data, part, None, parameters) for part in parts)
    machines, scores = zip(*Parallel(n_jobs=settings.n_jobs)(tasks), strict=True)
    held = [(score, code[test]) for score, (_, test) in zip(scores, parts, strict=True)]
    return Scored(CrossMachine(tuple(machines), ClassCalibration.of(held, n_classes), ()), held_out=True)
