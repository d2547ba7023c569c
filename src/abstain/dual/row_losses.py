"""Signed rows with weighted losses and their duals: what depends on each row alone, and not on the kernel."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from abstain.losses.loss_table import LossTable
from abstain.losses.margin_loss import MarginLoss

__all__ = ["RowLosses"]


class RowLosses:
    """Signs y, weights w and losses of n rows, as attributes of the classes that inherit from this one."""

    sign: NDArray[np.int8]
    loss: MarginLoss | LossTable
    weight: NDArray[np.float64]

    @property
    def knots(self) -> NDArray[np.float64]:
        """The knots of each row's loss, (n, K), ascending."""
        return np.asarray(self.loss.tables()[0][self.kind])

    @property
    def dual_slopes(self) -> NDArray[np.float64]:
        """The slopes of each row's phi, (n, K), descending."""
        return np.asarray(self._dual_slopes[self.kind])

    @property
    def breakpoints(self) -> NDArray[np.float64]:
        """Where each row's phi begins, bends and ends, (n, K + 1), ascending from 0, in g = y beta."""
        return np.stack([self.breakpoint(k) for k in range(self.loss.n_knots + 1)], axis=1)

    def breakpoint(self, k: int) -> NDArray[np.float64]:
        """Give the k-th breakpoint of every row, (n,); the 0th is 0, the K-th the largest g."""
        of_kind = self._breakpoints[:, k]
        if (of_kind == of_kind[0]).all():  # need not be gathered
            return np.asarray(self.weight * of_kind[0])
        return np.asarray(self.weight * of_kind[self.kind])

    def dual_slope(self, piece: NDArray[np.intp]) -> NDArray[np.float64]:
        """Give the slope of each row's phi on the given piece, (n,): +inf on piece -1 and -inf on piece K."""
        walls = np.full((len(self._dual_slopes), 1), np.inf)
        slopes: NDArray[np.float64] = np.hstack([walls, self._dual_slopes, -walls])
        if (slopes == slopes[0]).all():
            return slopes[0][piece + 1]
        return slopes[self.kind, piece + 1]

    def losses(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give w_i loss_i(y_i f_i) for each row, at the scores f (bias included)."""
        return np.asarray(self.weight * self.loss.value(self.sign, self.sign * scores))

    def dual_values(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give phi_i(y_i beta_i) for each row."""
        return self.loss.dual_value(self.sign, self.sign * beta, self.weight)

    @cached_property
    def kind(self) -> NDArray[np.intp]:
        """The line of each row's loss in the loss's tables."""
        return self.loss.kinds(self.sign)

    @cached_property
    def _dual_slopes(self) -> NDArray[np.float64]:
        return self.loss.tables()[0][:, ::-1]

    @cached_property
    def _breakpoints(self) -> NDArray[np.float64]:
        return np.pad(-self.loss.tables()[1][:, ::-1], ((0, 0), (1, 0)))

