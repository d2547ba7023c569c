"""Forced: a rejecting classifier that always decides, for tools that cannot handle a reject label."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, _fit_context, clone
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples as number_of_rows
from sklearn.utils.validation import check_is_fitted

from abstain.arguments import row_weights
from abstain.estimators.out_of_fold import fit_parameters
from abstain.estimators.splitting import row_groups
from abstain.estimators.unwrap import FittedClassifier, final_estimator
from abstain.labels import classes_of
from abstain.rules.action_rule import refuse_actions
from abstain.rules.rule import Rule


def _has_probabilities(forced: Forced) -> bool:
    return hasattr(vars(forced).get("estimator_", forced.estimator), "predict_proba")


class Forced(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A rejecting classifier that must decide: its `predict` is `predict_forced`, the cheaper of the two classes.

    For tools that count labels as classes, where the label of a reject is an error or, worse, is not: scikit-learn's
    bagging, one-vs-one and voting take the reject label -1 for an index, that of the last class. Its `score` is the
    accuracy, as those tools expect, and not minus the mean cost: in a search, pass ``scoring=``.

    Parameters
    ----------
    estimator : classifier
        A classifier of this library, a Pipeline that ends in one, or a search for one.
    classes : sequence of two labels or None, default=None
        The classes by name, if y may arrive encoded as 0 and 1 in their sorted order, as `BaggingClassifier`,
        `VotingClassifier`, `StackingClassifier` and ``cross_val_predict(method="decision_function")`` encode it. The
        estimator is then fitted on the names, so that its `pos_label` and costs by name keep their meaning, and
        `predict` returns 0 and 1. If y has the names themselves, nothing is encoded.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (2,)
        The two classes of y, sorted.
    n_features_in_, feature_names_in_ : int, ndarray
        Those of the classifier, if it has them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.multiclass import OneVsOneClassifier
    >>> from abstain import Costs, Forced, RejectSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OneVsOneClassifier(Forced(RejectSVC(Costs(reject=0.2), C=10)))
    >>> round(float(model.fit(X, y).score(X, y)), 2)
    0.97
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "decision_function"])],
        "classes": ["array-like", None],
    }

    def __init__(self, estimator: Any, *, classes: Any = None) -> None:
        self.estimator = estimator
        self.classes = classes

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Fit a clone of the estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows, in the form that the estimator takes.
        y : array-like of shape (n_samples,)
            Their labels, of two classes.
        sample_weight, groups : array-like of shape (n_samples,), default=None
            Passed to the estimator, if it takes them.

        Returns
        -------
        Forced
            The fitted estimator.
        """
        weight, rows = row_weights(sample_weight, number_of_rows(X)), row_groups(groups, number_of_rows(X))
        parameters = fit_parameters(self, weight, rows, tune=False)
        names = self._names(y)
        fitted = clone(self.estimator).fit(X, y if names is None else names[np.asarray(y)], **parameters)
        refuse_actions(getattr(final_estimator(fitted), "rule_", None), "Forced", "its estimator's predict_forced")
        if isinstance(getattr(fitted, "classes_", None), np.ndarray) and len(fitted.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: y has "
                f"{len(fitted.classes_)} classes. Use predict_forced of the estimator itself."
            )
        if not isinstance(getattr(final_estimator(fitted), "rule_", None), Rule):
            raise ValueError(  # noqa: TRY004 (as for every bad parameter)
                f"estimator={self.estimator!r} is not a classifier of abstain, or a Pipeline or search that ends in "
                "one; others never reject: use it without Forced."
            )
        self.estimator_ = fitted
        self.classes_ = np.asarray(fitted.classes_) if names is None else np.array([0, 1])
        return self

    def _names(self, y: Any) -> NDArray[Any] | None:
        """The names of the classes if y is encoded as their positions; otherwise None."""
        if self.classes is None:
            return None
        known, found = np.unique(np.asarray(self.classes)), classes_of(y)
        if len(known) != 2:
            raise ValueError(f"classes={self.classes!r} must be the two classes.")
        if set(found) <= {*known.tolist()}:
            return None
        if not set(found) <= {0, 1} or np.asarray(y).dtype.kind not in "iu":
            raise ValueError(
                f"y has the classes {found}, which are neither classes={known.tolist()} nor their positions 0 and 1."
            )
        return known

    def _inner(self) -> FittedClassifier:
        check_is_fitted(self)
        return FittedClassifier.of(self.estimator_)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each row, oriented to ``classes_[1]``, minus the cut of the forced choice, so that the cut is 0."""
        inner, largest = self._inner(), np.finfo(np.float64).max
        return np.clip(inner.score(X) - inner.cut, -largest, largest)

    def predict(self, X: Any) -> NDArray[Any]:
        """The cheaper of the two classes for each row; never a reject."""
        inner = self._inner()
        return self.classes_[(inner.score(X) > inner.cut).astype(np.intp)]

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of `predict`, as of other classifiers in scikit-learn."""
        return float(super().score(X, y, sample_weight))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes by the estimator, if it has them."""
        return np.asarray(self._inner().estimator.predict_proba(X))

    @property
    def n_features_in_(self) -> int:
        """Number of features of the fitted classifier."""
        return self.estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features of the fitted classifier, if it has them."""
        return self.estimator_.feature_names_in_

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata routing: weights and groups are for the estimator's `fit`, if it requests them."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
