"""Code shared by the pages: Markdown tables, numbers with standard errors, and the last section."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table; cells are written as is."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def share(value: float, error: float | None = None, digits: int = 1) -> str:
    """A share in percent, with its standard error if given."""
    shown = f"{100 * value:.{digits}f}"
    return f"{shown} %" if error is None else f"{shown} ± {100 * error:.{digits}f} %"


def number(value: float, error: float, digits: int = 2) -> str:
    """A number with its standard error, using a true minus."""
    return f"{value:.{digits}f} ± {error:.{digits}f}".replace("-", "−")


def run_it(results: dict[str, Any]) -> str:
    """How to run the experiment and how long it takes."""
    seconds, machine = results["processor_seconds"], results["machine"]
    return (
        f"## How to run\n\n```\nabstain reproduce {results['experiment']}\n```\n\n"
        f"{seconds:.0f} s of CPU time, about half that in wall-clock time on two cores "
        f"({machine['day']}, abstain {machine['abstain']}, scikit-learn {machine['scikit-learn']})."
    )
