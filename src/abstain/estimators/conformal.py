"""Fit the classifier of a ThresholdRejector for promises by class: rows are scored by classifiers not fitted on them.

Scores of folds with a classifier that is then fitted on all rows are not offered: nothing bounds the errors of that
one, and in a simulation with nearly no regularisation it missed 35 % of a class at a rate of 5 %.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed

from abstain.estimators.out_of_fold import ROWS_TWICE, SAME_ROWS, Scored, check_classes, folds_of
from abstain.estimators.splitting import Groups, parts_of
from abstain.labels import label_vector
from abstain.machines.class_calibration import ClassCalibration
from abstain.machines.cross_machine import CrossMachine
from abstain.machines.response_machine import ResponseMachine
from abstain.rules.class_error import rows_needed

__all__ = ["conformal_fit", "refuse_unused"]

DEFAULT_CV = 5
SHARE = 0.25  # of each class, unless its rate needs more
MOST = 0.5  # of each class
FOLDS = (
    "scores of folds would belong to other classifiers than the one that decides, which is fitted on all rows: nothing "
    'is promised then; leave cv out to hold rows out, or use conformal="cross", where the classifiers of the folds '
    "decide together."
)


def refuse_unused(settings: Any) -> None:
    """Raise an error for values of `cv` and `conformal` that a promise by class cannot use."""
    cv = settings.cv
    if isinstance(cv, str) and cv == "train":
        raise ValueError(f"class_error cannot be promised: {SAME_ROWS}")
    if isinstance(cv, str) and settings.conformal == "cross":
        raise ValueError('cv="prefit" has one classifier, and conformal="cross" one for each fold; leave one out.')
    if settings.conformal == "split" and not isinstance(cv, str) and not (isinstance(cv, int) and cv == DEFAULT_CV):
        raise ValueError(f"class_error with cv={cv!r}: {FOLDS}")


def conformal_fit(
    settings: Any,
    X: Any,
    y: Any,
    groups: Groups | None,
    parameters: dict[str, Any],
    *,
    rates: dict[Any, float],
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
    rates : dict of label to float
        The rates of all classes, in order.
    weight : ndarray or None
        Rows of weight 0 are not calibrated on.
    """
    if isinstance(settings.cv, str):  # "prefit"
        machine = ResponseMachine.of(settings.estimator)
        score = machine.score(X)
        return Scored(machine, score, np.arange(len(score)), held_out=True)
    code = np.unique(label_vector(y, "y"), return_inverse=True)[1] + 1
    if settings.conformal == "cross":
        absent = np.zeros(len(code), dtype=bool) if weight is None else weight == 0.0
        return _cross(settings, (X, y), (np.where(absent, 0, code), len(rates)), groups, parameters)
    held = held_out_rows(code, rates, settings.calibration_size, groups, settings.random_state)
    part = (np.setdiff1d(np.arange(len(code)), held), held)
    check_classes([part], y, "the calibration rows leave")
    machine, score = _fitted(settings.estimator, (X, y), part, parameters)
    return Scored(machine, score, held, held_out=True)


def _cross(
    settings: Any, data: tuple[Any, Any], codes: tuple[Any, int], groups: Groups | None, parameters: Any
) -> Scored:
    """One classifier for each fold; together they give p-values.

    `codes` are the true classes, 1 to n, or 0 for a row to leave out of these, and n.
    """
    code, n_classes = codes
    parts = parts_of(folds_of(settings, data[1], groups), *data, groups)
    check_classes(parts, data[1])
    index = np.concatenate([np.asarray(test) for _, test in parts])
    if len(np.unique(index)) < len(index):
        raise ValueError(f"class_error cannot be promised: {ROWS_TWICE}")
    tasks = (delayed(_fitted)(settings.estimator, data, part, parameters) for part in parts)
    machines, scores = zip(*Parallel(n_jobs=settings.n_jobs)(tasks), strict=True)
    held = [(score, code[test]) for score, (_, test) in zip(scores, parts, strict=True)]
    return Scored(CrossMachine(tuple(machines), ClassCalibration.of(held, n_classes), ()), held_out=True)


def _fitted(
    estimator: Any, data: tuple[Any, Any], part: tuple[Any, Any], parameters: dict[str, Any]
) -> tuple[ResponseMachine, NDArray[np.float64]]:
    """Give the machine around a classifier fitted on the first rows, and its scores of the others."""
    model, (train, test) = clone(estimator), part
    X_train, y_train = _safe_split(model, *data, train)
    X_test, _ = _safe_split(model, *data, test, train)
    model.fit(X_train, y_train, **{name: _safe_indexing(value, train) for name, value in parameters.items()})
    machine = ResponseMachine.of(model)
    return machine, machine.score(X_test)


def held_out_rows(
    code: NDArray[np.intp], rates: dict[Any, float], size: float | None, groups: Groups | None, random_state: Any
) -> NDArray[np.intp]:
    """Choose the calibration rows: of each class at random, or whole groups of about the same shares.

    Parameters
    ----------
    code : ndarray of intp
        The true classes, 1 to n.
    rates : dict of label to float
        The rates of the classes, in order.
    size : float, int or None
        The share or number of rows; None means `calibration_rows` of each class.
    groups : ndarray or None
    random_state : int, RandomState or None
    """
    counts = np.bincount(code, minlength=len(rates) + 1)[1:]
    if size is None:
        pairs = zip(rates.items(), counts.tolist(), strict=True)
        sizes = np.array([_automatic(label, rate, n) for (label, rate), n in pairs])
    else:
        share = float(size) / len(code) if isinstance(size, int | np.integer) else float(size)
        sizes = np.clip(np.ceil(share * counts * (1 - 1e-12)).astype(np.intp), 1, None)
    random = check_random_state(random_state)
    if groups is None:
        chosen = [random.permutation(np.flatnonzero(code == k + 1))[:m] for k, m in enumerate(sizes)]
        return np.sort(np.concatenate(chosen))
    folds = max(2, int(np.min(counts / sizes) + 1e-9))
    if (found := len(np.unique(groups))) < 2:
        raise ValueError(f"groups has {found} label, and whole groups are held out; give rows of at least two groups.")
    splitting = StratifiedGroupKFold(min(folds, found), shuffle=True, random_state=random)
    parts = parts_of(splitting, np.zeros((len(code), 1)), code, groups)
    return np.asarray(parts[random.randint(len(parts))][1])  # the first always has the group of most rows


def _automatic(label: Any, rate: float, n: int) -> int:
    """Give the number of calibration rows of a class: about `SHARE`, the next at which no part of the rate is lost.

    With m rows the rate that is used is floor(rate (m + 1)) / (m + 1), so m + 1 is a multiple of 1 / rate.
    """
    needed = rows_needed(rate)
    if needed > MOST * n:
        raise ValueError(
            f"class_error={rate:g} of the class {label!r} needs at least {needed} calibration rows of this class "
            f"(1 / class_error - 1), which are held out, and as many to fit on; it has {n} rows. Use at least "
            f"{2 * needed} rows of this class, a higher rate, calibration_size to hold out more than half, or "
            'conformal="cross".'
        )
    j = max(1, math.ceil(rate * (SHARE * n + 1)))
    wanted = [math.ceil(i / rate * (1 - 1e-12)) - 1 for i in (j, j - 1)]
    return next(m for m in (*wanted, needed) if needed <= m <= MOST * n)
