"""The column of the labels in a table to evaluate, if no option names it."""

from __future__ import annotations

from collections.abc import Sequence

from abstain.cli.exit_codes import DataError
from abstain.cli.input.columns import labels, listed
from abstain.cli.input.models import FittedModel
from abstain.cli.tables.read_table import Batch, InputTable

__all__ = ["target_of"]


def target_of(model: FittedModel, table: InputTable, batch: Batch) -> str:
    """The only column not used by the model that contains only the model's classes."""
    classes = {str(label) for label in model.classes}
    read = {*model.numeric, *model.categorical}
    others = [name for name in table.columns if name not in read]
    found = [name for name in others if _holds_only(classes, table, batch, name, model.plan.missing)]
    if len(found) == 1:
        return found[0]
    way = "specify the column of the labels with --target"
    if found:
        why = f"columns {', '.join(repr(name) for name in found[:5])} could all be the labels"
    elif others:
        names = ", ".join(repr(name) for name in others[:5])
        shown = listed([str(label) for label in model.classes])
        why = f"none of the columns {names} contains only the model's classes, {shown}"
        why += _nearest(classes, table, batch, others, model.plan.missing)
        way = f"write the labels in the same way, or {way}"
    else:
        why = "all columns are features of the model"
    raise DataError(f"{table.path}: {why}; {way}.")


def _holds_only(classes: set[str], table: InputTable, batch: Batch, name: str, missing: Sequence[str]) -> bool:
    """Whether a column contains no labels but these classes, and at least one of them."""
    held = _held(table, batch, name, missing)
    return bool(held) and held <= classes


def _held(table: InputTable, batch: Batch, name: str, missing: Sequence[str]) -> set[str]:
    """The labels in a column; none if it is of another type."""
    try:
        return {*labels(table, batch, name, missing)} - {None}
    except DataError:
        return set()


def _nearest(classes: set[str], table: InputTable, batch: Batch, names: Sequence[str], missing: Sequence[str]) -> str:
    """The labels of the column most like the classes: written in another way, as 0 for 0.0, or the fewest."""
    held = {name: _held(table, batch, name, missing) for name in names}
    alike = {_plain(label) for label in classes}
    found = sorted((name for name in names if held[name]), key=lambda name: len(held[name]))
    found.sort(key=lambda name: not {_plain(label) for label in held[name]} <= alike)
    if not found:
        return ""
    some = sorted(held[found[0]])
    words = ", ".join(repr(label[:60]) for label in some[:3]) + (f" and {len(some) - 3} more" if len(some) > 3 else "")
    return f"; column {found[0]!r} contains {words}"


def _plain(label: str) -> str:
    """A label regardless of case and of how a number is written."""
    try:
        return str(float(label))
    except ValueError:
        return label.strip().lower()
