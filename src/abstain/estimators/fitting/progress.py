"""Progress of long work: scikit-learn's callbacks (1.9 and later) and one line on the terminal, with the time left."""

import math
import sys
import time
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

QUIET_SECONDS = 2.0


class FitTask:
    """Reports on one fit: its beginning, the solver's progress, and its end.

    The solver runs within ``with task.line``, which ends the line on the terminal even if the fit is interrupted.

    Parameters
    ----------
    estimator : object
        The estimator being fitted; the reports go to its callbacks, if it has any.
    X, y, sample_weight : array-like
        The training data, passed to callbacks that need it.
    verbose : bool
        Whether to write a line on stderr once the fit has taken two seconds.
    shown : str, default="KKT violation"
        The number that the solver reports besides its iterations, and lowers to the estimator's `tol`.
    """

    def __init__(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any, *, verbose: bool, shown: str = "KKT violation"
    ) -> None:
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator, self.data, self.shown = estimator, {"X": X, "y": y, "metadata": metadata}, shown
        self.line = SearchLine(type(estimator).__name__, 0, shown=verbose, unit="machines")
        self.first = self.least = math.nan
        self.context: Any = None
        if any(hasattr(estimator, name) for name in ("_skl_callbacks", "_parent_callback_ctx")):  # else nobody listens
            self.context = estimator._init_callback_context(max_subtasks=None)  # noqa: SLF001 (the documented hook)
            self.context.call_on_fit_task_begin(estimator=estimator, **self.data)

    @property
    def watched(self) -> bool:
        """Whether there is any receiver of reports; if not, the solver need not make them."""
        return self.line.shown or bool(getattr(self.estimator, "_skl_callbacks", ()))

    def report(self, iterations: int, violation: float, total: int = 0) -> bool:
        """Pass on the solver's progress; a result of True stops the solver.

        Of several machines, it is called with the number of machines done, nan, and their total, too.
        """
        if total > 1:
            self.line.fits = total
            self.line.report(iterations)
        elif not self.line.fits:
            self._write(iterations, violation)
        if self.context is None or not getattr(self.estimator, "_skl_callbacks", ()):
            return False
        step = self.context.subcontext(task_name="solver-report")
        step.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        return bool(step.call_on_fit_task_end(estimator=self.estimator, **self.data))

    def _write(self, iterations: int, violation: float) -> None:
        """Write how far one machine has come; its violation falls about exponentially with time."""
        self.least = float(np.fmin(self.least, violation))
        if not self.first < math.inf:
            self.first = violation
        tol, left = getattr(self.estimator, "tol", 0.0), math.nan
        if 0.0 < tol < self.least < self.first < math.inf:
            left = self.line.seconds * math.log(self.least / tol) / math.log(self.first / self.least)
        self.line.write(f"{iterations:,} iterations, {self.shown} {violation:.3g} (ends at {tol:g})", left)

    def end(self) -> None:
        """Notify the callbacks that the estimator is fitted."""
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.estimator, **self.data, reconstruction_attributes={})


Rounds = Iterable[tuple[int, int]]


class Pace:
    """The measured speed of the fits of a search, and how long the others will take.

    ::

        seconds of a fit to n rows = n^2 rate(C)

    rate(C) is the mean over the fits with that C that are done, in this round if there are any, otherwise in the one
    before. A C without such fits takes the rate of the next smaller one with fits times the square root of the quotient
    of the two. From 2,000 to 8,000 rows of generated data and covtype the exponent was 1.4 to 2.5, once each on a busy
    machine.

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


class SearchLine:
    """What is done of a total, and the time left, on one line of stderr once it has taken two seconds."""

    def __init__(self, name: str, fits: int, *, shown: bool, unit: str = "fits") -> None:
        self.name, self.fits, self.shown, self.unit = name, fits, shown, unit
        self.began, self.written = time.monotonic(), 0

    @property
    def seconds(self) -> float:
        """The seconds since it began."""
        return time.monotonic() - self.began

    def report(self, done: int) -> None:
        """Write the number of fits done, and the time left if the others take as long as these."""
        left = self.seconds / done * (self.fits - done) if done else math.nan
        self.write(f"{done:,} of {self.fits:,} {self.unit}", left)

    def write(self, words: str, left: float = math.nan) -> None:
        """Write the words and the time left, if it is known, over those before."""
        if self.shown and self.seconds > QUIET_SECONDS:
            line = f"{self.name}: {words}" + ("" if math.isnan(left) else f", about {in_words(left)} left")
            sys.stderr.write(f"\r{line:<{self.written}}")
            sys.stderr.flush()
            self.written = len(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.written:
            sys.stderr.write("\n")


class FitsLine(SearchLine):
    """The same for a search in rounds, whose fits take longer at larger C and on more rows."""

    def __init__(self, name: str, pace: Pace, *, shown: bool) -> None:
        super().__init__(name, 0, shown=shown)
        self.pace = pace
        self.rows, self.before, self.round = 0, 0, ""
        self.later: list[tuple[int, int]] = []

    def begin_round(self, fits: int, rows: int, later: list[tuple[int, int]], at: int, rounds: int) -> None:
        """Begin the fits of a round; `later` are (rows, fits) of the ones after it."""
        self.fits, self.rows, self.before, self.later = fits, rows, 0, later
        self.round = f"round {at + 1} of {rounds}, {rows:,} rows: " if rounds > 1 else ""

    def begin(self, fits: NDArray[np.intp]) -> None:
        """Begin some of the fits of the round, given by the places of their Cs."""
        self.before += len(self.pace.seconds) if self.pace.rows == self.rows else 0
        self.pace.begin(self.rows, fits)

    def report(self, seconds: NDArray[np.float64]) -> None:  # type: ignore[override]
        """Write the number of fits done and the time left, given the seconds of each; 0 if it is not done."""
        self.pace.seconds = seconds
        if not self.shown:
            return
        done = self.before + int(np.count_nonzero(seconds))
        rest = (self.rows, self.fits - self.before - len(seconds))
        left = self.pace.left([rest, *self.later])
        self.write(f"{self.round}{done:,} of {self.fits:,} {self.unit}", left)


def in_words(seconds: float) -> str:
    """A duration with the precision that an estimate has."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"
