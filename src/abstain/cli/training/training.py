"""Train the default pipeline on a table, with a search for C and gamma, within limits of time and memory."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from abstain.cli.commands.expectations import expected_of
from abstain.cli.exit_codes import DataError, UsageError
from abstain.cli.input.models import FittedModel
from abstain.cli.input.training_table import TrainingTable
from abstain.cli.tables.mapped_table import MappedTable
from abstain.cli.tables.memory import cache_size
from abstain.cli.training.guarding import GuardPlan, guard_facts, machine_seconds
from abstain.costs.actions import Actions
from abstain.costs.class_costs import ClassCosts
from abstain.estimators.fitting.routing import row_cost_parameters
from abstain.estimators.fitting.splitting import group_parameters, splitter
from abstain.estimators.search.halving import search_scores
from abstain.estimators.svm.svc import RejectSVC
from abstain.estimators.svm.svc_cv import RejectSVCCV
from abstain.estimators.unwrap import unguarded
from abstain.preprocessing import PREPROCESS, CellPlan, default_pipeline

FOLDS, WEIGHTS, WIDTHS = 5, 10, 5  # of the search: folds, values of C and of gamma


@dataclass(frozen=True)
class TrainingOptions:
    """Training settings.

    Attributes
    ----------
    C, gamma : float or None
        None means chosen by cross-validation.
    reject_label : str or None
        Label of a reject; "reject" if None.
    seed : int
        Seed of the folds.
    time_limit : float or None
        Seconds for the search and the fit together.
    Cs, gammas : int, list or None
        Values to try, or how many; None means the default number.
    search : str
        As in `RejectSVCCV`.
    machine : str
        The machine, as --machine names it.
    guard : GuardPlan or None
        The guard against novel rows; None for none.
    """

    C: float | None = None
    gamma: float | None = None
    reject_label: str | None = None
    seed: int = 0
    time_limit: float | None = None
    Cs: Any = None
    gammas: Any = None
    search: str = "auto"
    machine: str = "svm"
    guard: GuardPlan | None = None

    @property
    def searches(self) -> bool:
        """Whether C or gamma must be chosen."""
        return self.C is None or self.gamma is None

    @property
    def machine_seconds(self) -> float | None:
        """The time limit of the machine by itself."""
        searched = self.C is None if self.machine == "linear" else self.searches
        return machine_seconds(self.time_limit, guarded=self.guard is not None, searched=searched)


def trained(table: TrainingTable, costs: Any, options: TrainingOptions) -> Any:
    """Fit the default pipeline and its guard; if time runs out, the result so far is returned with a warning."""
    machine = svm_search(table, costs, options) if options.searches else plain_svm(table, costs, options)
    return fitted_pipeline(table, machine, options.guard)


def facts_of(
    table: TrainingTable, model: Any, path: Path, searched: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Facts about a trained model; `searched` are those of another machine than svm."""
    own = svm_facts(unguarded(model)[-1]) | expected_of(table, model) if searched is None else searched
    verdict, found = own.pop("verdict"), own.pop("warnings")
    guard, sentence, warned = guard_facts(table, model)
    said = verdict | {"sentence": f"{verdict['sentence']} {sentence}".rstrip()}
    return _table_facts(table, model, path) | own | guard | {"verdict": said, "warnings": [*found, *warned]}


def _table_facts(table: TrainingTable, model: Any, path: Path) -> dict[str, Any]:
    return {
        "model": str(path),
        "rows": len(table.y),
        "unlabelled rows left out": table.left_out or None,
        "numeric columns": len(table.numeric),
        "categorical columns": len(table.categorical),
        "dates in days": list(table.plan.dates) or None,
        "read as missing": list(table.plan.missing) or None,
        **FittedModel.of(model).named,
        **_cost_facts(table, unguarded(model)[-1].costs),
    }


def svm_facts(machine: RejectSVC) -> dict[str, Any]:
    """Facts about a fitted svm."""
    searched = isinstance(machine, RejectSVCCV)
    return {
        "machine": "svm",
        "C": machine.C_ if searched else machine.C,
        "gamma": machine.gamma_ if searched else machine.gamma,
        "support vectors": int(machine.n_support_.sum()),
        "status": machine.status_,
        "duality gap": machine.duality_gap_,
    }


def _cost_facts(table: TrainingTable, costs: Any) -> dict[str, Any]:
    if isinstance(costs, Actions):
        return {"hand the case on": [str(name) for name in costs.rejects]}
    if isinstance(costs, ClassCosts):
        errors = sorted({cost for row in costs.errors for cost in row if cost})
        known = errors[0] if len(errors) == 1 else f"{errors[0]:g} to {errors[-1]:g}, by class"
        return {"error costs": known, "reject costs": costs.reject}
    if costs is None:  # each row has its own, or there are none
        read = [(name, f"column {source}" if isinstance(source, str) else source) for name, source in table.plan.costs]
        return {f"{name.replace('_', ' ')} costs": source for name, source in read}
    return {
        "false positive costs": costs.false_positive,
        "false negative costs": costs.false_negative,
        "reject costs": costs.reject,
    }


def fitted_pipeline(table: TrainingTable, machine: Any, guard: GuardPlan | None = None) -> Any:
    """Fit the default preprocessing, a machine behind it, and a guard around both if there is a plan for one.

    The rows of a `MappedTable` have been through the preprocessing.
    """
    pipeline = default_pipeline(machine, table.numeric, table.categorical)
    if guard is not None:
        model: Any = guard.around(pipeline)
        with guard.fitting():
            _fit(table, model, table.rows)
        pipeline = model.estimator_
    elif isinstance(table, MappedTable):
        model = pipeline
        model.steps[0] = (PREPROCESS, table.preprocess)
        _fit(table, machine, table.encoded)
    else:
        model = pipeline
        _fit(table, model, table.rows)
    if table.plan != CellPlan():
        pipeline[0].plan_ = table.plan
    return model


def guarded(table: TrainingTable, pipeline: Pipeline, guard: GuardPlan | None) -> Any:
    """Fit a guard around a fitted Pipeline, which stays as it is."""
    if guard is None:
        return pipeline
    model = guard.around(FrozenEstimator(pipeline))
    with guard.fitting():
        _fit(table, model, table.rows)
    return model


def _fit(table: TrainingTable, model: Any, rows: Any) -> None:
    parameters: dict[str, Any] = {**group_parameters(model, table.groups)}
    if table.row_costs is not None:
        parameters |= row_cost_parameters(model, "fit", table.row_costs)
    try:
        model.fit(rows, table.y, **parameters)
    except ValueError as error:  # the table was checked, so the error is about the machine or the reject label
        raise UsageError(str(error)) from error


def folds_for(table: TrainingTable, seed: int, what: str, way: str = "") -> Any:
    """The folds of a search for `what`: five, or as many as the rarer class has rows or the table has groups."""
    folds = min(FOLDS, table.smallest_class, table.n_groups)
    if table.several and table.smallest_class < FOLDS:
        name, count = table.rarest
        raise DataError(
            f"{table.path}: column {table.target!r} has {count} {'row' if count == 1 else 'rows'} of class "
            f"{name[:60]!r}, fewer than the {FOLDS} folds that choose {what}; add rows, merge it with another class or "
            f"leave its rows out{way}."
        )
    if table.n_groups < 2:
        raise DataError(
            f"{table.path}: the column of --groups has only one group, too few to choose {what}; name another "
            f"column{way}."
        )
    if folds < 2:
        raise DataError(
            f"{table.path}: column {table.target!r} has a class with only one row, too few to choose {what}; add "
            f"rows{way}."
        )
    return splitter(folds, table.y, table.groups, shuffle=True, random_state=seed)


def svm_search(table: TrainingTable, costs: Any, options: TrainingOptions) -> RejectSVCCV:
    """The search for C and gamma, not yet fitted."""
    cv = folds_for(table, options.seed, "C and gamma", ", or pass --C and --gamma")
    Cs, gammas = WEIGHTS if options.Cs is None else options.Cs, WIDTHS if options.gammas is None else options.gammas
    pairs, folds = _count(Cs) * _count(gammas), cv.n_splits
    return RejectSVCCV(
        **_shared(table, costs, options, search_scores(options.search, len(table.y), pairs, folds), pairs * folds),
        Cs=Cs,
        gammas=gammas,
        cv=cv,
        search=options.search,
    )


def _count(values: Any) -> int:
    return values if isinstance(values, int) else len(values)


def plain_svm(table: TrainingTable, costs: Any, options: TrainingOptions) -> RejectSVC:
    """The svm at the C and gamma of the options, not yet fitted."""
    return RejectSVC(**_shared(table, costs, options, 0, 0) | {"C": options.C, "gamma": options.gamma})


def _shared(
    table: TrainingTable, costs: Any, options: TrainingOptions, scores: int, fits: int
) -> dict[str, Any]:
    return {
        "costs": costs,
        "pos_label": table.positive,
        "reject_label": options.reject_label or "auto",
        "time_limit": options.machine_seconds,
        "cache_size": cache_size(table.memory, scores, fits),
        "n_jobs": -1,
        "verbose": sys.stderr.isatty(),
    }
