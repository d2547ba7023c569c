"""Successive halving: all pairs of C and gamma on few rows, then fewer pairs on more rows, the last few on all.

The schedule of a search over 50 pairs with 5 folds, for 30,000 rows: 50 pairs on 2,000, 12 on 5,000, 3 on 30,000. The
last round uses two of the folds, which test 12,000 rows: as many as are needed to compare three pairs.

The best gamma changes with the number of rows, by a factor that depends on the set: from 500 to 8,000 rows of the sets
that `subsample` names it grew by 1, 4, 4 and 64, and fell by 16 where nearly all rows were rejected. So every gamma
keeps its best two pairs in the second round. In later rounds the next larger gamma than the best pair's keeps its best
pair. Without this, the search on 6,000 rows of covtype 1 v 2 chose a gamma too small by a factor of 4, and its machine
cost 0.132 a row instead of 0.126. The best C may grow, too: the next larger C is tried with the best pair's gamma.
Without it, 12,000 rows of the same set cost 0.113 instead of 0.110. Both were found on these sets.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from abstain.arguments import significant
from abstain.estimators.fitting.splitting import Groups, Splits
from abstain.estimators.search.rounds import Round, Rounds, keys_of, subsample

BEYOND = 5000  # rows beyond which search="auto" halves
FIRST = 2000  # rows of the first round: its kernel matrices fit the processor's cache
GROWTH = 2.5  # of the rows from round to round
LEAST = 1.5, 3.0  # the last round has this many times the rows of the one before, if that is the second, or a later one
FEWER = 4  # one pair in this many stays
LAST = 3  # pairs on all rows, from the third round on; twice as many on up to MEDIUM rows
MEDIUM = 15_000
PER_GAMMA = 2  # pairs of each gamma that stay for the second round
TESTED = 10_000  # rows on which a round tests: folds beyond are left out

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Schedule:
    """The rounds of a search.

    Attributes
    ----------
    sizes : tuple of int
        Rows of each round, ascending; the last has all.
    pairs : tuple of int
        Pairs of C and gamma in each round.
    """

    sizes: tuple[int, ...]
    pairs: tuple[int, ...]

    @classmethod
    def of(cls, rows: int, pairs: int) -> Self:
        """Plan the search over this many pairs on this many rows."""
        if pairs <= LAST or rows <= FIRST:
            return cls.full(rows, pairs)
        sizes = [FIRST]
        while sizes[-1] * GROWTH * LEAST[len(sizes) > 1] < rows:
            sizes.append(int(sizes[-1] * GROWTH))
        kept = [min(pairs, max(pairs // FEWER**k, 2 * LAST)) for k in range(len(sizes) + 1)]
        if len(sizes) > 1 and rows > MEDIUM:
            kept[-1] = LAST
        return cls((*sizes, rows), tuple(kept))

    @classmethod
    def full(cls, rows: int, pairs: int) -> Self:
        """All pairs on all rows."""
        return cls((rows,), (pairs,))

    def after(self, k: int, folds: int) -> list[tuple[int, int]]:
        """The rows and fits of the rounds after the k-th, with this many folds, and of the last fit, to all rows."""
        later = zip(self.sizes[k + 1 :], self.pairs[k + 1 :], strict=True)
        return [*((size, pairs * _folds(size, folds)) for size, pairs in later), (self.sizes[-1], 1)]

    def scores(self, folds: int) -> int:
        """The largest number of scores in memory at a time, over all rounds."""
        return max(
            size * pairs * (_folds(size, folds) if len(self.sizes) > 1 else folds)
            for size, pairs in zip(self.sizes, self.pairs, strict=True)
        )


def planned(search: str, rows: int, pairs: int) -> Schedule:
    """Return the schedule that the parameter `search` means."""
    halves = search == "halving" or (search == "auto" and rows > BEYOND)
    return Schedule.of(rows, pairs) if halves else Schedule.full(rows, pairs)


def _folds(rows: int, folds: int) -> int:
    return min(folds, int(np.ceil(folds * TESTED / rows)))


def halved(rounds: Rounds, splits: Splits, groups: Groups | None, schedule: Schedule) -> list[Round]:
    """Run the rounds of the schedule and return those that count.

    Under a time limit, a later round has only as many pairs as are likely to finish. If these are fewer than two, or if
    the round is cut short after all, the search ends with the round before, where all pairs were compared on the same
    rows.
    """
    code, weight, tasks = rounds.training.code, rounds.training.sample_weight, len(rounds.training.tasks)
    n, deadline = len(code), rounds.fits.limits.until
    keys = keys_of(code, groups, schedule.sizes[0] / n)
    alive, found = rounds.pairs, list[Round]()
    for k, size in enumerate(schedule.sizes):
        rows, part = (np.arange(n), splits) if size == n else subsample(splits, keys, code, weight, size / n)
        used = tested_folds(part.tests) if len(schedule.sizes) > 1 else len(part.tests)
        if found:
            count = schedule.pairs[k]
            if deadline is not None:
                needed = rounds.line.pace.of_rounds([(len(rows), count * used * tasks)])
                count = min(count, int(count * (deadline - time.monotonic()) / needed))
            if count < min(2, schedule.pairs[k]):
                break
            alive = survivors(*found[-1].means, count, every_gamma=k == 1)
        tried = np.repeat(alive.T[:, np.newaxis], len(part.tests), axis=1)
        tried[:, used:] = False
        later = [(size, fits * tasks) for size, fits in schedule.after(k, used)]
        rounds.line.begin_round(int(tried.sum()) * tasks, len(rows), later, k, len(schedule.sizes))
        done = rounds.run(rows, part, tried, coarse=not found)
        if found and not done.complete:
            break
        found.append(done)
        if not done.complete:
            break
    return found


def tested_folds(tests: Floats) -> int:
    """The number of folds that together test enough rows."""
    tested = np.cumsum((tests > 0).sum(axis=1))
    return min(len(tests), 1 + int(np.searchsorted(tested, TESTED)))


def survivors(costs: Floats, disorder: Floats, count: int, *, every_gamma: bool) -> NDArray[np.bool_]:
    """Mark the pairs that stay, (Cs, gammas), by their means, which are nan for pairs not in the round.

    They are the best ones, with equal costs ordered by the disorder of the scores. But first come the best two of every
    gamma, as far as `count` allows; otherwise the best pair, the best one with the next larger gamma, and the best
    pair's gamma with the next larger C, even if that pair had dropped out.
    """
    order = np.lexsort((disorder.ravel(), significant(costs.ravel())))  # nan is last
    place = np.empty(costs.shape)
    place.ravel()[order] = np.arange(costs.size)
    within, best = np.argsort(np.argsort(place, axis=0), axis=0), order[0] % costs.shape[1]
    guarded = within < min(PER_GAMMA, count // costs.shape[1])
    if not every_gamma:
        guarded = (within == 0) & ((np.arange(costs.shape[1]) - best == 1) & (count > 1))
        guarded.ravel()[order[0]] = True
    place[guarded] -= costs.size
    known = ~np.isnan(costs)
    c = int(order[0]) // costs.shape[1]
    if not every_gamma and count > 2 and c + 1 < len(costs):
        place[c + 1, best], known[c + 1, best] = -costs.size, True
    place[~known] = np.inf
    stay = np.zeros(costs.size, dtype=bool)
    stay[np.argsort(place, axis=None, kind="stable")[:count]] = True
    return stay.reshape(costs.shape) & known


def not_tried(schedule: Schedule, rounds: list[Round], Cs: Floats, gammas: Floats) -> Iterator[str]:
    """What the time was too short for, in words: rounds, pairs of rounds, and fits of the first round."""
    first, last = rounds[0], rounds[-1]
    if not first.complete:
        late, begun = first.tried & ~first.finished, np.asarray(first.tried.any(axis=1))
        words = f"{int(late.sum())} of the {int(first.tried.sum())} fits of its search count as not tried"
        nowhere = np.asarray((late | ~first.tried).all(axis=1)) & begun
        if nowhere.any():
            words += f", with {int(nowhere.sum())} of the {int(begun.sum())} pairs on no fold ("
            words += f"C {_range(Cs[nowhere.any(axis=0)])}"
            words += "" if np.isnan(gammas).any() else f", gamma {_range(gammas[nowhere.any(axis=1)])}"
            words += ")"
        yield words
    for planned, done in zip(schedule.pairs, rounds, strict=False):
        if (pairs := int(done.tried.any(axis=1).sum())) < planned:
            yield f"{planned - pairs} of {planned} pairs were not tried on {len(done.rows):,} rows"
    if missing := schedule.sizes[len(rounds) :]:
        sizes = " and ".join(f"{size:,}" for size in missing)
        yield f"its pairs were compared on {len(last.rows):,} rows, not on {sizes}"


def _range(values: Floats) -> str:
    return f"{values[0]:.3g}" if len(values) == 1 else f"from {values.min():.3g} to {values.max():.3g}"
