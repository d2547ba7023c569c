"""The classes of a column of labels, and their costs from small CSV files or from the columns of a table.

Two classes have an order; all labels are checked for what is probably meant otherwise. Costs are a cost matrix or
actions, or each row has its own.
"""

import math
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, UsageError, listed, meant, some
from abstain.cli.input.columns import features
from abstain.cli.options import Given
from abstain.cli.tables.notation import number_of
from abstain.cli.tables.read_table import Batch, InputTable, opened
from abstain.costs.actions import Actions
from abstain.costs.per_row import ERRORS
from abstain.preprocessing import CellPlan, CostPlan

UNLABELLED = ("na", "n/a", "null", "none", "unknown", "missing", "?", "-", ".", "99", "999", "-999", "-9999")
MOST = 100  # more labels are quantities or names
SURELY_FEW = 20  # this many labels may be classes, however few rows there are
BY_NAME = "state the costs of all classes by name with --cost-matrix"
# What takes two classes only, and what to do otherwise. To lift a limit, delete its line.
TWO_ONLY = {
    "--pos-label": f"leave it out, and {BY_NAME} if they differ",
    "--false-positive": BY_NAME,
    "--false-negative": BY_NAME,
    "two costs of --reject": "give one cost, or one per class in a column 'reject' of --cost-matrix",
}
_BY_ROW = ("--false-positive-column", "--false-negative-column", "--reject-column")
TWO_ONLY |= dict.fromkeys(_BY_ROW, "name the columns by class and action, and read them with --row-costs")


def checked_classes(
    table: InputTable, batch: Batch, y: NDArray[Any], given: Given, only_two: str | None = None
) -> tuple[str, ...]:
    """The classes of labels: two as (negative, positive), or more in order.

    Parameters
    ----------
    table, batch
        Where the labels are from, for messages.
    y : ndarray of str
        The labels.
    given : Given
        The options; without --pos-label the last of two classes is the positive one.
    only_two : str or None
        An option of `TWO_ONLY` that was given, so that a third class is an error.
    """
    target, pos_label = given.target, given.pos_label
    classes = _sorted({*y})
    if len(classes) == 1:
        raise DataError(f"{table.path}: column {target!r} contains only one class, {classes[0]!r}; two are needed.")
    _check_few(table, target, classes, len(y))
    if len(classes) > 2:
        if only_two is not None:
            raise _third(table, batch, target, y, only_two)
        _suspect(table, target, y, classes)
        return tuple(classes)
    if pos_label is None:
        return classes[0], classes[1]
    if pos_label not in classes:
        known = f"{classes[0]!r} and {classes[1]!r}{meant(pos_label, classes) or '.'}"
        raise UsageError(f"--pos-label {pos_label!r} is not one of the classes {known}")
    return next(label for label in classes if label != pos_label), pos_label


def in_order(classes: tuple[str, ...]) -> bool:
    """Whether the classes are numbers, the larger one positive, as in 0 and 1."""
    return number_of(classes[0]) < number_of(classes[1])


def _check_few(table: InputTable, target: str, classes: list[str], rows: int) -> None:
    """Raise an error for labels that are surely quantities or names of the rows."""
    if len(classes) <= MOST and (len(classes) <= SURELY_FEW or 2 * len(classes) <= rows):
        return
    shown = ", ".join(repr(label[:40]) for label in classes[:3])
    way = "if they name the rows, pass another --target"
    if _are_numbers(classes):
        way = "if they are quantities, put them into ranges first, such as 'low' and 'high'"
    what = f"column {target!r} has {len(classes)} different labels in {rows} rows, such as {shown}"
    raise DataError(f"{table.path}: {what}, and a model takes at most {MOST} classes, each with several rows; {way}.")


def _third(table: InputTable, batch: Batch, target: str, y: NDArray[Any], option: str) -> DataError:
    first = {label: at for at, label in reversed(list(enumerate(y)))}  # first row of each class
    # a label that looks missing comes last, so that it is the one named
    one, two, third = sorted(first, key=lambda label: (_looks_missing(label), first[label]))[:3]
    found = f"{third[:60]!r} is a third class after {one[:60]!r} and {two[:60]!r}"
    place, way = table.cell(batch, first[third], target), f"{TWO_ONLY[option]}{_missing_way(third)}"
    return DataError(f"{place}: {found}, and with {option} there can be only two; {way}.")


def _suspect(table: InputTable, target: str, y: NDArray[Any], classes: list[str]) -> None:
    """Warn of labels that may mean that there is none, and of many numbers."""
    counts, said = Counter(y), list[str]()
    for label in [label for label in classes if _looks_missing(label)][:1]:
        rows = "1 row" if counts[label] == 1 else f"{counts[label]} rows"
        said.append(f"has {label!r} in {rows}, which is taken as a class{_missing_way(label)}.")
    if len(classes) > SURELY_FEW and _are_numbers(classes):
        way = "if they are quantities, put them into ranges first"
        said.append(f"has {len(classes)} different numbers, each taken as a class; {way}.")
    for text in said:
        warnings.warn(f"{table.path}: column {target!r} {text}", UserWarning, stacklevel=3)


def _looks_missing(label: str) -> bool:
    return label.strip().lower() in UNLABELLED


def _missing_way(label: str) -> str:
    way = f"; if it means that the label is missing, pass --missing-value {label!r} --drop-unlabelled"
    return way if _looks_missing(label) else ""


def _are_numbers(labels: Iterable[str]) -> bool:
    return not any(math.isnan(number_of(label)) for label in labels)


def _sorted(labels: set[str]) -> list[str]:
    """The labels in order, as numbers if all of them are."""
    return sorted(labels, key=lambda label: (number_of(label), label)) if _are_numbers(labels) else sorted(labels)


REJECT = "reject"  # the column of reject costs in a cost matrix
REJECTS = "rejects"  # the column that says whether an action hands the case on
YES, NO = ("yes", "true", "1", "x"), ("no", "false", "0", "")
EXAMPLE = "action,good,bad,rejects"


def cost_matrix(path: Path, classes: tuple[str, ...]) -> tuple[dict[str, dict[str, float]], dict[str, float] | None]:
    """Read a cost matrix from a CSV: the actual class, one predicted column per class, and perhaps reject costs.

    Returns
    -------
    errors : dict of str to dict
        The cost of each answer, by true class.
    reject : dict of str to float, or None
        The cost of a reject by true class; None if the file has no such column.
    """
    columns, rows = _cells(path)
    rejecting = columns.index(REJECT) if REJECT in columns and REJECT not in classes else None
    if len(columns) != 1 + len(classes) + (rejecting is not None):
        wanted = "three" if len(classes) == 2 else str(1 + len(classes))
        way = f"a cost matrix has {wanted}: actual, and one predicted column per class, {listed(classes)}"
        raise DataError(f"{path}: line 1 has {len(columns)} columns; {way}; one more may be {REJECT!r}.")
    places = {_class_of(name, classes): at for at, name in enumerate(columns) if at not in (0, rejecting)}
    if missing := [name for name in classes if name not in places]:
        as_in = ",".join(f"pred_{name}" for name in classes[:3]) + (",..." if len(classes) > 3 else "")
        found = listed([name for name in columns[1:] if _class_of(name, classes) is None] or columns[1:])
        way = f"it has none for {missing[0]!r}, but {found}"
        raise DataError(f"{path}: line 1 must name a predicted column for each class, as in actual,{as_in}; {way}.")
    by_class, found = {str(row[0]): row for row in rows}, some([row[0] for row in rows])
    if len(rows) != len(classes) or set(by_class) != set(classes):
        raise DataError(
            f"{path}: column {columns[0]!r} must name each class once, {listed(classes)}; it names {found}."
        )

    def cost(actual: str, predicted: str, at: int) -> float:
        return _number(path, f"predicting {predicted!r} for {actual!r}", by_class[actual][at])

    errors = {actual: {name: cost(actual, name, places[name]) for name in classes} for actual in classes}
    for name in classes:
        if errors[name][name] != 0:
            what = f"{path}: the cost of predicting {name!r} for {name!r} must be 0, not {errors[name][name]:g}"
            raise DataError(f"{what}; subtract it from its row.")
    return errors, None if rejecting is None else {name: cost(name, REJECT, rejecting) for name in classes}


def stated_actions(path: Path, classes: tuple[str, ...], handed_on: str | None) -> Actions:
    """Read the actions of a CSV file.

    Parameters
    ----------
    path : Path
        The first column names the actions; every class has a column of costs; one named "rejects" says yes or no.
    classes : tuple of str
        The classes of the training table.
    handed_on : str or None
        The actions that hand the case on, with commas, if the file does not say it; "" for none.
    """
    columns, rows = _cells(path)
    marks = columns.index(REJECTS) if REJECTS in columns[1:] and REJECTS not in classes else None
    costs = [name for at, name in enumerate(columns) if at not in (0, marks)]
    if set(costs) != set(classes):
        wanted = f"{some(classes, len(classes))}, as in {EXAMPLE}; it names {some(costs) or 'none'}"
        raise DataError(f"{path}: line 1 must name a column of costs for each class, {wanted}.")
    names = [str(row[0] or "").strip() for row in rows]
    if twice := [name for at, name in enumerate(names) if name in names[:at] or not name]:
        raise DataError(f"{path}: column {columns[0]!r} must name each action once, and it has {twice[0]!r} again.")
    read = {
        name: {label: _number(path, f"{name!r} if {label!r} is true", row[columns.index(label)]) for label in classes}
        for name, row in zip(names, rows, strict=True)
    }
    if marks is not None and handed_on is not None:
        raise UsageError(f"--reject-actions and the column {REJECTS!r} of {path} say the same; leave one of them out.")
    if marks is not None:
        rejects = [name for name, row in zip(names, rows, strict=True) if _is_marked(path, name, row[marks])]
    elif handed_on is not None:
        rejects = [name.strip() for name in handed_on.split(",") if name.strip()]
    else:
        rejects = _without_class(path, names, classes)
    if unknown := [name for name in rejects if name not in names]:
        known, end = ", ".join(names), meant(unknown[0], names) or "."
        raise UsageError(f"--reject-actions {handed_on!r}: {unknown[0]!r} is not one of the actions {known}{end}")
    try:
        return Actions(read, rejects=rejects)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from error


def _cells(path: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the names of the columns of a small file, and its rows."""
    with opened(path) as table:
        return list(table.columns), [row for batch in table.batches for row in batch.frame.iter_rows()]


def _class_of(column: str, classes: tuple[str, ...]) -> str | None:
    """Return the class of a predicted column: CLASS, pred_CLASS, or pred_CLASS_and_words."""
    exact = [name for name in classes if column in (name, f"pred_{name}")]
    found = exact or [name for name in classes if column.startswith(f"pred_{name}_")]
    return found[0] if len(found) == 1 else None


def _number(path: Path, what: str, cell: object) -> float:
    if math.isnan(number := number_of(cell)):
        raise DataError(f"{path}: the cost of {what} is {cell!r}; it must be a number.")
    return number


def _is_marked(path: Path, action: str, cell: object) -> bool:
    text = "" if cell is None else str(cell).strip().lower()
    if text not in (*YES, *NO):
        raise DataError(f"{path}: column {REJECTS!r} of {action!r} is {cell!r}; it must be yes or no.")
    return text in YES


def _without_class(path: Path, names: Sequence[str], classes: tuple[str, ...]) -> list[str]:
    """Return the actions that do not have the name of a class; an error if that is all of them."""
    found = [name for name in names if name not in classes]
    if len(found) == len(names):
        what = f"no action of {path} has the name of a class, so it is not known which of them hand the case on"
        way = f"add a column {REJECTS!r} with yes or no, or pass --reject-actions {names[-1]!r}"
        raise UsageError(f"{what}; {way} (several with commas, '' for none).")
    return found


def named_columns(plan: CostPlan) -> list[str]:
    """Return the columns that costs are read from, each once."""
    return list(dict.fromkeys(source for _, source in plan if isinstance(source, str)))


def row_costs_of(plan: CellPlan, table: InputTable, batch: Batch, n_classes: int) -> NDArray[np.float64] | None:
    """Return the costs of the rows of a batch, (n, 3), (n, 4) or (n, n_classes, n_actions); None without a plan."""
    if not plan.costs:
        return None
    cells = features(table, batch, named_columns(plan.costs), [], CellPlan(missing=plan.missing))
    of_two, columns = plan.costs[0][0] == ERRORS[0], []
    for name, source in plan.costs:
        column = cells[source].to_numpy() if isinstance(source, str) else np.full(len(batch.places), float(source))
        bad = np.flatnonzero(~(np.isfinite(column) & (column > 0.0 if of_two else column >= 0.0)))
        if len(bad) > 0:
            found = "is missing" if np.isnan(column[bad[0]]) else f"is {column[bad[0]]:g}"
            what = f"a {name.replace('_', ' ')}" if of_two else repr(name)
            wanted = "positive" if of_two else "0 or more"
            text = f"{table.cell(batch, bad[0], str(source))}: the cost of {what} {found}"
            raise DataError(f"{text}; it must be {wanted}. Correct it or remove the row.")
        columns.append(column)
    costs = np.column_stack(columns)
    return costs if of_two else costs.reshape(len(costs), n_classes, -1)
