"""Platt's sigmoid, shrunk towards the score itself, for many machines at once.

For scores that are log-odds up to a factor and a shift (Platt 1999)::

    log-odds = e^t score + b,    minimise  sum_i w_i log(1 + exp(-y_i (e^t score_i + b))) + (t^2 + b^2) / (2 tau^2)

The penalty is the prior that t and b are normal with standard deviation tau: few rows leave the score as it is.

Of several classes, the lead of the likeliest as log-odds is corrected so::

    Q = softmax(scale g),    k the likeliest class,    lead = log(Q_k / (1 - Q_k))
    P_k = 1 / (1 + exp(-(slope lead + shift))),        P_j = Q_j (1 - P_k) / (1 - Q_k)   for the others

The scale makes the held-out rows likeliest under Q (`fitted_scale`). One number cannot fit sure and unsure rows at
once: where many classes are easy and a few are alike, Q is too sure of its surest answers. So Platt's sigmoid of the
lead is fitted to whether the likeliest class was right, strongly shrunk towards P = Q.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logsumexp, softmax

Floats = NDArray[np.float64]
TAU = 0.5  # from 0.2 to 1 the mean cost of held-out rows was the same on 29 sets, within the noise
STEPS, HALVINGS = 25, 30
LEAD_TAU = 0.1  # unseen rows of ten sets cost the same from 0.1 to 0.5, within the noise; small sets prefer 0.1
SMALLEST, LARGEST = 1e-3, 1e3  # scales
FIRST = 1e-9  # by how much, relative to itself, P_k exceeds the next P at least: the likeliest class remains so
CLOSE = 1e-5  # the gradient at which Newton's method ends, per row


def shrunk_sigmoids(
    scores: Floats, sign: NDArray[np.int8], weight: Floats, start: Floats | None = None, *, tau: float = TAU
) -> Floats:
    """Fit (t, b) for each row of `scores`, shape (machines, rows), by Newton's method; shape (machines, 2)."""
    y = sign.astype(np.float64)

    def objective(at: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            margin = y * (np.exp(at[:, :1]) * scores + at[:, 1:])
            loss = np.logaddexp(0.0, -margin) @ weight
        return np.asarray(loss + (at**2).sum(axis=1) / (2.0 * tau**2))

    def newton(at: Floats) -> tuple[Floats, Floats]:
        """The gradient in (t, b) and Newton's step; the curvature of e^t counts only where it is positive."""
        scaled = np.exp(at[:, :1]) * scores
        wrong = expit(-y * (scaled + at[:, 1:]))
        slope, bend = -y * wrong * weight, wrong * (1.0 - wrong) * weight
        along = (slope * scaled).sum(axis=1)
        gradient = np.stack([along, slope.sum(axis=1)], axis=1) + at / tau**2
        tt = (bend * scaled**2).sum(axis=1) + np.maximum(along, 0.0) + 1.0 / tau**2
        tb, bb = (bend * scaled).sum(axis=1), bend.sum(axis=1) + 1.0 / tau**2
        step = np.stack([tb * gradient[:, 1] - bb * gradient[:, 0], tb * gradient[:, 0] - tt * gradient[:, 1]], axis=1)
        return gradient, step / (tt * bb - tb**2)[:, np.newaxis]

    at = np.zeros((len(scores), 2)) if start is None else start.copy()
    value = objective(at)
    for _ in range(STEPS):
        gradient, step = newton(at)
        if np.abs(gradient).max(initial=0.0) <= CLOSE * max(1.0, float(weight.sum())):
            break
        share = np.ones(len(at))
        for _ in range(HALVINGS):
            moved = at + share[:, np.newaxis] * step
            reached = objective(moved)
            worse = ~(reached <= value)  # also where it overflows
            if not worse.any():
                break
            share[worse] /= 2.0
        else:
            moved, reached = np.where(worse[:, np.newaxis], at, moved), np.where(worse, value, reached)
        at, value = moved, reached
    return at


@dataclass(frozen=True)
class Lead:
    """Probabilities of all classes from their scores in units of the machine's knots.

    Attributes
    ----------
    scale : float
        The log-odds between two classes per unit of g.
    slope, shift : float
        The correction of the likeliest class's log-odds; 1 and 0 for none.
    """

    scale: float
    slope: float = 1.0
    shift: float = 0.0

    def __call__(self, heights: Floats) -> Floats:
        """Return the probabilities for heights g with the classes on the last axis."""
        top, lead, rest = _against_the_rest(self.scale * heights)
        odds = self.slope * lead + self.shift
        # P_k >= P_j for the next class j, whose share of the rest is its P over 1 - P_k
        odds = np.maximum(odds, np.log(rest.max(axis=-1, keepdims=True)) + FIRST)
        return np.asarray(np.where(top, expit(odds), rest * expit(-odds)))


def fitted_lead(heights: Floats, code: NDArray[np.intp], weight: Floats) -> Lead:
    """Fit it to rows of heights g, (n, n_classes), with codes of the true classes and weights with mean 1."""
    scale = fitted_scale(heights, code, weight)
    top, lead, _ = _against_the_rest(scale * heights)
    right = np.take_along_axis(top, code[:, np.newaxis], axis=1)[:, 0]
    sign = np.where(right, 1, -1).astype(np.int8)
    t, shift = shrunk_sigmoids(lead.T, sign, weight, tau=LEAD_TAU)[0]
    return Lead(scale, float(np.exp(t)), float(shift))


def fitted_scale(heights: Floats, code: NDArray[np.intp], weight: Floats) -> float:
    """Return the scale of the softmax that makes rows likeliest: heights g, codes of true classes, weights of mean 1.

    ::

        scale = argmin sum_i w_i (log sum_k exp(scale g_ik) - scale g_iy)

    The sum is convex in the scale. Of n rows, a share of 1 / (n + 1) of each row's weight counts as spread evenly over
    the classes, which keeps the scale finite where no held-out row is wrong.
    """
    g = heights - heights.mean(axis=1, keepdims=True)
    rest = 1.0 / float(weight.sum())
    own = np.take_along_axis(g, code[:, np.newaxis], axis=1)[:, 0]
    aim = float(weight @ own) / (1.0 + rest)  # of the mean g under P; the mean of g over all classes is 0

    def excess(scale: float) -> float:
        """The derivative of the sum."""
        return float(weight @ np.einsum("ik,ik->i", softmax(scale * g, axis=1), g)) - aim

    if excess(SMALLEST) >= 0.0:
        return SMALLEST
    if excess(LARGEST) <= 0.0:
        return LARGEST
    ends = np.log([SMALLEST, LARGEST])
    return float(np.exp(brentq(lambda at: excess(float(np.exp(at))), *ends, xtol=1e-4)))


def _against_the_rest(power: Floats) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """Mark the first largest entry of each row; give its log-odds under a softmax, and the shares of the others."""
    top = np.arange(power.shape[-1]) == np.argmax(power, axis=-1)[..., np.newaxis]
    others = np.where(top, -np.inf, power)
    lead = np.max(power, axis=-1, keepdims=True) - logsumexp(others, axis=-1, keepdims=True)
    return top, lead, softmax(others, axis=-1)
