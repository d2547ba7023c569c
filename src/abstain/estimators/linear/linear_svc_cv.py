"""LinearRejectSVCCV: LinearRejectSVC with C chosen by the cross-validated mean cost, in the time of a few fits."""

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from abstain.costs.table import CostTable
from abstain.estimators.fitting.kernel_fit import FittedMachines
from abstain.estimators.fitting.parameters import with_parameters
from abstain.estimators.fitting.training import Training
from abstain.estimators.linear.linear_fit import linear_rows
from abstain.estimators.linear.linear_svc import LinearRejectSVC
from abstain.estimators.search.search import Searched, SearchMixin
from abstain.solvers.cross_validation import Limits
from abstain.solvers.linear_cross_validation import LinearFits


@dataclass(frozen=True, eq=False)
class FittedLinearSearch(Searched, FittedMachines):
    """A fitted `LinearRejectSVCCV`."""


@with_parameters
class LinearRejectSVCCV(SearchMixin, LinearRejectSVC):  # type: ignore[misc] # its fit takes groups too
    """LinearRejectSVC with C chosen by stratified cross-validation on the mean cost.

    The reject cost is never chosen: you state it. Each fold is a path of fits in ascending C. Each fit starts where the
    previous one ended, which takes a seventh to a third of the steps of a cold start. Held-out rows get a weight of 0:
    X is not copied. The machine is then fitted to all rows with the best C; ties go to the smaller C.

    Parameters
    ----------
    costs : Costs, Actions or None, default=None
        As in `RejectSVC`; the search minimises the mean cost, or the error rate if no costs are stated.
    Cs : int or array-like of float, default=6
        Values of C to try; a number k stands for ``logspace(-2, 3, k)``.
    cv : int, splitter or iterable of (train, test), default=5
        Folds, as in `RejectSVCCV`: a number means that many stratified folds in the order of the rows. If you pass
        `groups` to `fit`, a number means `StratifiedGroupKFold`: all rows of a group are in the same fold.
    cuts : {"tuned", "bayes"}, default="tuned"
        Whether the score is corrected by the scores of held-out rows, as in `RejectSVCCV`.
    pos_label, reject_label, class_weight, tol, max_iter, time_limit, n_jobs, verbose
        As in `LinearRejectSVC`. `time_limit` is for the search and the last fit together; the search may use three
        quarters of it. It goes from fold to fold, and a fold that is not finished by then counts as not tried, with a
        warning.

    Attributes
    ----------
    C_ : float
        The chosen C.
    best_score_ : float
        Minus the mean cost of held-out rows that the choice has not seen: each fold is decided with the C and the
        thresholds that the other folds choose; as in `RejectSVCCV`.
    cv_reject_rate_ : float
        Share of the held-out rows that the chosen C rejects, as in `RejectSVCCV`; nan in a machine loaded from a file.
    cv_results_ : dict of ndarray
        In the form of `GridSearchCV`, as in `RejectSVCCV`.
    n_splits_ : int
        Number of folds.
    score_scale_, score_shift_ : float
        The scale and shift of tuned thresholds; 1 and 0 otherwise, and with more than two classes.

    All fitted attributes of `LinearRejectSVC` come from the last fit, on all rows. `coef_` and `intercept_` are for the
    corrected score; the certificate is for ``coef_ / score_scale_``, as in `RejectSVCCV`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from abstain import Costs, LinearRejectSVCCV
    >>> X, y = make_classification(2000, 20, flip_y=0.1, random_state=0)
    >>> clf = LinearRejectSVCCV(Costs(reject=0.1), Cs=[0.01, 0.1, 1]).fit(X, y)
    >>> clf.C_ in [0.01, 0.1, 1], len(clf.cv_results_["mean_test_score"])
    (True, 3)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: rule for name, rule in LinearRejectSVC._parameter_constraints.items() if name != "C"},  # noqa: SLF001
        "Cs": "no_validation",
        "cv": ["cv_object"],
        "cuts": [StrOptions({"tuned", "bayes"})],
    }

    _fitted_kind = FittedLinearSearch
    _linear = True

    costs: CostTable | None = None
    _: KW_ONLY
    C: Any = field(init=False)  # chosen
    kernel: str = field(init=False, default="linear")
    n_components: None = field(init=False, default=None)
    degree: Any = field(init=False)  # of kernels, as what follows
    gamma: Any = field(init=False)
    coef0: Any = field(init=False)
    landmarks: Any = field(init=False)
    memory_limit: Any = field(init=False)
    random_state: Any = field(init=False)
    Cs: Any = 6
    cv: Any = 5
    cuts: str = "tuned"

    def _fits(self, training: Training, gammas: NDArray[np.float64], until: float | None) -> LinearFits:
        del gammas
        limits = Limits(self.tol, self.max_iter, n_jobs=self.n_jobs, until=until)
        return LinearFits(*linear_rows(training.X), training.tasks, limits)
