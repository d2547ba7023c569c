"""Write measured numbers into the pages, from their results files: ``python docs/write_numbers.py``.

The number comes first, so that a page reads well as plain Markdown, and a comment after it says where it is from:

    12.3<!--number SOURCE:PATH:FORMAT-->        0.08<!--number 1/SOURCE:PATH:FORMAT-->

A new one is written as "?". A comment must not start a line, because that would end the paragraph.

SOURCE is ``benchmarks`` or ``fuzz`` (SOURCE/results.json), or an experiment (experiments/SOURCE/results.json).
PATH is a path into that file: keys and positions joined by dots; a key that contains a dot is written ``['0.45']``.
``[name=SVC]`` selects from a list of tables the one with that entry (``&`` combines two conditions). On a list of
numbers it selects the position at which the file's top-level list of that name has that value, as in
``mean[prices=0.4]``. FORMAT is a Python format; without one the number is written as is. ``1/`` writes the reciprocal.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
NUMBER = re.compile(r"([^ \n|(]*)<!--number (.+?)-->")  # with a no-break space before %
REFERENCE = re.compile(r"(?P<inverse>1/)?(?P<source>[\w-]+):(?P<path>[^:]+)(?::(?P<format>[^:]+))?\Z")
STEP = re.compile(r"\[([^\]='\"]+)=([^\]]*)\]|(?:\['([^']+)'\]|([^.\[\]]+))")


def written(text: str, root: Path = ROOT) -> str:
    """The text of a page with every number as its results file has it now."""
    return NUMBER.sub(lambda found: f"{resolve(found[2], root)}<!--number {found[2]}-->", text)


def without_references(text: str) -> str:
    """The text of a page with its numbers alone."""
    return NUMBER.sub(r"\1", text)


def resolve(reference: str, root: Path = ROOT) -> str:
    """Return the text for a reference; a `LookupError` explains why a reference cannot be resolved."""
    parts = REFERENCE.match(reference)
    if parts is None:
        raise LookupError(f"{reference!r} is not of the form SOURCE:PATH:FORMAT.")
    value = file = results(parts["source"], root)
    for key, wanted, quoted, name in STEP.findall(parts["path"]):
        value = _step(value, file, (key, wanted, quoted or name), reference)
    if isinstance(value, dict | list):
        raise LookupError(f"{reference!r} is a {type(value).__name__}, not a number.")  # noqa: TRY004
    if parts["inverse"]:
        value = 1.0 / value
    text = format(value, parts["format"] or "")
    return text if isinstance(value, str) else text.replace("%", "\N{NO-BREAK SPACE}%").replace("-", "−")  # typography


@cache
def results(source: str, root: Path = ROOT) -> Any:
    """Return the contents of a results file."""
    folder = root / source if source in {"benchmarks", "fuzz"} else root / "experiments" / source
    path = folder / "results.json"
    if not path.is_file():
        raise LookupError(f"no results for {source!r}: {path.relative_to(root)} does not exist.")
    return json.loads(path.read_text(encoding="utf-8"))


def _step(value: Any, file: Any, step: tuple[str, str, str], reference: str) -> Any:
    key, wanted, name = step
    try:
        if key:
            if not isinstance(value[0], dict):
                return value[[str(entry) for entry in file[key]].index(wanted)]
            asked = [pair.split("=") for pair in f"{key}={wanted}".split("&")]
            return next(entry for entry in value if all(str(entry[name]) == text for name, text in asked))
        return value[int(name)] if isinstance(value, list) else value[name]
    except (KeyError, IndexError, TypeError, ValueError, StopIteration):
        known = list(value) if isinstance(value, dict) else f"a {type(value).__name__}"
        at = name or f"[{key}={wanted}]"
        raise LookupError(f"{reference!r} cannot be resolved at {at!r}; found {known}.") from None


def main() -> None:
    """Bring all pages up to date."""
    for page in [*sorted(DOCS.glob("*.md")), ROOT / "paper" / "paper.md"]:
        text = page.read_text(encoding="utf-8")
        if (new := written(text)) != text:
            page.write_text(new, encoding="utf-8")
            print(f"{page.relative_to(ROOT)}: new numbers")


if __name__ == "__main__":
    main()
