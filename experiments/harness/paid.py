"""What decisions between two classes cost, by signs: -1 and +1 for the classes, 0 for a reject."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def paid(costs: Any, sign: Any, choice: Any) -> NDArray[np.float64]:
    """Return the cost of each choice, as `Thresholds` decide, given the true sign."""
    return np.asarray(costs.of(np.asarray(sign) > 0, np.asarray(choice, dtype=np.intp) + 1))
