"""Printed output: tables on standard output, or the same as JSON."""

from __future__ import annotations

import json
import math
import sys
import textwrap
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from abstain.cli.exit_codes import one_line


def print_json(result: Mapping[str, Any]) -> None:
    """Print a result as JSON, with nan and infinities as null and unprintable characters escaped."""
    text = json.dumps(_jsonable(result), indent=2, ensure_ascii=False, allow_nan=False)
    print("".join(char if char == "\n" or char.isprintable() else json.dumps(char)[1:-1] for char in text))


def print_facts(facts: Mapping[str, Any]) -> None:
    """Print names and values in two columns; each record of a list has a line."""
    each = [(name, value if _records(value) else [value]) for name, value in facts.items() if value is not None]
    rows = [(name, shown(one)) for name, values in each for one in values]
    print_table(None, rows, numbers_from=2, longest=200)


def _records(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(one, Mapping) for one in value)


def print_judged(facts: Mapping[str, Any], *, json: bool) -> None:
    """Print facts with a verdict, which is one sentence in the text; warnings go to stderr."""
    warn_all(facts["warnings"])
    if json:
        print_json(facts)
        return
    print_facts({name: value for name, value in facts.items() if name not in ("verdict", "warnings", "drift")})
    _print_sentence(facts["verdict"]["sentence"])
    if facts.get("drift") is not None:
        print()
    print_drift(facts.get("drift"))


def print_drift(drift: Mapping[str, Any] | None) -> None:
    """Print whether the rows are like the training rows, if that is known."""
    if drift is not None:
        _print_sentence(drift["sentence"])


def _print_sentence(text: str) -> None:
    print(textwrap.fill(one_line(text), 100, break_long_words=False))


def warn_all(texts: Iterable[str]) -> None:
    """Write warnings to stderr."""
    for text in texts:
        warnings.warn(text, UserWarning, stacklevel=2)


def print_table(
    header: Sequence[str] | None, rows: Iterable[Sequence[Any]], *, numbers_from: int = 1, longest: int = 40
) -> None:
    """Print a table; columns from `numbers_from` on are right-aligned, and cells are cut to `longest` characters."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [[short(shown(cell), longest) for cell in row] for row in rows]
    width = max((len(row) for row in cells), default=0)
    names = [short(name, longest) for name in header] if header else [""] * width
    table = Table(show_header=header is not None, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for at, name in enumerate(names):
        table.add_column(Text(name), justify="right" if at >= numbers_from else "left", no_wrap=header is not None)
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    # Lines are not wrapped unless on a terminal.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 400)
    with console.capture() as caught:
        console.print(table)
    print("\n".join(line.rstrip() for line in caught.get().splitlines()), end="\n\n")


def shown(value: Any) -> str:
    """A number with four digits, a list or names with values with commas, anything else as is."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "undefined" if math.isnan(value) else f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(shown(one) for one in value)
    if isinstance(value, Mapping):
        ends = {"estimate", "from", "to"} if {"estimate", "from", "to"} <= value.keys() else set()
        named = [f"{name} {shown(one)}" for name, one in value.items() if name not in ends]
        interval = "{estimate} ({from} to {to})".format_map({name: shown(value[name]) for name in ends}) if ends else ""
        return ", ".join([interval, *named] if ends else named)
    return str(value)


def short(text: str, longest: int) -> str:
    """The text of a cell on one line, made safe and cut to `longest` characters."""
    text = one_line(text[: longest + 1])
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        names = [str(name).replace(" ", "_").replace("-", "_") for name in value]
        names = names if len({*names}) == len(names) else [*map(str, value)]
        return {name: _jsonable(one) for name, one in zip(names, value.values(), strict=True)}
    if isinstance(value, list | tuple):
        return [_jsonable(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)
