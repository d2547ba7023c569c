"""The fits to all rows: of the best candidate of a machine, and, with its search, of an svm."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV, _CalibratedClassifier
from sklearn.exceptions import ConvergenceWarning

from abstain.candidates.candidate_costs import Rows, sigmoids_of
from abstain.candidates.machines import MACHINES
from abstain.candidates.trials import Trials
from abstain.estimators.fitting.splitting import Splits
from abstain.estimators.search.search import OF_SCALES, SEARCHING
from abstain.estimators.svm.svc_cv import RejectSVCCV
from abstain.estimators.threshold.threshold import ThresholdRejector


def last_fit(
    trials: Trials, rows: Rows, left: float | None, seed: int | None, named: dict[str, Any]
) -> ThresholdRejector:
    """Fit the best candidate of a machine to all rows, with Chow's rule, in the seconds that are left."""
    machine, splits, known = MACHINES[trials.name], rows.splits, trials.held_out.get(trials.place)
    classifier = machine.make(**trials.best, random_state=seed)
    if _possible(classifier, trials, len(rows.y), left):
        known = None  # a forest of fewer trees has a sigmoid of its own
    trained = int(splits.trains.sum()) if machine.sigmoid and known is None else 0
    if fewer := _possible(classifier, trials, len(rows.y) + trained, left):
        _shorten(classifier, trials.name, fewer)
    fitted = ThresholdRejector(classifier, method="chow", **named)
    if not machine.sigmoid:
        return fitted.fit(rows.X, rows.y, rows.weight, row_costs=rows.row_costs)
    folds = whole_folds(splits)  # those of the search, which respect the groups
    parts = [splits.parts[fold] for fold in folds]
    if known is None:
        sigmoid = CalibratedClassifierCV(classifier, cv=parts, ensemble=False)
        sigmoid.fit(rows.X, rows.y, sample_weight=rows.weight)
    else:
        sigmoid = _with_sigmoid(classifier, rows, [(parts[at][1], known[fold]) for at, fold in enumerate(folds)])
    return around(sigmoid.set_params(cv=len(parts)), rows, named)


def around(classifier: Any, rows: Rows, named: dict[str, Any]) -> ThresholdRejector:
    """Chow's rule on the probabilities of a fitted classifier; another fit fits the classifier again."""
    found = ThresholdRejector(classifier, method="chow", cv="prefit", **named)
    found.fit(rows.X, rows.y, row_costs=rows.row_costs)
    return found.set_params(estimator=clone(classifier), cv=ThresholdRejector(None).cv)


def _possible(classifier: Any, trials: Trials, rows: int, left: float | None) -> int | None:
    """Return the trees or iterations that the time left allows at the pace of the search; None if it allows all."""
    machine = MACHINES[trials.name]
    if left is None or machine.count is None or not trials.pace > 0.0:
        return None
    fewest = 2 if machine.sigmoid else 10  # a sigmoid needs a fit for each fold
    possible = max(fewest, int(max(0.0, left) / (trials.pace * rows)))
    return possible if possible < int(getattr(classifier, machine.count)) else None


def _shorten(classifier: Any, name: str, fewer: int) -> None:
    machine = MACHINES[name]
    wanted = getattr(classifier, str(machine.count))
    classifier.set_params(**machine.of_count(fewer))
    if machine.count != "max_iter" or machine.stages:  # iterations are seldom all needed, and say so if they are
        warnings.warn(
            f"the last fit of {name!r} has {fewer} instead of {wanted} trees, because time ran out; raise the time "
            "limit, or use fewer rows.",
            ConvergenceWarning,
            stacklevel=5,
        )


def _with_sigmoid(classifier: Any, rows: Rows, held_out: list[tuple[Any, Any]]) -> CalibratedClassifierCV:
    """Fit a classifier, and its sigmoid to the probabilities that the search found for held-out rows.

    It is what `CalibratedClassifierCV` fits, without a second fit to the training rows of each fold.
    """
    classifier.fit(rows.X, rows.y, sample_weight=rows.weight)
    p = np.empty((len(rows.y), len(classifier.classes_)))
    for test, probability in held_out:
        p[test] = probability
    sigmoids = list(sigmoids_of(p, rows.truth, rows.weight).values())
    pair = _CalibratedClassifier(classifier, sigmoids, classes=classifier.classes_, method="sigmoid")
    found = CalibratedClassifierCV(clone(classifier), ensemble=False)
    found.classes_, found.calibrated_classifiers_ = classifier.classes_, [pair]
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(classifier, name):
            setattr(found, name, getattr(classifier, name))
    return found


def whole_folds(splits: Splits) -> list[int]:
    """Return the folds that test each row once, of repeated folds those of the first repeat; an error without any.

    A sigmoid is fitted to one held-out probability of each row.
    """
    tested, folds = np.zeros(splits.tests.shape[1], dtype=bool), list[int]()
    for fold, test in enumerate(splits.tests > 0):
        if not (tested & test).any():
            tested |= test
            folds.append(fold)
    if missing := int((~tested).sum()):
        raise ValueError(
            "cv must have folds that together test every row once, for the sigmoid of a forest, but folds that do not "
            f"overlap leave out {missing} of {len(tested)} rows; use a number of folds or StratifiedKFold, or leave "
            "the forest out."
        )
    return folds


def searched_svm(given: Any, X: Any, y: Any, own: Any, of_search: tuple[Any, ...], **kernel: Any) -> RejectSVCCV:
    """Search for some seconds and fit the svm, for which it has all of the time that is kept for last fits.

    `of_search` are the folds, the seconds, None or a list for the scored rows, and whether no other svm has warned.
    Warnings name the whole limit, which is the one that can be raised.
    """
    cv, limit, scored, first = of_search
    search = RejectSVCCV() if given.svm is None else clone(given.svm)
    search.set_params(costs=given.costs, cv=cv, pos_label=given.pos_label, reject_label=given.reject_label)
    whole = None if limit is None or given.time_limit is None else limit + (1.0 - SEARCHING) * given.time_limit
    search.set_params(time_limit=whole, verbose=given.verbose, **kernel)
    if given.n_jobs is not None:
        search.set_params(n_jobs=given.n_jobs)
    if whole is not None and limit is not None:
        search._searching = limit / whole  # noqa: SLF001 (the share of its time limit)
    if scored is not None:
        search._on_scored = lambda *found: scored.append(found)  # noqa: SLF001 (of this library)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if not first:  # the other kernel has said so
            warnings.filterwarnings("ignore", OF_SCALES)
        search.fit(X, y, **own)
    search.__dict__.pop("_on_scored", None)
    for one in caught:
        text = str(one.message).replace(f"time_limit={whole}", f"time_limit={given.time_limit}")
        warnings.warn(text, one.category, stacklevel=5)
    return search.set_params(time_limit=given.time_limit)
