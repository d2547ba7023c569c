"""The actions that a rule chooses between, with their colours and, on one score, the zone of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from abstain.costs.answers import AnswerTable
from abstain.labels import NO_CLASS
from abstain.plot.palette import BAND, CLASSES, NEGATIVE, POSITIVE
from abstain.rules.deciders import Cuts
from abstain.rules.rule import Rule

_DECIDED = (NEGATIVE, "#56B4E9", "#E69F00", POSITIVE)  # on one score, from the first class to the last
_GREYS = (BAND, "#BEBEBE", "#A0A0A0")  # of rejects, from the first to the last; then from the start


@dataclass(frozen=True)
class Zone:
    """An action, how it is drawn, and the scores of two classes for which it is chosen.

    Attributes
    ----------
    name : str
    colour : str
    alpha : float
    start, end : float
        Infinite where the zone does not end; nan if several scores decide.
    answers : int
        The position of the class that it answers, or -1.
    hands_on : bool
        Whether it hands the case on.
    label : object
        What is predicted.
    """

    name: str
    colour: str
    alpha: float
    start: float = np.nan
    end: float = np.nan
    answers: int = NO_CLASS
    hands_on: bool = False
    label: Any = None

    @property
    def taken(self) -> str:
        """The action after a number of rows."""
        return self.name if self.answers == NO_CLASS else f"as {self.name}"

    @property
    def words(self) -> str:
        """The zone in words, for a legend."""
        start, end = (f"{at:.3g}".replace("-", "−") for at in (self.start, self.end))
        if np.isinf(self.start):
            return f"{self.name}: below {end}"
        return f"{self.name}: above {start}" if np.isinf(self.end) else f"{self.name}: {start} to {end}"


def zones_of(rule: Rule) -> tuple[Zone, ...]:
    """Return the actions, on one score from the lowest to the highest; those that hand the case on are grey."""
    levels = rule.decider.levels if isinstance(rule.decider, Cuts) else None
    if levels is not None:
        order, ends = list(levels.choices), (-np.inf, *levels.cuts, np.inf)
    else:
        order = [at for at in range(len(rule.answers)) if rule.rejects or not rule.hands_on[at]]
        ends = (np.nan,) * (len(order) + 1)
    names = (rule.costs or AnswerTable.blank(rule.labels)).titles(rule.labels.classes.tolist())
    zones, greys, others = [], 0, rule.labels.n_classes
    for k, at in enumerate(order):
        answer, name = rule.answers[at], str(names[at])
        if rule.hands_on[at]:
            colour, alpha, greys = _GREYS[greys % len(_GREYS)], 1.0, greys + 1
        elif levels is not None:
            colour, alpha = _DECIDED[round(k / max(len(order) - 1, 1) * (len(_DECIDED) - 1))], 0.15
        else:
            colour, alpha = CLASSES[(others if answer == NO_CLASS else answer) % len(CLASSES)][0], 0.15
            others += answer == NO_CLASS
        zones.append(Zone(name, colour, alpha, ends[k], ends[k + 1], answer, bool(rule.hands_on[at]), rule.names[at]))
    return tuple(zones)
