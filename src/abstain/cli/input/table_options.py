"""What the options say about a training table, and its rows with labels, groups and costs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, Note, UsageError
from abstain.cli.input.classes import checked_classes
from abstain.cli.input.columns import labels, left_out_rows, unlabelled
from abstain.cli.input.cost_columns import row_costs_of
from abstain.cli.tables.memory import half_of_the_memory
from abstain.cli.tables.notation import Notation
from abstain.cli.tables.read_table import PLAIN, Batch, InputTable
from abstain.preprocessing import CellPlan, CostPlan

if TYPE_CHECKING:
    from abstain.cli.input.costs import CostOptions


@dataclass(frozen=True)
class TableOptions:
    """What the options say about a training table.

    Attributes
    ----------
    target : str
        The column of the labels.
    pos_label : str or None
        The positive class; if None the last in sorted order, and the larger one of two numbers.
    categorical, ignore : sequence of str
        Numeric columns to treat as categories, and columns to leave out.
    groups : str or None
        The column of the groups that folds never split; it is not a feature.
    max_memory : float or None
        Memory that the table and the fit may use beyond that of the program, in MB; half of the machine's if None.
    notation : Notation
        How the table is written.
    drop_unlabelled : bool
        Whether to leave out rows without a label, which are an error otherwise.
    costs : CostOptions or None
        The costs as stated, which may name columns.
    """

    target: str
    pos_label: str | None = None
    categorical: Sequence[str] = ()
    ignore: Sequence[str] = ()
    groups: str | None = None
    max_memory: float | None = None
    notation: Notation = PLAIN
    drop_unlabelled: bool = False
    costs: CostOptions | None = None

    @classmethod
    def of(cls, given: Any, costs: CostOptions) -> Self:
        """Read the options of a command."""
        same = ("target", "pos_label", "groups", "max_memory", "notation", "drop_unlabelled")
        found: dict[str, Any] = {name: getattr(given, name) for name in same}
        found |= {name: getattr(given, name) or () for name in ("categorical", "ignore")}
        return cls(**found, costs=costs)

    @property
    def memory(self) -> float:
        """The limit on the memory, in MB."""
        return self.max_memory or half_of_the_memory()

    def others(self, table: InputTable) -> list[str]:
        """Return the columns besides the features and those to leave out: labels, groups and costs, each once."""
        groups = [] if self.groups is None else [self.groups]
        return list(dict.fromkeys([self.target, *groups, *self._priced(table)]))

    def _priced(self, table: InputTable) -> list[str]:
        return [] if self.costs is None else self.costs.columns(table.columns)

    def check(self, table: InputTable) -> None:
        """Raise an error if a column that an option names does not exist or has two purposes."""
        priced, groups = self._priced(table), [] if self.groups is None else [self.groups]
        asked = {"--target": [self.target], "--categorical": self.categorical, "--ignore": self.ignore}
        for option, names in (asked | {"--groups": groups, "a column of costs": priced}).items():
            table.check_has(names, option)
        if self.target in priced:
            raise UsageError(f"column {self.target!r} has the labels and cannot have costs too; name another one.")
        if self.groups == self.target:
            raise UsageError(f"--groups {self.groups!r} is the column of the labels; name another one.")

    def features(self, table: InputTable) -> list[str]:
        """Return the columns that are features; an error if there is none."""
        named = [] if self.costs is None else self.costs.not_features(table.columns)
        names = [name for name in table.columns if name not in (self.target, self.groups, *self.ignore, *named)]
        if not names:
            others = f"{self.target!r}" if self.groups is None else f"{self.target!r} and {self.groups!r}"
            raise DataError(f"{table.path} has no column besides {others}; a model needs at least one feature.")
        return names

    def labelled(self, table: InputTable, batch: Batch) -> tuple[Batch, NDArray[np.bool_], CostPlan, dict[str, Any]]:
        """Return the rows with a label, which these are, where costs are from, and the rest of a `TrainingTable`."""
        missing = self.notation.missing
        y = labels(table, batch, self.target, missing)
        present = np.array([label is not None for label in y])
        if count := int((~present).sum()):
            if not self.drop_unlabelled or not present.any():
                raise unlabelled(table, self.target, count, batch.places[int(np.argmin(present))])
            warnings.warn(f"{table.path}: {left_out_rows(count)}.", Note, stacklevel=2)
            batch, y = batch.only(present), y[present]
        only_two = None if self.costs is None else self.costs.only_two
        classes = checked_classes(table, batch, self.target, y, pos_label=self.pos_label, only_two=only_two)
        groups = None if self.groups is None else _groups(table, batch, self.groups, missing)
        plan = () if self.costs is None else self.costs.plan(table.columns, classes)
        by_row = row_costs_of(CellPlan(missing=missing, costs=plan), table, batch, len(classes))
        about = {"path": table.path, "target": self.target, "y": y, "classes": classes, "left_out": count}
        return batch, present, plan, about | {"groups": groups, "row_costs": by_row}


def _groups(table: InputTable, batch: Batch, name: str, missing: Sequence[str]) -> NDArray[Any]:
    """Return the group of each row; a missing one is an error."""
    held = labels(table, batch, name, missing)
    for at, group in enumerate(held):
        if group is None:
            place = table.place(batch.places[at])
            raise DataError(f"{place} has no group in column {name!r}; add it or remove the row.")
    return held
