"""Which rows of a batch people review: the rejected ones in the order of the queue, and an audit of the others.

Only rows that the machine answers show how often it is wrong there, so an audit draws some of them at random and mixes
them in at random places. They are shown without expected costs, which would say what the machine answered.
"""

import numpy as np
from numpy.typing import NDArray

from abstain.rules.decisions import Decisions


def drawn_cases(decisions: Decisions, audit: int = 0, seed: int = 0) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the rows to review, in order, and which of them are audited.

    They are the rejected rows of a batch, and `audit` of the others, or all if there are fewer.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain import Costs, RejectSVC
    >>> from abstain.review.cases import drawn_cases
    >>> X = np.linspace(-2, 2, 60)[:, np.newaxis]
    >>> y = np.sin(9 * X[:, 0]) + 2 * X[:, 0] > 0
    >>> rows, audited = drawn_cases(RejectSVC(Costs(reject=0.2), kernel="linear").fit(X, y).decide(X), audit=4)
    >>> len(rows), int(audited.sum())
    (20, 4)
    """
    rng, queue, others = np.random.default_rng(seed), decisions.queue, np.flatnonzero(~decisions.rejected)
    drawn = rng.choice(others, size=min(audit, len(others)), replace=False)
    total = len(queue) + len(drawn)
    audited = np.isin(np.arange(total), rng.choice(total, size=len(drawn), replace=False))
    rows = np.empty(total, dtype=np.intp)
    rows[audited], rows[~audited] = drawn, queue
    return rows, audited
