"""What scikit-learn's tags say of a classifier that follows from its parameters: whether it takes several classes."""

from typing import Any


class ClassTagsMixin:
    """Several classes, unless a parameter is for two: costs by side, a positive class, or another rule than Chow's."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        given: Any = vars(self).get
        costs, rule, budget = given("costs"), given("rule", "chow"), given("reject_rate")
        if (
            (hasattr(costs, "hands_on") and costs.n_classes == 2 and not (costs.symmetric and costs.labels is None))
            or given("pos_label") is not None
            or not (isinstance(rule, str) and rule == "chow")
            or (given("method") == "roc" and budget is not None)
            or tuple in (type(budget), type(given("max_error")))
            or (isinstance(rates := given("class_error"), dict) and len(rates) == 2)  # which names every class
        ):
            tags.classifier_tags.multi_class = False
        return tags
