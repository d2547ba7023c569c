"""The plot of a loss: the training loss of a score for each class, with its knots (GRKC08, A14)."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.costs.table import CostTable
from abstain.estimators.fitting.training import implied
from abstain.estimators.unwrap import FittedClassifier
from abstain.labels import NO_CLASS
from abstain.losses.margin_loss import MarginLoss
from abstain.metrics.outcomes import read
from abstain.metrics.ranking import has_class_scores
from abstain.pairs import UNDECIDED
from abstain.plot import palette
from abstain.plot.palette import BAND, LINE, NEGATIVE, POSITIVE, Axes, Display, Line2D, Zone, zones_of
from abstain.rules.deciders import PerRow


@dataclass(eq=False)
class LossDisplay(Display):
    """The losses of both classes against the score f, with their thresholds.

    Parameters
    ----------
    loss : MarginLoss
        ``positive(f)`` is the loss for y = +1, ``negative(-f)`` for y = -1.
    likelihood : bool, default=False
        Whether to also draw the logistic losses log(1 + exp(-y f)), whose tangents form a tangent hinge.
    sign, score : ndarray of shape (n,), default=None
        Labels in {-1, +1} and scores of rows, drawn below the losses.
    zones : tuple of Zone, default=()
        The zones of scores in which each action is chosen; those that answer a class are not drawn.
    classes : (label, label) or None, default=None
        The names of the classes -1 and +1, where the costs name them.
    against_rest : bool, default=False
        Whether this is the loss of one of several classes, +1, against the rest. It is decided above the upper
        threshold; between the two that depends on the scores of the others.

    Attributes
    ----------
    lines_, ax_, figure_ : the lines by the sign of the class, and where they were drawn

    Examples
    --------
    >>> from abstain import Costs
    >>> from abstain.plot import LossDisplay
    >>> display = LossDisplay.from_costs(Costs(false_positive=1, false_negative=5, reject=0.3))
    """

    loss: MarginLoss
    likelihood: bool = False
    sign: NDArray[np.int8] | None = None
    score: NDArray[np.float64] | None = None
    zones: tuple[Zone, ...] = ()
    classes: tuple[Any, Any] | None = None
    against_rest: bool = False
    lines_: dict[int, Line2D] = field(init=False, repr=False)

    @classmethod
    def from_costs(
        cls, costs: CostTable | None, rule: Any = "chow", *, label: Any = None, ax: Axes | None = None
    ) -> Self:
        """Draw the loss that `RejectSVC(costs, rule=rule)` minimises.

        Costs of more than two classes have a loss for each: that of `label` against the rest. It is not needed if all
        are the same.
        """
        return cls(**_loss_of(costs, rule, label)).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        score: Any,
        costs: Any,
        rule: Any = "chow",
        *,
        pos_label: Any = None,
        label: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the loss of the costs, and below it each row at its score, where high scores favour `pos_label`.

        With a score for each of more than two classes, it is the loss of `label` against the rest.
        """
        score = np.asarray(score, dtype=np.float64)
        several = has_class_scores(score)
        found = read(y_true, UNDECIDED, costs, pos_label=pos_label)
        classes, at = found.classes, 1
        if several:
            at = _place(classes, label)
            score = score[:, at]
        elif pos_label == classes[0]:  # of actions, whose loss is that of the last class
            score = -score
        sign = np.where(found.truth == at, 1, -1).astype(np.int8)
        shown = _loss_of(None if costs is None else found.choices, rule, label, classes if several else None)
        return cls(sign=sign, score=score, **shown).plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, *, label: Any = None, ax: Axes | None = None) -> Self:
        """Draw the loss of a fitted RejectSVC, or a Pipeline that ends in one, and under it the rows (X, y).

        With more than two classes, it is the loss of `label` against the rest. The rows are at their scores, which
        decide; a search with tuned cuts has rescaled them after it minimised the loss.
        """
        fitted = FittedClassifier.of(estimator)
        if not hasattr(fitted.final, "rule"):
            raise ValueError(
                f"estimator={estimator!r} does not have one of our losses; pass a RejectSVC, or use from_costs."
            )
        several, options = len(fitted.classes) > 2, {"rule": fitted.final.rule, "label": label, "ax": ax}
        if isinstance(fitted.rule.decider, PerRow):
            raise ValueError(  # noqa: TRY004
                "the machine has a loss for each row, by its costs; draw that of one set of costs by from_costs."
            )
        if several and fitted.costs is None:
            raise ValueError(
                "without costs there is a hinge loss for each pair of classes; draw it by from_costs(None), or fit the "
                "machine with costs."
            )
        score = fitted.score(X) if several else fitted.towards_positive(fitted.score(X), fitted.cut)[0]
        return cls.from_predictions(y, score, fitted.costs, pos_label=fitted.positive, **options)

    def plot(self, ax: Axes | None = None, *, classes: tuple[int, ...] = (1, -1)) -> Self:
        """Draw into `ax`, or into a new figure, the losses of `classes`, +1 and -1 by default."""
        ax, reach, knots = self._on(ax), self._reach(), self.loss.tables()[0]
        f = np.union1d(np.linspace(-reach, reach, 401), [*-knots[0], *knots[1]])
        lower, upper = self.loss.thresholds.lower, self.loss.thresholds.upper
        for zone in (zone for zone in self.zones if zone.answers == NO_CLASS):
            start, end = np.clip([zone.start, zone.end], -reach, reach)
            ax.axvspan(start, end, color=zone.colour, alpha=0.6 * zone.alpha, linewidth=0, label=zone.words)
        if self.against_rest:
            ax.axvline(upper, color=LINE, linestyle="--", linewidth=1.2, label=f"decided above {upper:.3g}")
            if lower < upper:
                words = f"depends on the other classes: {lower:.3g} to {upper:.3g}".replace("-", "−")
                ax.axvspan(lower, upper, color=BAND, alpha=0.6, linewidth=0, label=words)
        self.lines_ = {sign: self._draw(ax, sign, f) for sign in classes}
        palette.quiet(ax)
        top, bottom = self._top(f), -0.04 if self.score is None else -0.13
        ax.set(xlabel="score f", ylabel="loss per row", xlim=(-reach, reach), ylim=(bottom * top, top))
        palette.legend_inside(ax)
        return self

    def _draw(self, ax: Axes, sign: int, f: NDArray[np.float64]) -> Line2D:
        loss, colour = self.loss.of(sign), POSITIVE if sign > 0 else NEGATIVE
        names = self.classes or ("negative class", "positive class")
        name = f"{names[sign > 0]}, y = {'+1' if sign > 0 else '−1'}"
        line = ax.plot(f, loss.value(sign * f), color=colour, linewidth=2.0, label=name)[0]
        if self.likelihood:
            ax.plot(f, np.logaddexp(0.0, -sign * f), "--", color=colour, linewidth=1.2, label="−log-likelihood")
        knots, (marker, fill) = sign * np.array(loss.knots), ("^", colour) if sign > 0 else ("o", "white")
        ax.plot(knots, loss.value(sign * knots), marker, color=colour, markerfacecolor=fill)
        if self.sign is not None and self.score is not None:
            rows = self.score[self.sign == sign]
            at = np.full(len(rows), (-0.06 if sign > 0 else -0.1) * self._top(f))  # below 0, under the losses
            beyond = f", {np.sum(np.abs(rows) > f[-1])} outside the plot" if (np.abs(rows) > f[-1]).any() else ""
            ax.plot(rows, at, "|", color=colour, markersize=8, alpha=0.45, label=f"scores of {len(rows)} rows{beyond}")
        return line

    def _reach(self) -> float:
        """Well beyond the outermost knot and threshold, symmetric about 0."""
        thresholds = self.loss.thresholds
        return 1.35 * float(np.abs([*self.loss.tables()[0].flat, thresholds.lower, thresholds.upper]).max())

    def _top(self, f: NDArray[np.float64]) -> float:
        return 1.05 * max(float(self.loss.of(s).value(s * f).max()) for s in (1, -1))


def _place(classes: tuple[Any, ...], label: Any) -> int:
    """The place of a class; any other label is an error."""
    if label not in classes:
        raise ValueError(f"label={label!r} must be one of the classes {[*classes]}; each has its own loss.")
    return classes.index(label)


def _loss_of(costs: Any, rule: Any, label: Any, classes: Any = None) -> dict[str, Any]:
    """Return the loss of the costs, and the names that they state, as arguments of the display."""
    stated = None if costs is None else costs.labels
    known = classes or stated or (0, 1)
    options = SimpleNamespace(costs=costs, rule=rule, pos_label=None, reject_label="auto")
    chosen, losses = implied(options, np.repeat(np.array(known), 2))
    likelihood = costs is not None and rule == "chow"
    if len(losses) == 1:
        return {"loss": losses[0], "likelihood": likelihood, "zones": zones_of(chosen), "classes": stated}
    same = label is None and len(set(losses)) == 1
    at, name = (0, "the class") if same else (_place(known, label), label)
    return {"loss": losses[at], "likelihood": likelihood, "classes": ("the rest", name), "against_rest": True}
