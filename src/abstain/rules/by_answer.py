"""Shares or ceilings by the class answered: a dict by class name, checked against the classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.reject_labels import position


@dataclass(frozen=True)
class ByAnswer:
    """A share for some of the classes; the others have none, and their answers are never rejected.

    Attributes
    ----------
    classes : tuple
        All classes, sorted.
    shares : tuple of float
        One for each class; nan for a class that was not named.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.rules.by_answer import ByAnswer
    >>> found = ByAnswer.of("reject_rate", {"fox": 0.1, "cat": 0.2}, np.array(["cat", "dog", "fox"]))
    >>> found.named
    {'cat': 0.2, 'fox': 0.1}
    """

    classes: tuple[Any, ...]
    shares: tuple[float, ...]

    @classmethod
    def of(cls, name: str, given: Mapping[Any, float], classes: NDArray[Any]) -> Self:
        """Put the shares of a dict in the order of the classes; a name that is not a class is an error."""
        known = classes.tolist()
        shares = np.full(len(known), np.nan)
        for label, share in given.items():
            at = position(classes, label)
            if at is None:
                raise ValueError(
                    f"{name}={dict(given)!r} names {label!r}, which is not one of the classes {known}; name classes "
                    "of y, as y has them."
                )
            shares[at] = share
        return cls(tuple(known), tuple(shares.tolist()))

    @property
    def named(self) -> dict[Any, float]:
        """The shares of the classes that were named."""
        pairs = zip(self.classes, self.shares, strict=True)
        return {label: share for label, share in pairs if not np.isnan(share)}
