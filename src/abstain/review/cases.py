"""Which rows of a batch people review: the rejected ones in the order of the queue, and an audit of the others.

Only rows that the machine answers show how often it is wrong there, so an audit draws some of them at random and mixes
them in at random places. They are shown without a reason and without expected costs, which would say what the machine
answered. As many rejected rows, or half of them, are shown in the same way: whether a row was answered cannot be seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from abstain.rules.decisions import Decisions


@dataclass(frozen=True, eq=False)
class Cases:
    """Rows to review, in order.

    Attributes
    ----------
    rows : ndarray of intp
        Their positions in the batch.
    audited : ndarray of bool
        Whether the machine answers the row; the others are handed on.
    shown : ndarray of bool
        Whether the reason and the expected costs are shown.
    answered, handed_on : int
        The rows of the batch that the machine answers, and those that it hands on.
    seed : int
        The seed of the draw.
    """

    rows: NDArray[np.intp]
    audited: NDArray[np.bool_]
    shown: NDArray[np.bool_]
    answered: int
    handed_on: int
    seed: int

    @classmethod
    def drawn(cls, decisions: Decisions, audit: int = 0, seed: int = 0) -> Self:
        """Take the rejected rows of a batch, and draw `audit` of the others, or all if there are fewer.

        Examples
        --------
        >>> import numpy as np
        >>> from abstain import Costs, RejectSVC
        >>> from abstain.review.cases import Cases
        >>> X = np.linspace(-2, 2, 60)[:, np.newaxis]
        >>> y = np.sin(9 * X[:, 0]) + 2 * X[:, 0] > 0
        >>> cases = Cases.drawn(RejectSVC(Costs(reject=0.2), kernel="linear").fit(X, y).decide(X), audit=4)
        >>> len(cases.rows), int(cases.audited.sum()), cases.answered
        (20, 4, 44)
        """
        rng, queue, others = np.random.default_rng(seed), decisions.queue, np.flatnonzero(~decisions.rejected)
        drawn = rng.choice(others, size=min(audit, len(others)), replace=False)
        total, n = len(queue) + len(drawn), len(drawn)
        audited = np.isin(np.arange(total), rng.choice(total, size=n, replace=False))
        rows, hidden = np.empty(total, dtype=np.intp), audited.copy()
        rows[audited], rows[~audited] = drawn, queue
        alike = min(n, (len(queue) + 1) // 2)
        hidden[rng.choice(np.flatnonzero(~audited), size=alike, replace=False)] = True
        return cls(rows, audited, ~hidden, len(others), len(queue), seed)
