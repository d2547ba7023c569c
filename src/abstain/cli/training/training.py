"""Train a machine behind the default preprocessing, with its search and guard, within limits of time and memory."""

import sys
from typing import Any

from abstain.candidates.average import MachineAverage, machine_of
from abstain.candidates.machines import AUTO, BEST, LAPLACIAN, SVM, SVMS
from abstain.cli.exit_codes import DataError, UsageError, meant
from abstain.cli.input.cost_sources import named_columns
from abstain.cli.input.models import FittedModel
from abstain.cli.input.training_table import TrainingTable, fit_to
from abstain.cli.options import Given
from abstain.cli.tables.memory import cache_size
from abstain.cli.tables.notation import number_of
from abstain.cli.training.guarding import GuardPlan, guard_facts
from abstain.costs.per_row import ERRORS, ONE_REJECT
from abstain.estimators.fitting.splitting import splitter
from abstain.estimators.linear.linear_svc import LinearRejectSVC
from abstain.estimators.linear.linear_svc_cv import LinearRejectSVCCV
from abstain.estimators.search.halving import planned
from abstain.estimators.svm.svc import RejectSVC
from abstain.estimators.svm.svc_cv import RejectSVCCV
from abstain.estimators.unwrap import unguarded
from abstain.preprocessing import PREPROCESS, CellPlan, default_pipeline

LINEAR = "linear"
OWN = (*SVMS, LINEAR)
SEARCHES = ("auto", "full", "halving")
SEARCHED, FITTED = 0.8, 0.5  # of a time limit, for the machine; a second fit at its parameters has the rest
FOLDS, WEIGHTS, WIDTHS = 5, 10, 5  # of the search: folds, values of C and of gamma


def checked_training(given: Given) -> Given:
    """Return the options with the values of C and gamma to try; an option that does not apply is an error."""
    Cs, gammas = _grid("C", given.Cs, given.C), _grid("gamma", given.gammas, given.gamma, ("scale", "auto"))
    if given.search not in SEARCHES:
        raise UsageError(f"--search={given.search} must be auto, full or halving{meant(given.search, SEARCHES) or '.'}")
    stated = given.stated("C", "gamma", "Cs", "gammas", *([] if given.search == "auto" else ["search"]))
    several = ("--Cs", "--gammas", "--search")  # which try the svm
    taken = dict.fromkeys(SVMS, (*stated,)) | {LINEAR: ("--C", "--Cs"), BEST: several, AUTO: several}
    for option in stated:
        if option not in taken.get(given.machine, ()):
            raise UsageError(f"{option} does not apply to --machine {given.machine}; leave it out.")
    return given.but(Cs=Cs, gammas=gammas)


def _grid(
    name: str, text: str | None, one: float | None, words: tuple[str, ...] = ()
) -> int | list[float | str] | None:
    """Read ``7`` as a number of values and ``0.1,1,10`` or ``0.5`` as values; None if nothing is stated.

    Parameters
    ----------
    name : str
        The option without its final s and dashes: "C" or "gamma".
    text : str or None
        What ``--Cs`` or ``--gammas`` was given.
    one : float or None
        What ``--C`` or ``--gamma`` was given, which fixes the value.
    words : tuple of str
        Words that are values as well.
    """
    if text is None:
        return None if one is None else [one]
    if one is not None:
        raise UsageError(f"--{name} fixes the value and --{name}s={text} lists values to try; give one of the two.")
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 1 and parts[0].isdecimal():
        if int(parts[0]) < 2:
            raise UsageError(
                f"--{name}s={text} must be a number of values of at least 2, or values to try such as 0.1,1,10; "
                f"--{name} fixes one."
            )
        return int(parts[0])
    return [part if part in words else _positive(name, text, part) for part in parts]


def _positive(name: str, text: str, part: str) -> float:
    value = number_of(part)
    if not 0.0 < value < float("inf"):
        raise UsageError(
            f"--{name}s={text} must be a number of values, such as 7, or positive values with commas between them, "
            f"such as 0.1,1,10; {part!r} is neither."
        )
    return value


def searches(given: Given) -> bool:
    """Whether C or gamma must be chosen."""
    return given.C is None or (given.gamma is None and given.machine != LINEAR)


def machine_seconds(given: Given) -> float | None:
    """The time limit of the machine: behind a guard it may be fitted a second time, without a search."""
    if given.time_limit is None or given.guard is None:
        return given.time_limit
    return given.time_limit * (SEARCHED if searches(given) else FITTED)


def own_machine(table: TrainingTable, costs: Any, given: Given) -> Any:
    """Return the svm, or the linear machine, at the options' C and gamma or with a search for them; not yet fitted."""
    shared: dict[str, Any] = {
        "costs": costs,
        "time_limit": machine_seconds(given),
        "n_jobs": -1,
        "verbose": sys.stderr.isatty(),
        **table.labels(given),
    }
    if given.machine == LINEAR:
        if given.C is not None:
            return LinearRejectSVC(**shared, C=given.C)
        grid = {} if given.Cs is None else {"Cs": given.Cs}
        return LinearRejectSVCCV(**shared, **grid, cv=folds_for(table, given.seed, "C", ", or pass --C"))
    shared |= SVMS.get(given.machine, {})
    if not searches(given):
        shared |= {"C": given.C, "gamma": given.gamma}
        return RejectSVC(**shared, cache_size=cache_size(table.memory, 0, 0))
    cv = folds_for(table, given.seed, "C and gamma", ", or pass --C and --gamma")
    grid = {"Cs": given.Cs or WEIGHTS, "gammas": given.gammas or WIDTHS}
    counts = [values if isinstance(values, int) else len(values) for values in grid.values()]
    pairs, folds = counts[0] * counts[1], cv.n_splits
    scores = planned(given.search, len(table.y), pairs).scores(folds)
    cache = cache_size(table.memory, scores, pairs * folds)
    return RejectSVCCV(**shared, **grid, cache_size=cache, cv=cv, search=given.search)


def machine_facts(machine: Any) -> dict[str, Any]:
    """Facts about a fitted machine, of ours or of another kind."""
    if (found := machine_of(machine)) is not None:
        parts = machine.parts if isinstance(machine, MachineAverage) else {}
        each = {name: machine_facts(part) for name, part in parts.items()}
        own = {name: {fact: one for fact, one in facts.items() if fact != "machine"} for name, facts in each.items()}
        return {"machine": found[0], **found[1], **own}
    linear, suffix = isinstance(machine, LinearRejectSVC), "_" if hasattr(machine, "C_") else ""
    kernel = SVM if getattr(machine, "kernel_", machine.kernel) != LAPLACIAN else LAPLACIAN
    facts = {"machine": LINEAR if linear else kernel, "C": getattr(machine, f"C{suffix}")}
    if linear:
        facts["features"] = machine.n_features_in_
    else:
        facts |= {"gamma": getattr(machine, f"gamma{suffix}"), "support vectors": int(machine.n_support_.sum())}
    return facts | {"status": machine.status_, "duality gap": machine.duality_gap_}


def facts_of(table: TrainingTable, model: Any, given: Given, own: dict[str, Any]) -> dict[str, Any]:
    """Facts about a trained model; `own` are those of its machine, with a verdict and warnings."""
    guard, sentence, warned = guard_facts(table, model, given.guard, own)
    verdict = own["verdict"] | {"sentence": f"{own['verdict']['sentence']} {sentence}".rstrip()}
    return {
        "model": str(given.output),
        "rows": len(table.y),
        "unlabelled rows left out": table.left_out or None,
        "numeric columns": len(table.numeric),
        "categorical columns": len(table.categorical),
        "dates in days": list(table.plan.dates) or None,
        "read as missing": list(table.plan.missing) or None,
        **FittedModel.of(model).named,
        **_cost_facts(table, unguarded(model)[-1].costs),
        **{name: value for name, value in own.items() if name not in ("verdict", "warnings")},
        **guard,
        "verdict": verdict,
        "warnings": [*own["warnings"], *warned],
    }


def _cost_facts(table: TrainingTable, costs: Any) -> dict[str, Any]:
    """The costs that were stated, or the columns that they are read from."""
    names, stated = (*ERRORS, *ONE_REJECT), table.plan.costs
    columns = {"columns of costs": named_columns(stated)} if stated else {}
    if costs is not None:
        return costs.facts() | columns
    if stated and stated[0][0] != names[0]:
        return columns
    read = [(name, f"column {source}" if isinstance(source, str) else source) for name, source in stated]
    return {f"{name.replace('_', ' ')} costs": source for name, source in read}


def fitted_pipeline(table: TrainingTable, machine: Any, guard: GuardPlan | None = None) -> Any:
    """Fit the default preprocessing, a machine behind it, and a guard around both if there is a plan for one.

    The rows of a mapped table have been through the preprocessing.
    """
    pipeline = default_pipeline(machine, table.numeric, table.categorical)
    if table.mapped:
        pipeline.steps[0] = (PREPROCESS, table.preprocess)
    model = fitted(table, machine if table.mapped else pipeline, guard)
    pipeline = pipeline if guard is None else model.estimator_
    if table.plan != CellPlan():
        pipeline[0].plan_ = table.plan
    return pipeline if guard is None else model


def fitted(table: TrainingTable, model: Any, guard: GuardPlan | None) -> Any:
    """Fit a model, behind a guard if there is a plan for one."""
    try:
        if guard is None:
            return fit_to(table, model)
        with guard.fitting():
            return fit_to(table, guard.around(model))
    except ValueError as error:  # the table was checked, so the error is about the machine or the reject label
        raise UsageError(str(error)) from error


def folds_for(table: TrainingTable, seed: int, what: str, way: str = "") -> Any:
    """Return the folds of a search for `what`: five, or as many as the rarer class has rows or there are groups."""
    name, count = table.rarest
    column = f"{table.path}: column {table.target!r} has"
    if table.several and count < FOLDS:
        raise DataError(
            f"{column} {count} {'row' if count == 1 else 'rows'} of class {name[:60]!r}, fewer than the {FOLDS} folds "
            f"that choose {what}; add rows, merge it with another class or leave its rows out{way}."
        )
    if table.n_groups < 2:
        raise DataError(
            f"{table.path}: the column of --groups has only one group, too few to choose {what}; name another "
            f"column{way}."
        )
    if count < 2:
        raise DataError(f"{column} a class with only one row, too few to choose {what}; add rows{way}.")
    return splitter(min(FOLDS, count, table.n_groups), table.y, table.groups, shuffle=True, random_state=seed)
