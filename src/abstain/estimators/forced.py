"""Forced: a rejecting classifier that always decides, for tools that cannot handle a reject label."""

from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted

from abstain.estimators.fitting.parameters import checked_first, where, with_parameters
from abstain.estimators.unwrap import FittedClassifier, final_estimator
from abstain.estimators.wrapping import AroundClassifier, has_probabilities, inner_classifier
from abstain.labels import classes_of
from abstain.rules.rule import Rule


def _answers_the_likeliest(forced: Any) -> bool:
    costs = getattr(final_estimator(forced.estimator), "costs", None)
    return has_probabilities(inner_classifier(forced)) and (costs is None or costs.symmetric)


@with_parameters
class Forced(AroundClassifier):
    """A rejecting classifier that must decide: its `predict` is `predict_forced`, the cheapest class.

    For tools that count labels as classes, where the label of a reject is an error or, worse, is not: scikit-learn's
    bagging, one-vs-one and voting take the reject label -1 for an index, that of the last class, or answer the
    likeliest class instead of the cheapest one. Its `score` is the accuracy, as those tools expect, and not minus the
    mean cost: in a search, pass ``scoring=``.

    Parameters
    ----------
    estimator : classifier
        A classifier of this library, a Pipeline that ends in one, or a search for one.
    classes : sequence of labels or None, default=None
        The classes by name, if y may arrive encoded as 0, 1, ... in their sorted order, as `BaggingClassifier`,
        `VotingClassifier`, `StackingClassifier` and ``cross_val_predict(method="decision_function")`` encode it. The
        estimator is then fitted on the names, so that its `pos_label` and costs by name keep their meaning, and
        `predict` returns these numbers. If y has the names themselves, nothing is encoded.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (n_classes,)
        The classes of y, sorted.
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

    estimator: Any
    _: KW_ONLY
    classes: Any = None

    _uses_metadata: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "decision_function"])],
        "classes": ["array-like", None],
    }

    @checked_first(nested=True)
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Fit a clone of the estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows, in the form that the estimator takes.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight, groups : array-like of shape (n_samples,), default=None
            Passed to the estimator, if it takes them.

        Returns
        -------
        Forced
            The fitted estimator.
        """
        _, _, parameters = self._checked_rows(X, sample_weight, groups)
        names = self._names(y)
        fitted = clone(self.estimator).fit(X, y if names is None else names[np.asarray(y)], **parameters)
        rule = getattr(final_estimator(fitted), "rule_", None)
        if not isinstance(rule, Rule):
            raise ValueError(  # noqa: TRY004 (as for every bad parameter)
                f"estimator={self.estimator!r} is not a classifier of abstain, or a Pipeline or search that ends in "
                "one; others never reject: use it without Forced."
            )
        rule.labels.refuse_actions(
            "Forced answers classes, and actions are not classes; use the estimator's predict_forced."
        )
        self.estimator_ = fitted
        self.classes_: NDArray[Any] = np.asarray(fitted.classes_) if names is None else np.arange(len(names))
        return self

    def _names(self, y: Any) -> NDArray[Any] | None:
        """The names of the classes if y is encoded as their positions; otherwise None."""
        if self.classes is None:
            return None
        known, found = np.unique(np.asarray(self.classes)), classes_of(y)
        if len(known) < 2:
            raise ValueError(f"classes={self.classes!r} must be the classes, two or more.")
        if set(found) <= {*known.tolist()}:
            return None
        if not set(found) <= {*range(len(known))} or np.asarray(y).dtype.kind not in "iu":
            raise ValueError(
                f"y has the classes {found}, which are neither classes={known.tolist()} nor their positions 0 to "
                f"{len(known) - 1}."
            )
        return known

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score of each row, such that a tool that decides by it decides as `predict`.

        Of two classes it is oriented to ``classes_[1]``, minus the cut of the forced choice, so that the cut is 0. Of
        more there is one for each class, of which the highest is answered.
        """
        check_is_fitted(self)
        inner, largest = FittedClassifier.of(self.estimator_), np.finfo(np.float64).max
        score = inner.score(X)
        found = score - inner.cut if score.ndim == 1 else _answer_scores(inner.rule, score)
        return np.clip(found, -largest, largest)

    def predict(self, X: Any) -> NDArray[Any]:
        """The cheapest class for each row; never a reject."""
        check_is_fitted(self)
        inner = FittedClassifier.of(self.estimator_)
        return self.classes_[np.array(inner.rule.answers)[inner.rule.best(inner.score(X))]]

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of `predict`, as of other classifiers in scikit-learn."""
        return float(super().score(X, y, sample_weight))

    @where(_answers_the_likeliest)
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the classes by the estimator, if it has them and `predict` answers the likeliest class.

        Tools that prefer probabilities would otherwise answer another class than the cheapest one.
        """
        check_is_fitted(self)
        return np.asarray(inner_classifier(self).predict_proba(X))


def _answer_scores(rule: Any, score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a score for each class of which the highest is the forced answer."""
    found, best = rule.decider.answer_scores(rule, score), rule.best(score)
    behind = (np.argmax(found, axis=1) != best)[:, np.newaxis] & (np.arange(score.shape[1]) == best[:, np.newaxis])
    return np.where(behind, np.nextafter(found.max(axis=1, keepdims=True), np.inf), found)
