"""Ctrl-C in the middle of work."""

import os
import signal
import threading
import time


def interrupted(work, threads=1):
    """Three times Ctrl-C, half a second into the work: the KeyboardInterrupt follows within 0.1 s.

    These are processor seconds per thread, which other work on the machine does not lengthen, or seconds of the clock,
    whichever are fewer; so that it does not sleep either, the clock has a looser bound.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # inherited as ignored where tests run in the background
    delays, clock = [], []
    for _ in range(3):
        sent = []

        def press(sent=sent):
            sent.extend((time.perf_counter(), time.process_time()))
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(0.5, press)
        timer.start()
        try:
            work()
        except KeyboardInterrupt:
            clock.append(time.perf_counter() - sent[0])
            delays.append(min(clock[-1], (time.process_time() - sent[1]) / threads))
        else:
            raise AssertionError("the work was over before it could be interrupted")
    assert min(delays) < 0.1, (delays, clock)
    assert min(clock) < 1.0, clock
