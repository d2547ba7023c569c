"""What the options of a command say about costs: which of them exclude each other, and the costs of the classes."""

from __future__ import annotations

from typing import Any

from abstain.cli.commands.options import Given
from abstain.cli.exit_codes import UsageError
from abstain.cli.input.classes import TWO_ONLY, in_order
from abstain.cli.input.cost_columns import cost_plan
from abstain.cli.input.cost_files import stated_actions
from abstain.cli.input.costs import reject_cost, stated_costs
from abstain.cli.training.budgets import stated_budget

__all__ = ["CostOptions"]

COLUMNS = ("false_positive_column", "false_negative_column", "reject_column")
COSTS = ("reject", "false_positive", "false_negative", "cost_matrix")


class CostOptions:
    """The costs as stated; options that exclude each other are an error.

    Attributes
    ----------
    budget : Budget or None
        What is asked for instead of costs.
    by_row : CostPlan
        Where the costs of each row are from; empty if they are the same for all rows.
    only_two : str or None
        An option that was given and takes two classes only.
    """

    def __init__(self, given: Given) -> None:
        self._given = given
        two = given.reject is not None and isinstance(reject_cost(given.reject, given.decimal), tuple)
        self.budget = stated_budget(given, given.stated(*COSTS, *COLUMNS, "actions"))
        others = given.stated(*COSTS, "pos_label", *COLUMNS, "reject_label")
        if given.actions is None and given.reject_actions is not None:
            raise UsageError("--reject-actions names some of the actions in the file of --actions; give that too.")
        if given.actions is not None and others:
            first = next(iter(others))
            raise UsageError(f"--actions gives the costs and the names of all decisions; leave out {first}.")
        self.by_row = cost_plan(given)
        limited = {*others, *given.stated("actions"), *(["two costs of --reject"] if two else [])}
        self.only_two = next((option for option in TWO_ONLY if option in limited), None)

    def of(self, classes: tuple[str, ...]) -> Any:
        """Return the costs for these classes, or the budget; None if each row has its own."""
        given = self._given
        if given.actions is not None:
            return stated_actions(given.actions, classes, given.reject_actions)
        if self.by_row:
            _check_positive_stated(classes, given.pos_label)
        if self.by_row or self.budget is not None:
            return self.budget
        errors = (given.false_positive, given.false_negative)
        shared = {"pos_label": given.pos_label, "decimal": given.decimal}
        return stated_costs(*errors, given.reject, given.cost_matrix, classes, **shared)


def _check_positive_stated(classes: tuple[str, ...], pos_label: str | None) -> None:
    """Raise an error if only the sort order of two texts says which class is positive."""
    if pos_label is None and not in_order(classes):
        first, last = (name[:60] for name in classes)
        raise UsageError(
            f"--pos-label is missing, and the costs are read from columns: a false negative is {first!r} for a row of "
            f"{last!r} with --pos-label {last!r}, and the other way round with --pos-label {first!r}. Give one of them."
        )
