"""Reject costs that can never pay: refused, with the largest that could."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["check_reject", "largest_scale", "rejecting_pays"]

EQUALITY = 1e-12  # if r_neg/c_fp + r_pos/c_fn is this close to 1, it counts as 1: nothing is rejected
SCALE = 1e-9  # and for more classes the largest scale of the reject costs, which a solver finds
SPAN = 1e15  # of the costs: beyond it, rounding decides which action is the cheapest


def check_reject(costs: Any) -> None:
    """Raise an error if rejecting can never pay, whatever the probabilities."""
    if costs.n_classes == 2:
        _check_two(costs)
        return
    reject = costs.reject
    off = _ratios(costs.errors, costs.reject_costs)[~np.eye(costs.n_classes, dtype=bool)]
    if not off.max() <= SPAN * off.min():
        raise ValueError(
            f"the errors, in units of the reject cost of the true class, differ by a factor of more than {SPAN:g},"
            f" from {off.min():.3g} to {off.max():.3g} of the largest; state costs that differ by less."
        )
    scale = costs.largest_scale
    if scale < 1.0 - SCALE:
        largest = (
            f"cost allowed is {scale * reject:.12g}"
            if not isinstance(reject, tuple)
            else f"costs in this ratio are {tuple(float(f'{scale * one:.12g}') for one in reject)}"
        )
        raise ValueError(
            f"reject={reject} can never pay: whatever the probabilities of the {costs.n_classes} classes, "
            f"one of the answers is cheaper. The largest reject {largest}."
        )


def rejecting_pays(costs: Any) -> bool:
    """Return whether rejecting ever pays, of costs of more than two classes."""
    return bool(costs.largest_scale > 1.0 + SCALE)


def _check_two(costs: Any) -> None:
    errors, rejects = (costs.false_positive, costs.false_negative), (costs.reject_negative, costs.reject_positive)
    share, names = rejects[0] / errors[0] + rejects[1] / errors[1], ["reject_negative", "reject_positive"]
    if share <= 1.0 + EQUALITY:
        return
    names += ["false_positive", "false_negative"]
    if rejects[0] != rejects[1]:
        largest = f"costs in this ratio are ({rejects[0] / share:.12g}, {rejects[1] / share:.12g})"
    else:
        largest = f"cost allowed is {rejects[0] / share:.12g}"
    if costs.labels is not None:
        first, last = (f"[{label!r}]" for label in costs.labels)
        names = [f"reject{first}", f"reject{last}", f"table{first}{last}", f"table{last}{first}"]
    raise ValueError(
        f"reject={costs.reject} can never pay: {names[0]}/{names[2]} + {names[1]}/{names[3]} = "
        f"{rejects[0]:g}/{errors[0]:g} + {rejects[1]:g}/{errors[1]:g} = "
        f"{share:g} > 1, so deciding for one of the classes is always cheaper. The largest reject {largest}."
    )


def largest_scale(errors: NDArray[np.float64], reject: NDArray[np.float64]) -> float:
    """Return the largest factor on the reject costs at which rejecting still pays for some probabilities.

    ::

        max s   s.t.   sum_j P_j errors[j, k] >= s for all k,   sum_j P_j reject_j = 1,   P >= 0

    With a[j, k] = errors[j, k] / reject_j, up to a unit, and x_j = P_j reject_j / s this is a covering problem::

        1 / s = min sum_j x_j   s.t.   sum_j x_j a[j, k] >= 1 for all k,   x >= 0

    It is solved in units in which the largest entry of each row and column is about 1: the solver's tolerances are
    absolute, and costs may differ by many powers of ten.
    """
    from scipy.optimize import linprog  # slow to import, and only costs of several classes need it

    a = _ratios(errors, reject)
    by_truth = a.max(axis=1)
    by_answer = (a / by_truth[:, np.newaxis]).max(axis=0)
    cover = (a / by_truth[:, np.newaxis] / by_answer).T
    found = linprog(by_truth.max() / by_truth, -cover, -1.0 / by_answer, bounds=(0.0, None))
    return float(by_truth.max() / found.fun) * (float(np.max(errors)) / float(reject.min()))


def _ratios(errors: NDArray[np.float64], reject: NDArray[np.float64]) -> NDArray[np.float64]:
    """The errors in units of the reject cost of the true class, as shares of a bound of the largest."""
    return np.asarray(errors / np.max(errors) * (reject.min() / reject)[:, np.newaxis])
