"""Attributes of a fitted estimator, read from its one fitted value, with their types."""

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, Never, TypeVar

import numpy as np
from scipy.sparse import issparse

T_co = TypeVar("T_co", covariant=True)


class read(property, Generic[T_co]):  # noqa: N801 (as property)
    """A read-only attribute that is read from others, such as "estimator_.coef_", with its type."""

    def __init__(self, path: str, doc: str) -> None:
        super().__init__(lambda estimator: read_only(attrgetter(path)(estimator)), doc=doc)
        self.__doc__ = doc

    if TYPE_CHECKING:

        def __get__(self, estimator: Any, kind: type | None = None, /) -> T_co: ...  # type: ignore[override]
        def __set__(self, estimator: Any, value: Never, /) -> None: ...


class fitted(read[T_co]):  # noqa: N801
    """A read-only attribute of an estimator: an attribute of its fitted value, such as "proof.gap"."""

    def __init__(self, path: str, doc: str) -> None:
        super().__init__(f"_now.{path}", doc)


def read_only(value: Any) -> Any:
    """Return an array or a CSR matrix as a view that cannot be written to; any other value as it is.

    What was fitted belongs together: a coefficient or a class changed alone would contradict the certificate.
    """
    if issparse(value):
        return type(value)(tuple(map(read_only, (value.data, value.indices, value.indptr))), shape=value.shape)
    if not isinstance(value, np.ndarray):
        return value
    view = value.view()
    view.flags.writeable = False
    return view
