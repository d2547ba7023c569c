"""The option --machine: which classifier is trained, or which ones are compared, and the facts about it."""

from __future__ import annotations

import sys
from typing import Any

from sklearn.base import clone

from abstain.candidates.machines import BEST, NAMES, SVM, machine_of
from abstain.candidates.search import MachineSearch
from abstain.candidates.trials import Choice
from abstain.cli.commands.expectations import compared_with_none
from abstain.cli.exit_codes import UsageError
from abstain.cli.input.training_table import TrainingTable
from abstain.cli.tables.memory import MB
from abstain.cli.training.linear import LINEAR
from abstain.cli.training.training import TrainingOptions, fitted_pipeline, folds_for, svm_facts, svm_search
from abstain.estimators.unwrap import unguarded
from abstain.preprocessing import ESTIMATOR

ALL = "all"
PER_ROW = 10_000  # bytes of a forest for each row, at most: 100 trees with about 2/3 of the rows as leaves


def checked_machine(name: str) -> str:
    """The machine of `fit`; an unknown one is an error."""
    if name not in (*NAMES, LINEAR, BEST):
        known = ", ".join((*NAMES, LINEAR))
        raise UsageError(f"--machine {name!r} must be one of {known}, or {BEST}, which chooses among the first four.")
    return name


def checked_machines(text: str) -> tuple[str, ...]:
    """The machines of `compare`, from a list with commas; "all" stands for those that "best" chooses among."""
    given = [name.strip() for name in text.split(",")]
    if unknown := [name for name in given if name not in (*NAMES, LINEAR, BEST, ALL)]:
        known = ", ".join((*NAMES, LINEAR, BEST))
        raise UsageError(
            f"--machine {text!r}: {unknown[0]!r} must be one of {known}; separate several with commas, or pass {ALL}."
        )
    wanted = {*given, *(NAMES if ALL in given else ())}
    return tuple(name for name in (*NAMES, LINEAR, BEST) if name in wanted)


def searched(table: TrainingTable, costs: Any, options: TrainingOptions) -> tuple[Any, Choice]:
    """Tune the machine of the options, or choose the best, and fit it to all rows behind the default preprocessing."""
    stated: dict[str, Any] = {"--C": options.C, "--gamma": options.gamma}
    if options.machine != BEST:  # which tries the svm too, and with these values
        stated |= {"--Cs": options.Cs, "--gammas": options.gammas}
        stated["--search"] = None if options.search == "auto" else options.search
    if given := [name for name, value in stated.items() if value is not None]:
        owners = f"{SVM} and {LINEAR}" if given[0] in ("--C", "--Cs") else SVM
        raise UsageError(f"{given[0]} belongs to --machine {owners}, not to {options.machine}; leave it out.")
    names = NAMES if options.machine == BEST else (options.machine,)
    _check_memory(table, names)
    machine = MachineSearch(
        costs,
        names,
        svm=svm_search(table, costs, options) if SVM in names else None,
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


def machine_facts(table: TrainingTable, costs: Any, final: Any, choice: Choice) -> dict[str, Any]:
    """The parameters of a machine, and what the folds say about its cost."""
    name = choice.chosen.name
    used = machine_of(getattr(final, "estimator_", None))  # a time limit may have left it with fewer trees
    facts = svm_facts(final) if name == SVM or used is None else {"machine": name, **used[1]}
    expected = compared_with_none(table, costs, choice.cost, float("nan"))
    if len(choice.trials) == 1:
        return facts | expected
    count = len(choice.trials)
    return facts | {
        "least cross-validated mean cost of each machine": {trials.name: trials.least for trials in choice.trials},
        "how to read them": f"each is the least of all parameters tried, and {name} the least of {count}, "
        "so they are optimistic; for the cross-validated mean cost of the choice, each fold is decided by what the "
        "other folds choose",
    } | expected


def _check_memory(table: TrainingTable, names: tuple[str, ...]) -> None:
    """Raise an error if a forest does not fit in the memory."""
    need = PER_ROW * len(table.y) / MB
    if "forest" in names and need > table.memory:
        raise UsageError(
            f"a forest of {len(table.y)} rows takes about {need:.0f} MB more, of which --max-memory leaves "
            f"{table.memory:.0f} MB; use fewer rows, another --machine, or raise --max-memory."
        )
