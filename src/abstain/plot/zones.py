"""The zones of a score in which each of several actions is the cheapest, with their colours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from abstain.costs.actions import Actions
from abstain.costs.levels import Levels
from abstain.plot.palette import NEGATIVE, POSITIVE

__all__ = ["Zone", "zones_of"]

_DECIDED = (NEGATIVE, "#56B4E9", "#E69F00", POSITIVE)  # from the first class to the last
_GREYS = ("#E4E4E4", "#C4C4C4", "#A6A6A6")  # of rejects, from the first to the last; then from the start


@dataclass(frozen=True)
class Zone:
    """An action, the scores for which it is chosen, and how they are drawn."""

    name: str
    start: float
    end: float
    colour: str
    alpha: float

    @property
    def words(self) -> str:
        """The zone in words, for a legend."""
        start, end = (f"{at:.3g}".replace("-", "−") for at in (self.start, self.end))
        if np.isinf(self.start):
            return f"{self.name}: below {end}"
        return f"{self.name}: above {start}" if np.isinf(self.end) else f"{self.name}: {start} to {end}"


def zones_of(actions: Actions, levels: Levels) -> tuple[Zone, ...]:
    """Return the zones from the lowest scores to the highest: rejects are grey, others between blue and vermilion."""
    ends = (-np.inf, *levels.cuts, np.inf)
    zones, last, rejects = [], len(levels.choices) - 1, 0
    for k, at in enumerate(levels.choices):
        if actions.rejecting[at]:
            colour, alpha, rejects = _GREYS[rejects % len(_GREYS)], 1.0, rejects + 1
        else:
            colour, alpha = _DECIDED[round(k / last * (len(_DECIDED) - 1)) if last else 0], 0.15
        zones.append(Zone(str(actions.names[at]), ends[k], ends[k + 1], colour, alpha))
    return tuple(zones)
