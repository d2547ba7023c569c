"""The plot of a path in C: the number of rows in each set, or each row's coefficient."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.plot.palette import LINE, NEGATIVE, POSITIVE, Axes, Display, quiet
from abstain.solvers.path import RegularizationPath

KINDS = ("sets", "coefficients")
# The sets for one and for two knots, by margin (docs/theory.md); with more knots they are only numbered.
WORDS: dict[int, tuple[str, ...]] = {
    3: (r"$I_0$: margin above the knot", r"$I_\tau$: on it", r"$I_B$: below it"),
    5: (r"$I_0$: margin above τ", r"$I_\tau$: on τ", r"$I_B$: between ρ and τ", r"$I_\rho$: on ρ", r"$I_D$: below ρ"),
}
# Rows on breakpoints are light, rows between breakpoints dark, so that neighbours also differ without colour.
REST: tuple[tuple[str, str], ...] = (("#EFEFEF", ""), ("#9CCBEA", ""), ("#F6C6A5", "////"), ("#CDE8DC", "...."))
BETWEEN = (NEGATIVE, POSITIVE, "#009E73", LINE)


@dataclass(eq=False)
class PathDisplay(Display):
    """Sizes of the sets, or coefficients, at values of C.

    Parameters
    ----------
    kind : {"sets", "coefficients"}
    C : ndarray of shape (m,)
        Ascending; drawn on a logarithmic axis.
    values : ndarray of shape (m, 2K + 1) or (m, n)
        Number of rows in each set for K knots; or each row's coefficient divided by C, which stays between two bounds.

    Attributes
    ----------
    ax_, figure_ : the axes and figure drawn on

    Examples
    --------
    >>> from abstain import Costs, reject_svc_path
    >>> from abstain.plot import PathDisplay
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> path = reject_svc_path(X, y, Costs(reject=0.2), kernel="linear", C_max=10)
    >>> display = PathDisplay.from_path(path, kind="sets")
    """

    kind: str
    C: NDArray[np.float64]
    values: NDArray[Any]

    @classmethod
    def from_path(
        cls, path: RegularizationPath, kind: str = "sets", *, points: int = 400, ax: Axes | None = None
    ) -> Self:
        """Draw a path at `points` values of C between its ends; rows of weight 0 are left out."""
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r} must be one of {', '.join(KINDS)}.")
        C, weighted = np.geomspace(path.C_min, path.C_max, points), path.problem.weight > 0
        if kind == "coefficients":
            return cls(kind, C, np.stack([path.at(value)[0][weighted] / value for value in C])).plot(ax)
        sets = 2 * path.problem.loss.n_knots + 1
        return cls(kind, C, np.stack([np.bincount(path.sets_at(c)[weighted], minlength=sets) for c in C])).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into `ax`, or into a new figure."""
        ax = self._on(ax)
        (self._plot_sets if self.kind == "sets" else self._plot_coefficients)(ax)
        ax.set(xscale="log", xlabel="C", xlim=(self.C[0], self.C[-1]))
        return self

    def _plot_sets(self, ax: Axes) -> None:
        codes = range(self.values.shape[1])
        words = WORDS.get(len(codes), tuple(f"set {code}" for code in codes))
        floor = np.zeros(len(self.C))
        for code in codes:
            top, size = floor + self.values[:, code], len(REST)
            colour, hatch = (BETWEEN[code // 2 % size], "") if code % 2 else REST[code // 2 % size]
            style: dict[str, Any] = {"facecolor": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.0}
            ax.fill_between(self.C, floor, top, step="mid", label=words[code], **style)
            floor = top
        ax.set(ylabel="rows", ylim=(0, floor.max()))
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=3, frameon=False, fontsize="small")

    def _plot_coefficients(self, ax: Axes) -> None:
        # sum beta = 0 and y beta >= 0: the sign of a coefficient is its row's class
        for sign, colour, name in ((1, POSITIVE, "positive class"), (-1, NEGATIVE, "negative class")):
            rows = self.values[:, (sign * self.values).max(axis=0) > 0]
            style: dict[str, Any] = {"color": colour, "linewidth": 0.8, "linestyle": "-" if sign > 0 else "--"}
            ax.plot(self.C, rows, alpha=max(0.15, min(1.0, 30 / max(1, rows.shape[1]))), **style)
            ax.plot([], [], label=f"{name}: {rows.shape[1]} rows", **style)
        quiet(ax)
        ax.axhline(0.0, color=LINE, linewidth=0.8)
        ax.set(ylabel="coefficient / C")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, frameon=False, fontsize="small")
