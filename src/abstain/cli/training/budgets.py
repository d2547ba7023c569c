"""Models that are asked for a share of rejects or a ceiling on errors instead of costs: `ThresholdRejector`.

A model with a promise on its errors is fitted on some of the rows and calibrated on the others.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from abstain.cli.exit_codes import UsageError
from abstain.cli.input.costs import COLUMNS, COSTS
from abstain.cli.input.training_table import TrainingTable
from abstain.cli.options import Given
from abstain.cli.tables.notation import number_of
from abstain.cli.training.machines import searched
from abstain.cli.training.training import OWN, fitted, fitted_pipeline, folds_for, machine_facts, own_machine
from abstain.costs.costs import Costs
from abstain.estimators.fitting.splitting import held_out_rows
from abstain.estimators.svm.svc import RejectSVC
from abstain.estimators.svm.svc_cv import RejectSVCCV
from abstain.estimators.threshold.fitted_rejector import labels_for
from abstain.estimators.threshold.threshold import ThresholdRejector
from abstain.estimators.unwrap import unguarded
from abstain.html import percent
from abstain.preprocessing import ESTIMATOR
from abstain.rules.tuning.calibration_size import OTHERWISE, calibration_sizes
from abstain.rules.tuning.class_error import ClassErrorBound
from abstain.rules.tuning.request import Request
from abstain.rules.tuning.risk_control import ErrorBound

ERRORS = Costs(reject=0.5)  # at which nothing is rejected, and the mean cost is the error rate
NAMES = {
    "reject_rate": "largest share of rejects",
    "max_error": "largest error among the accepted",
    "class_error": "largest error by true class",
}


@dataclass(frozen=True)
class Budget:
    """What is asked for.

    Attributes
    ----------
    name : str
        "reject_rate", "max_error" or "class_error".
    share : float or dict of str to float
        For all rows, or by the class answered, or the true one.
    confidence : float
        Of the ceiling on the error among the accepted.
    """

    name: str
    share: float | dict[str, float]
    confidence: float


def stated_budget(given: Given) -> Budget | None:
    """Return the budget that the options of a command state, each share one text or CLASS=SHARE repeated, or None."""
    asked = given.stated(*NAMES)
    if not asked:
        return None
    if others := [*[*asked][1:], *given.stated(*COSTS, *COLUMNS, "row_costs", "actions")]:
        raise UsageError(
            f"{next(iter(asked))} and {others[0]} both say when to reject; give costs, --reject-rate, --max-error or "
            "--class-error."
        )
    ((option, texts),) = asked.items()
    return Budget(option[2:].replace("-", "_"), _shares(option, texts), given.confidence)


def _shares(option: str, texts: Sequence[str]) -> float | dict[str, float]:
    if len(texts) == 1 and "=" not in texts[0]:
        return _share(option, texts[0], texts[0])
    found: dict[str, float] = {}
    for text in texts:
        name, sign, share = text.rpartition("=")
        if not sign or name in found:
            raise UsageError(f"{option} {text!r} must be one share, as in 0.1, or one for each class, as in CLASS=0.1.")
        found[name] = _share(option, text, share)
    return found


def _share(option: str, text: str, number: str) -> float:
    share = number_of(number)
    if not 0.0 <= share <= 1.0:
        raise UsageError(f"{option} {text!r} must be a share between 0 and 1, as in 0.1.")
    return share


def budgeted(table: TrainingTable, given: Given) -> tuple[Any, dict[str, Any]]:
    """Fit a machine without costs, and thresholds that keep to the budget on held-out rows."""
    budget: Budget = given.budget
    if table.mapped:
        raise UsageError(
            "--reject-rate, --max-error and --class-error need rows in memory; state costs, or raise --max-memory."
        )
    if budget.name == "reject_rate":
        folds = folds_for(table, given.seed, "the thresholds")
        classifier = _classifier(table, given, folds.n_splits)
        rejector = ThresholdRejector(classifier, reject_rate=budget.share, cv=folds, **table.labels(given))
        model = fitted_pipeline(table, rejector, given.guard)
    else:
        asked: dict[str, Any] = {budget.name: budget.share, "confidence": budget.confidence}
        model = _promised(table, given, ThresholdRejector(None, **asked, cv="prefit", **table.labels(given)))
        if given.guard is not None:
            model = fitted(table, FrozenEstimator(model), given.guard)
    return model, _facts(budget, unguarded(model)[-1])


def _classifier(table: TrainingTable, given: Given, folds: int = 0) -> Any:
    """Return the classifier to fit in each fold; SVMs search in each of them, others have the same parameters."""
    plain = given.but(reject_label=None, guard=None)
    if given.machine in OWN:
        fits = folds + (1 if given.guard is None else 2)  # a guard may fit once more
        seconds = None if given.time_limit is None else given.time_limit / fits
        return own_machine(table, None, plain.but(time_limit=seconds))
    found = searched(table, ERRORS, plain)[0][-1]
    if isinstance(found, RejectSVCCV):  # the search of "best", at what it chose
        return RejectSVC(ERRORS, C=found.C_, gamma=found.gamma_, kernel=found.kernel_)
    return clone(found.estimator)


def _facts(budget: Budget, final: ThresholdRejector) -> dict[str, Any]:
    """What was asked for, and the rejects and errors of the rows that were held out."""
    rule, rows = final.rule_, final._fitted_.rows
    choice = rule.choose(rows.score)
    accepted, answer = ~rule.is_reject(choice), np.array(rule.answers)[choice]
    rejected = float(np.mean(~accepted))
    wrong = float(np.mean(answer[accepted] != rows.code[accepted])) if accepted.any() else math.nan
    facts = machine_facts(final.estimator_) | {NAMES[budget.name]: budget.share}
    facts |= {"confidence": budget.confidence} if budget.name == "max_error" else {}
    facts |= {"held-out reject rate": rejected, "held-out error among the accepted": wrong}
    if final.certificate_ is not None:
        return facts | _promise_facts(final.certificate_, rejected)
    sentence = (
        f"The thresholds were placed on held-out rows: {percent(rejected)} % of them are rejected, and "
        f"{100 * wrong:.2g} % of the others are wrong. 'abstain evaluate' gives these shares on new rows."
    )
    return facts | {"verdict": {"sentence": sentence}, "warnings": []}


def _promised(table: TrainingTable, given: Given, model: ThresholdRejector) -> Any:
    """Fit preprocessing, search and machine on some rows, and calibrate `model` on rows that none of these has seen."""
    code = np.unique(table.y, return_inverse=True)[1]
    with _plain_errors():
        request = Request.of(model)
        labels = labels_for(model, request, table.y)
        request = request.of_classes(labels)
        sizes = calibration_sizes(request, labels, np.bincount(code), None)
        held = held_out_rows(code, sizes, table.groups, given.seed)
    fitting, calibration = table.take(np.setdiff1d(np.arange(len(code)), held)), table.take(held)
    pipeline = fitted_pipeline(fitting, _classifier(fitting, given))
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


def _promise_facts(bound: ClassErrorBound | ErrorBound, rejected: float) -> dict[str, Any]:
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
