"""Drift: whether a batch is like the training rows, by tests of its scores, decisions and columns."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from abstain.arguments import share_between
from abstain.comparison.batch_counts import DriftCounts, guarded_rows, lacking
from abstain.comparison.drift_result import Drift, DriftTest
from abstain.comparison.two_samples import Table, Tested, beyond_test, cells_of, holm, scores_test, shares_tests
from abstain.estimators.novelty.column_range import SeenNumbers
from abstain.estimators.novelty.training_ranges import OutsideColumn

_Found = tuple[str, str, Any, Tested]  # name, kind, label, result
_Named = tuple[str, list[tuple[str, Any]], Table]  # name, kind and label of each category, counts


def drift(estimator: Any, X: Any, *, level: float = 0.05) -> Drift:
    """Test whether a batch is like the training rows.

    Parameters
    ----------
    estimator : NoveltyRejector, or Pipeline or search around one
        Fitted. It keeps what the batch is compared with: scores and decisions of held-out calibration rows, and counts
        of the values in each column of the training rows.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        The batch, as the whole `estimator` takes it; any number of rows. Labels are not needed.
    level : float, default=0.05
        The largest share of false alarms: of batches exchangeable with the training rows, at most this share are called
        drifted.

    Returns
    -------
    Drift
        The verdict, its p-value, one sentence, and each test.

    See Also
    --------
    abstain.comparison.drift.drift_of : The same for a batch that arrives in pieces.
    abstain.plot.DriftDisplay : The picture.

    Notes
    -----
    The tests, corrected for their number by Holm's steps (`abstain.comparison.two_samples` has the formulas):

    - the scores of how unusual the rows are, by Kolmogorov and Smirnov's two-sample test;
    - the number of rows more unusual than nearly all calibration rows;
    - the share of rows that the classifier rejects, and the shares of the classes among those that it decides;
    - for each column, the share of missing values and of each category. Columns with more than 1,000 categories in
      training are tested for missing values only.

    All of them compare two samples of counts. A test of the guard's p-values for uniformity would not do: they share
    one set of calibration rows, whose own luck it takes for drift.

    The test of the scores is exact because the detector has seen neither the calibration rows nor the batch. If
    `estimator_` was fitted on the calibration rows, their decisions come from a classifier with the same parameters
    that was fitted without them. The two differ by more than chance, so that only differences count that would remain
    if as large a share of the batch were decided otherwise as that classifier lacked of the training rows: 20 % for
    1,000 to 5,000 of them, more for fewer, 2 % for 49,000, none from 50,000 on or with ``refit=False``; and decisions
    are not tested if the two already differ by more than that on the calibration rows. Rows that belong together, such
    as visits of one patient, are not exchangeable one by one: a batch of few patients can be called drifted although
    nothing has changed.

    On a large batch a difference can be certain and too small to matter. `Drift.effect` and the sentence say which.

    Examples
    --------
    >>> import numpy as np
    >>> import abstain
    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(1000, 3))
    >>> y = (X[:, 0] + rng.normal(size=1000) > 0).astype(int)
    >>> machine = abstain.RejectSVC(abstain.Costs(reject=0.2))
    >>> model = abstain.NoveltyRejector(machine, random_state=0).fit(X, y)
    >>> print(abstain.drift(model, rng.normal(size=(200, 3))).sentence)
    This batch is like the training rows, as far as 4 tests on 200 rows can tell.
    >>> abstain.drift(model, rng.normal(size=(200, 3)) + 1).drifted
    True
    """
    return drift_of(estimator, DriftCounts.of(estimator, X), level=level)


def drift_of(estimator: Any, counts: DriftCounts, *, level: float = 0.05) -> Drift:
    """Test a batch that was counted in pieces.

    Parameters
    ----------
    estimator : NoveltyRejector, or Pipeline or search around one
        Fitted.
    counts : DriftCounts
        ``sum(DriftCounts.of(estimator, piece) for piece in pieces)``.
    level : float, default=0.05
        As in `abstain.drift`.

    Returns
    -------
    Drift
        The same as that of the whole batch.
    """
    share = share_between("level", level, 0.05)
    guarded, _ = guarded_rows(estimator)
    reference = np.asarray(guarded.guard_.scores, dtype=np.float64)
    before = cells_of(reference, reference)
    # A guard with too few rows for its rate rejects nothing; the largest calibration score still serves here.
    rank = max(1, int(np.floor(guarded.guard_.rate * (len(reference) + 1) * (1 + 1e-12))))
    known = None if counts.choices is None else np.asarray(guarded.calibration_.choices, dtype=np.int64)
    names, rejecting = ((), ()) if known is None else guarded.rule_.labels.counted
    found: list[_Found] = []
    if counts.rows and len(reference):
        found.append(("scores", "scores", None, scores_test(counts.scores, before)))
        found.append(("novel rows", "novel", None, beyond_test(counts.scores, before, rank)))
    if counts.rows:
        slack = math.floor(lacking(guarded) * counts.rows)
        tables: list[_Named] = []
        if counts.choices is not None and known is not None:
            unknown = len(reference) - int(known.sum())  # of rare classes, so not like the others
            tables += _choices(counts.choices, known, names, np.array(rejecting, dtype=bool), (slack, unknown))
        columns = (column.trimmed() for column in counts.columns if column.seen.missing is not None)
        tables += [(f"column {column.seen.name!r}", *_column(column)) for column in columns]
        results = shares_tests([table for *_, table in tables])
        found += [(name, *of[one.at], one) for (name, of, _), one in zip(tables, results, strict=True)]
    found = [one for one in found if one[-1].least < 1.0]  # the others cannot differ
    corrected = holm([one[-1].p_value for one in found], [one[-1].least for one in found])
    tests = tuple(
        DriftTest(name, kind, label, one.difference, one.p_value, float(p), one.here, one.before)
        for (name, kind, label, one), p in zip(found, corrected, strict=True)
    )
    cells = (counts.scores, before)
    return Drift(tests, share, counts.rows, len(reference), cells, rank, (counts.choices, known), names)


def _choices(here: Any, before: Any, names: tuple[Any, ...], rejecting: Any, moved: Any) -> Iterator[_Named]:
    """Compare the share of rejects, then which of the other choices are made."""
    if rejecting.any():
        sides = [np.array([of[rejecting].sum(), of[~rejecting].sum()]) for of in (here, before)]
        yield "rejects", [("rejects", None)], Table(sides[0], sides[1], 0, *moved)
    decided = np.flatnonzero(~rejecting)
    if len(decided) > 1 and here[decided].any() and before[decided].any():
        table = Table(here[decided], before[decided], 0, *moved)
        yield "decisions", [("decisions", names[at]) for at in decided], table


def _column(here: OutsideColumn) -> tuple[list[tuple[str, Any]], Table]:
    """Compare the missing cells and the categories."""
    before, missing = here.seen, ("missing", here.seen.name)
    if isinstance(before, SeenNumbers) or not before.counts or before.rest:
        # Numbers; or more categories than are kept: they are the most frequent ones of training, and not of both.
        absent = here.rows - here.present
        table = Table(np.array([absent, here.present]), np.array([before.missing, before.present]))
        return [missing], table
    labels = [("category", (before.name, label)) for label in (*before.counts, *here.unseen)]
    hidden = [here.hidden] * (here.hidden > 0)
    cells = np.array([here.missing, *here.known, *here.unseen.values(), *hidden])
    known = np.array([before.missing, *before.counts.values()])
    table = Table(cells, np.append(known, np.zeros(len(cells) - len(known), dtype=np.int64)), here.hidden)
    return [missing, *labels], table
