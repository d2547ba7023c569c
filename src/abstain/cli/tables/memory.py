"""The memory that a fit needs beyond that of the program itself, estimated before it begins.

::

    need = 16 MB + 6 copies of the encoded rows + 1,200 bytes a row + 24 bytes for each score of a search + cache

The copies are those of the table, of the encoded rows, of the solver and of the model file; the 1,200 bytes are labels,
coefficients and places in the file; the 24 bytes are three copies of a score, of which a search
has one for each row and fit of its largest round. The factors are rounded up from
measurements. A limit that would be exceeded is an error that gives the way out; what is
left below the limit becomes the cache of kernel values.
"""

import os

import polars as pl

from abstain.cli.exit_codes import UsageError

MB = 1 << 20
FIXED = 16.0  # MB
COPIES = 6
PER_ROW = 1200  # bytes
PER_SCORE = 24  # bytes
LARGEST_CACHE = 500.0  # MB


class TooLargeError(UsageError):
    """A table that does not fit in the memory."""


def half_of_the_memory() -> float:
    """Half of the machine's memory in MB, the limit that holds if none is given."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / MB / 2
    except (AttributeError, ValueError, OSError):
        return 2048.0


def left_by_rows(X: pl.DataFrame, numeric: list[str], categorical: list[str], memory: float) -> float:
    """The MB that the rows leave of `memory`; an error that names the column with the most categories if none."""
    counts = {name: X[name].n_unique() for name in categorical}
    rows = X.height * (len(numeric) + sum(counts.values())) * 8 / MB
    need = FIXED + COPIES * rows + PER_ROW * X.height / MB
    if need > memory:
        most = max(counts, key=lambda name: counts[name], default=None)
        hint = f"leave out {most!r}, which has {counts[most]} categories, with --ignore" if most else "use fewer rows"
        what = f"the rows take {rows:.1f} MB and their fit about {need:.0f} MB, more than the {memory:.0f} MB allowed"
        raise TooLargeError(f"{what}; {hint}, or raise --max-memory.")
    return memory - need


def cache_size(left: float, scores: int, fits: int) -> float:
    """The MB for the cache of kernel values beside so many scores of `fits` fits; an error if these do not fit."""
    size = PER_SCORE * scores / MB
    if size > left:
        what = f"the {fits} fits that choose C and gamma take about {size:.0f} MB more"
        way = "pass --C and --gamma, use fewer rows, or raise --max-memory"
        raise UsageError(f"{what}, of which --max-memory leaves {left:.0f} MB; {way}.")
    return max(1.0, min(LARGEST_CACHE, left - size))
