"""How the numbers of a table are written: decimal commas, and signs between thousands.

A number is an optional sign, digits (or groups of three with a sign between them), a decimal sign with digits, and an
exponent. A column that nearly always reads as numbers in another notation than the stated one is an error that names
the options; it is never taken for categories.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import polars as pl

from abstain.cli.exit_codes import UsageError, meant
from abstain.cli.tables.encoding import checked_encoding

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
        cls,
        encoding: str | None,
        decimal: str,
        thousands: str | None,
        dates: str | None,
        missing: list[str] | None,
    ) -> Notation:
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
