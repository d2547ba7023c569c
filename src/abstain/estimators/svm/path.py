"""reject_svc_path: every machine along C, from labelled rows."""

import warnings
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from abstain.arguments import positive_number, refuse_dask
from abstain.estimators.fitting.bases import BaseEstimator
from abstain.estimators.fitting.solving import is_indefinite
from abstain.estimators.fitting.training import Training, refuse_row_costs_in
from abstain.estimators.svm.svc import RejectSVC
from abstain.solvers.path import RegularizationPath, follow_path


def reject_svc_path(
    X: Any,
    y: ArrayLike,
    costs: Any = None,
    *,
    kernel: Any = "rbf",
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    C_min: float = 1e-2,
    C_max: float = 1e3,
    sample_weight: ArrayLike | None = None,
    rule: Any = "chow",
    pos_label: Any = None,
    class_weight: Any = None,
    cache_size: float = 500,
    n_jobs: int | None = None,
    row_costs: Any = None,
) -> RegularizationPath:
    """Follow the optimum of `RejectSVC` exactly for every C between two values.

    The optimum divided by C is piecewise linear in 1 / C. The path goes from one change of the active set to the next
    and takes about as long as a few exact fits.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Training rows; the Gram matrix for a precomputed kernel.
    y : array-like of shape (n_samples,)
        Their labels, of two classes; in the coefficients, +1 is the positive class.
    costs : Costs or None, default=None
        As in `RejectSVC`.
    kernel, gamma, degree, coef0, rule, pos_label, class_weight, cache_size, n_jobs
        As in `RejectSVC`.
    C_min, C_max : float, default=1e-2, 1e3
        The ends of the path.
    sample_weight : array-like of shape (n_samples,), default=None
        Factors on C for each row.
    row_costs : None
        Not supported: a path has one loss per class.

    Returns
    -------
    RegularizationPath
        ``breakpoints``, and ``at(C)`` -> (beta of all training rows, intercept), for every C in the range. Each answer
        is certified to a relative duality gap of 1e-6, by one product of the kernel matrix with beta; if rounding
        prevents this, `at` raises a ValueError.

    Raises
    ------
    ValueError
        If rounding hides the path from some C on: the error states this C. The path is certified as it is followed.

    Examples
    --------
    >>> from abstain import Costs, reject_svc_path
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> path = reject_svc_path(X, y, Costs(reject=0.2), kernel="linear", C_max=10)
    >>> beta, intercept = path.at(2.5)
    >>> beta.shape
    (6,)
    """
    refuse_row_costs_in("a path has", row_costs)
    refuse_dask(X, "reject_svc_path")
    lowest, highest = positive_number("C_min", C_min), positive_number("C_max", C_max)
    if not lowest < highest:
        raise ValueError(f"C_min={C_min!r} must be below C_max={C_max!r}.")
    stated = {"rule": rule, "pos_label": pos_label, "class_weight": class_weight}
    parameters = RejectSVC(costs, kernel=kernel, degree=degree, coef0=coef0, **stated)
    training = Training.of(parameters, X, y, sample_weight, validator=BaseEstimator())
    if len(training.tasks) > 1:
        raise ValueError(
            f"y has {training.n_classes} classes, and a path is that of one machine; follow one for each class, with "
            "y == label for y."
        )
    training.weights(highest)  # raises an error if they overflow
    problem = training.posed(1.0, gamma, all_rows=True).problem
    if training.rule.labels.orientation < 0:  # in the coefficients of a path, +1 is the positive class
        problem = replace(problem, sign=-problem.sign, loss=training.losses[0].turned())  # type: ignore[union-attr]
    last = replace(problem, weight=highest * problem.weight)
    if is_indefinite(last, last.weight, 1e-3 * float(last.weight.sum())):  # the sum is about the objective
        warnings.warn(
            "the kernel is not positive semidefinite on these rows, so points of the path may not be optimal; "
            "use another.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return follow_path(problem, lowest, highest, cache_size=cache_size, n_jobs=n_jobs)
