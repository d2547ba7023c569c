"""Decisions on rows as a data frame and as a table for notebooks, whatever they are between."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.html import html_table, shortened

__all__ = ["DecidedRows"]


class DecidedRows(ABC):
    """What the results of `decide` share: `label`, `rejected` and `index` of n rows, and named columns."""

    label: NDArray[Any]
    rejected: NDArray[np.bool_]
    expected_cost: NDArray[np.float64]
    costs_decide: bool
    index: Any
    novel: NDArray[np.bool_] | None

    @property
    def reason(self) -> NDArray[np.str_]:
        """Why each row was decided so: "decided", "ambiguous" if deciding would cost more than rejecting, or "novel".

        A row is "novel" if a `NoveltyRejector` rejected it as unlike the training rows; no other estimator does.
        """
        found = np.where(self.rejected, "ambiguous", "decided")
        return found if self.novel is None else np.where(self.novel, "novel", found)

    @abstractmethod
    def _columns(self) -> dict[str, NDArray[Any]]:
        """Give the columns by name."""

    def __len__(self) -> int:
        return len(self.label)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} rows, {np.sum(self.rejected)} rejected)"

    def to_frame(self) -> Any:
        """The decisions as a pandas DataFrame: the index of the rows, and the expected costs as columns."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame() needs pandas; install it, or use the arrays directly.") from error
        return pd.DataFrame(self._columns(), index=self.index)

    def _repr_html_(self) -> str:
        """Return the first and the last rows as a table, for notebooks."""
        columns = self._columns()
        names = range(len(self)) if self.index is None else self.index
        shown = [
            ("…",) * (1 + len(columns)) if at is None else (names[at], *(column[at] for column in columns.values()))
            for at in shortened(len(self))
        ]
        caption = f"Decisions on {len(self):,} rows, of which {np.sum(self.rejected):,} are rejected"
        if not self.costs_decide and np.isfinite(self.expected_cost).any():
            caption += "; the costs are for information, and thresholds decide"
        return html_table(caption, ("row", *columns), shown)
