"""A labelled table, read completely, with its column types, labels and size checked before training."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from abstain.cli.exit_codes import DataError, UsageError
from abstain.cli.input.columns import features, for_sklearn, is_numeric, labels
from abstain.cli.input.read_table import Batch, InputTable, opened
from abstain.cli.output.printing import progress

if TYPE_CHECKING:
    import polars as pl

MB = 1 << 20


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """Labelled rows.

    Attributes
    ----------
    path : Path
        The file of the rows.
    target : str
        The column of the labels.
    X : polars.DataFrame
        The numeric columns, then the categorical ones.
    y : ndarray of object
        The labels, as text.
    numeric, categorical : list of str
        Names of the columns of X.
    classes : (str, str)
        The negative and the positive class.
    memory : float
        Memory that the fit may use, in MB.
    groups : ndarray of object or None
        The group of each row, as text; None if no column of groups was named.
    """

    path: Path
    target: str
    X: pl.DataFrame
    y: NDArray[Any]
    numeric: list[str]
    categorical: list[str]
    classes: tuple[str, str]
    memory: float
    groups: NDArray[Any] | None = None

    @property
    def rows(self) -> Any:
        """X in a form that scikit-learn accepts."""
        return for_sklearn(self.X)

    @property
    def positive(self) -> str:
        """The positive class."""
        return self.classes[1]

    @property
    def smallest_class(self) -> int:
        """Number of rows of the rarer class."""
        return int(np.unique(self.y.astype(str), return_counts=True)[1].min())

    @property
    def n_groups(self) -> int:
        """Number of groups, or of rows without groups."""
        return len(self.y) if self.groups is None else len(set(self.groups))


def read_training(
    path: Path,
    target: str,
    *,
    pos_label: str | None = None,
    categorical: Sequence[str] = (),
    ignore: Sequence[str] = (),
    groups: str | None = None,
    max_memory: float | None = None,
) -> TrainingTable:
    """Read a training table.

    Parameters
    ----------
    path : Path
        CSV or Parquet.
    target : str
        The column of the labels.
    pos_label : str or None
        The positive class; the last in sorted order if None.
    categorical, ignore : sequence of str
        Numeric columns to treat as categories, and columns to leave out.
    groups : str or None
        The column of the groups that folds never split; it is not a feature.
    max_memory : float or None
        Memory that the table and the fit may use, in MB; half of the machine's memory if None.
    """
    memory = max_memory or _half_of_the_memory()
    with opened(path) as table:
        table.check_has([target], "--target")
        table.check_has(categorical, "--categorical")
        table.check_has(ignore, "--ignore")
        table.check_has([] if groups is None else [groups], "--groups")
        if groups == target:
            raise UsageError(f"--groups {groups!r} is the column of the labels; name another one.")
        batch = _whole(table, [name for name in table.columns if name not in ignore or name == groups], memory)
    y = labels(table, batch, target)
    classes = _two_classes(table, batch, target, y, pos_label)
    names = [name for name in batch.frame.columns if name not in (target, groups)]
    if not names:
        others = f"{target!r}" if groups is None else f"{target!r} and {groups!r}"
        raise DataError(f"{path} has no column besides {others}; a model needs at least one feature.")
    holds_numbers = {name: name not in categorical and is_numeric(table, batch, name) for name in names}
    numeric, texts = ([name for name in names if holds_numbers[name] is kind] for kind in (True, False))
    X = features(table, batch, numeric, texts)
    _check_size(X, numeric, texts, memory)
    held = None if groups is None else labels(table, batch, groups, what="group")
    return TrainingTable(path, target, X, y, numeric, texts, classes, memory, held)


def _whole(table: InputTable, names: list[str], memory: float) -> Batch:
    import polars as pl

    frames, places, size = [], list[int](), 0.0
    with progress("read", table.path) as report:
        for batch in table.batches:
            frames.append(batch.frame.select(names))
            places.extend(batch.places)
            report(table.position())
            size += frames[-1].estimated_size()
            if size > memory * MB / 2:
                raise UsageError(
                    f"{table.path} does not fit in {memory:.0f} MB with room for training; raise --max-memory or use "
                    "fewer rows."
                )
    return Batch(pl.concat(frames), places)


def _two_classes(
    table: InputTable, batch: Batch, target: str, y: NDArray[Any], pos_label: str | None
) -> tuple[str, str]:
    classes = sorted(set(y))
    if len(classes) == 1:
        raise DataError(f"{table.path}: column {target!r} contains only one class, {classes[0]!r}; two are needed.")
    if len(classes) > 2:
        first = {label: at for at, label in reversed(list(enumerate(y)))}  # first row of each class
        one, two, third = sorted(first, key=lambda label: first[label])[:3]
        raise DataError(
            f"{table.place(batch.places[first[third]])}, column {target!r}: {third[:60]!r} is a third class after "
            f"{one[:60]!r} and {two[:60]!r}; two classes are supported."
        )
    if pos_label is None:
        return classes[0], classes[1]
    if pos_label not in classes:
        raise UsageError(f"--pos-label {pos_label!r} is not one of the classes {classes[0]!r} and {classes[1]!r}.")
    return next(label for label in classes if label != pos_label), pos_label


def _check_size(X: pl.DataFrame, numeric: list[str], categorical: list[str], memory: float) -> None:
    """Raise an error if the encoded rows would not fit in memory, naming the column with the most categories."""
    counts = {name: X[name].n_unique() for name in categorical}
    for name, count in counts.items():
        if count > 50 and count > 0.9 * X.height:
            warnings.warn(
                f"column {name!r} has {count} different texts in {X.height} rows; if it is an identifier of the "
                f"row, pass --ignore {name!r}.",
                UserWarning,
                stacklevel=2,
            )
    need = X.height * (2 * len(numeric) + sum(counts.values())) * 8 / MB
    if need > memory / 2:
        most = max(counts, key=lambda name: counts[name], default=None)
        hint = f"leave out {most!r}, which has {counts[most]} categories, with --ignore" if most else "use fewer rows"
        raise UsageError(f"the rows take {need:.0f} MB of the {memory:.0f} MB allowed; {hint}, or raise --max-memory.")


def _half_of_the_memory() -> float:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / MB / 2
    except (AttributeError, ValueError, OSError):
        return 2048.0
