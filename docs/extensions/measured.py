"""Measured numbers on a page, read from their results file when the page is built.

    {number}`SOURCE:PATH:FORMAT`        {number}`1/SOURCE:PATH:FORMAT`

SOURCE is ``benchmarks`` (benchmarks/results.json) or the folder of an experiment (experiments/SOURCE/results.json).
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

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = re.compile(r"(?P<inverse>1/)?(?P<source>[\w-]+):(?P<path>[^:]+)(?::(?P<format>[^:]+))?\Z")
STEP = re.compile(r"\[([^\]='\"]+)=([^\]]*)\]|(?:\['([^']+)'\]|([^.\[\]]+))")


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
    folder = root / source if source == "benchmarks" else root / "experiments" / source
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


def setup(app: Any) -> dict[str, bool]:
    """Register the role; an unknown number is a warning, and so fails the build."""
    from docutils import nodes

    def number(role: str, raw: str, text: str, line: int, inliner: Any, *_: Any) -> Any:  # noqa: ARG001 (docutils' API)
        try:
            return [nodes.Text(resolve(text))], []
        except LookupError as error:
            message = inliner.reporter.warning(f"number: {error}", line=line)
            return [inliner.problematic(raw, raw, message)], [message]

    app.add_role("number", number)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
