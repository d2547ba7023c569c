"""Progress of long work, on stderr."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

QUIET_SECONDS = 2.0


@contextmanager
def progress(name: str, whole: Path | int) -> Iterator[Any]:
    """Show a progress bar on stderr after two seconds, with the total and the time left.

    The block has a function to call with what is done of the whole.
    That is a number, or a file, of which the bytes are counted.
    """
    began, bar = time.monotonic(), None

    def report(done: int) -> None:
        nonlocal bar
        if bar is None and sys.stderr.isatty() and time.monotonic() - began > QUIET_SECONDS:
            bar = _bar(name, whole)
        if bar is not None:
            bar.update(bar.task_ids[0], completed=done)

    try:
        yield report
    finally:
        if bar is not None:
            bar.stop()


def _bar(name: str, whole: Path | int) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    done = MofNCompleteColumn() if isinstance(whole, int) else DownloadColumn()
    bar = Progress(
        "{task.description}", BarColumn(), done, TimeRemainingColumn(), console=Console(stderr=True), transient=True
    )
    bar.add_task(name, total=whole if isinstance(whole, int) else whole.stat().st_size)
    bar.start()
    return bar
