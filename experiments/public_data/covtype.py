"""Forest Covertype: any of its seven classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from public_data.access import load_table, read_public
from public_data.bunch import in_scikit_learn_form
from public_data.sources import SOURCES
from public_data.table import Table

__all__ = ["load_covtype"]

MEASURED = [
    "elevation",
    "aspect",
    "slope",
    "horizontal_distance_to_hydrology",
    "vertical_distance_to_hydrology",
    "horizontal_distance_to_roadways",
    "hillshade_9am",
    "hillshade_noon",
    "hillshade_3pm",
    "horizontal_distance_to_fire_points",
]
TYPES = ["Spruce/Fir", "Lodgepole Pine", "Ponderosa Pine", "Cottonwood/Willow", "Aspen", "Douglas-fir", "Krummholz"]
WHOLE = SOURCES["covtype"]
# In the folder the two classes of the usual binary problem have their own small file.
PAIR = replace(WHOLE, name="covtype_4v6", file="covtype_4v6.npz", title="Forest Covertype, types 4 and 6")


def load_covtype(*, classes: Sequence[int] | None = (4, 6), return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load Forest Covertype: 54 features, seven types of forest.

    Parameters
    ----------
    classes : sequence of int, default=(4, 6)
        Cover types to keep, 1 to 7, in the order of the target. The default is Cottonwood/Willow (0) against
        Douglas-fir (1), 20114 rows. None keeps all seven: 581012 rows, a quarter of a gigabyte.
    return_X_y, as_frame : bool, default=False
        As in `load_letter`.

    Returns
    -------
    Bunch or (data, target)
        As returned by `load_letter`.
    """
    kept = _checked_classes(classes)
    table = _pair() if sorted(kept) == [4, 6] else load_table(WHOLE, read_file=_read_whole)
    position = np.full(8, -1)
    position[kept] = np.arange(len(kept))
    target = position[table.target]
    rows = target >= 0
    return in_scikit_learn_form(
        WHOLE,
        table.data[rows].astype(np.float64),
        target[rows],
        [*MEASURED, *(f"wilderness_area{k}" for k in range(1, 5)), *(f"soil_type{k}" for k in range(1, 41))],
        [TYPES[k - 1] for k in kept],
        return_X_y=return_X_y,
        as_frame=as_frame,
    )


def _checked_classes(classes: object) -> list[int]:
    if classes is None:
        return list(range(1, 8))
    kept = [*classes] if isinstance(classes, Sequence) and not isinstance(classes, str) else []
    if len(kept) < 2 or len(set(kept)) != len(kept) or not set(kept) <= set(range(1, 8)):
        raise ValueError(
            f"classes={classes!r} must be at least two different cover types, 1 to 7, such as (4, 6), or None for all."
        )
    return [int(k) for k in kept]


def _pair() -> Table:
    def of_the_whole(table: Table) -> Table:
        rows = np.isin(table.target, (4, 6))
        return Table(table.data[rows], table.target[rows])

    return load_table(PAIR, read_file=_read_pair, elsewhere=lambda: read_public(PAIR, keep=of_the_whole))


def _read_pair(path: Path) -> Table:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:  # NumPy does not close a damaged file
        return Table(arrays["X"], arrays["y"].astype(np.int64))


def _read_whole(path: Path) -> Table:
    """Read all rows; each group of indicators is stored as the index of its 1."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:  # NumPy does not close a damaged file
        wilderness = np.eye(4, dtype=np.int16)[arrays["wilderness"]]
        soil = np.eye(40, dtype=np.int16)[arrays["soil"]]
        return Table(np.hstack([arrays["num"], wilderness, soil]), arrays["y"].astype(np.int64))
