"""``--machine linear``: the linear machine for millions of rows, with a search for C or at the C of the options."""

from __future__ import annotations

import sys
from typing import Any

from abstain.cli.exit_codes import UsageError
from abstain.cli.input.training_table import TrainingTable
from abstain.cli.training.training import TrainingOptions, folds_for
from abstain.estimators.linear.linear_svc import LinearRejectSVC
from abstain.estimators.linear.linear_svc_cv import LinearRejectSVCCV

__all__ = ["LINEAR", "LINEAR_RULE", "check_linear", "linear_facts", "linear_machine"]

LINEAR = "linear"
LINEAR_RULE = "double hinge, linear"  # its name in a comparison


def check_linear(options: TrainingOptions) -> None:
    """Raise an error for options that belong to a kernel."""
    stated = {"--gamma": options.gamma, "--gammas": options.gammas}
    stated["--search"] = None if options.search == "auto" else options.search
    if given := [name for name, value in stated.items() if value is not None]:
        raise UsageError(f"{given[0]} belongs to --machine svm, not to {LINEAR}; leave it out.")


def linear_machine(table: TrainingTable, costs: Any, options: TrainingOptions) -> LinearRejectSVC:
    """The machine at the C of the options, or its search for C; not yet fitted."""
    check_linear(options)
    shared: dict[str, Any] = {
        "costs": costs,
        "pos_label": table.positive,
        "reject_label": options.reject_label or "auto",
        "time_limit": options.machine_seconds,
        "n_jobs": -1,
        "verbose": sys.stderr.isatty(),
    }
    if options.C is not None:
        return LinearRejectSVC(**shared, C=options.C)
    grid = {} if options.Cs is None else {"Cs": options.Cs}
    return LinearRejectSVCCV(**shared, **grid, cv=folds_for(table, options.seed, "C", ", or pass --C"))


def linear_facts(machine: LinearRejectSVC) -> dict[str, Any]:
    """Facts about a fitted linear machine."""
    return {
        "machine": LINEAR,
        "C": machine.C_ if isinstance(machine, LinearRejectSVCCV) else machine.C,
        "features": machine.n_features_in_,
        "status": machine.status_,
        "duality gap": machine.duality_gap_,
    }
