"""Small tables: of text, and for notebooks, every cell escaped, in the notebook's colours; and shares as text."""

import html
import math
from collections.abc import Collection, Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np

_LONGEST = 60
_CELL = "padding:.2em .7em;border-bottom:1px solid rgba(128,128,128,.35);background:none;color:inherit"


def percent(share: float) -> str:
    """Return a share in percent, such as "57.3"; ties are rounded up, as the script of the report does.

    Examples
    --------
    >>> from abstain.html import percent
    >>> percent(229 / 400), f"{100 * 229 / 400:.1f}"  # 57.25
    ('57.3', '57.2')
    """
    return str(Decimal(100 * share).quantize(Decimal("0.1"), ROUND_HALF_UP))


def html_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], note: str = "") -> str:
    """Return a table of text and numbers; numbers are aligned to the right, long text is cut."""
    head = "".join(_cell("th", name, "left" if at == 0 else "right") for at, name in enumerate(columns))
    body = "".join(
        f"<tr>{''.join(_cell('td', value, 'left' if at == 0 else 'right') for at, value in enumerate(row))}</tr>"
        for row in rows
    )
    return (
        '<div style="overflow-x:auto"><table style="border-collapse:collapse;margin:0">'
        f'<caption style="text-align:left;caption-side:top;color:inherit;padding:.2em 0">{_escaped(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        + (f'<p style="margin:.3em 0">{_escaped(note)}</p></div>' if note else "</div>")
    )


def aligned(rows: Sequence[Sequence[str]], left: Collection[int]) -> list[str]:
    """Return rows of text as lines with columns of the same width: some aligned to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    formats = [f"{'<' if column in left else '>'}{width}" for column, width in enumerate(widths)]
    return ["  ".join(map(format, row, formats)).rstrip() for row in rows]


def shortened(n: int, most: int = 10) -> list[int | None]:
    """Positions of the rows to show of n: all, or the first and the last ones with None between them."""
    half = most // 2
    return [*range(n)] if n <= most else [*range(half), None, *range(n - half, n)]


def _cell(tag: str, value: Any, align: str) -> str:
    return f'<{tag} style="text-align:{align};{_CELL}"><bdi>{_escaped(_text(value))}</bdi></{tag}>'


def _text(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return "–" if math.isnan(value) else f"{value:.4g}"
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _escaped(text: str) -> str:
    return html.escape(text, quote=True)
