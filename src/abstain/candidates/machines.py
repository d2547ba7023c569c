"""The machines by name: what makes each, and the parameters to try.

A machine gives probabilities, and Chow's rule at the stated costs turns them into decisions. Forests, whose means of
votes stay away from 0 and 1, get Platt's sigmoid: on four medical and credit tables at four costs it lowered the mean
cost of the best forest in 11 of 16 cases, by up to 18 %, and raised it in 4, by 2.5 % at most. For the other two, with
their parameters chosen by the mean cost, it made no difference beyond noise.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

SVM, LAPLACIAN, BEST, AUTO, NOTHING, AVERAGE = "svm", "laplacian", "best", "auto", "nothing", "average"
SVMS: dict[str, dict[str, str]] = {SVM: {}, LAPLACIAN: {"kernel": "laplacian"}}  # parameters of the svm that is tried
# Rows from which "auto" averages boosted trees too, and from which it leaves out the svm with the Gaussian kernel, then
# both: their time grows with the square of the rows. What each costs: experiments/decision-quality/average.py.
BOOSTED, WITHOUT_SVM, WITHOUT_BOTH = 2_000, 20_000, 50_000
Late = Callable[[int], bool]  # whether time is over for a fit with so many trees or iterations


@dataclass(frozen=True)
class Machine:
    """A classifier with probabilities, and the parameters to try.

    Attributes
    ----------
    make : callable
        ``make(**parameters, random_state=seed)`` is the plain classifier of scikit-learn.
    grid : tuple of dict
        The parameters to try; ties go to the first, so the simplest come first.
    count : str or None
        The parameter that says how many trees, or at most how many iterations, a fit has; None if it has neither.
    fit_until : callable or None
        None: a fit takes the time it needs.
        ``fit_until(classifier, fit, late)`` calls `fit` for some trees or iterations at a time until `late(number)`
        says that time is over; it returns their number, and whether these are all. If they are, the fit is that of
        one call.
    stages : tuple of int
        Values of `count` to try with each of them, ascending, from one fit; empty for machines without stages.
    short : tuple of int
        Trees or iterations of short fits, ascending, that narrow the grid: the best of them is fitted further, unless
        its cost is least at an earlier stage. Empty: all are fitted in full.
    sigmoid : bool
        Whether Platt's sigmoid is fitted to its probabilities of held-out rows.
    takes_sparse : bool
        Whether it is fitted to sparse rows.
    takes_n_jobs : bool
        Whether a fit has threads of its own, by its parameter n_jobs.
    """

    make: Callable[..., Any]
    grid: tuple[dict[str, Any], ...]
    count: str | None = None
    fit_until: Callable[[Any, Callable[[], Any], Late], tuple[int, bool]] | None = None
    stages: tuple[int, ...] = ()
    short: tuple[int, ...] = ()
    sigmoid: bool = False
    takes_sparse: bool = True
    takes_n_jobs: bool = False

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """All parameters to try, in the order of :meth:`probabilities`."""
        stages = [self.of_count(number) for number in self.stages] or [{}]
        return [parameters | stage for parameters in self.grid for stage in stages]

    @property
    def rounds(self) -> list[tuple[dict[str, Any], int]]:
        """Parameters of the short fits, and how many stages they reach, if they narrow anything; then of whole fits."""
        whole = max(1, len(self.stages))
        reached = [sum(stage <= number for stage in self.stages) or 1 for number in self.short]
        pairs = zip(self.short if len(self.grid) > 1 else (), reached, strict=False)
        return [*((self.of_count(number), at) for number, at in pairs if at < whole or not self.stages), ({}, whole)]

    def of_count(self, number: int) -> dict[str, Any]:
        """The parameters of a fit with so many trees or iterations."""
        return {} if self.count is None else {self.count: number}

    def fitted(
        self, parameters: dict[str, Any], X: Any, y: NDArray[Any], weight: Any, late: Late | None, *, short: Any = None
    ) -> tuple[Any, int, bool]:
        """Fit once for all stages; return the classifier, its number of trees or iterations, and whether it is done.

        A short fit to the same rows is continued: the trees are those of one fit.
        """
        classifier = self.make(**((self.of_count(self.stages[-1]) if self.stages else {}) | parameters))
        if short is not None:
            classifier = short.set_params(**classifier.get_params() | {"warm_start": True})
        fit = partial(classifier.fit, X, y, **({} if weight is None else {"sample_weight": weight}))
        with warnings.catch_warnings():  # scikit-learn's threads may leave the filters of warnings empty
            if late is None or self.fit_until is None:
                return fit(), 1 if self.count is None else getattr(classifier, self.count), True
            return classifier, *self.fit_until(classifier, fit, late)

    def probabilities(self, classifier: Any, rows: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the probabilities of the classes for other rows: one array, or one per stage that was reached."""
        if not self.stages:
            yield (classifier.set_params(n_jobs=None) if self.takes_n_jobs else classifier).predict_proba(rows)
            return
        for at, probability in enumerate(classifier.staged_predict_proba(rows), start=1):
            if at in self.stages:
                yield probability


def iterations_until(classifier: Any, fit: Callable[[], Any], late: Late) -> tuple[int, bool]:
    """Fit up to 100 iterations at a time; most fits need fewer, and end as if there were no limit."""
    most, done = classifier.max_iter, 0
    classifier.set_params(warm_start=True, max_iter=min(100, most))
    while True:
        used = int(fit().n_iter_.max())
        done += used
        ended = used < classifier.max_iter or done >= most
        if ended or late(done):
            return done, ended


def trees_until(classifier: Any, fit: Callable[[], Any], late: Late) -> tuple[int, bool]:
    """Fit 2 trees, then up to 10 at a time: the trees are those of one fit."""
    most = classifier.n_estimators
    classifier.set_params(warm_start=True)
    for number in sorted({min(2, most), *range(10, most, 10), most}):
        classifier.set_params(n_estimators=number)
        fit()
        if late(number):
            return number, number == most
    return most, True


def boosts_until(classifier: Any, fit: Callable[[], Any], late: Late) -> tuple[int, bool]:
    """Let early stopping look at the clock after each tree instead of at the loss: the trees stay the same."""
    made = count()  # it is asked before the first tree too
    classifier.set_params(early_stopping=True, n_iter_no_change=1, tol=0.0, validation_fraction=None)
    classifier.set_params(scoring=lambda *_, **__: -1.0 if late(number := next(made)) else number)
    fit()
    return classifier.n_iter_, classifier.n_iter_ == classifier.max_iter


MACHINES = {
    "logistic": Machine(  # standardised features need few iterations
        partial(LogisticRegression, max_iter=1000),
        tuple({"C": C} for C in (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)),
        "max_iter",
        iterations_until,
    ),
    "forest": Machine(
        RandomForestClassifier,
        tuple({"min_samples_leaf": rows} for rows in (20, 5, 1)),
        "n_estimators",
        trees_until,
        short=(10,),
        sigmoid=True,
        takes_n_jobs=True,
    ),
    "boosting": Machine(  # without early stopping: the number of trees is chosen by the mean cost
        partial(HistGradientBoostingClassifier, early_stopping=False),
        tuple({"max_leaf_nodes": leaves} for leaves in (3, 8, 31)),
        "max_iter",
        boosts_until,
        stages=(10, 20, 40, 80, 160, 320),
        short=(40, 160),
        takes_sparse=False,
    ),
    NOTHING: Machine(partial(DummyClassifier, strategy="prior"), ({},)),  # reads no feature: the same for all rows
}
NAMES = (SVM, *(name for name in MACHINES if name != NOTHING))  # those that `compare` compares
CHOICES = (*SVMS, *NAMES[1:])  # those that "best" chooses among, in the order in which ties are broken


def auto_machines(n: int, *, sparse: bool) -> tuple[str, ...]:
    """Return the machines that are tried on n rows, few and fast ones, and whether they are averaged."""
    svms = n < (WITHOUT_SVM if sparse else WITHOUT_BOTH)
    wanted = {SVM: n < WITHOUT_SVM, LAPLACIAN: svms, "logistic": not svms, "boosting": n >= BOOSTED and not sparse}
    return (*(name for name, used in wanted.items() if used), *((AVERAGE,) if svms else ()))
