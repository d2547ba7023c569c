"""Exit codes, the one-sentence error messages on stderr, and the handling of warnings.

0 success · 1 a bug in abstain · 2 usage · 3 bad data or model file · 4 not converged (result written) · 130 interrupted
128 + n ended by signal n
"""

import errno
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from types import FrameType
from typing import Any

BUG, USAGE, DATA, NOT_CONVERGED, INTERRUPTED = 1, 2, 3, 4, 130
OUTPUT_FAILED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
TRACEBACK = "ABSTAIN_TRACEBACK"
# Parameters of the library -> the options that set them.
_SAME = "pos_label reject_label false_positive false_negative reject reject_rate max_error class_error confidence C"
OPTIONS = {name: f"--{name.replace('_', '-')}" for name in (*_SAME.split(), "gamma", "search", "groups", "time_limit")}
OPTIONS |= {"reject_negative": "--reject", "reject_positive": "--reject", "rate": "--novelty", "random_state": "--seed"}
_WORDS: dict[str, Any] = {
    r"\b(Cs|gammas)\[\d+\]=": lambda found: f"--{found[1].removesuffix('s')} ",
    r"\bThe '(\w+)' parameter of \w+": lambda found: OPTIONS.get(found[1], f"{found[1]!r}"),
    r"\bcv=\d+ makes (\d+) folds, and groups has": r"\1 folds need as many groups, and --groups has",
    r"\b(?:cv|n_splits)=(\d+)": r"\1 folds",
    r"\ba fold of cv\b": "a fold",
    r"\blower confidence\b": "lower --confidence",
    r"\btime_limit=[\d.e+-]*\d": "--time-limit",  # often a part of what the user gave
    # ways out that no option offers
    r", a higher rate, calibration_size to hold [^.]*": ", or a higher rate",
    r", a larger calibration_size, or": ", or",
    r"(?<![\w'\"-])(\w+)=(?=\S)": lambda found: f"{OPTIONS[found[1]]} " if found[1] in OPTIONS else found[0],
    r"(?<![\w'\"-])([a-z]+_[a-z]+)\b(?!=)": lambda found: OPTIONS.get(found[1], found[0]),
}


class UsageError(Exception):
    """A bad option or an impossible request; one sentence that says how to fix it."""

    code = USAGE


class DataError(Exception):
    """A bad data or model file; one sentence that gives the line or column."""

    code = DATA


class Note(UserWarning):
    """A remark that asks for nothing, written to stderr once."""


class Ended(BaseException):
    """A signal that ends the command, with its number; not an Exception, so that only the last handler catches it."""


class TimeUpError(Exception):
    """The time limit of `within` has passed."""


@contextmanager
def exit_on_error() -> Iterator[list[str]]:
    """Run a command and turn every exception into an exit code and one sentence, without a traceback.

    The block has the list of what warnings said so far of fits that did not end as planned.
    """
    unfinished = list[str]()
    try:
        _check_streams()
        with _ended_by_signals(), _plain_warnings(unfinished):
            yield unfinished
            sys.stdout.flush()
            _end_quietly()
        code, text = (NOT_CONVERGED, None) if unfinished else (0, None)
    except (UsageError, DataError) as fault:
        # the sentence of an error of the library has its names of parameters
        code, text = fault.code, in_options(str(fault)) if isinstance(fault.__cause__, ValueError) else str(fault)
    except KeyboardInterrupt:
        code, text = INTERRUPTED, "interrupted; no file was written"
    except Ended as ended:
        code, text = 128 + ended.args[0], "ended by a signal; no file was written"
    except BrokenPipeError:  # the reader of our output has closed the pipe
        _discard_output()
        code, text = 0, None
    except MemoryError:
        code, text = USAGE, "out of memory; use fewer rows or columns"
    except BaseException as error:
        if os.environ.get(TRACEBACK):
            raise
        code, text = _unexpected(error)
    _end_quietly()
    if text is not None:
        _say(one_line(text))
    if code != 0:
        raise SystemExit(code)


def _say(text: str) -> None:
    with suppress(OSError):  # a full disk behind stderr must not change the exit code
        sys.stderr.write(f"abstain: {text}\n")


def _unexpected(error: BaseException) -> tuple[int, str]:
    """The exit code and the sentence of an error that the commands do not expect."""
    panic = type(error).__name__ == "PanicException"  # of polars; not an Exception
    if not (panic or isinstance(error, Exception)):
        raise error
    if isinstance(error, OSError) and error.filename is None and error.errno in OUTPUT_FAILED:
        _discard_output()
        return USAGE, f"standard output cannot be written ({error.strerror}); send it to a file on a disk with space"
    name, remark = type(error).__name__, f"please report it; set {TRACEBACK}=1 to see the traceback"
    return BUG, f"internal error, {name}: {error} ({remark})"


def _check_streams() -> None:
    """Raise an error if standard output is closed; Python sets a closed stream to None."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (until the process ends)
    if sys.stdout is None:
        raise UsageError("standard output is closed; send it to a file, or to /dev/null.")


def _discard_output() -> None:
    """Send what is still buffered for standard output to nowhere, so that Python does not fail again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def in_options(text: str) -> str:
    """A sentence of the library with the options of the command line in place of its parameters.

    Examples
    --------
    >>> from abstain.cli.exit_codes import in_options
    >>> in_options("reject=0.9 can never pay; lower it, or raise false_positive.")
    '--reject 0.9 can never pay; lower it, or raise --false-positive.'
    """
    for pattern, words in _WORDS.items():
        text = re.sub(pattern, words, text)
    return text


def one_line(text: str) -> str:
    """Text made safe for a terminal: on one line, with unprintable characters escaped."""
    return "".join(char if char.isprintable() else " " if char.isspace() else repr(char)[1:-1] for char in text)


def some(names: Sequence[Any], most: int = 5) -> str:
    """The first few names in a message, and how many more there are."""
    shown = ", ".join(repr(name[:40] if isinstance(name, str) else name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def meant(name: str, known: Iterable[Any]) -> str:
    """What was probably meant, as the end of a sentence; empty if no known name is like it."""
    names = {str(one).strip().lower(): one for one in known}
    found = get_close_matches(name.strip().lower(), names, 1)
    return f"; did you mean {names[found[0]]!r}?" if found else ""


def listed(names: Sequence[Any]) -> str:
    """All names in a message, or the first few if there are many."""
    if not 1 < len(names) <= 5:
        return some(names)
    return f"{some(names[:-1])} and {some(names[-1:])}"


# The process itself, which `start` says is ours: in a program that calls a command, signals are the program's
_PROCESS = {"ours": False}
_ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextmanager
def own_process() -> Iterator[None]:
    """Run a command that is all that the process does: once it is complete, no signal changes how it ended."""
    _PROCESS["ours"] = True
    try:
        yield
    finally:
        _end_quietly()


def _end_quietly() -> None:
    """Ignore the signals that end a process, if nothing but its end is left."""
    if _PROCESS["ours"] and threading.current_thread() is threading.main_thread():
        for number in _ENDING:
            signal.signal(number, signal.SIG_IGN)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Raise `Ended` where the process would end at once, so that unfinished files are removed first."""
    ours = {}

    def end(number: int, _frame: FrameType | None) -> None:
        raise Ended(number)

    if threading.current_thread() is threading.main_thread():
        for number in _ENDING:
            if signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores SIGHUP; Python has its own for Ctrl-C
                ours[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, before in ours.items():
            if signal.getsignal(number) is end:
                signal.signal(number, before)


AGAIN = 0.5  # seconds between two alarms


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Raise `TimeUpError` in the block after this many seconds; None means unlimited. For the main thread only."""
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


@contextmanager
def _plain_warnings(unfinished: list[str]) -> Iterator[None]:
    """Write each warning for users once, on one line, and record those of fits that did not converge."""
    said = set[str]()

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
        text = one_line(str(message) if issubclass(category, Note) else in_options(str(message)))
        if text not in said:
            kind = "note" if issubclass(category, Note) else "warning"
            _say(f"{kind}: {text}")
            if any(kind.__name__ == "ConvergenceWarning" for kind in category.__mro__):
                unfinished.append(text)
        said.add(text)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield
