"""The certificate keeps its promise, says what it rests on, and says what is missing where there is none."""

import re

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm

from abstain.rules.tuning.risk_control import _last_passed, _Sequence, _starts, rows_without_error
from abstain.rules.tuning.scored_rows import ScoredRows
from one_score import certify

MAX_ERROR, CONFIDENCE, N, RUNS = 0.1, 0.9, 600, 500
GENERATORS = {"N(+-1.1, 1)": (1.1, 0.0), "N(+-1.5, 1), 7.5 % flipped": (1.5, 0.075)}


def calibration(rng, shift, flipped, n=N):
    truth = np.where(rng.random(n) < 0.5, 1, -1)
    score = shift * truth + rng.normal(size=n)
    return score, np.where(rng.random(n) < flipped, -truth, truth)


def true_error(distance, shift, flipped):
    """P(wrong | |score| > distance): before flipping, the score lies beyond on the wrong side or on the right one."""
    wrong, right = norm.cdf(-shift - distance), norm.cdf(shift - distance)
    error = wrong / (wrong + right)
    return error * (1 - flipped) + (1 - error) * flipped


def certified(score, sign):
    """Distance and coverage by our tests; None where nothing is certified."""
    try:
        thresholds, certificate = certify(ScoredRows.of(score, sign > 0, cut=0.0), MAX_ERROR, CONFIDENCE)
    except ValueError as error:
        assert "cannot be certified" in str(error)  # noqa: PT017 (finding none is allowed here)
        return None
    return thresholds.upper, certificate.coverage


def by_grid(score, sign, level):
    """The largest of 50 coverages whose exact binomial test is passed at this level."""
    order = np.argsort(-np.abs(score))
    confidence, wrong = np.abs(score)[order], ((score > 0) != (sign > 0))[order]
    sizes = np.arange(1, 51) * len(score) // 50
    passed = sizes[binom.cdf(np.cumsum(wrong)[sizes - 1], sizes, MAX_ERROR) <= level]
    if not len(passed):
        return None
    k = passed[-1]
    return (confidence[k] if k < len(score) else 0.0), k / len(score)


def outcomes(rule, shift, flipped):
    """Over all runs: how often the ceiling is broken, how often a threshold is found, and the mean coverage."""
    rng = np.random.default_rng(2024)
    found = [rule(*calibration(rng, shift, flipped)) for _ in range(RUNS)]
    broken = [one is not None and true_error(one[0], shift, flipped) > MAX_ERROR for one in found]
    return (
        np.mean(broken),
        np.mean([one is not None for one in found]),
        np.mean([one[1] if one else 0 for one in found]),
    )


@pytest.mark.long
@pytest.mark.parametrize("generator", GENERATORS)
def test_the_promise_is_kept(generator):
    allowed = 0.1 + 3 * np.sqrt(0.1 * 0.9 / RUNS)
    ours = outcomes(certified, *GENERATORS[generator])
    bonferroni = outcomes(lambda score, sign: by_grid(score, sign, 0.1 / 50), *GENERATORS[generator])
    assert ours[0] <= allowed
    assert bonferroni[0] <= allowed
    assert ours[1] >= bonferroni[1]
    assert ours[2] > bonferroni[2] + 0.05
    # control: taking the best of 50 tests as if it were the only one breaks the promise
    assert outcomes(lambda score, sign: by_grid(score, sign, 0.5), *GENERATORS[generator])[0] > allowed


def test_two_ceilings_are_kept_together():
    rng = np.random.default_rng(7)
    broken, found = 0, 0
    for _ in range(300):
        truth = np.where(rng.random(800) < 0.4, 1, -1)
        score = np.where(truth > 0, 1.2, -1.6) + rng.normal(size=800)
        try:
            thresholds, certificate = certify(ScoredRows.of(score, truth > 0, cut=0.0), (0.05, 0.1), CONFIDENCE)
        except ValueError:
            continue
        d, found = thresholds.upper, found + 1
        negative = norm.cdf(-1.6 - d) / (norm.cdf(-1.6 - d) + norm.cdf(1.6 - d))
        positive = norm.cdf(-1.2 - d) / (norm.cdf(-1.2 - d) + norm.cdf(1.2 - d))
        broken += negative > 0.05 or positive > 0.1
        choice = thresholds.decide(score)
        assert certificate.accepted == (np.sum((choice != 0) & (truth < 0)), np.sum((choice != 0) & (truth > 0)))
        assert certificate.errors == (np.sum((choice > 0) & (truth < 0)), np.sum((choice < 0) & (truth > 0)))
    assert found > 250
    assert broken <= (0.1 + 3 * np.sqrt(0.09 / 300)) * 300


def test_which_class_is_positive_orders_the_two_ceilings():
    rng = np.random.default_rng(3)
    score, sign = calibration(rng, 2.0, 0.0)
    rows = ScoredRows.of(score, sign > 0, cut=0.0)
    thresholds, certificate = certify(rows, (0.1, 0.03), CONFIDENCE, positive=-1)
    swapped, other = certify(rows, (0.03, 0.1), CONFIDENCE)
    assert thresholds == swapped
    assert certificate.accepted == other.accepted[::-1]
    assert certificate.errors == other.errors[::-1]


class TestCertificate:
    def test_it_counts_what_the_thresholds_accept(self):
        score, sign = calibration(np.random.default_rng(0), 1.1, 0.0)
        thresholds, certificate = certify(ScoredRows.of(score, sign > 0, cut=0.0), MAX_ERROR, CONFIDENCE)
        choice = thresholds.decide(score)
        assert certificate.accepted == np.sum(choice != 0)
        assert certificate.errors == np.sum(choice == -sign)
        assert certificate.coverage == np.mean(choice != 0)
        assert certificate.n_rows == N

    def test_the_bound_is_clopper_and_pearsons(self):
        score, sign = calibration(np.random.default_rng(0), 1.1, 0.0)
        _, certificate = certify(ScoredRows.of(score, sign > 0, cut=0.0), MAX_ERROR, CONFIDENCE)
        tested = binomtest(certificate.errors, certificate.accepted, alternative="less")
        assert certificate.upper_bound == pytest.approx(tested.proportion_ci(CONFIDENCE).high, rel=1e-9)
        assert certificate.upper_bound <= MAX_ERROR

    def test_a_classifier_without_errors_rejects_nothing(self):
        score = np.linspace(-1, 1, 40)
        thresholds, certificate = certify(ScoredRows.of(score, np.sign(score) > 0, cut=0.0), 0.1, 0.9)
        assert not thresholds.rejects
        assert certificate.coverage == 1

    def test_ties_are_accepted_or_rejected_together(self):
        rng = np.random.default_rng(1)
        score, sign = calibration(rng, 1.1, 0.0, 2000)
        score = np.round(score * 4) / 4
        thresholds, certificate = certify(ScoredRows.of(score, sign > 0, cut=0.0), MAX_ERROR, CONFIDENCE)
        assert certificate.accepted == np.sum(np.abs(score) > thresholds.upper)
        mixed = rng.permutation(2000)
        again, _ = certify(ScoredRows.of(score[mixed], sign[mixed] > 0, cut=0.0), MAX_ERROR, CONFIDENCE)
        assert again == thresholds


class TestSequence:
    def test_p_values_are_exact(self):
        score, sign = calibration(np.random.default_rng(4), 1.1, 0.0, 80)
        sequence = _Sequence.of(ScoredRows.of(score, sign > 0, cut=0.0).answered())
        order = np.argsort(-np.abs(score))
        errors = np.cumsum((np.sign(score) != sign)[order])
        np.testing.assert_allclose(
            sequence.p_values(np.array([0.1])), binom.cdf(errors, np.arange(1, 81), 0.1), rtol=1e-10
        )
        np.testing.assert_array_equal(sequence.t[:-1], np.abs(score)[order][1:])

    @pytest.mark.parametrize("by_class", [False, True])
    def test_the_start_of_the_sequence_does_not_depend_on_labels(self, by_class):
        rng = np.random.default_rng(6)
        score, sign = calibration(rng, 1.1, 0.0)
        ceilings, order = (np.array([0.1, 0.2]), (0, 1)) if by_class else (np.array([0.1]), ())
        starts = [
            _starts(_Sequence.of(ScoredRows.of(score, labels > 0).answered(), order), ceilings, 0.1)
            for labels in (sign, -sign, rng.permutation(sign))
        ]
        assert starts[0] == starts[1] == starts[2]
        assert sum(starts[0].values()) == pytest.approx(0.1)
        assert len(starts[0]) == 3

    @pytest.mark.parametrize(("max_error", "level"), [(0.1, 0.1), (0.1, 0.05), (0.01, 0.1), (0.5, 0.5), (0.2, 0.001)])
    def test_the_first_coverage_that_can_be_certified(self, max_error, level):
        k = rows_without_error(max_error, level)
        assert binom.cdf(0, k, max_error) <= level * (1 + 1e-9)
        assert binom.cdf(0, k - 1, max_error) > level

    @pytest.mark.parametrize(
        ("p", "shares", "last"),
        [
            ([0.05, 0.05, 0.2, 0.01], {0: 0.1}, 1),  # one start: the first failure ends it
            ([0.2, 0.01, 0.01], {0: 0.1}, None),
            ([0.2, 0.04, 0.04, 0.06], {0: 0.05, 1: 0.05}, 2),  # the second start has its own share
            ([0.04, 0.09, 0.2], {0: 0.05, 1: 0.05}, 1),  # and what the first one hands on
            ([0.06, 0.09, 0.2], {0: 0.05, 1: 0.05}, None),  # but only if it is passed
            ([], {}, None),
        ],
    )
    def test_levels_are_handed_on_from_passed_tests(self, p, shares, last):
        assert _last_passed(np.array(p), shares) == last


class TestWhatIsMissing:
    def test_too_few_rows_even_without_an_error(self):
        # 0.9^21 = 0.109 > 0.1 >= 0.9^22 = 0.098
        score = np.linspace(0.1, 1, 21)
        with pytest.raises(ValueError, match=r"on 21 rows: .* it needs 22, with errors more\. Use more rows"):
            certify(ScoredRows.of(score, np.ones(21), cut=0.0), 0.1, 0.9)
        score = np.linspace(0.1, 1, 22)
        assert certify(ScoredRows.of(score, np.ones(22), cut=0.0), 0.1, 0.9)[1].coverage == 1  # control

    def test_the_number_of_rows_named_is_enough(self):
        # every tenth row wrong, whatever its confidence, and a ceiling of 12 %
        def rows(n):
            sign = np.ones(n)
            sign[5::10] = -1
            return ScoredRows.of(np.linspace(1, 2, n), sign > 0, cut=0.0)

        with pytest.raises(ValueError, match=r"At this rate about [\d,]+ such rows are needed\. Use more") as raised:
            certify(rows(100), 0.12, 0.9)
        needed = int(re.search(r"about ([\d,]+) such rows", str(raised.value))[1].replace(",", ""))
        assert 100 < needed < 3000
        assert certify(rows(3 * needed), 0.12, 0.9)[1].coverage > 0.3
        with pytest.raises(ValueError, match="cannot be certified"):
            certify(rows(needed // 3), 0.12, 0.9)

    def test_a_classifier_that_is_too_bad(self):
        sign = np.tile([1, -1], 100)
        with pytest.raises(ValueError, match=r"no number of rows would be enough at this rate\. Use a better"):
            certify(ScoredRows.of(np.linspace(1, 2, 200), sign > 0, cut=0.0), 0.1, 0.9)

    def test_few_errors_among_the_most_confident_need_more_rows_only(self):
        def rows(n):  # the less confident half is wrong in every fifth row, the other half nowhere
            sign = np.ones(n)
            sign[: n // 2 : 5] = -1
            return ScoredRows.of(np.linspace(1, 2, n), sign > 0, cut=0.0)

        with pytest.raises(ValueError, match=r"rows are 0 of 140\. At this rate about") as raised:
            certify(rows(280), 0.01, 0.9)
        needed = int(re.search(r"about ([\d,]+) such rows", str(raised.value))[1].replace(",", ""))
        assert certify(rows(needed), 0.01, 0.9)[1].errors == 0

    def test_a_class_with_too_few_rows(self):
        score = np.concatenate([np.linspace(1, 2, 300), [-1.0, -2.0]])
        rows = ScoredRows.of(score, np.sign(score) > 0, cut=0.0)
        with pytest.raises(ValueError, match=r"needs 22 accepted rows of the negative class and 11 of the positive"):
            certify(rows, (0.1, 0.2), 0.9)

    def test_weights_are_refused_with_a_reason(self):
        rows = ScoredRows.of(np.linspace(0.1, 1, 30), np.ones(30), np.full(30, 1.5), cut=0.0)
        with pytest.raises(ValueError, match=r"sample_weight: .* binomial test counts each row once.*cv=\"prefit\""):
            certify(rows, 0.1, 0.9)
        left_out = ScoredRows.of(np.linspace(0.1, 1, 30), np.ones(30), [1.0] * 25 + [0.0] * 5, cut=0.0)
        assert certify(left_out, 0.1, 0.9)[1].n_rows == 25  # a weight of 0 leaves the row out, which is allowed
