"""Peak memory of one large fit: cache_size must bound it for any number of rows.

Runs in its own process, because the peak of a process never falls.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from contenders import REJECT, C, timed
from data import generated

from abstain import RejectSVC


def fit_here(rows: int, features: int, cache_size: float, time_limit: float) -> dict[str, Any]:
    """Fit in this process and report its memory in MB, before and at the peak."""
    sample = generated(rows, features)
    before = _peak()
    model = RejectSVC(REJECT, C=C, gamma=sample.gamma, cache_size=cache_size, time_limit=time_limit)
    seconds, _ = timed(model.fit, sample.X, sample.y)
    return {
        "rows": rows,
        "features": features,
        "cache_size": cache_size,
        "data_mb": sample.X.nbytes / 1e6,
        "before_mb": before,
        "peak_mb": _peak(),
        "seconds": seconds,
        "status": model.status_,
        "support_vectors": len(model.support_),
    }


def _peak() -> float:
    """The largest resident memory of this process so far, in MB.

    From /proc, because getrusage would include the parent's memory at the time of the fork.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


def run(rows: int = 100_000, features: int = 50, cache_size: float = 1000, time_limit: float = 600) -> dict[str, Any]:
    """The same in a fresh process."""
    options = {"rows": rows, "features": features, "cache-size": cache_size, "time-limit": time_limit}
    command = [sys.executable, __file__, "--here", *(f"--{name}={value}" for name, value in options.items())]
    measured: dict[str, Any] = json.loads(subprocess.check_output(command, text=True))
    return measured


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--cache-size", type=float, default=1000, help="MB")
    parser.add_argument("--time-limit", type=float, default=600, help="seconds, after which the fit is stopped")
    parser.add_argument("--here", action="store_true", help="in this process and not in a new one")
    options = vars(parser.parse_args())
    print(json.dumps((fit_here if options.pop("here") else run)(**options), indent=2))
