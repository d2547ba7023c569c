"""scikit-learn's bases of estimators, with types for mypy, for which scikit-learn has none.

Without types an estimator would inherit from Any, and mypy would accept every misspelt attribute. mypy takes a name
`MYPY` as true. At run time these are scikit-learn's own classes. So they are for pyright, which reads scikit-learn's
source: of two imports of a name it takes the last one.
"""

from typing import Any, Protocol

from numpy.typing import NDArray


class Model(Protocol):
    """A fitted classifier or detector of this library or of scikit-learn, or a Pipeline that ends in one."""

    def fit(self, X: Any, y: Any = None) -> Any: ...  # noqa: D102
    def predict(self, X: Any) -> NDArray[Any]: ...  # noqa: D102
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...  # noqa: D102
    def set_params(self, **params: Any) -> Any: ...  # noqa: D102


MYPY = False
if MYPY:
    from abstain.estimators.fitting.stand_ins import (
        BaseEstimator,
        CallbackSupportMixin,
        ClassifierMixin,
        MetaEstimatorMixin,
        OutlierMixin,
    )
else:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, OutlierMixin

    try:
        from sklearn.callback import CallbackSupportMixin
    except ImportError:  # scikit-learn 1.7 and 1.8 have no callbacks

        class CallbackSupportMixin:
            """Used where scikit-learn has no callbacks: the estimator then has no `set_callbacks`."""


__all__ = ["BaseEstimator", "CallbackSupportMixin", "ClassifierMixin", "MetaEstimatorMixin", "Model", "OutlierMixin"]
