"""Rules from the scores of several classes to decisions, fitted to out-of-fold scores.

A choice is a class, 0 to K - 1, or K for a reject; costs are tables of K rows (truth) and K + 1 columns (choice).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from harness.rules import sigmoid
from measure_sets import Array, Codes
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_softmax, softmax


@dataclass(frozen=True)
class Decided:
    """The choice for each row, the answer if it must have one, and a number that is the larger the surer that is."""

    choice: Codes
    answer: Codes
    confidence: Array


Decide = Callable[[Array], Decided]
Rule = Callable[[Array, Codes, Array], Decide]  # out-of-fold scores, true classes, costs


def cost_of(y: Codes, choice: Codes, table: Array) -> float:
    """The mean cost."""
    return float(table[y, choice].mean())


def chow(probability: Array, table: Array) -> Decided:
    """The action of least expected cost."""
    expected = probability @ table
    answers = expected[:, :-1]
    return Decided(np.argmin(expected, axis=1), np.argmin(answers, axis=1), -answers.min(axis=1))


def as_is(score: Array, _y: Codes, table: Array) -> Decide:
    """Chow's rule on scores that are log probabilities."""
    del score
    return lambda f: chow(np.exp(f), table)


def temperature(score: Array, y: Codes, table: Array) -> Decide:
    """Chow's rule on softmax(scores / T), with the T that makes the out-of-fold rows likeliest (Guo et al. 2017)."""
    own, unit = np.arange(len(y)), float(np.abs(score).mean()) or 1.0

    def loss(log_scale: float) -> float:
        return -float(log_softmax(np.exp(log_scale) * score / unit, axis=1)[own, y].sum())

    scale = np.exp(minimize_scalar(loss, bounds=(-5.0, 8.0), method="bounded").x) / unit
    return lambda f: chow(softmax(scale * f, axis=1), table)


def platt(score: Array, y: Codes, table: Array) -> Decide:
    """Chow's rule on Platt's sigmoid of each class against the rest, normalised, as CalibratedClassifierCV does."""
    fits = [sigmoid(score[:, k], np.where(y == k, 1, -1).astype(np.int8)) for k in range(score.shape[1])]

    def decide(f: Array) -> Decided:
        own = np.column_stack([expit(a * f[:, k] + b) for k, (a, b) in enumerate(fits)])
        return chow(own / np.maximum(own.sum(axis=1, keepdims=True), 1e-300), table)

    return decide


def lead_cut(score: Array, y: Codes, table: Array) -> Decide:
    """The class of the largest score, unless its lead over the second is below the cut of least out-of-fold cost."""
    lead, answer = _lead(score)
    order = np.argsort(lead, kind="stable")
    saved = (table[y, answer] - table[y, -1])[order]  # by rejecting
    gain = np.r_[0.0, np.cumsum(saved)]
    sorted_lead = lead[order]
    possible = np.r_[True, np.diff(sorted_lead) > 0, True]  # rows with equal leads are rejected together
    k = int(np.argmax(np.where(possible, np.round(gain, 9), -np.inf)))
    ends = np.r_[-np.inf, sorted_lead, np.inf]
    cut = 0.5 * (ends[k] + ends[k + 1]) if 0 < k < len(y) else ends[k + (k > 0)]

    def decide(f: Array) -> Decided:
        lead, answer = _lead(f)
        return Decided(np.where(lead >= cut, answer, f.shape[1]), answer, lead)

    return decide


def _lead(score: Array) -> tuple[Array, Codes]:
    two = np.partition(score, -2, axis=1)[:, -2:]
    return two[:, 1] - two[:, 0], np.argmax(score, axis=1)
