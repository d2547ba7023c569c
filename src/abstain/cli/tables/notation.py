"""How the numbers and the dates of a table are written: decimal commas, signs between thousands, days and months.

A number is an optional sign, digits (or groups of three with a sign between them), a decimal sign with digits, and an
exponent. A column that nearly always reads as numbers in another notation than the stated one is an error that names
the options; it is never taken for categories.

Dates and times become days since 1970-01-01, with the time of the day as a fraction. Read are 2024-01-31, 2024/01/31,
31.01.2024, 31/01/2024 and 01/31/2024, each with an optional time (14:05, 14:05:30.5, 2:05 PM) and an optional zone (Z,
+02:00), which is taken into account. Dates with slashes or dashes that end in the year need to know which comes first,
the day or the month. Years have four digits.
"""

import math
import re
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from abstain.cli.exit_codes import UsageError, meant
from abstain.cli.tables.csv_records import checked_encoding

NEARLY = 0.9  # share of the cells of a column that decides what it contains
SIGNS = {",": "[,]", ".": "[.]", "'": "['\u2019]", " ": "[ \u00a0\u2009\u202f]", "": "[^\\s\\S]"}
WAYS = ((".", ""), (",", ""), (".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
UNITS = r"^(?:[$\u20ac\u00a3\u00a5]|EUR|USD|GBP|CHF)|(?:[%$\u20ac\u00a3\u00a5]|EUR|USD|GBP|CHF)$"
LOOSE = re.compile(r"\D{0,4}\d[^A-Za-z]*(?:[eE][+-]?\d+)?\D{0,4}")
DATES = ("days", "day-first", "month-first")


@dataclass(frozen=True)
class Notation:
    """How a table is written.

    Attributes
    ----------
    encoding : str or None
        None is UTF-8, or what the byte-order mark says.
    decimal, thousands : str
        The decimal sign, and the sign between thousands ("" for none).
    dates : str or None
        None: dates are an error; else one of DATES, and they become days.
    missing : tuple of str
        Texts and numbers that stand for a missing value.
    """

    encoding: str | None = None
    decimal: str = "."
    thousands: str = ""
    dates: str | None = None
    missing: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, encoding: str | None, decimal: str, thousands: str | None, dates: str | None, missing: list[str] | None
    ) -> Self:
        """The notation given by the options; an impossible one is an error."""
        between = {None: "", "space": " "}.get(thousands, thousands or "")
        if decimal not in {".", ","}:
            raise UsageError(f"--decimal {decimal!r} must be . or ,")
        if between not in SIGNS or between == decimal:
            raise UsageError(f"--thousands {thousands!r} must be one of , . ' or space, and not --decimal {decimal}")
        if dates is not None and dates not in DATES:
            raise UsageError(f"--dates {dates!r} must be days, day-first or month-first{meant(dates, DATES) or '.'}")
        plain = [re.sub(r"^([+-]?\d*),(\d+)$", r"\1.\2", text) if decimal == "," else text for text in missing or ()]
        return cls(checked_encoding(encoding), decimal, between, dates, tuple(dict.fromkeys(plain)))

    @property
    def day_first(self) -> bool | None:
        """Whether 01/02/2024 is in February; None if not stated."""
        return {"day-first": True, "month-first": False}.get(self.dates or "")

    @property
    def plain(self) -> bool:
        """Whether numbers are written as in 1234.5."""
        return (self.decimal, self.thousands) == (".", "")

    def number(self, text: pl.Expr) -> pl.Expr:
        """The numbers of stripped texts; None for any other text."""
        return _number(text, self.decimal, self.thousands)

    def better(self, cells: pl.Series) -> str:
        """The options that would read nearly all cells as numbers, in words; "" if there are none."""
        cells = cells.head(1000)
        if not may_be_numbers(cells):
            return ""
        read = dict(zip(WAYS, _shares_read(cells), strict=True))
        best = max(read, key=lambda way: read[way])  # the first of equals
        if read[best] < NEARLY:
            bare = cells.str.replace(UNITS, "").str.replace(UNITS, "").str.strip_chars()
            signed = max(_shares_read(bare)) >= NEARLY
            return "has a currency or percent sign; write plain numbers" if signed else ""
        if read[best] <= read[self.decimal, self.thousands]:
            return ""
        if best == (",", "") and read[".", ","] == read[best]:
            return "has a comma; pass --decimal ',' if it is a decimal comma, --thousands ',' if it separates thousands"
        odd = cells.to_frame().filter(self.number(pl.first()).is_null()).to_series()
        written = " and ".join(_words(best, "".join(odd.to_list())))
        return f"has {written}; pass {self._options(best)}"

    def _options(self, way: tuple[str, str]) -> str:
        """The options that lead from this notation to another one."""
        given = [f"--decimal {way[0]!r}"] if way[0] != self.decimal else []
        if way[1] != self.thousands:
            given.append(f"--thousands {'space' if way[1] == ' ' else repr(way[1])}")
        return " ".join(given)


def number_of(text: object) -> float:
    """Return a number written in Python's notation; nan for other texts."""
    try:
        return float(str(text))
    except ValueError:
        return math.nan


def may_be_numbers(cells: pl.Series) -> bool:
    """Whether most of the first texts have digits with few letters around; a quick look that spares wide tables."""
    some = cells.head(20).to_list()
    return 2 * sum(LOOSE.fullmatch(text) is not None for text in some) > len(some)


def looks_grouped(cells: pl.Series) -> bool:
    """Whether the points of numbers may stand between thousands: 950, 1.200, 15.000, but never 1.5 or 0.123."""
    with_point = cells.filter(cells.str.contains(".", literal=True))
    if len(with_point) < 3:
        return False
    others = cells.filter(~cells.str.contains(".", literal=True))
    grouped = with_point.str.contains(r"^[+-]?[1-9]\d{0,2}[.]\d{3}$").all()
    round_ones = float(with_point.str.ends_with("00").mean() or 0.0)  # type: ignore[arg-type]
    return bool(grouped and others.str.contains(r"^[+-]?\d{1,3}$").all() and (len(others) > 0 or round_ones > 0.5))


def _number(text: pl.Expr, decimal: str, thousands: str) -> pl.Expr:
    """The numbers of stripped texts in a notation; None for any other text."""
    if (decimal, thousands) == (".", ""):
        return text.cast(pl.Float64, strict=False)
    point, between = SIGNS[decimal], SIGNS[thousands]
    pattern = rf"^[+-]?(?:\d{{1,3}}(?:{between}\d{{3}})+|\d+)?(?:{point}\d*)?(?:[eE][+-]?\d+)?$"
    plain = text.str.replace_all(between, "").str.replace_all(decimal, ".", literal=True)
    return pl.when(text.str.contains(pattern)).then(plain.cast(pl.Float64, strict=False))


def _shares_read(cells: pl.Series) -> tuple[float, ...]:
    """The share of texts that each of WAYS reads as numbers."""
    shares = (_number(pl.first(), *way).is_not_null().mean().fill_null(0.0).alias(str(way)) for way in WAYS)
    return cells.to_frame().select(shares).row(0)


def _words(way: tuple[str, str], text: str) -> list[str]:
    """What is unusual in texts that a notation reads."""
    names = {",": "commas", ".": "points", "'": "apostrophes", " ": "spaces"}
    found = []
    if way[1] and re.search(SIGNS[way[1]], text):
        found.append(f"{names[way[1]]} between thousands")
    if way[0] in text:
        found.append("a decimal comma" if way[0] == "," else "a decimal point")
    return found or ["another notation"]


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
