"""Actions from a file: one row per action, one column per class with its costs, and which actions hand the case on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abstain.cli.exit_codes import DataError, UsageError
from abstain.cli.tables.read_table import opened

if TYPE_CHECKING:
    from abstain.costs.actions import Actions

__all__ = ["check_alone", "stated_actions"]

REJECTS = "rejects"  # the column that says whether an action hands the case on
YES, NO = ("yes", "true", "1", "x"), ("no", "false", "0", "")
COSTS = (
    "--reject",
    "--false-positive",
    "--false-negative",
    "--cost-matrix",
    "--pos-label",
    "--false-positive-column",
    "--false-negative-column",
    "--reject-column",
)
EXAMPLE = "action,good,bad,rejects"


def check_alone(given: Mapping[str, Any]) -> None:
    """Raise an error if --actions is given together with another option that states costs or names decisions."""
    if given["--actions"] is None:
        if given.get("--reject-actions") is not None:
            raise UsageError("--reject-actions names some of the actions in the file of --actions; give that too.")
        return
    others = [name for name in (*COSTS, "--reject-label") if given.get(name) not in (None, False)]
    if others:
        raise UsageError(f"--actions gives the costs and the names of all decisions; leave out {others[0]}.")


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
    from abstain.costs.actions import Actions

    with opened(path) as table:
        columns = list(table.columns)
        rows = [row for batch in table.batches for row in batch.frame.iter_rows()]
    marks = columns.index(REJECTS) if REJECTS in columns[1:] and REJECTS not in classes else None
    costs = [name for at, name in enumerate(columns) if at not in (0, marks)]
    if set(costs) != set(classes):
        wanted = ", ".join(repr(name[:40]) for name in classes)
        raise DataError(
            f"{path}: line 1 must name a column of costs for each class, {wanted}, as in {EXAMPLE}; it names "
            f"{', '.join(repr(name[:40]) for name in costs[:5]) or 'none'}."
        )
    names = [str(row[0] or "").strip() for row in rows]
    if twice := [name for at, name in enumerate(names) if name in names[:at] or not name]:
        raise DataError(f"{path}: column {columns[0]!r} must name each action once, and it has {twice[0]!r} again.")
    read = {
        name: {label: _cost(path, name, label, row[columns.index(label)]) for label in classes}
        for name, row in zip(names, rows, strict=True)
    }
    if marks is not None and handed_on is not None:
        raise UsageError(f"--reject-actions and the column {REJECTS!r} of {path} say the same; leave one of them out.")
    if marks is not None:
        rejects = [name for name, row in zip(names, rows, strict=True) if _is_marked(path, name, row[marks])]
    elif handed_on is not None:
        rejects = [name.strip() for name in handed_on.split(",") if name.strip()]
    else:
        rejects = [name for name in names if name not in classes]
        if len(rejects) == len(names):
            raise UsageError(
                f"no action of {path} has the name of a class, so it is not known which of them hand the case on; add "
                f"a column {REJECTS!r} with yes or no, or pass --reject-actions {names[-1]!r} (several with commas, '' "
                "for none)."
            )
    if unknown := [name for name in rejects if name not in names]:
        known = ", ".join(names)
        raise UsageError(f"--reject-actions {handed_on!r}: {unknown[0]!r} is not one of the actions {known}.")
    try:
        return Actions(read, rejects=rejects)
    except ValueError as error:
        raise DataError(f"{path}: {error}") from error


def _cost(path: Path, action: str, label: str, cell: object) -> float:
    try:
        return float(str(cell))
    except ValueError:
        raise DataError(
            f"{path}: the cost of {action!r} if {label!r} is true is {cell!r}; it must be a number."
        ) from None


def _is_marked(path: Path, action: str, cell: object) -> bool:
    text = "" if cell is None else str(cell).strip().lower()
    if text not in (*YES, *NO):
        raise DataError(f"{path}: column {REJECTS!r} of {action!r} is {cell!r}; it must be yes or no.")
    return text in YES
