"""What the pages share: tables in Markdown, numbers with their standard errors, the foot of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table; cells are written as they are."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def share(value: float, error: float | None = None, digits: int = 1) -> str:
    """A share in per cent, with its standard error if one is given."""
    shown = f"{100 * value:.{digits}f}"
    return f"{shown} %" if error is None else f"{shown} ± {100 * error:.{digits}f} %"


def number(value: float, error: float, digits: int = 2) -> str:
    """A number with its standard error, a true minus before it if it is negative."""
    return f"{value:.{digits}f} ± {error:.{digits}f}".replace("-", "−")


def run_it(results: dict[str, Any]) -> str:
    """How to run the experiment, and how long it takes."""
    seconds, machine = results["processor_seconds"], results["machine"]
    return (
        f"## Run it\n\n```\nabstain reproduce {results['experiment']}\n```\n\n"
        f"{seconds:.0f} s of processor time, about half of that on two cores "
        f"({machine['day']}, abstain {machine['abstain']}, scikit-learn {machine['scikit-learn']})."
    )
