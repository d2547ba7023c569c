"""The search of an svm among other machines, with what is stated for all of them."""

import warnings
from typing import Any

from sklearn.base import clone

from abstain.estimators.search.scales import OF_SCALES
from abstain.estimators.search.search import SEARCHING
from abstain.estimators.svm.svc_cv import RejectSVCCV


def searched_svm(given: Any, X: Any, y: Any, own: Any, of_search: tuple[Any, ...], **kernel: Any) -> RejectSVCCV:
    """Search for some seconds and fit the svm, for which it has all of the time that is kept for last fits.

    `of_search` are the folds, the seconds, None or a list for the scored rows, and whether no other svm has warned.
    Warnings name the whole limit, which is the one that can be raised.
    """
    cv, limit, scored, first = of_search
    search = RejectSVCCV() if given.svm is None else clone(given.svm)
    search.set_params(costs=given.costs, cv=cv, pos_label=given.pos_label, reject_label=given.reject_label)
    whole = None if limit is None or given.time_limit is None else limit + (1.0 - SEARCHING) * given.time_limit
    search.set_params(time_limit=whole, verbose=given.verbose, **kernel)
    if given.n_jobs is not None:
        search.set_params(n_jobs=given.n_jobs)
    if whole is not None and limit is not None:
        search._searching = limit / whole  # noqa: SLF001 (the share of its time limit)
    if scored is not None:
        search._on_scored = lambda *found: scored.append(found)  # noqa: SLF001 (of this library)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if not first:  # the other kernel has said so
            warnings.filterwarnings("ignore", OF_SCALES)
        search.fit(X, y, **own)
    search.__dict__.pop("_on_scored", None)
    for one in caught:
        text = str(one.message).replace(f"time_limit={whole}", f"time_limit={given.time_limit}")
        warnings.warn(text, one.category, stacklevel=5)
    return search.set_params(time_limit=given.time_limit)
