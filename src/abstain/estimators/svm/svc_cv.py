"""RejectSVCCV: RejectSVC with C and gamma chosen by the cross-validated mean cost, in the time of a few fits."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from abstain.costs.table import CostTable
from abstain.estimators.fitting.kernel_fit import FittedSVC
from abstain.estimators.fitting.parameters import CONSTRAINTS, with_parameters
from abstain.estimators.fitting.training import Training
from abstain.estimators.search.search import Searched, SearchMixin
from abstain.estimators.svm.svc import RejectSVC
from abstain.solvers.cross_validation import KernelFits, Limits

LOOSER = 10.0  # the fits of the search stop at this many times `tol`: costs of held-out rows need no finer tolerance
FINEST = 1e-4  # the search never uses a finer one: with kernel values in single precision, pair steps would cycle


@dataclass(frozen=True, eq=False)
class FittedSearch(Searched, FittedSVC):
    """A fitted `RejectSVCCV`."""


@with_parameters
class RejectSVCCV(SearchMixin, RejectSVC):  # type: ignore[misc] # its fit takes groups too
    """RejectSVC with C and gamma chosen by stratified cross-validation on the mean cost.

    The reject cost is never chosen: you state it. The score is corrected by the scores of held-out rows (`cuts`), which
    show where a machine trained on few rows is overconfident, or underconfident. All fits of the search run in one
    native call: one kernel matrix per gamma serves all folds and all C if it fits into `cache_size`, each fit starts
    from the fit with the next smaller C, and the folds share `n_jobs` threads. From 500 rows on, pairs that can no
    longer be best are not fitted on all folds; beyond 5,000 rows, pairs are compared on subsamples instead (`search`).
    The machine is then fitted to all rows with the best pair; ties go to the smaller C, then to the smaller gamma.

    Parameters
    ----------
    costs : Costs, Actions or None, default=None
        As in `RejectSVC`; the search minimises the mean cost, or the error rate if no costs are stated.
    Cs : int or array-like of float, default=10
        Values of C to try; a number k stands for ``logspace(-2, 3, k)``.
    gammas : int or array-like, default=5
        Values of gamma to try (numbers, "scale" or "auto"); a number k stands for the gamma of "scale" times
        ``4 ** linspace(-2, 2, k)``. Has no effect for kernels without gamma.
    cv : int, splitter or iterable of (train, test), default=5
        Folds, as everywhere in scikit-learn: a number means that many stratified folds in the order of the rows. If you
        pass `groups` to `fit`, a number means `StratifiedGroupKFold`: all rows of a group are in the same fold. Rows of
        weight 0 are in none of these folds. Pairs (train, test) are row numbers or masks; a row that occurs twice
        counts twice.
    cuts : {"tuned", "bayes"}, default="tuned"
        "bayes": the score of `RejectSVC`, with Bayes' thresholds. "tuned": the machine is rescaled, so that its score
        is ``scale * f + shift`` of the trained f, with the same thresholds. This is Platt's sigmoid, fitted to the
        held-out scores and shrunk towards f itself, so that few rows change little. Among the pairs within one standard
        error of the least mean cost, the one that costs least when tuned is chosen. To compare them, each fold uses the
        sigmoid of the other folds; the final sigmoid is fitted to all held-out scores. The trained score is kept if
        tuning changes nothing or costs more by a standard error, if one class has fewer than ten held-out rows, with a
        single fold, without costs, and for rules other than "chow", which have their own thresholds. With more than two
        classes "tuned" is the action of least expected cost under a softmax of the scores, corrected by Platt's sigmoid
        of the likeliest class's lead; its three numbers are fitted to held-out scores, and the pair is chosen, in the
        same way.
    search : {"auto", "full", "halving"}, default="auto"
        "full" tries all pairs on all rows. "halving" tries them on a stratified subsample of 2,000 rows, the better
        ones on larger subsamples, and the best three on all rows (more than three up to 15,000 rows), on as many folds
        as are needed to test 10,000 rows. Subsamples are parts of the folds; if there are many groups, they have whole
        groups. "auto" is "halving" beyond 5,000 rows and "full" below 500. Between these, all pairs are tried on the
        first fold of all rows, and after 1, 2, 4, 8, ... folds a pair drops out if its decisions on the rows tested so
        far cost more than those of the pair which costs least on these rows, by more than three standard errors: the
        sum of the differences exceeds three times the root of the sum of their squares, to which the square of the
        largest cost of a row is added (all weighted).
    kernel : {"linear", "rbf", "laplacian", "poly", "sigmoid", "precomputed", "auto"} or callable, default="rbf"
        As in `RejectSVC`; "auto" tries "rbf" and "laplacian". If `Cs` and `gammas` are numbers of values, each kernel
        has every second pair, so that there are as many fits as with one kernel (one more if the number of pairs is
        odd). If one of them is a list, all pairs are tried with both.
    degree, coef0, rule, pos_label, reject_label, class_weight, solver, tol, cache_size, max_iter, time_limit, \
n_jobs, verbose
        As in `RejectSVC`. The fits of the search stop at ten times `tol`, or at 1e-4 if that is more; the last one at
        `tol`. `time_limit` is for both together. The search may use three quarters of the time. It begins in the middle
        of the grid, then tries every eighth, fourth and second C and gamma, then all; or it ends with a smaller
        subsample. Fits that are not finished by then count as not tried, and a warning says which.

    Attributes
    ----------
    C_, gamma_ : float
        The chosen pair; ``gamma_`` is nan for kernels without gamma.
    kernel_ : str or callable
        The chosen kernel, or `kernel`.
    best_score_ : float
        Minus the mean cost, weighted by row, of held-out rows that the choice has not seen: each fold is decided with
        the pair and the thresholds that the other folds choose. (The largest ``mean_test_score`` is optimistic, because
        it was chosen for being the largest. With a single fold, it is also `best_score_`.) If `cv` repeats, each repeat
        chooses for itself; if all folds test some of the same rows, as with `ShuffleSplit`, the choice has seen those
        rows. The rounds of "halving" before the last have seen all folds, and a pair that dropped out was beaten on
        folds that it is not judged by. On few rows `best_score_` can be off either
        way. It is too optimistic because the folds that choose are fitted on the rows that they judge, and too
        pessimistic because they are fitted on fewer rows than the final machine. On 60 rows of three simulated sets the
        true cost was 1 % and 3 % higher, and 12 % lower (standard errors 1 % to 2 %); on 150 rows of the first two
        there was no difference. nan if no fit of the search ended within `time_limit`.
    cv_reject_rate_ : float
        Share of the held-out rows, weighted by row, that the chosen pair rejects on the folds that it finished; nan if
        there are none, and in a machine loaded from a file.
    cv_results_ : dict of ndarray
        In the form of `GridSearchCV`, without times: ``params``, ``param_C``, ``param_gamma``, ``param_kernel`` if the
        kernel is chosen, ``split<k>_test_score``, ``mean_test_score``, ``std_test_score``, ``rank_test_score``, all at
        Bayes' thresholds. Means are over all
        held-out rows, so a fold counts by the weight of its test rows. ``mean_tuned_score`` is with tuned thresholds,
        for the pairs within a standard error of the best. nan for fits that did not finish and folds that were not
        used. A pair that dropped out has scores of its first folds, and nan on the others and in its means; it ranks
        last. ``n_resources`` is the number of rows on which the pair was last tried, and the scores are from that
        round; only pairs with the largest number can be chosen, and they rank first.
    n_splits_ : int
        Number of folds.
    score_scale_, score_shift_ : float
        The scale and shift of tuned thresholds; 1 and 0 otherwise, and with more than two classes.

    All fitted attributes of `RejectSVC` come from the last fit, on all rows. `dual_coef_`, `intercept_` and `coef_` are
    for the corrected score. The certificate and `sets_` are for the machine before it was rescaled: its coefficients
    are ``dual_coef_ / score_scale_``, its bias ``(intercept_ - score_shift_) / score_scale_``.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from abstain import Costs, RejectSVCCV
    >>> X, y = make_moons(200, noise=0.3, random_state=0)
    >>> clf = RejectSVCCV(Costs(reject=0.2), Cs=[0.1, 1, 10], gammas=[0.1, 1]).fit(X, y)
    >>> len(clf.cv_results_["mean_test_score"])
    6
    """

    _fitted_kind = FittedSearch
    _linear = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: rule for name, rule in CONSTRAINTS.items() if name not in ("C", "gamma")},
        "Cs": "no_validation",
        "gammas": "no_validation",
        "cv": ["cv_object"],
        "cuts": [StrOptions({"tuned", "bayes"})],
        "search": [StrOptions({"auto", "full", "halving"})],
    }

    costs: CostTable | None = None
    _: KW_ONLY
    C: Any = field(init=False)  # chosen, as is gamma
    gamma: Any = field(init=False)
    Cs: Any = 10
    gammas: Any = 5
    cv: Any = 5
    cuts: str = "tuned"
    search: str = "auto"

    def _fits(self, training: Training, gammas: NDArray[np.float64], until: float | None) -> KernelFits:
        limits = Limits(max(LOOSER * self.tol, FINEST), self.max_iter, self.cache_size, self.n_jobs, until)
        problem = training.posed(1.0, float(gammas[-1]), all_rows=True).problem
        return KernelFits(problem, training.tasks, gammas, limits)

    @property
    def gamma_(self) -> float:
        """The chosen gamma; nan for kernels without gamma."""
        return self._now.grid.best[1]

    @property
    def kernel_(self) -> str | Callable[..., Any]:
        """The chosen kernel, or the parameter `kernel`."""
        return self._now.grid.kernel or self.kernel
