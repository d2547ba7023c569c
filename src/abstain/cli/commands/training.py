"""Train the default pipeline on a table, with a search for C and gamma, within limits of time and memory."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.pipeline import Pipeline

from abstain.cli.commands.expectations import expected_of
from abstain.cli.exit_codes import DataError, UsageError
from abstain.cli.input.memory import cache_size
from abstain.cli.input.models import FittedModel
from abstain.cli.input.training_table import TrainingTable
from abstain.estimators.routing import row_cost_parameters
from abstain.estimators.splitting import group_parameters, splitter
from abstain.estimators.svc import RejectSVC
from abstain.estimators.svc_cv import RejectSVCCV
from abstain.preprocessing import CellPlan, default_pipeline

if TYPE_CHECKING:
    from abstain.costs import Costs

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
    """

    C: float | None = None
    gamma: float | None = None
    reject_label: str | None = None
    seed: int = 0
    time_limit: float | None = None

    @property
    def searches(self) -> bool:
        """Whether C or gamma must be chosen."""
        return self.C is None or self.gamma is None


def trained(table: TrainingTable, costs: Costs | None, options: TrainingOptions) -> Pipeline:
    """Fit the default pipeline; if time runs out, the result so far is returned with a warning."""
    machine = _search(table, costs, options) if options.searches else _machine(table, costs, options)
    return _fitted(table, machine)


def facts_of(table: TrainingTable, model: Pipeline, path: Path) -> dict[str, Any]:
    """Facts about a trained model."""
    machine = model[-1]
    searched = isinstance(machine, RejectSVCCV)
    return {
        "model": str(path),
        "rows": len(table.y),
        "unlabelled rows left out": table.left_out or None,
        "numeric columns": len(table.numeric),
        "categorical columns": len(table.categorical),
        "dates in days": list(table.plan.dates) or None,
        "read as missing": list(table.plan.missing) or None,
        "negative class": table.classes[0],
        "positive class": table.classes[1],
        "score": FittedModel.of(model).score_means,
        **_cost_facts(table, machine.costs),
        "C": machine.C_ if searched else machine.C,
        "gamma": machine.gamma_ if searched else machine.gamma,
        "support vectors": int(machine.n_support_.sum()),
        "status": machine.status_,
        "duality gap": machine.duality_gap_,
    } | expected_of(table, model)


def _cost_facts(table: TrainingTable, costs: Costs | None) -> dict[str, Any]:
    if costs is None:
        read = [(name, f"column {source}" if isinstance(source, str) else source) for name, source in table.plan.costs]
        return {f"{name.replace('_', ' ')} costs": source for name, source in read}
    return {
        "false positive costs": costs.false_positive,
        "false negative costs": costs.false_negative,
        "reject costs": costs.reject,
    }


def _fitted(table: TrainingTable, machine: Any) -> Pipeline:
    model = default_pipeline(machine, table.numeric, table.categorical)
    parameters: dict[str, Any] = {**group_parameters(model, table.groups)}
    if table.row_costs is not None:
        parameters |= row_cost_parameters(model, "fit", table.row_costs)
    try:
        model.fit(table.rows, table.y, **parameters)
    except ValueError as error:  # the table was checked, so the error is about C, gamma or the reject label
        raise UsageError(str(error)) from error
    if table.plan != CellPlan():
        model[0].plan_ = table.plan
    return model


def _search(table: TrainingTable, costs: Costs | None, options: TrainingOptions) -> RejectSVCCV:
    folds = min(FOLDS, table.smallest_class, table.n_groups)
    if table.n_groups < 2:
        raise DataError(
            f"{table.path}: the column of --groups has only one group, too few to choose C and gamma; name another "
            "column, or pass --C and --gamma."
        )
    if folds < 2:
        raise DataError(
            f"{table.path}: column {table.target!r} has a class with only one row, too few to choose C and gamma; "
            "add rows, or pass --C and --gamma."
        )
    Cs, gammas = WEIGHTS if options.C is None else [options.C], WIDTHS if options.gamma is None else [options.gamma]
    fits = folds * (WEIGHTS if options.C is None else 1) * (WIDTHS if options.gamma is None else 1)
    return RejectSVCCV(
        **_shared(table, costs, options, fits),
        Cs=Cs,
        gammas=gammas,
        cv=splitter(folds, table.y, table.groups, shuffle=True, random_state=options.seed),
    )


def _machine(table: TrainingTable, costs: Costs | None, options: TrainingOptions) -> RejectSVC:
    return RejectSVC(**_shared(table, costs, options, 0) | {"C": options.C, "gamma": options.gamma})


def _shared(table: TrainingTable, costs: Costs | None, options: TrainingOptions, fits: int) -> dict[str, Any]:
    return {
        "costs": costs,
        "pos_label": table.positive,
        "reject_label": options.reject_label or "auto",
        "time_limit": options.time_limit,
        "cache_size": cache_size(table.memory, len(table.y), fits),
        "n_jobs": -1,
        "verbose": sys.stderr.isatty(),
    }
