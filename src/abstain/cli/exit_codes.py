"""How a command ends: the exit codes, the one sentence on stderr that goes with each, and where warnings go.

0 done · 1 a bug of ours · 2 usage · 3 bad data or model file · 4 not converged (result written) · 130 interrupted
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

BUG, USAGE, DATA, NOT_CONVERGED, INTERRUPTED = 1, 2, 3, 4, 130
TRACEBACK = "ABSTAIN_TRACEBACK"


class UsageError(Exception):
    """What was asked for cannot be done as it was asked; one sentence, with the way out."""


class DataError(Exception):
    """A data or model file is not as it must be; one sentence, with the line or column."""


class TimeUpError(Exception):
    """The time limit of `within` has passed."""


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Run a command; whatever happens in it becomes an exit code and one sentence, never a traceback."""
    try:
        with _plain_warnings() as heard:
            yield
            sys.stdout.flush()
        code, text = (NOT_CONVERGED, None) if heard.not_converged else (0, None)
    except UsageError as fault:
        code, text = USAGE, str(fault)
    except DataError as fault:
        code, text = DATA, str(fault)
    except KeyboardInterrupt:
        code, text = INTERRUPTED, "interrupted; no file was written"
    except BrokenPipeError:  # whoever reads our output has had enough of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code, text = 0, None
    except MemoryError:
        code, text = USAGE, "the memory does not suffice; give fewer rows or columns"
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        name = type(error).__name__
        code, text = BUG, f"a bug of ours, {name}: {error} (please report it; {TRACEBACK}=1 shows where it happened)"
    if text is not None:
        sys.stderr.write(f"abstain: {one_line(text)}\n")
    if code != 0:
        raise SystemExit(code)


def one_line(text: str) -> str:
    """Text from files made harmless for a terminal: on one line, and what does not print written as its code."""
    printable = (
        char if char.isprintable() else " " if char.isspace() else char.encode("unicode_escape").decode()
        for char in text
    )
    return " ".join("".join(printable).split(" "))


AGAIN = 0.5  # seconds between two alarms


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Raise `TimeUpError` in the block after this many seconds; None is no limit. For the main thread only."""
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TimeUpError

    before = signal.signal(signal.SIGALRM, ring)
    # again and again: one that falls into a callback of the garbage collector is swallowed there
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class _Heard:
    not_converged = False


@contextmanager
def _plain_warnings() -> Iterator[_Heard]:
    """Write warnings meant for users as one line each, once; remember whether one said that a fit has not converged."""
    heard, said = _Heard(), set()

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        heard.not_converged |= any(kind.__name__ == "ConvergenceWarning" for kind in category.__mro__)
        text = one_line(str(message))
        if text not in said:
            sys.stderr.write(f"abstain: warning: {text}\n")
        said.add(text)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield heard
