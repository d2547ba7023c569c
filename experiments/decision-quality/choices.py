"""Measure the choices of the library: the average of machines (average.py) and the choice of a kernel (kernels.py).

``python choices.py --jobs N`` measures the cells that average.json and kernels.json lack, longest first, each in a
process of its own with one thread, and writes the files, which the page shows. A cell that takes longer than
``--limit`` seconds is left out. With ``--minutes`` no cell is begun later.
"""

from __future__ import annotations

import os

os.environ |= {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}  # before NumPy is imported

import argparse
import json
import multiprocessing
import multiprocessing.connection
import sys
import time
import warnings
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]

import average  # noqa: E402 (after the paths)
import kernels  # noqa: E402

PARTS = {"average": average, "kernels": kernels}
EVERY = 20.0  # seconds between two writes


def stored(part: str) -> Path:
    """The file of a part."""
    return FOLDER / f"{part}.json"


def known(part: str) -> dict[str, Any]:
    """The cells that were measured, by their names."""
    return dict(json.loads(stored(part).read_text())["cells"]) if stored(part).exists() else {}


def write(part: str, cells: dict[str, Any]) -> None:
    """Write the cells, one on a line, and what the page shows of them."""
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(cells[name])}" for name in sorted(cells))
    whole = json.dumps(PARTS[part].summary(cells), indent=1)
    stored(part).write_text(f'{{"summary": {whole},\n"cells": {{\n{lines}\n}}}}\n')


def work(part: str, cell: str, sender: Any) -> None:
    """Measure a cell and send what was found."""
    warnings.simplefilter("ignore")
    sender.send(PARTS[part].measured(cell))


def run(found: dict[str, dict[str, Any]], left: list[tuple[str, str]], given: Any) -> None:
    """Measure the cells that are left, the last one first, and write them."""
    began, last, running = time.monotonic(), time.monotonic(), dict[Any, Any]()
    context = multiprocessing.get_context("fork")
    while left or running:
        while left and len(running) < given.jobs and time.monotonic() - began < 60.0 * given.minutes:
            part, cell = left.pop()
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=work, args=(part, cell, sender))
            process.start()
            sender.close()
            running[receiver] = (process, part, cell, time.monotonic())
        if not running:
            break
        collect(found, running, given.limit)
        if time.monotonic() - last > EVERY:
            last = time.monotonic()
            for part, cells in found.items():
                write(part, cells)


def collect(found: dict[str, dict[str, Any]], running: dict[Any, Any], limit: float) -> None:
    """Take what was sent, and end processes that take too long."""
    for receiver in multiprocessing.connection.wait([*running], timeout=1.0):
        process, part, cell, start = running.pop(receiver)
        try:
            found[part][cell] = receiver.recv()
        except EOFError:
            print(f"{part} {cell}: failed", file=sys.stderr)
        process.join()
        print(f"{part} {cell}: {time.monotonic() - start:.1f} s", file=sys.stderr)
    for receiver, (process, part, cell, start) in [*running.items()]:
        if time.monotonic() - start > limit:
            process.kill()
            del running[receiver]
            print(f"{part} {cell}: left out after {limit:g} s", file=sys.stderr)


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--limit", type=float, default=400.0, help="seconds of a cell")
    parser.add_argument("--minutes", type=float, default=1e9, help="when to begin no more cells")
    parser.add_argument("--only", nargs="*", default=list(PARTS), help="parts")
    parser.add_argument("--match", default="", help="a text in the names of the cells to measure")
    given = parser.parse_args()
    found = {part: known(part) for part in given.only}
    left = [(part, cell) for part in given.only for cell in PARTS[part].cells() if given.match in cell]
    left = sorted((one for one in left if one[1] not in found[one[0]]), key=lambda one: PARTS[one[0]].seconds(one[1]))
    for part in given.only:
        PARTS[part].load([cell for name, cell in left if name == part])  # once, before the processes
    run(found, left, given)
    for part in given.only:
        write(part, found[part])


if __name__ == "__main__":
    main()
