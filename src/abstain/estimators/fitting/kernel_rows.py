"""Shared by the estimators with a kernel: X as rows or as a Gram matrix, and scikit-learn's attribute names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from abstain.compressed import check_indices
from abstain.estimators.fitting.decide import FittedMixin, RejectMixin, read_only
from abstain.estimators.fitting.lazy import refuse_dask
from abstain.machines.class_machine import OneVsOneMachine
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine

__all__ = ["ExpansionMixin", "KernelRowsMixin", "checked_rows"]


class ExpansionMixin(FittedMixin):
    """An estimator whose machine is a `KernelMachine`, a `LinearMachine`, or several on the same rows."""

    kernel: Any

    @property
    def _pairwise(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = not self._pairwise
        tags.input_tags.pairwise = self._pairwise
        return tags

    def _checked(self, X: Any) -> Any:
        return checked_rows(self, X, dense=self._pairwise, reset=False)

    def _expansion(self, name: str) -> KernelMachine:
        machine = self._now.machine
        if isinstance(machine, KernelMachine):
            return machine
        raise AttributeError(f"{name} exists for machines expanded on training rows only; this one has coef_.")

    @property
    def support_(self) -> NDArray[np.intp]:
        """Indices of the support vectors among the training rows."""
        return read_only(self._expansion("support_").support)

    @property
    def support_vectors_(self) -> Any:
        """The support vectors; empty for a precomputed kernel."""
        return read_only(self._expansion("support_vectors_").vectors)

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """Signed coefficients of the support vectors, (1, n_SV); of several classes, a row for each machine.

        Without costs they have the layout of scikit-learn's `SVC`, (n_classes - 1, n_SV).
        """
        machine = self._expansion("dual_coef_")
        if isinstance(machine, OneVsOneMachine):
            return read_only(machine.dual_coef)
        return read_only(np.atleast_2d(machine.coef))

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias of each machine; shape (1,) for two classes."""
        return read_only(np.atleast_1d(self._now.machine.intercept))

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the features, shape (n_machines, n_features), for the linear kernel only; one for two classes."""
        machine = self._now.machine
        linear = machine if isinstance(machine, LinearMachine) else machine.linear
        if linear is None:
            raise AttributeError("coef_ exists for kernel='linear' only; other kernels have dual_coef_.")
        return read_only(np.atleast_2d(linear.weights))


class KernelRowsMixin(ExpansionMixin, RejectMixin):
    """A rejecting classifier with such a machine."""


def checked_rows(
    estimator: Any, X: Any, y: Any = "no_validation", *, dense: bool, reset: bool, single: bool = False
) -> Any:
    """X as the solvers read it: float64, finite, aligned and in C order, or CSR with sorted, valid indices.

    With `single`, float32 is left as it is.
    """
    refuse_dask(X, type(estimator).__name__)
    accepted = False if dense else "csr"
    if sparse.issparse(X):
        check_indices(X)  # before anything converts it
    dtype = [np.float64, np.float32] if single else np.float64
    checked = validate_data(estimator, X, y, reset=reset, accept_sparse=accepted, dtype=dtype)
    rows = checked[0] if isinstance(checked, tuple) else checked
    if not sparse.issparse(rows):
        return np.require(rows, requirements=["C", "A", "E"])  # validate_data does not align arrays
    if not rows.has_canonical_format:
        rows = rows.copy()  # sorting in place would change the caller's matrix
        rows.sum_duplicates()
    return rows
