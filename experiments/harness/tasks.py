"""Tasks: the parts of an experiment, run in parallel; each answer is saved to disk as soon as it is ready."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")


@dataclass(frozen=True)
class Task:
    """One call of a module-level function whose return value can be stored as JSON.

    `sources` names the files of the protocol that its answer depends on; none means all of them.
    """

    key: str
    work: Callable[..., Any]
    arguments: dict[str, Any] = field(default_factory=dict)
    sources: tuple[str, ...] = ()


class Shelf:
    """Saved answers of one version of the protocol: folders with one file per key.

    A folder's name is a digest of the source files of its tasks, so an answer is never reused after its code changes.
    """

    def __init__(self, folder: Path, sources: Iterable[Path]) -> None:
        self.folder, self.sources = folder, sorted(sources)

    def keep(self, task: Task, answer: Any, seconds: float) -> None:
        """Write an answer atomically."""
        path = self._path(task)
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}.part")
        draft.write_text(json.dumps({"answer": answer, "seconds": seconds}), encoding="utf-8")
        draft.replace(path)

    def kept(self, task: Task) -> dict[str, Any] | None:
        """The answer and its CPU seconds, or None."""
        path = self._path(task)
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def forget(self, tasks: Iterable[Task]) -> None:
        """Delete the answers to these tasks, of this version."""
        for task in tasks:
            self._path(task).unlink(missing_ok=True)

    def _path(self, task: Task) -> Path:
        return self.folder / self._version(task.sources) / (task.key.replace("/", "_") + ".json")

    @cache  # noqa: B019 (one shelf per run)
    def _version(self, names: tuple[str, ...]) -> str:
        if unknown := set(names) - {path.name for path in self.sources}:
            raise ValueError(f"sources={names} names {', '.join(sorted(unknown))}, not a file of the protocol")
        files = [path for path in self.sources if not names or path.name in names]
        return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:12]


def run(tasks: Sequence[Task], shelf: Shelf, *, workers: int) -> dict[str, Any]:
    """Every task's answer and CPU seconds by key; tasks with a saved answer are not run again."""
    if len({task.key for task in tasks}) < len(tasks):
        raise ValueError("every task of an experiment needs a unique key")
    open_tasks = [task for task in tasks if shelf.kept(task) is None]
    progress = Progress(len(tasks), len(tasks) - len(open_tasks))
    for name in THREADS:
        os.environ[name] = "1"  # the tasks themselves run in parallel
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = {pool.submit(_timed, task): task for task in open_tasks}
        try:
            while futures:
                done, _ = wait(futures, timeout=2.0, return_when=FIRST_COMPLETED)
                for future in done:
                    task = futures.pop(future)
                    answer, seconds = future.result()
                    shelf.keep(task, answer, seconds)
                    progress.count += 1
                progress.show()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    progress.end()
    return {task.key: shelf.kept(task) for task in tasks}


def _timed(task: Task) -> tuple[Any, float]:
    start = time.process_time()
    answer = task.work(**task.arguments)
    return answer, time.process_time() - start


class Progress:
    """One line on stderr: tasks done, elapsed time, time left; rewritten in place on a terminal."""

    def __init__(self, total: int, count: int) -> None:
        self.total, self.count, self.resumed = total, count, count
        self.start = self.shown = time.monotonic()

    def show(self) -> None:
        """Print progress every two seconds on a terminal and every thirty in a log."""
        now = time.monotonic()
        terminal = sys.stderr.isatty()
        if now - self.shown < (2.0 if terminal else 30.0):
            return
        self.shown = now
        gone, fresh = now - self.start, self.count - self.resumed
        left = f", about {gone / fresh * (self.total - self.count):.0f} s left" if fresh else ""
        line = f"{self.count} of {self.total} tasks, {gone:.0f} s{left}"
        print(f"\r\033[K{line}" if terminal else line, end="" if terminal else "\n", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Print the final line."""
        resumed = f" ({self.resumed} from an earlier run)" if self.resumed else ""
        lead = "\r\033[K" if sys.stderr.isatty() else ""
        print(f"{lead}{self.total} tasks{resumed}, {time.monotonic() - self.start:.0f} s", file=sys.stderr, flush=True)
