"""Which rows calibrate a guard, and what the classifier decides on them without having seen them.

If the classifier was fitted on them too, a witness shows it: the classifier with the parameters that were found, fitted
without the calibration rows. Its decisions on these rows, by the final rule, are those of the classifier on rows that
it has not seen, as far as a fit on fewer rows shows them.
"""

import math
import warnings
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from abstain.estimators.fitting.splitting import Groups
from abstain.estimators.linear.linear_svc import LinearRejectSVC
from abstain.estimators.linear.linear_svc_cv import LinearRejectSVCCV
from abstain.estimators.novelty.guard import some_rows
from abstain.estimators.novelty.guarded import Guarded
from abstain.estimators.svm.svc import RejectSVC
from abstain.estimators.svm.svc_cv import RejectSVCCV
from abstain.estimators.threshold.threshold import ThresholdRejector
from abstain.estimators.unwrap import decide, final_estimator
from abstain.machines.response_machine import ResponseMachine
from abstain.rules.tuning.class_error import rows_needed

MOST_DETECTED = 2_000  # rows that the detector learns from: twice as many found no more on three sets, half found less
ENOUGH = 1_000  # calibration rows, or ten for each that may be rejected if that is more
LAST_FIT = 0.25  # of the time limit of a search is for the fit at its end
FEW = 0.02  # the classifier may do without this share of the rows
KEPT = 5_000_000  # cells of a table of which a copy is kept for the witness, at most
RARE = 10  # a class that would keep fewer rows than this in training keeps all


@dataclass(frozen=True, eq=False)
class GuardRows:
    """Indices of rows, increasing.

    Attributes
    ----------
    calibration, detector : ndarray of intp
        Disjoint.
    training : ndarray of intp
        For a classifier that does not see the calibration rows, except those of rare classes.
    held_out : ndarray of intp
        The calibration rows that are not in `training`.
    """

    calibration: NDArray[np.intp]
    detector: NDArray[np.intp]
    training: NDArray[np.intp]
    held_out: NDArray[np.intp]

    @classmethod
    def drawn(
        cls, y: NDArray[Any], present: NDArray[np.intp], groups: Groups | None, size: int, state: Any
    ) -> "GuardRows":
        """Draw about `size` calibration rows among the rows `present`, whole groups if there are groups.

        They are drawn whatever their class, so that they are exchangeable with new rows.
        """
        order = state.permutation(present)
        if groups is None:
            calibration, rest = order[:size], order[size:]
        else:
            names, counts = np.unique(groups[present], return_counts=True)
            drawn = state.permutation(len(names))[:-1]  # at least one group is left
            before = np.cumsum(counts[drawn]) - counts[drawn]
            is_chosen = np.isin(groups[order], names[drawn[before < size]])
            calibration, rest = order[is_chosen], order[~is_chosen]
        back = _needed_back(y, calibration, rest, groups)
        training, held_out = np.concatenate([rest, calibration[back]]), calibration[~back]
        return cls(*map(np.sort, (calibration, rest[:MOST_DETECTED], training, held_out)))


def calibration_size(n: int, rate: float, size: Any) -> int:
    """Give the number m of calibration rows among n, so that a row is novel if fewer than k of them are as unusual.

    ::

        m = k / rate - 1,  k the least with m + 1 >= n / 5 and k >= 2;  m at most max(1,000, 10 / rate)

    With k = 2 one odd calibration row cannot hide all novel rows, which is worth up to three quarters of the rows;
    otherwise m is at most n / 2.
    """
    if size is None:
        most = max(ENOUGH, math.ceil(10.0 / rate))
        k = 1
        while k == 1 or rows_needed(rate, k) + 1 < n / 5:
            if rows_needed(rate, k + 1) > min(most, 3 * n // 4 if k == 1 else n // 2):
                break
            k += 1
        m = rows_needed(rate, k)
        return m if k > 1 else min(m, n // 2)
    m = int(size) if isinstance(size, Integral) else math.ceil(float(size) * n)
    if m >= n:
        raise ValueError(f"calibration_size={size!r} leaves no rows to learn from, of {n}; make it smaller.")
    return m


def _needed_back(
    y: NDArray[Any], calibration: NDArray[np.intp], rest: NDArray[np.intp], groups: Groups | None
) -> NDArray[np.bool_]:
    """Give True for calibration rows of a class with few others, and for the rows of their groups."""
    names, code = np.unique(y[np.concatenate([calibration, rest])], return_inverse=True)
    own, others = code[: len(calibration)], code[len(calibration) :]
    kept = np.bincount(others, minlength=len(names))
    back = (kept < np.minimum(np.bincount(code), RARE))[own]
    if groups is not None and back.any():
        back = np.isin(groups[calibration], groups[calibration[back]])
    return np.asarray(back)


@dataclass(frozen=True, eq=False)
class Table:
    """Training data: rows, labels, and the other arguments of `fit` that have a value for each row."""

    X: Any
    y: Any
    parameters: dict[str, Any]

    def rows(self, at: NDArray[np.intp]) -> tuple[Any, Any]:
        """Return some of the rows and their labels."""
        return some_rows(self.X, at), some_rows(self.y, at)

    def taken(self, at: NDArray[np.intp]) -> "Table":
        """Return a table of some of the rows."""
        return Table(*self.rows(at), {name: some_rows(value, at) for name, value in self.parameters.items()})

    def fitted(self, estimator: Any) -> Any:
        """Fit the estimator on the rows."""
        return estimator.fit(self.X, self.y, **self.parameters)

    @property
    def row_costs(self) -> Any:
        """The costs of the rows, if rows have costs."""
        return next((value for name, value in self.parameters.items() if name.endswith("row_costs")), None)


def _takes(estimator: Any, name: str) -> bool:
    """Whether `fit` takes the argument; a machine without the search around it takes no groups."""
    if isinstance(estimator, Pipeline) and "__" in name:
        step, _, inner = name.partition("__")
        return _takes(estimator.named_steps[step], inner)
    if routing_enabled():
        return bool(get_routing_for_object(estimator).consumes("fit", [name]))
    return has_fit_parameter(estimator, name) or isinstance(estimator, BaseSearchCV)


def unsearched(fitted: Any) -> Any:
    """Return a classifier, not fitted, with the parameters that a fitted one has found; nothing is searched again."""
    inner = fitted.estimator_ if isinstance(fitted, ThresholdRejector) else getattr(fitted, "best_estimator_", None)
    if inner is not None:
        return unsearched(inner)
    if isinstance(fitted, Pipeline):
        name, last = fitted.steps[-1]
        return clone(fitted).set_params(**{name: unsearched(last)})
    if hasattr(fitted, "parts"):  # an average
        return type(fitted)([(name, unsearched(one)) for name, one in fitted.parts.items()])
    if isinstance(fitted, RejectSVCCV):
        width = {} if np.isnan(fitted.gamma_) else {"gamma": fitted.gamma_}
        found = {"C": fitted.C_, "kernel": fitted.kernel_} | width
        return _with_found(RejectSVC, fitted, found)
    if isinstance(fitted, LinearRejectSVCCV):
        return _with_found(LinearRejectSVC, fitted, {"C": fitted.C_})
    return clone(fitted)


def _with_found(plain: Any, fitted: Any, found: dict[str, Any]) -> Any:
    if fitted.time_limit is not None:
        found["time_limit"] = LAST_FIT * fitted.time_limit
    known = plain().get_params(deep=False)
    same = {name: value for name, value in fitted.get_params(deep=False).items() if name in known}
    made = clone(plain(**same | found))
    if routing_enabled():
        asked = fitted.get_metadata_routing().fit.requests
        made.set_fit_request(**{name: asked[name] for name in made.get_metadata_routing().fit.requests})
    return made


def decisions_on_unseen(now: Guarded, table: "Table", rows: "GuardRows", *, refitted: bool) -> Any:
    """Count the decisions on calibration rows by the classifier, or by a witness if it was fitted on them too.

    None if there are no such rows, if the witness cannot be fitted, such as a search that needs more rows, or if it
    does not show what the classifier decides: where a choice is made more or less often by a larger share of these rows
    than the share of all rows that the witness lacks. A witness is fitted when its counts are first read, on a copy of
    the rows, unless the copy would be large; what returns the counts is returned then.
    """
    if not len(rows.held_out):
        return None
    unseen, lacking = table.taken(rows.held_out), len(rows.calibration) / (len(rows.training) + len(rows.held_out))
    learned, config = table.taken(rows.training) if refitted else None, get_config()

    def counts() -> NDArray[np.int64] | None:
        try:
            with config_context(**config):
                own = now.counted(now.decided(unseen.X, unseen.row_costs))
                choices = own if learned is None else now.counted(_by_witness(now, learned, unseen))
        except (TypeError, ValueError):
            return None
        return choices if np.abs(own - choices).max() <= lacking * len(rows.held_out) else None

    return counts if refitted and np.prod(np.shape(table.X)) <= KEPT else counts()


def _by_witness(now: Guarded, learned: "Table", unseen: "Table") -> Any:
    plain = unsearched(now.estimator)
    taken = {name: value for name, value in learned.parameters.items() if _takes(plain, name)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the classifier once more
        witness = replace(learned, parameters=taken).fitted(plain)
    if hasattr(final_estimator(witness), "guard_"):
        return decide(witness, unseen.X, unseen.row_costs)  # the rule alone does not reject novel rows
    if not now.is_ours:
        return replace(now, machine=replace(now.machine, classifier=witness), estimator=witness).decided(unseen.X)
    method = getattr(final_estimator(now.estimator), "response_method_", "decision_function")
    score = ResponseMachine(witness, method).score(unseen.X)
    rule = now.rule.for_rows(unseen.row_costs, len(score))
    return rule.decide(score)
