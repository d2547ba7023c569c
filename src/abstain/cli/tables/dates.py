"""Dates and times as numbers: days since 1970-01-01, with the time of the day as a fraction.

Read are 2024-01-31, 2024/01/31, 31.01.2024, 31/01/2024 and 01/31/2024, each with an optional time (14:05, 14:05:30.5,
2:05 PM) and an optional zone (Z, +02:00), which is taken into account. Dates with slashes or dashes that end in the
year need to know which comes first, the day or the month. Years have four digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.tables.notation import NEARLY

_TIME = (
    r"(?:(?:T|\s+)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d+)?))?"
    r"\s*(?P<half>[AaPp][Mm])?\s*(?P<zone>Z|[+-]\d{2}:?\d{2})?)?"
)
_YEAR_FIRST = rf"^(?P<year>\d{{4}})[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}}){_TIME}$"
_YEAR_LAST = rf"^(?P<one>\d{{1,2}})(?P<sign>[-/.])(?P<two>\d{{1,2}})[-/.](?P<year>\d{{4}}){_TIME}$"
_MONTHS = "jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz]"
_UNREAD = (  # dates all the same, which must be rewritten
    rf"^\d{{1,2}}([-/.])\d{{1,2}}[-/.]\d{{2}}{_TIME}$",
    rf"(?i)^\d{{1,2}}[-. ]+(?:{_MONTHS})[a-z]*[-., ]+\d{{2,4}}{_TIME}$",
    rf"(?i)^(?:{_MONTHS})[a-z]*[-. ]+\d{{1,2}},?[- ]+\d{{4}}{_TIME}$",
)


def is_temporal(column: pl.Series) -> bool:
    """Whether the type of a column is a date or a date with a time."""
    return column.dtype.base_type() in {pl.Date, pl.Datetime}


def look_like_dates(cells: pl.Series) -> bool:
    """Whether nearly all texts are dates."""
    cells = cells.drop_nulls().head(1000).str.strip_chars()
    if 2 * sum(any(map(str.isdigit, text)) for text in cells.head(20)) <= min(len(cells), 20):  # a quick look
        return False
    like = pl.Series([False] * len(cells))
    for pattern in (_YEAR_FIRST, _YEAR_LAST, *_UNREAD):
        like |= cells.str.contains(pattern)
    return float(like.mean() or 0.0) >= NEARLY  # type: ignore[arg-type]


def day_first_in(cells: pl.Series) -> tuple[bool | None, int | None]:
    """Whether the day comes first in dates such as 31/01/2024, and the first of those dates; None where unknown."""
    found = cells.str.strip_chars().str.extract_groups(_YEAR_LAST).struct.unnest()
    slashed = found["sign"].is_in(["-", "/"]).fill_null(value=False).arg_true()
    if len(slashed) == 0:
        return None, None
    one, two = (int(found[name].gather(slashed).cast(int).max()) for name in ("one", "two"))  # type: ignore[arg-type]
    return (True if one > 12 >= two else False if two > 12 >= one else None), slashed[0]


def days(column: pl.Series, day_first: bool | None) -> NDArray[np.float64]:
    """Days since 1970-01-01 of dates; nan where a cell is not a date or its order is unknown."""
    if is_temporal(column):
        seconds = column.cast(pl.Datetime("us")).dt.timestamp("us")
        return seconds.cast(pl.Float64).to_numpy().astype(np.float64) / 86_400e6
    cells = column.str.strip_chars()
    found = cells.str.extract_groups(_YEAR_FIRST).struct.unnest()
    last = cells.str.extract_groups(_YEAR_LAST).struct.unnest()
    year, one, two = (_whole(last[name]) for name in ("year", "one", "two"))
    stated = (last["sign"] == ".").fill_null(value=False).to_numpy() | (day_first is not None)
    first = (last["sign"] == ".").fill_null(value=False).to_numpy() | bool(day_first)
    at_end = ~np.isnan(year)
    year = np.where(at_end, year, _whole(found["year"]))
    month = np.where(at_end, np.where(first, two, one), _whole(found["month"]))
    day = np.where(at_end, np.where(first, one, two), _whole(found["day"]))
    dates = _since_1970(year, month, day)
    dates[at_end & ~stated] = np.nan
    clock = {name: last[name].fill_null(found[name]) for name in ("hour", "minute", "second", "half", "zone")}
    return dates + _fraction(clock)


def _since_1970(year: NDArray[Any], month: NDArray[Any], day: NDArray[Any]) -> NDArray[np.float64]:
    good = (month >= 1) & (month <= 12) & (day >= 1)  # False where nan
    months = np.where(good, 12 * (year - 1970) + month - 1, 0).astype("M8[M]")
    dates = months.astype("M8[D]") + np.where(good, day - 1, 0).astype("m8[D]")
    good &= dates.astype("M8[M]") == months  # the month has that day
    return np.where(good, dates.astype(np.int64), np.nan).astype(np.float64)


def _fraction(clock: dict[str, pl.Series]) -> NDArray[np.float64]:
    """The time of the day as a share of the day, 0 where it is not given; nan where it does not exist."""
    hour, minute, second = (np.nan_to_num(_whole(clock[name])) for name in ("hour", "minute", "second"))
    half = clock["half"].str.to_lowercase().fill_null("").to_numpy()
    wrong = (hour > 23) | (minute > 59) | (second >= 61) | ((half != "") & ((hour < 1) | (hour > 12)))
    hour = np.where(half == "", hour, hour % 12 + 12 * (half == "pm"))
    zone = clock["zone"].str.replace("Z", "+00:00").str.extract_groups(r"([+-])(\d{2}):?(\d{2})").struct.unnest()
    sign = np.where((zone["1"] == "-").fill_null(value=False).to_numpy(), -1.0, 1.0)
    ahead = sign * (np.nan_to_num(_whole(zone["2"])) + np.nan_to_num(_whole(zone["3"])) / 60)
    return np.where(wrong, np.nan, (hour - ahead + minute / 60 + second / 3600) / 24)


def _whole(texts: pl.Series) -> NDArray[np.float64]:

    return texts.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy().astype(np.float64)
