"""Labels whose decisions are named actions."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.labels import Labels
from abstain.pairs import positions
from abstain.reject_labels import is_auto


@dataclass(frozen=True, eq=False)
class ActionLabels(Labels):
    """The classes of a problem and the actions to choose from, without a reject label.

    Attributes
    ----------
    names : tuple
        The actions, which `predict` returns.
    answers : tuple of int
        For each action, the position of the class that it answers, or -1.
    hands_on : tuple of bool
        For each action, whether it hands the case on.
    """

    names: tuple[Any, ...] = ()
    answers: tuple[int, ...] = ()
    hands_on: tuple[bool, ...] = ()

    @classmethod
    def over(
        cls, labels: Labels, reject_label: Any, names: Any, answers: tuple[int, ...], hands_on: tuple[bool, ...]
    ) -> "ActionLabels":
        """Return the labels with these actions; an error if a reject label was asked for."""
        refuse_reject_label(reject_label)
        return cls(labels.classes, labels.positive, None, any(hands_on), names, answers, hands_on)

    @property
    def actions(self) -> NDArray[Any]:
        """The names as `predict` returns them: of objects if some are strings and others numbers."""
        return np.array(self.names, dtype=object if len({isinstance(name, str) for name in self.names}) > 1 else None)

    @property
    def titles(self) -> list[str]:
        """The names of the actions in tables."""
        return [str(name) for name in self.names]

    sides: ClassVar[dict[str, Any]] = {}  # no positive and no negative side

    def forced(self, choice: NDArray[np.intp]) -> NDArray[Any]:
        """Return the names of choices."""
        return self.actions[choice]

    @property
    def counted(self) -> tuple[tuple[Any, ...], tuple[bool, ...]]:
        """What `count` counts, each action, and whether it hands the case on."""
        return self.names, self.hands_on

    def count(self, choice: NDArray[np.intp]) -> NDArray[np.int64]:
        """Count choices, in the order of `counted`."""
        return np.bincount(choice, minlength=len(self.names)).astype(np.int64)

    def rejecting(self, reject_label: Any) -> Labels:
        """Return the same labels: an action that hands the case on has its own name."""
        refuse_reject_label(reject_label)
        return self

    def refuse_actions(self, why: str) -> None:
        """Raise an error: decisions are named actions."""
        raise ValueError(why)

    def choices(self, labels: ArrayLike) -> NDArray[np.intp]:
        """Return the positions of actions, named as `predict` returns them."""
        return positions(labels, self.names, "the decisions", "the actions")


def refuse_reject_label(reject_label: Any) -> None:
    """Raise an error if a reject label is asked for, where actions are predicted by name."""
    if not is_auto(reject_label):
        raise ValueError(f'reject_label={reject_label!r} has no effect with Actions; leave it at "auto".')
