"""What estimators around another classifier take from it: features, tags and metadata routing."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled
from sklearn.utils.validation import _num_samples as number_of_rows
from sklearn.utils.validation import has_fit_parameter

from abstain.arguments import refuse_dask_frame, row_weights
from abstain.estimators.fitting.attributes import read
from abstain.estimators.fitting.bases import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, Model
from abstain.estimators.fitting.decide import RejectMixin
from abstain.estimators.fitting.parameters import Method, StatedParameters, where
from abstain.estimators.fitting.routing import group_parameters
from abstain.estimators.fitting.splitting import Groups, row_groups


def where_classifier_has(name: str, check: Callable[[Any], bool] | None = None) -> Callable[[Method], Method]:
    """Keep a method where the classifier has one of this name, fitted or not, and passes a check; its type is kept.

    Several classifiers that decide together by p-values have none, as these rank rows otherwise.
    """

    def kept(around: Any) -> bool:
        together = getattr(around, "class_error", None) is not None and around.conformal == "cross"
        inner = inner_classifier(around)
        return not together and hasattr(inner, name) and (check is None or check(inner))

    return where(kept)


def inner_classifier(around: Any) -> Any:
    """Return the classifier of an estimator around one: the fitted one, if it is fitted."""
    return getattr(around, "estimator_", around.estimator)


def has_probabilities(classifier: Any) -> bool:
    """Whether a classifier has probabilities, other than the rough ones of machines of this library.

    Where probabilities are needed, such machines get a sigmoid, as others without probabilities do.
    """
    inner = classifier
    while hasattr(inner, "steps") or isinstance(inner, BaseSearchCV | FrozenEstimator | AroundClassifier):
        inner = inner.steps[-1][1] if hasattr(inner, "steps") else inner.estimator
    return hasattr(classifier, "predict_proba") and not isinstance(inner, RejectMixin)


class AroundClassifier(StatedParameters, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier around `estimator`, fitted as `estimator_`."""

    estimator: Any
    estimator_: Model
    _uses_metadata: ClassVar[bool]  # whether its own `fit` uses weights and groups, besides that of the classifier

    n_features_in_ = read[int]("estimator_.n_features_in_", "Number of features of the fitted classifier.")
    feature_names_in_ = read[NDArray[Any]](
        "estimator_.feature_names_in_", "Names of the features of the fitted classifier, if it has them."
    )
    coef_ = read[NDArray[np.float64]](
        "estimator_.coef_",
        "Weights of the features of the fitted classifier, if it has them, by which `RFE` chooses features.",
    )
    feature_importances_ = read[NDArray[np.float64]](
        "estimator_.feature_importances_", "Importances of the features of the fitted classifier, if it has them."
    )

    def _checked_rows(
        self, X: Any, sample_weight: Any, groups: Any, *, tune: bool = False, fits: bool = True
    ) -> tuple[NDArray[np.float64] | None, Groups | None, dict[str, Any]]:
        """Check weights and groups; return them, and what the classifier's `fit` takes of them if it is fitted."""
        refuse_dask_frame(X)
        n = number_of_rows(X)
        weight, checked = row_weights(sample_weight, n), row_groups(groups, n)
        return weight, checked, self._fit_parameters(weight, checked, tune=tune) if fits else {}

    def _fit_parameters(self, weight: Any, groups: Groups | None, *, tune: bool) -> dict[str, Any]:
        """Weights and groups for the classifier's `fit`, if it takes them; by metadata routing if that is enabled."""
        if routing_enabled():
            given = {"sample_weight": weight, "groups": groups}
            given = {name: value for name, value in given.items() if value is not None}
            return dict(process_routing(self, "fit", **given).estimator.fit) if given else {}
        parameters: dict[str, Any] = group_parameters(self.estimator, groups)
        if weight is None:
            return parameters
        if has_fit_parameter(self.estimator, "sample_weight"):
            return parameters | {"sample_weight": weight}
        if not tune:
            raise ValueError(
                f"sample_weight has no effect: {type(self.estimator).__name__}.fit does not accept it, and there are "
                "no thresholds to tune by weights. Leave it out, or let a Pipeline pass it on by metadata routing."
            )
        return parameters

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata routing: weights and groups are for the classifier's `fit`, if it requests them."""
        mapping, router = MethodMapping().add(caller="fit", callee="fit"), MetadataRouter(owner=self)
        router = router.add_self_request(self) if self._uses_metadata else router
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags
