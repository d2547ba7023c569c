"""How the time to fit grows with the number of rows: the exponent of n, by least squares on the logarithms."""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
from contenders import contenders, timed
from data import generated

MEASURED = ("SVC", "RejectSVC hinge, 1 thread", "RejectSVC double hinge, 1 thread")


def run(smallest: int = 2500, doublings: int = 4, repeats: int = 2) -> dict[str, Any]:
    """Fit ``smallest * 2^k`` rows of one generated set, k = 0 ... ``doublings``."""
    sizes = [smallest * 2**k for k in range(doublings + 1)]
    rivals = [rival for rival in contenders() if rival.name in MEASURED]
    seconds: dict[str, list[float]] = {rival.name: [] for rival in rivals}
    for size in sizes:
        sample = generated(size)
        best = dict.fromkeys(seconds, np.inf)
        for _ in range(repeats):
            for rival in rivals:
                elapsed, _ = timed(rival.make(gamma=sample.gamma).fit, sample.X, sample.y)
                best[rival.name] = min(best[rival.name], elapsed)
        for name, elapsed in best.items():
            seconds[name].append(elapsed)
    exponents = {name: float(np.polyfit(np.log(sizes), np.log(times), 1)[0]) for name, times in seconds.items()}
    return {"sizes": sizes, "seconds": seconds, "exponents": exponents}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smallest", type=int, default=2500)
    parser.add_argument("--doublings", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=2)
    print(json.dumps(run(**vars(parser.parse_args())), indent=2))
