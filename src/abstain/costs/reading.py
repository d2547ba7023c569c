"""Costs as users state them, by name, read into arrays with sorted classes; rejects that can never pay are refused."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import positive_number, real_number

EXAMPLE = 'Actions({"approve": {"good": 0, "bad": 5}, "decline": {"good": 1, "bad": 0}, "call": 0.3})'


def error_table(table: Any) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
    """Read ``{truth: {answer: cost}}``: the classes, sorted, and the costs, rows truth, columns answer.

    A correct answer may be left out and must cost 0.
    """
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
        errors[at] = [_cost_of_answer(truth, answer, row.get(answer, 0.0)) for answer in labels]
    return labels, errors


def matrix_table(matrix: ArrayLike, labels: Sequence[Any]) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
    """Read a matrix, rows truth and columns answer, both in the order of `labels`, as `error_table` does."""
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
    return error_table({name: dict(zip(names, row, strict=True)) for name, row in rows})


def named_by(matrix: Any) -> list[Any] | None:
    """Return the names of a data frame whose rows and columns are the same classes; None for other matrices."""
    if not (hasattr(matrix, "loc") and hasattr(matrix, "columns")):
        return None
    rows, columns = list(matrix.index), list(matrix.columns)
    if rows == columns == list(range(len(rows))):
        return None  # pandas' own numbers
    if set(rows) != set(columns):
        raise ValueError(f"the rows {rows} and the columns {columns} of the data frame must be the same classes.")
    return [_plain(name) for name in rows]


def named_rejects(reject: Any, labels: tuple[Any, ...], order: Sequence[Any] | None = None) -> Any:
    """Return the reject cost of each class in the order of `labels`, from one number, a dict, or a pair in `order`.

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


def pair_of_rejects(reject: object) -> tuple[float, float]:
    """Return the reject costs (negative, positive) from one number or a pair."""
    if isinstance(reject, np.ndarray):
        reject = tuple(reject.tolist())
    if not isinstance(reject, Sequence) or isinstance(reject, str | bytes):
        one = positive_number("reject", reject)
        return one, one
    if len(reject) != 2:
        raise ValueError(f"reject={reject!r} must be one cost or the pair (negative, positive).")
    return positive_number("reject[0]", reject[0]), positive_number("reject[1]", reject[1])


def sorted_labels(labels: Sequence[Any]) -> tuple[Any, ...]:
    """Return two or more classes as plain Python values, sorted as `np.unique` sorts them."""
    names = [_plain(label) for label in labels]
    if not _of_one_kind(names):
        raise ValueError(f"the classes {names} must be all strings or all numbers.")
    if len(set(names)) != len(names):
        raise ValueError(f"the classes {names} must be different.")
    if len(names) < 2:
        raise ValueError(f"costs are for two classes or more, but these name {len(names)}: {names}.")
    return tuple(sorted(names))


def _of_one_kind(names: Sequence[Any]) -> bool:
    return any(all(isinstance(name, kind) for name in names) for kind in (str, bool | int | float))


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _cost_of_answer(truth: Any, answer: Any, cost: Any) -> float:
    name = f"the cost of answering {answer!r} when {truth!r} is true"
    if truth != answer:
        return positive_number(name, cost)
    if (found := real_number(name, cost)) != 0.0:
        raise ValueError(
            f"{name}, {found:g}, must be 0: it is the correct answer. Subtract it from all costs of {truth!r}, "
            "that of a reject included."
        )
    return found


def checked_name(action: Any) -> Any:
    """Return the name of an action as a plain Python value: a string or a number."""
    name = _plain(action)
    if not isinstance(name, str | int | float) or name != name:  # noqa: PLR0124 (nan)
        raise ValueError(f"table has the action {action!r} of type {type(action).__name__}; name it by a string.")
    return name


def classes_named(table: Mapping[Any, Any]) -> tuple[Any, ...]:
    """Return the classes for which the actions state costs, sorted."""
    stated = [cost for cost in table.values() if isinstance(cost, Mapping)]
    found = list(dict.fromkeys(_plain(label) for cost in stated for label in cost))
    if len(found) < 2:
        what = f"only the class {found[0]!r}" if found else "no class: all its costs are single numbers"
        raise ValueError(f"table={table!r} names {what}; it must name two or more, as in {EXAMPLE}.")
    if not _of_one_kind(found):
        raise ValueError(f"table={table!r} names the classes {found}; they must be all strings or all numbers.")
    return tuple(sorted(found))


def action_costs(action: Any, cost: Any, labels: tuple[Any, ...]) -> tuple[float, ...]:
    """Return the costs of an action for each true class."""
    if not isinstance(cost, Mapping):
        return (_cost(f"table[{action!r}]", cost),) * len(labels)
    if missing := [label for label in labels if label not in cost]:
        raise ValueError(
            f"table[{action!r}]={dict(cost)!r} has no cost for the class {missing[0]!r}; add it, or give one number "
            "for all classes."
        )
    return tuple(_cost(f"table[{action!r}][{label!r}]", cost[label]) for label in labels)


def _cost(name: str, value: Any) -> float:
    number = real_number(name, value)
    if not 0.0 <= number < np.inf:
        raise ValueError(
            f"{name}={value!r} must be finite and >= 0; decisions stay the same if the same amount is added to the "
            "costs of all actions."
        )
    return number + 0.0  # -0.0 becomes 0.0


def handed_on(rejects: Any, names: tuple[Any, ...], labels: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the actions that count as rejects, in the order of the table."""
    if rejects is None:
        return tuple(name for name in names if name not in labels)
    if isinstance(rejects, str | bytes) or not isinstance(rejects, Iterable):
        raise ValueError(f"rejects={rejects!r} must be a sequence of actions; write rejects=({rejects!r},).")  # noqa: TRY004
    listed = list(rejects)
    if unknown := [name for name in listed if name not in names]:
        raise ValueError(f"rejects={rejects!r} names {unknown[0]!r}, which is not one of the actions {[*names]}.")
    return tuple(name for name in names if name in listed)


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
    if costs.largest_scale < 1.0 - SCALE:
        raise ValueError(
            f"reject={reject} can never pay: whatever the probabilities of the {costs.n_classes} classes, "
            f"one of the answers is cheaper. The largest reject {_scaled(reject, costs.largest_scale)}."
        )


def _scaled(reject: Any, factor: float) -> str:
    """Return the reject costs, times a factor, in words."""
    if isinstance(reject, tuple):
        return f"costs in this ratio are ({', '.join(f'{factor * one:.12g}' for one in reject)})"
    return f"cost allowed is {factor * reject:.12g}"


def _check_two(costs: Any) -> None:
    errors, rejects = (costs.false_positive, costs.false_negative), (costs.reject_negative, costs.reject_positive)
    share, names = rejects[0] / errors[0] + rejects[1] / errors[1], ["reject_negative", "reject_positive"]
    if share <= 1.0 + EQUALITY:
        return
    names += ["false_positive", "false_negative"]
    if costs.labels is not None:
        first, last = (f"[{label!r}]" for label in costs.labels)
        names = [f"reject{first}", f"reject{last}", f"table{first}{last}", f"table{last}{first}"]
    raise ValueError(
        f"reject={costs.reject} can never pay: {names[0]}/{names[2]} + {names[1]}/{names[3]} = "
        f"{rejects[0]:g}/{errors[0]:g} + {rejects[1]:g}/{errors[1]:g} = "
        f"{share:g} > 1, so deciding for one of the classes is always cheaper. The largest reject "
        f"{_scaled(costs.reject, 1.0 / share)}."
    )


def largest_scale(errors: NDArray[np.float64], reject: NDArray[np.float64]) -> float:
    """Return the largest factor on the reject costs at which rejecting still pays for some probabilities.

    ::

        max s   s.t.   sum_j P_j errors[j, k] >= s for all k,   sum_j P_j reject_j = 1,   P >= 0

    Of two classes, P_j errors[j, k] = s for both. Of more, with a[j, k] = errors[j, k] / reject_j, up to a unit, and
    x_j = P_j reject_j / s, this is a covering problem::

        1 / s = min sum_j x_j   s.t.   sum_j x_j a[j, k] >= 1 for all k,   x >= 0

    It is solved in units in which the largest entry of each row and column is about 1: the solver's tolerances are
    absolute, and costs may differ by many powers of ten.
    """
    if len(reject) == 2:
        return float(1.0 / (reject[0] / errors[0, 1] + reject[1] / errors[1, 0]))
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
