"""Dates and times as numbers: days since 1970-01-01, with the time of the day as a fraction.

Read are 2024-01-31, 2024/01/31, 31.01.2024, 31/01/2024 and 01/31/2024, each with an optional time (14:05, 14:05:30.5,
2:05 PM) and an optional zone (Z, +02:00), which is taken into account. Dates with slashes or dashes that end in the
year need to know which comes first, the day or the month. Years have four digits.
"""

from __future__ import annotations

import re

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


def format_of(column: pl.Series, day_first: bool | None) -> str:
    """How the first date of a column is written, as `strftime` takes it; ISO if there is none."""
    cells = [] if is_temporal(column) else column.str.strip_chars().drop_nulls().head(1).to_list()
    text = next(iter(cells), "")
    if found := re.match(_YEAR_LAST, text):
        sign = found["sign"]
        return sign.join(["%d", "%m", "%Y"] if sign == "." or day_first else ["%m", "%d", "%Y"])
    return text[4].join(["%Y", "%m", "%d"]) if re.match(_YEAR_FIRST, text) else "%Y-%m-%d"


def days(column: pl.Series, day_first: bool | None) -> NDArray[np.float64]:
    """Days since 1970-01-01 of dates; nan where a cell is not a date or its order is unknown."""
    if is_temporal(column):
        seconds = column.cast(pl.Datetime("us")).dt.timestamp("us")
        return seconds.cast(pl.Float64).to_numpy().astype(np.float64) / 86_400e6
    cells = column.str.strip_chars()
    first, last = (cells.str.extract_groups(pattern).struct.unnest() for pattern in (_YEAR_FIRST, _YEAR_LAST))
    year, hour, minute, second, half, zone = (
        pl.coalesce(name, f"{name}_") for name in ("year", "hour", "minute", "second", "half", "zone")
    )
    dotted = pl.col("sign") == "."
    day_leads, order_known = dotted | bool(day_first), pl.col("sign").is_null() | dotted | (day_first is not None)
    month = pl.coalesce("month_", pl.when(day_leads).then("two").otherwise("one")).str.zfill(2)
    day = pl.coalesce("day_", pl.when(day_leads).then("one").otherwise("two")).str.zfill(2)
    date = pl.concat_str(year, month, day, separator="-").str.to_date("%Y-%m-%d", strict=False).cast(pl.Int32)
    hour, minute, second, ahead, more = (
        text.cast(pl.Float64).fill_null(0.0)
        for text in (hour, minute, second, zone.str.extract(r"^[+-](\d{2})"), zone.str.extract(r"(\d{2})$"))
    )
    ahead = (ahead + more / 60) * pl.when(zone.str.starts_with("-")).then(-1.0).otherwise(1.0)
    half = half.str.to_lowercase()
    exists = (hour <= 23) & (minute <= 59) & (second < 61) & (half.is_null() | hour.is_between(1, 12))
    hour = pl.when(half.is_null()).then(hour).otherwise(hour % 12 + 12 * (half == "pm"))
    found = pl.when(order_known & exists).then(date + (hour - ahead + minute / 60 + second / 3600) / 24)
    both = pl.concat([first.select(pl.all().name.suffix("_")), last], how="horizontal")
    return both.select(found.fill_null(np.nan)).to_series().to_numpy().astype(np.float64)
