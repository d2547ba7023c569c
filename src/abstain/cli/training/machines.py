"""The option --machine: which classifier is trained, or which ones are compared, and the facts about it."""

from __future__ import annotations

import sys
from typing import Any

from sklearn.base import clone

from abstain.candidates.machines import BEST, NAMES, SVM, machine_of
from abstain.candidates.search import MachineSearch
from abstain.candidates.trials import Choice
from abstain.cli.exit_codes import UsageError
from abstain.cli.input.training_table import TrainingTable
from abstain.cli.tables.memory import MB
from abstain.cli.training.cluster import fitting, spread
from abstain.cli.training.expectations import compared_with_none, expected_of
from abstain.cli.training.training import LINEAR, TrainingOptions, fitted_pipeline, folds_for, own_facts, own_machine
from abstain.estimators.unwrap import unguarded
from abstain.preprocessing import ESTIMATOR

ALL = "all"
PER_ROW = 10_000  # bytes of a forest for each row, at most: 100 trees with about 2/3 of the rows as leaves


def checked_machine(name: str) -> str:
    """Return the machine of `fit`; an unknown one is an error."""
    if name not in (*NAMES, LINEAR, BEST):
        known = ", ".join((*NAMES, LINEAR))
        raise UsageError(f"--machine {name!r} must be one of {known}, or {BEST}, which chooses among the first four.")
    return name


def checked_machines(text: str) -> tuple[str, ...]:
    """Return the machines of `compare`, from a list with commas; "all" stands for those that "best" chooses among."""
    given, names = [name.strip() for name in text.split(",")], (*NAMES, LINEAR, BEST)
    if unknown := [name for name in given if name not in (*names, ALL)]:
        known = ", ".join(names)
        raise UsageError(
            f"--machine {text!r}: {unknown[0]!r} must be one of {known}; separate several with commas, or pass {ALL}."
        )
    wanted = {*given, *(NAMES if ALL in given else ())}
    return tuple(name for name in names if name in wanted)


def trained(
    table: TrainingTable, costs: Any, options: TrainingOptions, client: Any = None
) -> tuple[Any, dict[str, Any]]:
    """Fit the machine of the options and return it with the facts about it.

    With a `client` of a cluster the rows of a mapped table are sent there. If time runs out, the result so far is
    returned with a warning.
    """
    if options.machine in (SVM, LINEAR):
        with fitting(client):
            rows = table if client is None else spread(client, table)
            model = fitted_pipeline(rows, own_machine(table, costs, options), options.guard)
        return model, own_facts(unguarded(model)[-1]) | expected_of(table, costs, model)
    if table.row_costs is not None:
        raise UsageError(f"columns of costs do not apply to --machine {options.machine}; leave one out.")
    model, choice = searched(table, costs, options)
    return model, _facts(table, costs, unguarded(model)[-1], choice)


def searched(table: TrainingTable, costs: Any, options: TrainingOptions) -> tuple[Any, Choice]:
    """Tune the machine of the options, or choose the best, and fit it to all rows behind the default preprocessing."""
    names = NAMES if options.machine == BEST else (options.machine,)
    _check_memory(table, names)
    machine = MachineSearch(
        costs,
        names,
        svm=own_machine(table, costs, options) if SVM in names else None,
        cv=folds_for(table, options.seed, "a machine or its parameters"),
        pos_label=table.positive,
        reject_label=options.reject_label or "auto",
        random_state=options.seed,
        time_limit=options.machine_seconds,
        n_jobs=-1,
        verbose=sys.stderr.isatty(),
    )
    model = fitted_pipeline(table, machine, options.guard)
    pipeline = unguarded(model)
    search = pipeline[-1]
    pipeline.steps[-1] = (ESTIMATOR, search.best_estimator_)  # the plain machine, which the file stores
    if pipeline is not model:
        model.estimator = clone(pipeline)
    return model, search.choice_


def _facts(table: TrainingTable, costs: Any, final: Any, choice: Choice) -> dict[str, Any]:
    """The parameters of a machine, and what the folds say about its cost."""
    name, count = choice.chosen.name, len(choice.trials)
    used = machine_of(getattr(final, "estimator_", None))  # a time limit may have left it with fewer trees
    facts = own_facts(final) if name == SVM or used is None else {"machine": name, **used[1]}
    if count > 1:
        facts |= {
            "least cross-validated mean cost of each machine": {trials.name: trials.least for trials in choice.trials},
            "how to read them": f"each is the least of all parameters tried, and {name} the least of {count}, so they "
            "are optimistic; for the cross-validated mean cost of the choice, each fold is decided by what the other "
            "folds choose",
        }
    return facts | compared_with_none(table, costs, choice.cost, float("nan"))


def _check_memory(table: TrainingTable, names: tuple[str, ...]) -> None:
    """Raise an error if a forest does not fit in the memory."""
    need = PER_ROW * len(table.y) / MB
    if "forest" in names and need > table.memory:
        raise UsageError(
            f"a forest of {len(table.y)} rows takes about {need:.0f} MB more, of which --max-memory leaves "
            f"{table.memory:.0f} MB; use fewer rows, another --machine, or raise --max-memory."
        )
