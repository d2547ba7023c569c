"""What estimators around another classifier take from it: features, tags and metadata routing."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

__all__ = ["AroundClassifier", "classifier_has"]


def classifier_has(name: str) -> Any:
    """Whether the classifier has a method, fitted or not; as scikit-learn's `available_if` asks it."""
    return lambda around: hasattr(around.estimator_ if "_fitted_" in vars(around) else around.estimator, name)


class AroundClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier around `estimator`, fitted as `estimator_`."""

    _uses_metadata: ClassVar[bool]  # whether its own `fit` uses weights and groups, besides that of the classifier

    @property
    def n_features_in_(self) -> int:
        """Number of features of the fitted classifier."""
        return self.estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features of the fitted classifier, if it has them."""
        return self.estimator_.feature_names_in_

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
