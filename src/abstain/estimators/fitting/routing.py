"""How row costs and groups reach the `fit` and the `predict` of a model that takes them."""

from inspect import signature
from typing import Any

from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled
from sklearn.utils.metadata_routing import get_routing_for_object


def row_cost_parameters(model: Any, method: str, row_costs: Any) -> dict[str, Any]:
    """The row costs as an argument of the model's `fit` or `predict`, if it uses them; {} otherwise.

    They are used by classifiers whose method has the argument `row_costs`, and by Pipelines that end in one. With
    metadata routing, by whatever requests them.
    """
    return _passed_on(model, method, "row_costs", row_costs)


def group_parameters(model: Any, groups: Any) -> dict[str, Any]:
    """The groups as an argument of the model's `fit`, if it uses them; {} otherwise.

    They are used by classifiers whose `fit` has the argument `groups`, by searches whose `cv` is a group splitter, and
    by Pipelines that end in one of these. With metadata routing, by whatever requests them.
    """
    return {} if groups is None else _passed_on(model, "fit", "groups", groups)


def _passed_on(model: Any, method: str, name: str, value: Any) -> dict[str, Any]:
    if name == "row_costs" and hasattr(model, "_takes_row_costs") and not model._takes_row_costs(method):  # noqa: SLF001 (of this library)
        return {}
    if name in signature(getattr(model, method)).parameters:
        return {name: value}
    if routing_enabled():
        return {name: value} if get_routing_for_object(model).consumes(method, [name]) else {}
    if isinstance(model, Pipeline):
        step, last = model.steps[-1]
        prefix = f"{step}__" if method == "fit" else ""  # `predict` of a Pipeline passes arguments to its last step
        return {f"{prefix}{key}": given for key, given in _passed_on(last, method, name, value).items()}
    searches = isinstance(model, BaseSearchCV) and isinstance(model.cv, GroupsConsumerMixin)
    return {name: value} if searches and name == "groups" else {}


def decider(model: Any) -> Any:
    """The classifier or Pipeline inside fitted searches, whose own `predict` takes rows only."""
    while hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    return model
