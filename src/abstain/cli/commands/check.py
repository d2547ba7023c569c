"""``abstain check``: all that a fit would say of a table at once, and the command that works.

Each error names an option that is the way out. It is added, and the table is read again, until there is none.
"""

from __future__ import annotations

import re
import shlex
import warnings
from collections import Counter
from collections.abc import Collection
from typing import Any

from abstain.cli.exit_codes import DataError, in_options, one_line
from abstain.cli.input.training_table import TableOptions, TrainingTable, read_training
from abstain.cli.options import FLOAT, OPTIONS, TEXTS, Given, option_name
from abstain.cli.output.printing import print_json
from abstain.cli.tables.read_table import Batch, opened
from abstain.cli.training.training import folds_for

MOST = 200  # options
NOTATION = ("decimal", "thousands")
_WRITTEN = r"(--[A-Za-z-]+)(?: ('[^']*'|\"[^\"]*\"|[\w.-]*\w|,))?"
_OPTION, _ADVICE = re.compile(_WRITTEN), re.compile(rf"(?:pass|leave them out with) (?:{_WRITTEN} ?)+")
_COLUMN = re.compile(r"column ('[^']*'|\"[^\"]*\")")
LIKELY = ("class", "target", "label", "y", "outcome", "diagnosis", "status", "answer")


def command(given: Given) -> None:
    """Run the command."""
    guessed = given.target is None
    given = given.but(target=_target(given)) if guessed else given
    # the sign that some columns have may be the other one: what leaves out fewer columns is advised
    ways = [_followed(given), *(_followed(given, refused) for refused in (NOTATION,))]
    table, said, added = min(ways, key=lambda way: (way[0] is None, way[2].count("--ignore")))
    numbered = "\n".join(f"{at}. {one_line(text)}" for at, text in enumerate(said, 1))
    counts: dict[str, Any] = {"target": given.target, "guessed": guessed}
    if table is None:
        if given.json:
            print_json({**counts, "problems": said, "command": None})
        elif len(said) > 1:
            print(f"{given.data}:\n{numbered}")
        raise DataError(f"no option corrects this table: {said[-1]}")
    data = f"./{given.data}" if str(given.data).startswith("-") else str(given.data)
    words = ["abstain", "fit", data, "--target", given.target, *added, "--reject", "0.3", "-o", "my.model"]
    counts |= {"rows": len(table.y), "features": table.X.width, "classes": dict(Counter(table.y.tolist()))}
    if given.json:
        print_json({**counts, "problems": said, "command": shlex.join(words)})
        return
    classes = ", ".join(f"{name!r} in {count} rows" for name, count in counts["classes"].items())
    print(
        one_line(f"{given.data}: {counts['rows']} rows, {counts['features']} features; {given.target!r} is {classes}.")
    )
    if guessed:
        print(f"The column of the labels is a guess; name it with --target if it is not {given.target!r}.")
    print(numbered or "No problems found.")
    print(f"\nThis command works; state your own costs:\n  {one_line(shlex.join(words))}")


def _followed(given: Given, refused: Collection[str] = ()) -> tuple[TrainingTable | None, list[str], list[str]]:
    """Return the table as the advice of its errors and warnings leads to it, what they said, and the options.

    The table is None if no option is the way out; the last error is then the last of what was said. Columns that need
    one of the `refused` options are left out.
    """
    said, added = list[str](), list[str]()
    for _ in range(MOST):
        table, texts = _read(given)
        new = [text for text in texts if text not in said]
        said, steps = said + new, [step for text in new for step in _advised(text, given, refused)]
        if table is not None and not steps:
            return table, said, added
        if not steps:
            return None, [*(text for text in said if text != texts[-1]), texts[-1]], added
        for name, value in steps:
            kind, before = OPTIONS[name][0], getattr(given, name)
            as_given = float(value) if value and kind == FLOAT else value or True
            given = given.but(**{name: [*(before or []), value] if kind == TEXTS else as_given})
            added += [option_name(name), *([] if value is None else [value])]
    return None, said, added


def _read(given: Given) -> tuple[TrainingTable | None, list[str]]:
    """Return the table, or None, and what reading it says."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        table, texts = None, list[str]()
        try:
            found = read_training(given.data, TableOptions(given))
            if repeated := len(found.y) - found.X.with_columns(y=found.y.astype(str)).unique().height:
                texts.append(f"{repeated} rows repeat others; if these are the same cases, remove them.")
            if given.C is None or given.gamma is None:
                folds_for(found, 0, "C and gamma", f", or pass --C 1 --gamma {1 / max(1, found.X.width):.4g}")
            table = found
        except DataError as error:
            texts.append(in_options(str(error)))
    return table, [str(one.message) for one in caught if issubclass(one.category, UserWarning)] + texts


def _advised(text: str, given: Given, refused: Collection[str]) -> list[tuple[str, str | None]]:
    """Return the options that a sentence advises; those that leave out the column if it needs a correction."""
    found, column, steps = _ADVICE.search(text), _COLUMN.search(text), list[tuple[str, str | None]]()
    for option, value in _OPTION.findall(found[0]) if found else ():
        name = option[2:].replace("-", "_")
        kind, default, _ = OPTIONS[name]
        if name in refused or (kind != TEXTS and getattr(given, name) != default):  # stated before, for another column
            steps.clear()
            break
        steps.append((name, None if kind is bool else value.strip("'\"")))
    if not steps and column is not None and column[1][1:-1] not in (given.target, *(given.ignore or ())):
        return [("ignore", column[1][1:-1])]
    return steps


def _target(given: Given) -> Any:
    """Return the column that is probably the labels: by its name, or the last one with few different cells."""
    with opened(given.data, given.notation, "check") as table:
        frame = Batch.joined(table.batches).frame
    few = [column.name for column in frame if 2 <= column.drop_nulls().n_unique() <= min(20, frame.height // 2)]
    if not few:
        raise DataError(f"{given.data} has no column with few different labels; name the labels with --target.")
    return next((name for likely in LIKELY for name in few if name.lower() == likely), few[-1])
