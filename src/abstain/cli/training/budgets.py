"""Models that are asked for a share of rejects or a ceiling on errors instead of costs: `ThresholdRejector`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from abstain.candidates.machines import SVM, machine_of
from abstain.cli.exit_codes import UsageError
from abstain.cli.input.training_table import TrainingTable
from abstain.cli.tables.mapped_table import MappedTable
from abstain.cli.training.linear import LINEAR, linear_facts, linear_machine
from abstain.cli.training.machines import searched
from abstain.cli.training.promises import promise_facts, promised
from abstain.cli.training.training import (
    TrainingOptions,
    fitted_pipeline,
    folds_for,
    guarded,
    plain_svm,
    svm_facts,
    svm_search,
)
from abstain.costs.costs import Costs
from abstain.estimators.linear.linear_svc import LinearRejectSVC
from abstain.estimators.svm.svc import RejectSVC
from abstain.estimators.threshold.threshold import ThresholdRejector
from abstain.estimators.unwrap import unguarded
from abstain.html import percent
from abstain.rules.tuning.scored_rows import ScoredRows

__all__ = ["Budget", "budgeted", "stated_budget"]

ERRORS = Costs(reject=0.5)  # at which nothing is rejected, and the mean cost is the error rate
Share = float | dict[str, float]


@dataclass(frozen=True)
class Budget:
    """What is asked for, one of three.

    Attributes
    ----------
    reject_rate, max_error : float, dict of str to float, or None
        For all rows, or by the class answered.
    confidence : float
        Of the ceiling on the error.
    class_error : float, dict of str to float, or None
        The ceiling on the error of each true class.
    """

    reject_rate: Share | None
    max_error: Share | None
    confidence: float
    class_error: Share | None = None

    @property
    def promise(self) -> dict[str, Any] | None:
        """The promise on errors, as parameters of a `ThresholdRejector`; None for a share of rejects."""
        if self.reject_rate is not None:
            return None
        return {"max_error": self.max_error, "class_error": self.class_error, "confidence": self.confidence}

    @property
    def facts(self) -> dict[str, Any]:
        """What was asked for."""
        if self.class_error is not None:
            return {"largest error by true class": self.class_error}
        if self.max_error is None:
            return {"largest share of rejects": self.reject_rate}
        return {"largest error among the accepted": self.max_error, "confidence": self.confidence}


def stated_budget(
    reject_rate: Sequence[str] | None,
    max_error: Sequence[str] | None,
    confidence: float,
    given: dict[str, Any],
    *,
    class_error: Sequence[str] | None = None,
) -> Budget | None:
    """The budget that the options state; None without one.

    Parameters
    ----------
    reject_rate, max_error : sequence of str or None
        One share, or CLASS=SHARE repeated.
    confidence : float
        Of the ceiling on the error.
    given : dict of str to object
        The options that state costs, which exclude a budget.
    class_error : sequence of str or None
        One rate, or CLASS=RATE repeated.
    """
    asked = {"--reject-rate": reject_rate, "--max-error": max_error, "--class-error": class_error}
    named = [name for name, texts in asked.items() if texts]
    if not named:
        return None
    if others := [*named[1:], *(name for name, value in given.items() if value not in (None, False))]:
        raise UsageError(
            f"{named[0]} and {others[0]} both say when to reject; give costs, --reject-rate, --max-error or "
            "--class-error."
        )
    shares = {name: _shares(name, texts) if texts else None for name, texts in asked.items()}
    return Budget(shares["--reject-rate"], shares["--max-error"], confidence, shares["--class-error"])


def _shares(option: str, texts: Sequence[str]) -> Share:
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
    try:
        share = float(number)
    except ValueError:
        share = math.nan
    if not 0.0 <= share <= 1.0:
        raise UsageError(f"{option} {text!r} must be a share between 0 and 1, as in 0.1.")
    return share


def budgeted(table: TrainingTable, options: TrainingOptions, budget: Budget) -> tuple[Any, dict[str, Any]]:
    """Fit a machine without costs, and thresholds that keep to the budget on held-out rows."""
    if isinstance(table, MappedTable):
        raise UsageError(
            "--reject-rate, --max-error and --class-error need rows in memory; state costs, or raise --max-memory."
        )
    if budget.promise is not None:
        pipeline = promised(table, options, budget.promise, partial(_classifier, folds=0))
        return guarded(table, pipeline, options.guard), _facts(budget, pipeline[-1])
    folds = folds_for(table, options.seed, "the thresholds")
    model = ThresholdRejector(
        _classifier(table, options, folds.n_splits),
        reject_rate=budget.reject_rate,
        cv=folds,
        pos_label=table.positive,
        reject_label=options.reject_label or "auto",
    )
    fitted = fitted_pipeline(table, model, options.guard)
    return fitted, _facts(budget, unguarded(fitted)[-1])


def _classifier(table: TrainingTable, options: TrainingOptions, folds: int) -> Any:
    """The classifier to be fitted in each fold; SVMs search in each of them, others have the same parameters."""
    plain = replace(options, reject_label=None, guard=None)
    if options.machine in (SVM, LINEAR):
        fits = folds + (1 if options.guard is None else 2)  # a guard may fit once more
        plain = replace(plain, time_limit=None if options.time_limit is None else options.time_limit / fits)
        if options.machine == LINEAR:
            return linear_machine(table, None, plain)
        return svm_search(table, None, plain) if options.searches else plain_svm(table, None, plain)
    found = searched(table, ERRORS, plain)[0][-1]
    if isinstance(found, RejectSVC):  # the search of "best", at what it chose
        return RejectSVC(ERRORS, C=found.C_, gamma=found.gamma_)
    return clone(found.estimator)


def _facts(budget: Budget, final: ThresholdRejector) -> dict[str, Any]:
    classifier, rows = final.estimator_, final._fitted_.rows
    found = machine_of(classifier)
    facts: dict[str, Any] = {"machine": found[0], **found[1]} if found is not None else (
        linear_facts(classifier) if isinstance(classifier, LinearRejectSVC) else svm_facts(classifier)
    )
    facts |= budget.facts
    truth, choice = rows.sign if isinstance(rows, ScoredRows) else rows.code, final.rule_.choose(rows.score)
    accepted = choice != 0
    rejected = float(np.mean(~accepted))
    wrong = float(np.mean(choice[accepted] != truth[accepted])) if accepted.any() else math.nan
    facts |= {"held-out reject rate": rejected, "held-out error among the accepted": wrong}
    if final.certificate_ is not None:
        return facts | promise_facts(final.certificate_, rejected)
    sentence = (
        f"The thresholds were placed on held-out rows: {percent(rejected)} % of them are rejected, and "
        f"{100 * wrong:.2g} % of the others are wrong. 'abstain evaluate' gives these shares on new rows."
    )
    return facts | {"verdict": {"sentence": sentence}, "warnings": []}
