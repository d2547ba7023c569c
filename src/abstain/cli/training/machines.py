"""The option --machine: which classifier is trained, the facts about it, and what can be said about new rows."""

import math
import sys
from typing import Any

import numpy as np
from sklearn.base import clone

from abstain.candidates.machines import AUTO, AVERAGE, BEST, CHOICES, NAMES, NOTHING, SVM, auto_machines
from abstain.candidates.search import MachineSearch
from abstain.candidates.trials import Choice
from abstain.cli.exit_codes import UsageError, meant
from abstain.cli.input.training_table import TrainingTable
from abstain.cli.options import Given
from abstain.cli.tables.memory import MB
from abstain.cli.training.cluster import fitting, spread
from abstain.cli.training.guarding import MEAN_COST, WITH_GUARD, alarm_cost
from abstain.cli.training.training import (
    LINEAR,
    OWN,
    fitted_pipeline,
    folds_for,
    machine_facts,
    machine_seconds,
    own_machine,
)
from abstain.comparison.verdict import REJECTING, cautions, judge_of
from abstain.estimators.unwrap import decide, unguarded
from abstain.html import percent
from abstain.preprocessing import ESTIMATOR

ALL = "all"
PER_ROW = 10_000  # bytes of a forest for each row, at most: 100 trees with about 2/3 of the rows as leaves


def checked_machine(given: Given) -> Given:
    """Return the options of `fit` with the machine that they imply; an unknown one is an error."""
    name, known = given.machine, (*CHOICES, LINEAR, NOTHING)
    if name not in (*known, BEST, AUTO):
        raise UsageError(
            f"--machine {name!r} must be one of {', '.join(known)}, or {AUTO} or {BEST}, which choose among them"
            f"{meant(name, (*known, AUTO, BEST)) or '.'}"
        )
    if name == AUTO and given.stated("C", "gamma", "reject_rate", "max_error", "class_error"):
        return given.but(machine=SVM)
    return given.but(no_novelty=True) if name == NOTHING and given.novelty is None else given


def checked_machines(text: str) -> tuple[str, ...]:
    """Return the machines of `compare`, from a list with commas; "all" stands for those of `NAMES`."""
    given, names = [name.strip() for name in text.split(",")], (*CHOICES, LINEAR, BEST, AUTO)
    if unknown := [name for name in given if name not in (*names, ALL)]:
        known = ", ".join(names)
        raise UsageError(
            f"--machine {text!r}: {unknown[0]!r} must be one of {known}; separate several with commas, or pass {ALL}"
            f"{meant(unknown[0], (*names, ALL)) or '.'}"
        )
    wanted = {*given, *(NAMES if ALL in given else ())}
    return tuple(name for name in names if name in wanted)


def trained(table: TrainingTable, costs: Any, given: Given, client: Any = None) -> tuple[Any, dict[str, Any]]:
    """Fit the machine of the options and return it with the facts about it.

    With a `client` of a cluster the rows of a mapped table are sent there. If time runs out, the result so far is
    returned with a warning.
    """
    if given.machine in OWN:
        with fitting(client):
            rows = table if client is None else spread(client, table)
            model = fitted_pipeline(rows, own_machine(table, costs, given), given.guard)
        machine = unguarded(model)[-1]
        if hasattr(machine, "best_score_"):
            known = _compared_with_none(table, costs, model, -machine.best_score_, machine.cv_reject_rate_)
        else:
            known = _trained_on(table, model)
        return model, machine_facts(machine) | known
    model, choice = searched(table, costs, given)
    return model, _facts(table, costs, model, choice)


def searched(table: TrainingTable, costs: Any, given: Given) -> tuple[Any, Choice]:
    """Tune the machine of the given, or choose the best, and fit it to all rows behind the default preprocessing."""
    groups = {BEST: CHOICES, AUTO: auto_machines(len(table.y), sparse=False)}
    names = groups.get(given.machine, (given.machine,))
    need = PER_ROW * len(table.y) / MB
    if "forest" in names and need > table.memory:
        raise UsageError(
            f"a forest of {len(table.y)} rows takes about {need:.0f} MB more, of which --max-memory leaves "
            f"{table.memory:.0f} MB; use fewer rows, another --machine, or raise --max-memory."
        )
    machine = MachineSearch(
        costs,
        names,
        svm=own_machine(table, costs, given) if SVM in names else None,
        cv=folds_for(table, given.seed, "a machine or its parameters"),
        **table.labels(given),
        random_state=given.seed,
        time_limit=machine_seconds(given),
        n_jobs=-1,
        verbose=sys.stderr.isatty(),
    )
    model = fitted_pipeline(table, machine, given.guard)
    pipeline = unguarded(model)
    search = pipeline[-1]
    pipeline.steps[-1] = (ESTIMATOR, search.best_estimator_)  # the plain machine, which the file stores
    if pipeline is not model:
        model.estimator = clone(pipeline)
    return model, search.choice_


def _facts(table: TrainingTable, costs: Any, model: Any, choice: Choice) -> dict[str, Any]:
    """The parameters of a machine, and what the folds say about its cost."""
    final = unguarded(model)[-1]
    facts = machine_facts(getattr(final, "estimator_", final))  # a time limit may have left it with fewer trees
    if len(choice.trials) > 1:
        facts |= {
            "least cross-validated mean cost of each machine": {trials.name: trials.least for trials in choice.trials},
            "how to read them": "each is the least of all parameters tried, so they are optimistic; the next line is "
            "the cost of rows that the choice has not seen"
            + ("; an average is taken without comparing it" if choice.chosen.name == AVERAGE else ""),
        }
    rejected = getattr(final, "cv_reject_rate_", choice.chosen.rejected)
    facts |= _compared_with_none(table, costs, model, choice.cost, rejected)
    return facts | ({"warnings": []} if choice.chosen.name == NOTHING else {})  # which was asked for


TOLERANCE = 0.01  # a cost that is less by no more than this share counts as not less: it is only an estimate
COUNTED = 2_000  # training rows on which rejects are counted, at most
NEXT = "'abstain evaluate' on new rows gives a verdict with an interval"


def _compared_with_none(table: TrainingTable, costs: Any, model: Any, cost: float, rejected: float) -> dict[str, Any]:
    """The cost of held-out rows that the choice has not seen, and of a guard, against doing the same with every row."""
    known: dict[str, Any] = {MEAN_COST: cost}
    known |= {"held-out reject rate": None if math.isnan(rejected) else rejected}
    if math.isnan(cost):
        sentence = f"No fit of the search finished, so the cost of new rows is unknown. {_next(table)}"
        return known | {"verdict": {"sentence": sentence}, "warnings": []}
    judge = judge_of(table.y, costs, table.row_costs, table.positive)
    blind = {name: float(paid.mean()) for name, paid in judge.blind(np.arange(len(table.y))).items()}
    other, other_cost = min(blind.items(), key=lambda pair: pair[1])
    alone, cost, guarded = f"{cost:.4g} each", cost + alarm_cost(model, cost, judge), hasattr(model, "guard_")
    known |= {WITH_GUARD: cost} if guarded else {}
    if guarded:
        alone += f", {cost:.4g} with false alarms of the guard"
    nothing = cost >= other_cost
    accepted = f"If {other} is acceptable, no model is needed: --machine {NOTHING} reads no column. " if nothing else ""
    sentence = (
        f"Held-out rows, which the choice has not seen, cost {alone}; {other}, the cheapest way without a "
        f"machine, costs {other_cost:.4g}. {accepted}{_next(table)}"
    )
    found = cautions("In cross-validation the machine", cost, rejected, other, other_cost, tolerance=TOLERANCE)
    verdict = {"sentence": sentence, "cheapest alternative": other, "its mean cost": other_cost}
    if nothing:
        known |= {"doing nothing": {"action": other, "mean cost": other_cost}}
    return known | {"verdict": verdict, "warnings": list(found)}


def _trained_on(table: TrainingTable, model: Any) -> dict[str, Any]:
    """Without a search no row is held out: only the rejects are counted, on some of the training rows."""
    some = table.take(np.unique(np.linspace(0, len(table.y) - 1, COUNTED).astype(int)))
    decisions = decide(model[-1] if table.mapped else model, some.rows, some.row_costs)
    rejected = float(np.mean(decisions.rejected))
    of_training = f"of {len(some.y):,} training rows" if len(some.y) < len(table.y) else "of the training rows"
    sentence = (
        f"No row was held out, so the cost of new rows is unknown; {percent(rejected)} % {of_training} are rejected. "
        f"{_next(table)}"
    )
    found = cautions("The machine", 0.0, rejected, REJECTING, math.inf)
    return {"verdict": {"sentence": sentence}, "warnings": [text.replace("of the rows", of_training) for text in found]}


def _next(table: TrainingTable) -> str:
    """Say what tells more about new rows; compare is named if it takes this table."""
    return f"{NEXT}." if table.mapped else f"{NEXT}, and so does 'abstain compare'."
