"""What a kernel machine takes in: rows, sparse ones too, or the Gram matrix itself."""

from __future__ import annotations

from typing import Any


class KernelRowsMixin:
    """Tells scikit-learn what the `kernel` of an estimator means for its X; two classes only."""

    kernel: Any

    @property
    def _pairwise(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = not self._pairwise
        tags.input_tags.pairwise = self._pairwise
        return tags
