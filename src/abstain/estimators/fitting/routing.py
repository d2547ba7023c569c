"""How row costs reach the `fit` and the `predict` of a model that takes them."""

from __future__ import annotations

from inspect import signature
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled
from sklearn.utils.metadata_routing import get_routing_for_object

__all__ = ["decider", "row_cost_parameters"]


def row_cost_parameters(model: Any, method: str, row_costs: Any) -> dict[str, Any]:
    """The row costs as an argument of the model's `fit` or `predict`, if it uses them; {} otherwise.

    They are used by classifiers whose method has the argument `row_costs`, and by Pipelines that end in one. With
    metadata routing, by whatever requests them.
    """
    if hasattr(model, "_takes_row_costs") and not model._takes_row_costs(method):  # noqa: SLF001 (of this library)
        return {}
    if "row_costs" in signature(getattr(model, method)).parameters:
        return {"row_costs": row_costs}
    if routing_enabled():
        return {"row_costs": row_costs} if get_routing_for_object(model).consumes(method, ["row_costs"]) else {}
    if not isinstance(model, Pipeline):
        return {}
    name, last = model.steps[-1]
    prefix = f"{name}__" if method == "fit" else ""  # `predict` of a Pipeline passes arguments to its last step
    return {f"{prefix}{key}": value for key, value in row_cost_parameters(last, method, row_costs).items()}


def decider(model: Any) -> Any:
    """The classifier or Pipeline inside fitted searches, whose own `predict` takes rows only."""
    while hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    return model
