"""Costs by class name as users give them: truth -> answer -> cost, read into a matrix with sorted classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import positive_number, real_number

__all__ = ["CostTable", "in_own_unit", "named_by", "named_rejects", "reject_costs", "significant", "sorted_labels"]

_DIGITS = 13  # of costs in their own unit; further ones are rounding errors, or too few to matter
_POWERS = np.array([float(f"1e{k}") for k in range(309)])
_CLOSE = 1e-6  # costs of one class that differ by less than this share keep all digits: the difference needs them
_EQUAL = 1e-15  # and by less than this, they are equal


def in_own_unit(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return costs of shape (..., classes, actions) in a unit of their own, in which any common factor is gone.

    ::

        unit = min over true classes of the highest cost of an action

    The digits in which the same costs in other units may differ are rounded away, so that both give the same bits.
    Costs of at most 13 digits whose unit is 1 stay as they are.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        own = table / table.max(axis=-1, keepdims=True).min(axis=-2, keepdims=True)
        ascending = np.sort(own, axis=-1)
        share = np.diff(ascending, axis=-1) / np.maximum(ascending[..., 1:], np.finfo(np.float64).tiny)
    exact = ((share > _EQUAL) & (share < _CLOSE)).any(axis=(-2, -1), keepdims=True)
    usual = np.isfinite(own).all(axis=(-2, -1), keepdims=True) & ((own > 0) == (table > 0)).all(
        axis=(-2, -1), keepdims=True
    )
    return np.where(usual, np.where(exact, own, significant(own)), table)


def significant(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers >= 0 rounded to 13 significant decimal digits."""
    usable = (values > 1e-280) & (values < 1e280)
    places = (_DIGITS - 1) - np.floor(np.log10(np.where(usable, values, 1.0))).astype(np.intp)
    scale = _POWERS[np.abs(places)]
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.where(places > 0, np.rint(values * scale) / scale, np.rint(values / scale) * scale)
    return np.where(usable, found, values)


@dataclass(frozen=True, eq=False)
class CostTable:
    """Costs of all pairs of a true class and an answer.

    Attributes
    ----------
    labels : tuple
        The classes, sorted.
    errors : ndarray of shape (n_classes, n_classes)
        Rows truth, columns answer, both in the order of `labels`; 0 on the diagonal, positive elsewhere.
    """

    labels: tuple[Any, ...]
    errors: NDArray[np.float64]

    @classmethod
    def of(cls, table: Any) -> CostTable:
        """Read ``{truth: {answer: cost}}``; a correct answer may be left out and must cost 0."""
        if named_by(table) is not None:
            table = table.to_dict(orient="index")
        if not isinstance(table, Mapping) or not all(isinstance(row, Mapping) for row in table.values()):
            raise ValueError(
                f"table={table!r} must map each true class to the costs of the answers, as in "
                '{"good": {"bad": 1}, "bad": {"good": 5}}.'
            )
        labels = sorted_labels(list(table))
        errors = np.zeros((len(labels), len(labels)))
        for at, truth in enumerate(labels):
            row = {_plain(answer): cost for answer, cost in table[truth].items()}
            if unknown := [answer for answer in row if answer not in labels]:
                raise ValueError(
                    f"table[{truth!r}] has a cost for {unknown[0]!r}, which is not one of its classes {[*labels]}."
                )
            if missing := [answer for answer in labels if answer not in row and answer != truth]:
                raise ValueError(f"table[{truth!r}] has no cost for the answer {missing[0]!r}; add it.")
            errors[at] = [_price(truth, answer, row.get(answer, 0.0)) for answer in labels]
        return cls(labels, errors)

    @classmethod
    def of_matrix(cls, matrix: ArrayLike, labels: Sequence[Any]) -> CostTable:
        """Read a matrix, rows truth and columns answer, both in the order of `labels`."""
        if isinstance(labels, AbstractSet):
            raise TypeError(f"labels={labels!r} must have an order, that of the rows and columns; pass a list.")
        names = [_plain(label) for label in labels]
        if (own := named_by(matrix)) is not None:
            if set(own) != set(names):
                raise ValueError(f"labels={names} are not the names {own} of the matrix's rows and columns.")
            matrix = matrix.loc[names, names]  # type: ignore[union-attr]
        table = np.asarray(matrix, dtype=np.float64)
        if table.shape != (len(names), len(names)):
            raise ValueError(f"labels={names} needs a {len(names)} x {len(names)} matrix; its shape is {table.shape}.")
        sorted_labels(names)
        rows = zip(names, table.tolist(), strict=True)
        return cls.of({name: dict(zip(names, row, strict=True)) for name, row in rows})

    @property
    def pair(self) -> tuple[float, float]:
        """The costs of the two errors of two classes, by the answer ``labels[1]`` and by the answer ``labels[0]``."""
        return float(self.errors[0, 1]), float(self.errors[1, 0])


def named_by(matrix: Any) -> list[Any] | None:
    """Give the names of a data frame whose rows and columns are the same classes; None for other matrices."""
    if not (hasattr(matrix, "loc") and hasattr(matrix, "columns")):
        return None
    rows, columns = list(matrix.index), list(matrix.columns)
    if rows == columns == list(range(len(rows))):
        return None  # pandas' own numbers
    if set(rows) != set(columns):
        raise ValueError(f"the rows {rows} and the columns {columns} of the data frame must be the same classes.")
    return [_plain(name) for name in rows]


def named_rejects(reject: Any, labels: tuple[Any, ...], order: Sequence[Any] | None = None) -> Any:
    """Give the reject cost of each class in the order of `labels`, from one number, a dict, or a pair in `order`.

    One number is returned unchanged. A sequence has the order of `order`; without one it is an error.
    """
    if isinstance(reject, Mapping):
        named = {_plain(label): cost for label, cost in reject.items()}
        if set(named) != set(labels):
            raise ValueError(f"reject={reject!r} must have one cost for each of the classes {[*labels]}.")
        return tuple(positive_number(f"reject[{label!r}]", named[label]) for label in labels)
    values = reject.tolist() if isinstance(reject, np.ndarray) else reject
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        return positive_number("reject", values)
    if order is None or len(values) != len(labels):
        raise ValueError(
            f"reject={reject!r} must be one cost, or a dict with one for each class, as in "
            f"reject={dict.fromkeys(labels, 0.3)}."
        )
    return named_rejects(dict(zip(order, values, strict=True)), labels)


def reject_costs(reject: object) -> float | tuple[float, float]:
    """Give one reject cost, or the pair (negative, positive)."""
    if isinstance(reject, np.ndarray):
        reject = tuple(reject.tolist())
    if not isinstance(reject, Sequence) or isinstance(reject, str | bytes):
        return positive_number("reject", reject)
    if len(reject) != 2:
        raise ValueError(f"reject={reject!r} must be one cost or the pair (negative, positive).")
    negative, positive = positive_number("reject[0]", reject[0]), positive_number("reject[1]", reject[1])
    # Equal costs are stored as one number, however they were given.
    return negative if negative == positive else (negative, positive)


def sorted_labels(labels: Sequence[Any]) -> tuple[Any, ...]:
    """Give two or more classes as plain Python values, sorted as `np.unique` sorts them."""
    names = [_plain(label) for label in labels]
    if not any(all(isinstance(name, kind) for name in names) for kind in (str, bool | int | float)):
        raise ValueError(f"the classes {names} must be all strings or all numbers.")
    if len(set(names)) != len(names):
        raise ValueError(f"the classes {names} must be different.")
    if len(names) < 2:
        raise ValueError(f"costs are for two classes or more, but these name {len(names)}: {names}.")
    return tuple(sorted(names))


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _price(truth: Any, answer: Any, cost: Any) -> float:
    name = f"the cost of answering {answer!r} when {truth!r} is true"
    if truth != answer:
        return positive_number(name, cost)
    if (price := real_number(name, cost)) != 0.0:
        raise ValueError(
            f"{name}, {price:g}, must be 0: it is the correct answer. Subtract it from all costs of {truth!r}, "
            "that of a reject included."
        )
    return price
