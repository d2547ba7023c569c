"""Faults that could hang, abort or use up the memory, tried outside the tests' own process.

In a worker that is started again when it is lost, in a fork of one where they change their process, or in a new one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

SECONDS = 10  # of the processor, for any one fault
PATIENCE = 120  # seconds of the clock until a process counts as hung, however busy the machine
TESTS = Path(__file__).parents[2]
ENVIRONMENT = {  # one thread for BLAS: the cores are the solver's
    **os.environ,
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]),
}


class Worker:
    """A process that tries faults one after the other; one that hangs or dies takes only itself along."""

    def __init__(self, file, environment=None):
        self.file, self.environment, self.process = file, ENVIRONMENT | (environment or {}), None

    def ask(self, name):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(  # noqa: S603 (our own interpreter and file)
                [sys.executable, self.file],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=self.environment,
            )
            assert self.process.stdout.readline() == "ready\n"
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        watchdog = threading.Timer(2 * PATIENCE, self.process.kill)
        watchdog.start()
        answer = self.process.stdout.readline()
        watchdog.cancel()
        return json.loads(answer or '"the process hung and was killed, or died"')

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def bounded(fault):
    """Run it, and count the processor's seconds, which other work on the machine does not lengthen."""
    began = time.process_time()
    fault()
    assert time.process_time() - began < SECONDS, "it took more than 10 s"


def outcome(fault):
    try:
        bounded(fault)
    except BaseException:  # noqa: BLE001 (whatever it is, the test shows it)
        return traceback.format_exc()
    return "survived"


def outcome_in_a_fork(fault):
    """The fault changes its process; this one, which has imported everything and done nothing, stays as it was."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        os.write(writing, outcome(fault).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    return text or f"the process hung or died: {os.waitpid(child, 0)[1]}"


def serve(answer):
    """What a worker runs: a name in, what became of it out."""
    say("ready")
    for name in sys.stdin:
        say(json.dumps(answer(name.strip())))
