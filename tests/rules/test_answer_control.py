"""Certified errors of answers: the promise is kept, overall and for all classes answered together."""

import numpy as np
import pytest
from scipy.stats import binom

from abstain.rules.tuning.risk_control import certify
from abstain.rules.tuning.scored_rows import AnsweredRows, ByAnswer

CEILING, CONFIDENCE, RUNS, CLASSES = 0.1, 0.9, 200, 6
WRONG = 0.4  # the share of errors among answers of confidence below 1/2; above, there are none
ALLOWED = 0.1 + 3 * np.sqrt(0.09 / RUNS)


def answers(rng, n=1200):
    """Confidences are uniform; of the low ones a share is wrong, whatever the answer."""
    answer, confidence = rng.integers(0, CLASSES, n), rng.random(n)
    wrong = (rng.random(n) < WRONG) & (confidence < 0.5)
    return AnsweredRows(answer, np.where(wrong, (answer + 1) % CLASSES, answer), confidence, np.ones(n), CLASSES)


def true_error(cut):
    below = np.clip(0.5 - np.maximum(cut, 0.0), 0.0, None)
    return WRONG * below / (1.0 - np.maximum(cut, 0.0))


def observed(rows, own):
    """The cut of the largest coverage at which the observed error is within the ceiling: no correction at all."""
    order = np.argsort(-rows.confidence[own])
    rate = np.cumsum(rows.wrong[own][order]) / np.arange(1, own.sum() + 1)
    last = np.flatnonzero(rate <= CEILING)[-1]
    return rows.confidence[own][order][last + 1] if last + 1 < own.sum() else -np.inf


def broken(rule):
    """How often at least one of the cuts that a rule gives has a true error above the ceiling."""
    rng = np.random.default_rng(11)
    return np.mean([(true_error(np.asarray(rule(answers(rng)))) > CEILING).any() for _ in range(RUNS)])


def alone(rows, k):
    """One class certified by itself at the full level."""
    shares = np.where(np.arange(CLASSES) == k, CEILING, np.nan)
    return certify(rows, ByAnswer(tuple(range(CLASSES)), tuple(shares)), CONFIDENCE)[0][k]


def test_the_ceilings_hold_together():
    ceilings = ByAnswer(tuple(range(CLASSES)), (CEILING,) * CLASSES)
    assert broken(lambda rows: certify(rows, ceilings, CONFIDENCE)[0]) <= ALLOWED
    # controls: without a correction for several classes, and by the observed error, the promise is broken
    assert broken(lambda rows: [alone(rows, k) for k in range(CLASSES)]) > ALLOWED
    assert broken(lambda rows: [observed(rows, rows.answer == k) for k in range(CLASSES)]) > 0.8


def test_one_ceiling_holds():
    assert broken(lambda rows: certify(rows, CEILING, CONFIDENCE)[0]) <= ALLOWED
    assert broken(lambda rows: observed(rows, rows.answer >= 0)) > ALLOWED


def test_the_certificate_counts_what_is_accepted():
    rows = answers(np.random.default_rng(0))
    ceilings = ByAnswer(("a", "b", "c", "d", "e", "f"), (0.1, 0.2, np.nan, 0.1, 0.1, 0.1))
    cuts, bound = certify(rows, ceilings, CONFIDENCE)
    accepted = rows.confidence > cuts[rows.answer]
    assert cuts[2] == -np.inf
    for k, label in enumerate(ceilings.classes):
        own = accepted & (rows.answer == k)
        assert (bound.accepted[label], bound.errors[label]) == (own.sum(), rows.wrong[own].sum())
    assert bound.coverage == np.mean(accepted)
    assert bound.max_error == {"a": 0.1, "b": 0.2, "d": 0.1, "e": 0.1, "f": 0.1}
    for label, upper in bound.upper_bound.items():  # at a fifth of the level each
        assert upper <= bound.max_error[label]
        assert binom.cdf(bound.errors[label], bound.accepted[label], upper) == pytest.approx(0.1 / 5)


def test_ties_are_accepted_together_and_the_order_does_not_matter():
    rng = np.random.default_rng(1)
    rows = answers(rng)
    mixed = rng.permutation(len(rows.answer))
    confidence = np.round(rows.confidence * 8) / 8
    found = [
        certify(AnsweredRows(rows.answer[at], rows.truth[at], confidence[at], rows.weight, CLASSES), 0.1, 0.9)
        for at in (slice(None), mixed)
    ]
    assert found[0][1] == found[1][1]
    assert found[0][1].accepted == np.sum(confidence > found[0][0][0])


@pytest.mark.parametrize(
    ("ceiling", "rows", "text"),
    [
        (0.001, answers(np.random.default_rng(0)), r"max_error\['a'\]=0.001, one of 1 ceilings .* rows answered 'a'"),
        (0.1, AnsweredRows(*np.full((2, 9), 2), *np.ones((2, 9)), 6), "on the 0 rows answered 'a'"),
        (0.1, AnsweredRows(*np.zeros((2, 99), int), *np.full((2, 99), 2.0), 6), "each row once"),
    ],
)
def test_what_cannot_be_certified(ceiling, rows, text):
    with pytest.raises(ValueError, match=text):
        certify(rows, ByAnswer(tuple("abcdef"), (ceiling, *[np.nan] * 5)), CONFIDENCE)
