"""The plot of a test for drift: how unusual the rows of a batch are, and the decisions on them, beside calibration."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.comparison.drift import drift
from abstain.comparison.drift_result import Drift
from abstain.plot.palette import BAND, LINE, NEGATIVE, Axes, Display, legend_inside, narrow, new_axes, quiet, wrapped

_PARTS = 10  # of the calibration rows, by how unusual they are
_MOST = 12  # decisions drawn
_NAME = 24  # characters of a decision
_BARS = 0.4


@dataclass(eq=False)
class DriftDisplay(Display):
    """The scores and the decisions of a batch beside those of the calibration rows.

    Above, the calibration rows are divided into tenths by how unusual they are, with the novel ones apart; bars are the
    shares of the rows in each. Below are the shares of the classifier's decisions.

    Parameters
    ----------
    drift : Drift
        From `abstain.drift`.

    Attributes
    ----------
    bars_ : dict of str to (BarContainer, BarContainer)
        The bars of calibration and of the batch, for "scores" and "decisions".
    ax_, axes_, figure_ : Axes, tuple of Axes, Figure
        The axes of the scores, all axes, and the figure.

    Examples
    --------
    >>> import numpy as np
    >>> import abstain
    >>> from abstain.plot import DriftDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> model = abstain.NoveltyRejector(abstain.RejectSVC(abstain.Costs(reject=0.2)), random_state=0)
    >>> display = DriftDisplay.from_estimator(model.fit(X, X[:, 0] > 0), rng.normal(size=(100, 2)) + 1)
    """

    drift: Drift
    bars_: dict[str, tuple[Any, Any]] = field(init=False, repr=False)
    axes_: tuple[Axes, ...] = field(init=False, repr=False)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, level: float = 0.05, ax: Axes | tuple[Axes, Axes] | None = None
    ) -> Self:
        """Test the batch X and draw the result.

        Parameters
        ----------
        estimator : NoveltyRejector, or Pipeline or search around one
            Fitted.
        X : array-like
            The batch.
        level : float, default=0.05
            As in `abstain.drift`.
        ax : matplotlib Axes, or two of them, default=None
            Where to draw; one for the scores alone, two for scores and decisions. None makes a new figure.
        """
        return cls(drift(estimator, X, level=level)).plot(ax)

    def plot(self, ax: Axes | tuple[Axes, Axes] | None = None) -> Self:
        """Draw into `ax`, one or two axes, or into a new figure."""
        if ax is None:
            ax = new_axes(1 if any(counts is None for counts in self.drift.choices) else 2)
        self.axes_ = tuple(np.ravel(np.array(ax, dtype=object)))
        self.bars_ = {"scores": self._scores(self._on(self.axes_[0]))}
        if len(self.axes_) > 1 and self.drift.choices[0] is not None:
            self.bars_["decisions"] = self._decisions(self.axes_[1])
        legend_inside(self.ax_)
        return self

    def _scores(self, ax: Axes) -> tuple[Any, Any]:
        shares = parts_of(self.drift)
        place = np.arange(shares.shape[1], dtype=float)
        place[-1] += 0.5  # novel rows stand apart
        names = (f"calibration, {self.drift.n_calibration:,} rows", f"this batch, {self.drift.n_rows:,} rows")
        bars = _pair(ax.bar, place, -_BARS / 2, shares, names)
        last = len(place) - 2
        ticks = {0.0: "most\nusual", last / 2: "median", float(last): "most\nunusual", place[-1]: "novel"}
        ax.set_xticks(list(ticks), list(ticks.values()), fontsize="x-small" if narrow(ax) else None)
        quiet(ax)
        ax.grid(visible=False, axis="x")
        ax.set(xlabel="calibration rows by how unusual they are", ylabel="share of the rows")
        ax.set_ylim(0, 1.25 * max(shares.max(), 0.05))
        _title(ax, f"How unusual the rows are{self._p('scores', 'novel rows')}")
        return bars

    def _decisions(self, ax: Axes) -> tuple[Any, Any]:
        here, before = (np.asarray(counts, dtype=float) for counts in self.drift.choices)
        shares = np.array([here / max(here.sum(), 1.0), before / max(before.sum(), 1.0)])
        shown = np.sort(np.argsort(-np.abs(shares[0] - shares[1]), kind="stable")[:_MOST])
        place = np.arange(len(shown))[::-1]
        bars = _pair(ax.barh, place, _BARS / 2, shares[:, shown])
        ax.set_yticks(place, [_short(self.drift.choice_names[at]) for at in shown])
        quiet(ax)
        ax.grid(visible=False, axis="y")
        ax.set(xlabel="share of the rows", xlim=(0, min(1.0, 1.1 * max(shares.max(), 0.05))))
        more = f", {_MOST} of {len(here)} with the largest differences" if len(here) > _MOST else ""
        _title(ax, f"Decisions of the classifier{more}{self._p('rejects', 'decisions')}")
        return bars

    def _p(self, *names: str) -> str:
        """The least corrected p-value of these tests."""
        found = [test.corrected for test in self.drift.tests if test.name in names]
        if not found:
            return ""
        p = "p < 1e-16" if min(found) < 1e-16 else f"p = {min(found):.2g}"
        return f": {p.replace(' ', chr(0xA0))}"  # which no line break divides


def parts_of(drift: Drift, parts: int = _PARTS) -> NDArray[np.float64]:
    """Shares of the batch and of the calibration rows in tenths of the calibration rows, then those that are novel.

    Equal calibration scores stay together, so that tenths can differ in size.
    """
    here, before = drift.scores
    m = max(int(before.sum()), 1)
    parts = min(parts, m)
    at = np.minimum((np.cumsum(before) - before) * parts // m, parts - 1)
    tail = np.cumsum(before[::-1])[::-1]
    at[np.arange(len(at)) > np.flatnonzero(tail >= min(drift.rank, m))[-1]] = parts
    counts = [np.bincount(at, weights=of, minlength=parts + 1) for of in (here, before)]
    return np.array([of / max(of.sum(), 1.0) for of in counts])


def _pair(draw: Any, place: Any, shift: float, shares: Any, names: Any = (None, None)) -> tuple[Any, Any]:
    """Draw the bars of calibration, moved by `shift`, and those of the batch on their other side."""
    before = draw(place + shift, shares[1], _BARS, color=BAND, edgecolor=LINE, linewidth=0.8, label=names[0])
    return before, draw(place - shift, shares[0], _BARS, color=NEGATIVE, edgecolor=NEGATIVE, label=names[1])


def _title(ax: Axes, text: str) -> None:
    ax.set_title(wrapped(ax, [text])[0], loc="left", fontsize="small" if narrow(ax) else "medium")


def _short(name: Any) -> str:
    text = str(name)
    return text if len(text) <= _NAME else f"{text[: _NAME - 1]}…"
