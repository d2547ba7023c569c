"""The workbook of a review: a sheet of cases with a list of verdicts to choose from, and a sheet that says what to do.

Text stays text: nothing is written as a formula, a link or a number that it is not.
"""

from __future__ import annotations

import datetime as dt
import io
import math
from collections.abc import Sequence
from typing import Any

CASES, HELP, CHOICES = "cases", "read me", "choices"  # names of the sheets
ROW, WHY, VERDICT, NOTE, CODE = "row", "why", "verdict", "note", "code"  # names of the columns
MOST_ROWS, LONGEST = 1_048_575, 32_767  # of a sheet, and of the text in a cell
WIDEST, WIDTHS = 28, {WHY: 52, VERDICT: 16, NOTE: 24}
HEADING, WRITABLE = "#D9E2EC", "#FFF8DC"
INERT = ("strings_to_formulas", "strings_to_numbers", "strings_to_urls", "nan_inf_to_errors")


def read_me(answer: str, classes: Sequence[str], unsure: str) -> tuple[str, ...]:
    """The six lines that say what to do."""
    return (
        f"1. Each line of the sheet '{CASES}' is one case that waits for your decision; the most urgent come first.",
        f"2. Read the case, then choose a value in its yellow cell '{VERDICT}': {', '.join(classes)}, or '{unsure}'.",
        f"3. '{WHY}' says why the machine asks you. Judge cases without a reason by their values alone.",
        "4. The columns 'cost_...' have what each answer is expected to cost; the smallest is the best guess.",
        f"5. '{NOTE}' is for your words. Sort and filter as you like, and leave the other cells as they are.",
        f"6. Save the file as it is. {answer}",
    )


def workbook(columns: dict[str, Sequence[Any]], choices: Sequence[str], lines: Sequence[str]) -> bytes:
    """Return a workbook (.xlsx) with these columns of cases; those of `CODE` are hidden.

    Parameters
    ----------
    columns : dict of str to sequence
        Cells by name of the column: None, texts, numbers, truths, dates or times.
    choices : sequence of str
        The verdicts to choose from.
    lines : sequence of str
        What the second sheet says.
    """
    try:
        from xlsxwriter import Workbook
    except ImportError as error:
        raise ImportError("a workbook needs xlsxwriter; install it with: pip install 'abstain[excel]'") from error
    file = io.BytesIO()
    book = Workbook(file, dict.fromkeys(INERT, False))
    cases, about, listed = (book.add_worksheet(name) for name in (CASES, HELP, CHOICES))
    top = {"valign": "top"}
    heading = book.add_format({"bold": True, "bg_color": HEADING, "text_wrap": True, "border": 1} | top)
    plain, wrapped = book.add_format(top), book.add_format(top | {"text_wrap": True})
    writable = book.add_format(top | {"bg_color": WRITABLE, "border": 1, "text_wrap": True})
    times = {
        dt.datetime: book.add_format(top | {"num_format": "yyyy-mm-dd hh:mm:ss"}),
        dt.date: book.add_format(top | {"num_format": "yyyy-mm-dd"}),
        dt.time: book.add_format(top | {"num_format": "hh:mm:ss"}),
    }
    for at, (name, cells) in enumerate(columns.items()):
        form = writable if name in (VERDICT, NOTE) else wrapped
        width = WIDTHS.get(name) or min(WIDEST, max(8, len(name) + 1, *map(len, map(_shown, cells))) + 1)
        cases.set_column(at, at, width, plain, {"hidden": name == CODE})
        cases.write_string(0, at, name, heading)
        for row, cell in enumerate(cells, start=1):
            if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
                cases.write_blank(row, at, None, form)
            elif isinstance(cell, bool):
                cases.write_boolean(row, at, cell, form)
            elif isinstance(cell, float) or (isinstance(cell, int) and abs(cell) < 10**15):
                cases.write_number(row, at, cell, form)
            elif type(cell) in times:
                cases.write_datetime(row, at, cell, times[type(cell)])
            else:
                cases.write_string(row, at, str(cell)[:LONGEST], form)
    cases.set_row(0, 15 * -(-max(map(len, columns)) // WIDEST))
    last, names = len(columns[VERDICT]), list(columns)
    cases.freeze_panes(1, names.index(VERDICT) + 1)
    cases.autofilter(0, 0, last, len(names) - 2)
    listed.write_column(0, 0, choices)
    listed.hide()
    where = names.index(VERDICT)
    cases.data_validation(1, where, last, where, {
        "validate": "list",
        "source": f"={CHOICES}!$A$1:$A${len(choices)}",
        "input_message": f"Choose {', '.join(choices)}."[:255],
        "error_title": "Not a verdict",
        "error_message": "Choose a value of the list.",
    })  # fmt: skip
    about.set_column(0, 0, 80)
    about.write_column(0, 0, lines, wrapped)
    cases.set_landscape()
    cases.repeat_rows(0)
    cases.set_paper(8)  # A3
    cases.print_across()
    book.close()
    return file.getvalue()


def _shown(cell: Any) -> str:
    return f"{cell:.6g}" if isinstance(cell, float) else "" if cell is None else str(cell)
