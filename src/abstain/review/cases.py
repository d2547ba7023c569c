"""Which rows of a batch people review: the rejected ones in the order of the queue, and an audit of the others.

Only rows that the machine answers show how often it is wrong there, so an audit draws some of them at random and mixes
them in at random places. They are shown without a reason and without expected costs, which would say what the machine
answered. As many rejected rows, or half of them, are shown in the same way: whether a row was answered cannot be seen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstain.rules.decisions import Decisions


def drawn_cases(
    decisions: Decisions, audit: int = 0, seed: int = 0
) -> tuple[NDArray[np.intp], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the rows to review, in order, which of them are audited, and which are shown with reason and costs.

    They are the rejected rows of a batch, and `audit` of the others, or all if there are fewer.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain import Costs, RejectSVC
    >>> from abstain.review.cases import drawn_cases
    >>> X = np.linspace(-2, 2, 60)[:, np.newaxis]
    >>> y = np.sin(9 * X[:, 0]) + 2 * X[:, 0] > 0
    >>> rows, audited, shown = drawn_cases(RejectSVC(Costs(reject=0.2), kernel="linear").fit(X, y).decide(X), audit=4)
    >>> len(rows), int(audited.sum()), int(shown.sum())
    (20, 4, 12)
    """
    rng, queue, others = np.random.default_rng(seed), decisions.queue, np.flatnonzero(~decisions.rejected)
    drawn = rng.choice(others, size=min(audit, len(others)), replace=False)
    total, n = len(queue) + len(drawn), len(drawn)
    audited = np.isin(np.arange(total), rng.choice(total, size=n, replace=False))
    rows, hidden = np.empty(total, dtype=np.intp), audited.copy()
    rows[audited], rows[~audited] = drawn, queue
    hidden[rng.choice(np.flatnonzero(~audited), size=min(n, (len(queue) + 1) // 2), replace=False)] = True
    return rows, audited, ~hidden
