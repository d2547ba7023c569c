"""Folds from `cv` and `groups`, and rows to hold out."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples as number_of_rows

Groups = NDArray[Any]
DEFAULT_FOLDS = 5  # scikit-learn's number for cv=None


def row_groups(groups: ArrayLike | None, n: int) -> Groups | None:
    """Return one group label per row; None if no groups are given."""
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

    `shuffle` and `random_state` apply to a number of folds only. Pairs of (train, test) may be row numbers or masks.
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
    if not hasattr(cv, "split") and not isinstance(cv, str):
        cv = [tuple(_rows(part, len(y)) for part in pair) for pair in cv]
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
            n = number_of_rows(X)
            parts = [(_rows(train, n), _rows(test, n)) for train, test in folds.split(X, y, groups)]
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
        Codes of the true classes.
    sizes : sequence of int
        The number of rows of each class.
    groups : ndarray or None
    random_state : int, RandomState or None
    """
    random = check_random_state(random_state)
    if groups is None:
        chosen = [random.permutation(np.flatnonzero(code == k))[:m] for k, m in enumerate(sizes)]
        return np.sort(np.concatenate(chosen))
    counts = np.bincount(code, minlength=len(sizes))
    folds = max(2, int(np.min(counts / sizes) + 1e-9))
    if (found := len(np.unique(groups))) < 2:
        raise ValueError(f"groups has {found} label, and whole groups are held out; give rows of at least two groups.")
    splitting = StratifiedGroupKFold(min(folds, found), shuffle=True, random_state=random)
    parts = parts_of(splitting, np.zeros((len(code), 1)), code, groups)
    return np.asarray(parts[random.randint(len(parts))][1])  # the first always has the group of most rows


def weighted_parts(
    cv: Any, y: Any, groups: Groups | None, weight: NDArray[np.float64], way: str
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """List the (train, test) rows of the folds that `cv` means for weighted rows.

    A number of folds divides the rows with weight above 0, as if the others were not there. A splitter and pairs of
    (train, test) are about all rows.
    """
    rows = np.flatnonzero(weight)
    if not (cv is None or isinstance(cv, Integral)) or len(rows) == len(weight):
        return parts_of(splitter(cv, y, groups), np.zeros(len(weight)), y, groups, way)
    truth, labels = np.asarray(y)[rows], None if groups is None else groups[rows]
    parts = parts_of(splitter(cv, truth, labels), np.zeros(len(rows)), truth, labels, way)
    return [(rows[train], rows[test]) for train, test in parts]


def _rows(part: Any, n: int) -> NDArray[np.intp]:
    """The row numbers that a part of a fold means; a mask has an entry for each of the n rows."""
    rows = np.asarray(part)
    if rows.ndim != 1:
        raise ValueError(f"cv must have a list of row numbers or a mask for each part; one has the shape {rows.shape}.")
    if rows.dtype == bool:
        if len(rows) != n:
            raise ValueError(f"cv has a mask of {len(rows)} rows; a mask must have an entry for each of the {n} rows.")
        return np.flatnonzero(rows)
    if not len(rows):
        return np.empty(0, dtype=np.intp)
    if rows.dtype.kind not in "iu":
        raise ValueError(f"cv must have whole row numbers or masks; one part has {rows.dtype} such as {rows[0]!r}.")
    beyond = (rows < -n) | (rows >= n)
    if beyond.any():
        raise ValueError(f"cv has the row {rows[beyond][0]}, but there are {n} rows, numbered from 0.")
    return rows.astype(np.intp) % n


@dataclass(frozen=True, eq=False)
class Splits:
    """Folds as arrays.

    Attributes
    ----------
    trains : int32 array of shape (folds, rows)
        How often the row trains in the fold.
    tests : float64 array of shape (folds, rows)
        The row's weight in the fold's mean cost; each fold sums to 1.
    mass : float64 array of shape (folds,)
        The weight of each fold's test rows together, in units of the largest.
    """

    trains: NDArray[np.int32]
    tests: NDArray[np.float64]
    mass: NDArray[np.float64]

    @classmethod
    def of(cls, trains: NDArray[np.int32], weights: NDArray[np.float64]) -> Self:
        """Make the folds from the weights of their test rows, (folds, rows)."""
        totals = weights.sum(axis=1)
        return cls(trains, weights / totals[:, np.newaxis], totals / totals.max())

    @property
    def parts(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """The (train, test) rows of each fold; a row that trains twice is there twice."""
        rows = np.arange(self.trains.shape[1])
        folds = zip(self.trains, self.tests, strict=True)
        return [(np.repeat(rows, train), np.flatnonzero(test)) for train, test in folds]

    def weights(self, used: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The weight of each row in the mean cost over the test rows of the folds `used`, (folds, rows)."""
        times = np.where(used, self.mass[used].sum() / self.mass, np.inf)  # the fold fits into the mass of all
        return np.asarray(self.tests / times[:, np.newaxis])

    @property
    def shared(self) -> NDArray[np.bool_] | None:
        """Whether two folds test a row in common, (folds, folds); None if only each with itself."""
        tested = (self.tests > 0).astype(np.float64)
        return np.asarray(tested @ tested.T > 0) if tested.sum(axis=0).max() > 1 else None


def checked_splits(
    cv: Any, y: ArrayLike, groups: Groups | None, code: NDArray[Any], sample_weight: NDArray[np.float64]
) -> Splits:
    """Make the folds; each must train on all classes and test on rows with weight."""
    name = f"cv={cv!r}" if isinstance(cv, Integral) or hasattr(cv, "split") else "cv"  # too many rows to show
    fewer = not (isinstance(cv, Integral) and cv <= 2)  # of two there are none fewer
    way = f"{'Use fewer folds' if fewer else 'Add rows'}, or RejectSVC without a search."
    try:
        splits = weighted_parts(cv, y, groups, sample_weight, way)
    except ValueError as error:
        if str(error).startswith("cv"):  # it names the way out already
            raise
        raise ValueError(f"{name} cannot split these rows: {error} {way}") from error
    if not splits:
        raise ValueError(f"{name} has no folds; give a number of them, a splitter, or pairs of (train, test) rows.")
    trains = np.zeros((len(splits), len(code)), dtype=np.int32)
    tests = np.zeros(trains.shape)
    for fold, (train, test) in enumerate(splits):
        trains[fold] = np.bincount(train, minlength=len(code))
        tests[fold] = np.bincount(test, minlength=len(code)) * sample_weight
        trained = code[(trains[fold] > 0) & (sample_weight > 0)]
        if len(left := np.setdiff1d(code, trained)):
            way = "use fewer folds or stratify them"
            if cv is None or isinstance(cv, Integral):  # these are stratified
                way = "add rows of this class, or use RejectSVC without a search"
            label = np.asarray(y)[code == left[0]].tolist()[0]
            raise ValueError(f"fold {fold} of {name} trains without the class {label!r}; {way}.")
        if not tests[fold].any():
            raise ValueError(
                f"fold {fold} of {name} has no test rows with weight; use fewer folds, or leave out rows of weight 0."
            )
    return Splits.of(trains, tests)
