"""Every optimum along C on two Gaussians: the sets of the rows, and their coefficients."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from abstain import Costs, reject_svc_path
from abstain.plot import PathDisplay


def main(output: Path) -> None:
    """Draw both panels."""
    generator = np.random.default_rng(0)
    y = np.repeat([-1, 1], 75)
    X = generator.normal(size=(len(y), 2)) + 0.9 * y[:, np.newaxis]
    path = reject_svc_path(X, y, Costs(reject=0.2), C_min=1e-2, C_max=1e2)
    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    PathDisplay.from_path(path, "sets", ax=left)
    PathDisplay.from_path(path, "coefficients", ax=right)
    figure.savefig(output)
