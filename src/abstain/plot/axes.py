"""The axes of a display: those passed in, or new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes_or_new(ax: Axes | None) -> Axes:
    """Return ``ax``, or the axes of a new figure; matplotlib is imported only here."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("Drawing needs matplotlib; install it with: pip install 'abstain[plot]'") from error
    return plt.subplots(figsize=(6.4, 4.8), layout="constrained")[1]
