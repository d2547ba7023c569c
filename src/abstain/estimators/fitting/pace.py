"""How long the fits of a search will take, from those that are done.

::

    seconds of a fit to n rows = n^2 rate(C)

rate(C) is the mean over the fits with that C that are done, in this round if there are any, otherwise in the one
before. A C without such fits takes the rate of the next smaller one with fits times the square root of the quotient of
the two.
From 2,000 to 8,000 rows of generated data and covtype the exponent was 1.4 to 2.5, once each on a busy machine.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Pace"]

Rounds = Iterable[tuple[int, int]]


class Pace:
    """The measured speed of the fits of a search.

    Parameters
    ----------
    Cs : float64 array, ascending
        All values of C of the search.
    threads : int
        Fits that run at the same time.
    """

    def __init__(self, Cs: NDArray[np.float64], threads: int) -> None:
        self.Cs, self.threads = Cs, threads
        self.rates = np.full(len(Cs), np.nan)
        self.rows, self.fits, self.seconds = 0, np.empty(0, dtype=np.intp), np.empty(0)

    def begin(self, rows: int, fits: NDArray[np.intp]) -> None:
        """Begin fits to so many rows, given by the places of their Cs, in the order of their seconds."""
        self.rates = self.current()
        self.rows, self.fits, self.seconds = rows, fits, np.zeros(len(fits))

    def current(self) -> NDArray[np.float64]:
        """The rate of every C that has been measured; nan for the others."""
        done = self.seconds > 0
        count = np.bincount(self.fits[done], minlength=len(self.Cs))
        total = np.bincount(self.fits[done], weights=self.seconds[done], minlength=len(self.Cs))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(count > 0, total / count / max(self.rows, 1) ** 2, self.rates)

    def predicted(self) -> NDArray[np.float64]:
        """The rate of every C, with those not measured estimated; all nan if no fit is done."""
        rates = self.current()
        known = np.flatnonzero(np.isfinite(rates))
        if not len(known):
            return rates
        nearest = known[np.maximum(0, np.searchsorted(known, np.arange(len(rates)), side="right") - 1)]
        return np.asarray(rates[nearest] * np.maximum(1.0, self.Cs / self.Cs[nearest]) ** 0.5)

    def of_rounds(self, rounds: Rounds) -> float:
        """The seconds that rounds of (rows, fits) will take, with the Cs of the fits in hand."""
        rate = float(self.predicted()[self.fits].mean()) if len(self.fits) else np.nan
        return sum(fits * rows**2 * rate / min(fits, self.threads) for rows, fits in rounds if fits)

    def left(self, later: Rounds = ()) -> float:
        """The seconds until the fits in hand and those of later rounds are done; nan if not known yet."""
        ahead = self.fits[self.seconds == 0]
        now = float(self.predicted()[ahead].sum()) * self.rows**2 if len(ahead) else 0.0
        return now / max(1, min(len(ahead), self.threads)) + self.of_rounds(later)
