"""Folds from `cv` and `groups`, rows to hold out, and how groups reach a cross-validation inside a model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

__all__ = ["Groups", "group_parameters", "held_out_rows", "parts_of", "row_groups", "splitter"]

Groups = NDArray[Any]
DEFAULT_FOLDS = 5  # scikit-learn's number for cv=None


def row_groups(groups: ArrayLike | None, n: int) -> Groups | None:
    """Give one group label per row; None if no groups are given."""
    if groups is None:
        return None
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise ValueError(f"groups must have one label per row, shape ({n},); its shape is {labels.shape}.")
    try:
        different = np.unique(labels)
        missing = bool((different != different).any())  # noqa: PLR0124 (nan differs from itself)
    except TypeError:  # labels that cannot be sorted, such as None among strings
        missing = True
    if missing:
        raise ValueError(
            "groups must be labels of one type with none missing; give a row without a group a label of its own."
        )
    return labels


def splitter(cv: Any, y: Any, groups: Groups | None, *, shuffle: bool = False, random_state: Any = None) -> Any:
    """Make the splitter that `cv` means; a number or None means stratified folds, with groups `StratifiedGroupKFold`.

    `shuffle` and `random_state` apply to a number of folds only.
    """
    if cv is None or isinstance(cv, Integral):
        count, options = DEFAULT_FOLDS if cv is None else int(cv), dict[str, Any]()
        if shuffle and cv is not None:
            options = {"shuffle": True, "random_state": random_state}
        if groups is None:
            return StratifiedKFold(count, **options) if options else check_cv(cv, y, classifier=True)
        if (found := len(np.unique(groups))) < count:
            raise ValueError(
                f"cv={cv} makes {count} folds, and groups has only {found} different labels among these {len(groups)} "
                "rows; use at most one fold per group."
            )
        return StratifiedGroupKFold(count, **options)
    folds = check_cv(cv, y, classifier=True)
    if groups is None and isinstance(folds, GroupsConsumerMixin):
        raise ValueError(f"cv={folds!r} splits by groups; pass groups, one label per row.")
    return folds


def parts_of(
    folds: Any, X: Any, y: Any, groups: Groups | None, way: str = "Use fewer folds, or add rows of the rarest class."
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """List the (train, test) rows of the folds; warn if a fold trains on some rows of a group and tests on others.

    `way` is the way out that the error for rows that cannot be split so names.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)  # ours says what that means
        try:
            parts = [(_rows(train), _rows(test)) for train, test in folds.split(X, y, groups)]
        except ValueError as error:
            if str(error).startswith("cv"):  # it names the way out already
                raise
            named = getattr(folds, "n_splits", folds)
            raise ValueError(f"cv={named} cannot split these rows: {error} {way}") from error
    if groups is not None and any(np.isin(groups[test], groups[train]).any() for train, test in parts):
        warnings.warn(
            f"cv={type(folds).__name__} puts rows of one group both into training and into testing, so the scores are "
            "optimistic for new groups; use a number of folds, or a splitter such as GroupKFold.",
            UserWarning,
            stacklevel=4,
        )
    return parts


def held_out_rows(
    code: NDArray[np.intp], sizes: Sequence[int], groups: Groups | None, random_state: Any
) -> NDArray[np.intp]:
    """Choose calibration rows: of each class at random, or whole groups of about the same shares.

    Parameters
    ----------
    code : ndarray of intp
        The true classes, 1 to n.
    sizes : sequence of int
        The number of rows of each class.
    groups : ndarray or None
    random_state : int, RandomState or None
    """
    random = check_random_state(random_state)
    if groups is None:
        chosen = [random.permutation(np.flatnonzero(code == k + 1))[:m] for k, m in enumerate(sizes)]
        return np.sort(np.concatenate(chosen))
    counts = np.bincount(code, minlength=len(sizes) + 1)[1:]
    folds = max(2, int(np.min(counts / sizes) + 1e-9))
    if (found := len(np.unique(groups))) < 2:
        raise ValueError(f"groups has {found} label, and whole groups are held out; give rows of at least two groups.")
    splitting = StratifiedGroupKFold(min(folds, found), shuffle=True, random_state=random)
    parts = parts_of(splitting, np.zeros((len(code), 1)), code, groups)
    return np.asarray(parts[random.randint(len(parts))][1])  # the first always has the group of most rows


def _rows(part: Any) -> NDArray[np.intp]:
    return np.asarray(part) if len(part) else np.empty(0, dtype=np.intp)


def group_parameters(model: Any, groups: Groups | None) -> dict[str, Groups]:
    """The groups as an argument of the model's `fit`, if it uses them; {} otherwise.

    They are used by classifiers whose `fit` has the argument `groups`, by searches whose `cv` is a group splitter, and
    by Pipelines that end in one of these. With metadata routing, by whatever requests them.
    """
    if groups is None:
        return {}
    if has_fit_parameter(model, "groups"):
        return {"groups": groups}
    if routing_enabled():
        return {"groups": groups} if get_routing_for_object(model).consumes("fit", ["groups"]) else {}
    if isinstance(model, Pipeline):
        name, last = model.steps[-1]
        return {f"{name}__{key}": value for key, value in group_parameters(last, groups).items()}
    searches = isinstance(model, BaseSearchCV) and isinstance(model.cv, GroupsConsumerMixin)
    return {"groups": groups} if searches else {}
