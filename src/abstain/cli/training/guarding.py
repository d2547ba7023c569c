"""``--novelty``: the guard that `fit` puts before a machine, and what it says about it.

Without the option the share of rows like the training rows that it rejects is ::

    rate = min(0.01, 0.02 c / (r - c)),    rounded down to a multiple of 1 / (m + 1), and at least that

with the cross-validated mean cost c of the machine, the mean cost r of handing on a training row and m calibration
rows: false alarms add about rate (r - c) to the mean cost. A machine of unknown cost keeps 0.01.
"""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from abstain.cli.exit_codes import Note, UsageError
from abstain.cli.input.training_table import TrainingTable
from abstain.comparison.verdict import Judge
from abstain.estimators.novelty.guard_rows import calibration_size
from abstain.estimators.novelty.guarded import novel_action
from abstain.estimators.novelty.novelty import DEFAULT_RATE, NoveltyRejector
from abstain.rules.tuning.class_error import rows_needed

MEAN_COST = "cross-validated mean cost"
WITH_GUARD = f"{MEAN_COST} with the guard"
ADDED = 0.02  # of the machine's mean cost: what false alarms may add, where no rate is stated


@dataclass(frozen=True)
class GuardPlan:
    """A guard to be fitted.

    Attributes
    ----------
    rate : float
        The largest share of rows like the training rows that it rejects; `DEFAULT_RATE` itself if none was stated.
    seed : int
        Of the calibration rows.
    """

    rate: float
    seed: int = 0

    @property
    def stated(self) -> bool:
        """Whether the rate was stated."""
        return self.rate is not DEFAULT_RATE

    def around(self, model: Any) -> NoveltyRejector:
        """The model with a guard, not fitted."""
        return NoveltyRejector(model, self.rate, random_state=self.seed)

    @contextmanager
    def fitting(self) -> Iterator[None]:
        """Leave the warning about too few rows to `guard_facts`, which names the options."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"rate=\S+ needs \d+ calibration rows", UserWarning)
            yield


def stated_rate(novelty: float | None, no_novelty: bool) -> float | None:
    """The rate of the guard that the options ask for: the default one without options, None for no guard."""
    if novelty is None:
        return None if no_novelty else DEFAULT_RATE
    if no_novelty:
        raise UsageError("--novelty and --no-novelty exclude each other; give one of them.")
    if not 0.0 < novelty < 1.0:
        raise UsageError(f"--novelty {novelty:g} must be a share above 0 and below 1, as in 0.01.")
    return novelty


def guard_plan(
    rate: float | None, table: TrainingTable, costs: Any, seed: int, folds: int | None = None
) -> GuardPlan | None:
    """The guard for a table; where it cannot be fitted, a note if nobody asked for it, an error otherwise.

    With `folds`, it is fitted to the rows of all but one of them.
    """
    if rate is None:
        return None
    stated = rate is not DEFAULT_RATE
    why = ""
    if table.mapped:
        why = "rows that are read by blocks are not in memory, where the guard is fitted"
    elif not any(getattr(costs, "hands_on", [True])):
        why = "none of the actions hands a case on, so that such a row could not be rejected"
    if why:
        if stated:
            raise UsageError(f"--novelty {rate:g}: {why}; leave it out.")
        warnings.warn(f"rows unlike the training rows will not be rejected: {why}.", Note, stacklevel=2)
        return None
    n, needed = len(table.y), rows_needed(rate)
    n, of_them = (n, "") if folds is None else (n - math.ceil(n / folds), f" in the other folds of {folds}")
    if stated and calibration_size(n, rate, None) < needed:
        raise UsageError(
            f"--novelty {rate:g} needs {2 * needed} rows, half of them to calibrate it, and {table.path} has "
            f"{n}{of_them}; add rows, or state a larger share."
        )
    return GuardPlan(rate, seed)


def alarm_cost(model: Any, cost: float, judge: Judge) -> float:
    """Return what false alarms of the guard add to the mean cost of the machine; they are fewer if nobody set the rate.

    The calibration rows stay those of the default rate.
    """
    guard = getattr(model, "guard_", None)
    if guard is None or not guard.acts:
        return 0.0
    handed_on = judge.costs.of(judge.code, np.full(len(judge.code), novel_action(model.rule_))).mean()
    more = max(float(handed_on) - cost, 0.0)
    if model.rate is DEFAULT_RATE and (rate := affordable_rate(cost, more, guard.m)) < guard.rate:
        model.set_params(rate=rate, calibration_size=guard.m)
        guard = replace(guard, rate=rate)
        model._fitted_ = replace(model._fitted_, guard=guard)
    return guard.rate * more


def affordable_rate(cost: float, more: float, m: int, added: float = ADDED) -> float:
    """Return the rate at which false alarms add this share of the cost, each `more`; at most 0.01, at least 1/(m+1)."""
    k = int((m + 1) * (added * cost / more)) if added * cost < DEFAULT_RATE * more else None
    return DEFAULT_RATE if k is None else max(k, 1) / (m + 1)


def guard_facts(
    table: TrainingTable, model: Any, plan: GuardPlan | None, own: dict[str, Any]
) -> tuple[dict[str, Any], str, list[str]]:
    """Facts about the guard of a fitted model, a sentence, and warnings; `own` are the facts about the machine."""
    guard = getattr(model, "guard_", None)
    if guard is None or plan is None:
        return {"largest share rejected as novel": None, "rows that calibrated it": None}, "", []
    facts = {"largest share rejected as novel": guard.rate, "rows that calibrated it": guard.m}
    if guard.acts:
        share, cost = f"{100 * guard.rate:.2g} %", own.get(WITH_GUARD)
        why = "as stated" if plan.stated else "the default share"
        if guard.rate < plan.rate:
            why = f"fewer than the default share of {100 * plan.rate:g} %, which would cost more"
        if not plan.stated and guard.rate * (guard.m + 1) < 2.0:
            why = f"the smallest share that {guard.m} calibration rows allow"
        alarms = "" if cost is None else f"; false alarms add about {cost - own[MEAN_COST]:.2g} to the mean cost"
        return facts, f"Of new rows like these, at most {share} are rejected as novel, {why}{alarms}.", []
    needed = f"{2 * rows_needed(guard.rate)}{'' if table.groups is None else ' in many groups'}"
    warning = (
        f"{table.path} has {len(table.y)} rows, too few to reject rows unlike them, which needs {needed}; such rows "
        f"will be decided. Add rows, or state a larger share than {guard.rate:g}, as in --novelty {_enough(guard.m)}."
    )
    return facts | {"largest share rejected as novel": 0.0}, "", [warning]


def _enough(m: int) -> str:
    """A share for which m calibration rows are enough, in two digits."""
    return next((f"{share:g}" for share in (0.02, 0.05, 0.1, 0.2) if rows_needed(share) <= m), "0.5")
