"""What could be done without a machine, and what each would cost: for two classes, for several, and for actions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.actions import Actions
from abstain.class_costs import ClassCosts
from abstain.comparison.verdict import REJECTING, blind_prices, deciding
from abstain.costs import Costs
from abstain.row_costs import RowCosts

__all__ = ["blind_alternatives", "class_codes", "true_signs"]


def blind_alternatives(
    costs: Costs | RowCosts | ClassCosts | Actions, y: NDArray[Any], classes: tuple[Any, ...]
) -> dict[str, NDArray[np.float64]]:
    """The cost of each row if all rows are treated alike, by what is done with them.

    `classes` are (negative, positive), or those of the costs.
    """
    if isinstance(costs, ClassCosts):
        codes = class_codes(costs, y)
        named = [(REJECTING, 0), *((deciding(label), at) for at, label in enumerate(costs.labels, start=1))]
        return {name: costs.prices(codes, np.full(len(y), choice)) for name, choice in named}
    if isinstance(costs, Actions):
        signs = true_signs(y, costs.labels[1])
        return {
            f"taking {str(name)[:60]!r} for every row": costs.prices(signs, np.full(len(y), at))
            for at, name in enumerate(costs.names)
        }
    names = (REJECTING, *(deciding(label) for label in classes))
    return dict(zip(names, blind_prices(costs, true_signs(y, classes[1])).T, strict=True))


def class_codes(costs: ClassCosts, y: NDArray[Any]) -> NDArray[np.intp]:
    """The places of labels among the classes of the costs, from 1."""
    place = {label: at for at, label in enumerate(costs.labels, start=1)}
    return np.array([place[label] for label in y.tolist()], dtype=np.intp)


def true_signs(y: NDArray[Any], positive: Any) -> NDArray[np.int8]:
    """+1 for the positive class, -1 for the other."""
    return np.where(y == positive, 1, -1).astype(np.int8)
