"""``--novelty``: the guard that `fit` puts before a machine, and what it says about it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from abstain.cli.exit_codes import Note, UsageError
from abstain.cli.input.training_table import TrainingTable
from abstain.estimators.novelty.guard_rows import calibration_size
from abstain.estimators.novelty.novelty import DEFAULT_RATE, NoveltyRejector
from abstain.rules.tuning.class_error import rows_needed


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
    if why := _no_guard(table, costs):
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


def _no_guard(table: TrainingTable, costs: Any) -> str:
    """Why these rows or costs cannot have a guard; empty if they can."""
    if table.mapped:
        return "rows that are read by blocks are not in memory, where the guard is fitted"
    if not any(getattr(costs, "hands_on", [True])):
        return "none of the actions hands a case on, so that such a row could not be rejected"
    return ""


def guard_facts(table: TrainingTable, model: Any) -> tuple[dict[str, Any], str, list[str]]:
    """Facts about the guard of a fitted model, a sentence, and warnings."""
    guard = getattr(model, "guard_", None)
    if guard is None:
        return {"largest share rejected as novel": None, "rows that calibrated it": None}, "", []
    facts = {"largest share rejected as novel": guard.rate, "rows that calibrated it": guard.m}
    if guard.acts:
        share = f"{100 * guard.rate:.3g} %"
        return facts, f"Of new rows like these, at most {share} are rejected as novel.", []
    needed = f"{2 * rows_needed(guard.rate)}{'' if table.groups is None else ' in many groups'}"
    warning = (
        f"{table.path} has {len(table.y)} rows, too few to reject rows unlike them, which needs {needed}; such rows "
        f"will be decided. Add rows, or state a larger share than {guard.rate:g}, as in --novelty {_enough(guard.m)}."
    )
    return facts | {"largest share rejected as novel": 0.0}, "", [warning]


def _enough(m: int) -> str:
    """A share for which m calibration rows are enough, in two digits."""
    return next((f"{share:g}" for share in (0.02, 0.05, 0.1, 0.2) if rows_needed(share) <= m), "0.5")
