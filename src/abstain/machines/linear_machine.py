"""The machine of a linear score, or of several around one centre: f(x) = w.(x - centre) + bias."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain import _native
from abstain.kernels import Matrix, native_matrix
from abstain.machines.machine import check_width, finite

_BLOCK = 1_000_000  # entries of X that are centred at a time


@dataclass(frozen=True, eq=False)
class LinearMachine:
    """A weight per feature, and a bias at the centre of the training rows; for several classes, a row for each.

    Far from the origin, w.x and the intercept would cancel and lose digits; relative to a centre near the data they
    do not.

    Attributes
    ----------
    weights : ndarray of shape (n_features,) or (n_machines, n_features)
    centre : ndarray of shape (n_features,)
    bias : float or ndarray of shape (n_machines,)
        The score at `centre`.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.machines.linear_machine import LinearMachine
    >>> LinearMachine(np.array([1.0, -2.0]), np.array([1e9, 0.0]), 0.5).score(np.array([[1e9 + 1, 0.0]]))
    array([1.5])
    """

    weights: NDArray[np.float64]
    centre: NDArray[np.float64]
    bias: Any

    @property
    def intercept(self) -> Any:
        """The score at the origin: f(x) = w.x + intercept."""
        found = np.asarray(self.bias - self.weights @ self.centre)
        return found if found.ndim else float(found)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.weights.shape[-1])

    def rescaled(self, scale: float, shift: float) -> "LinearMachine":
        """Return the machine of ``scale * score + shift``."""
        return replace(self, weights=scale * self.weights, bias=scale * self.bias + shift)

    def expansion(self, X: Matrix) -> NDArray[np.float64]:
        """Return w.(x - centre) for each row: the score without its bias.

        If there is a centre, sparse rows are made dense block by block: far from the origin w.x and w.centre agree in
        most of their digits, and the same row must have the same score in any format.
        """
        n = X.shape[0]
        step = max(1, _BLOCK // max(1, X.shape[1]))
        if issparse(X) and not self.centre.any():
            return np.asarray(X @ self.weights.T)
        if n > step:
            return np.concatenate([self.expansion(X[first : first + step]) for first in range(0, n, step)])
        return np.asarray(((X.toarray() if issparse(X) else X) - self.centre) @ self.weights.T)

    def score(self, X: Matrix, n_jobs: int | None = None) -> NDArray[np.float64]:  # noqa: ARG002 (as every machine)
        """Return the score of each row, shape (n,) or (n, n_machines)."""
        check_width(X, self.n_features)
        with np.errstate(over="ignore", invalid="ignore"):
            return finite(self.expansion(X) + self.bias)

    def row_sums(
        self, X: Matrix, beta: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], list[float]]:
        """Return two sums over the rows in one pass, for each machine; sparse rows need the centre 0.

        ::

            sum_i beta_i (x_i - c)      sum_i weight_i^2 |x_i - c|^2
        """
        check_width(X, self.n_features)
        given = (np.require(each, np.float64, ["C", "A"]) for each in (beta, weight))
        totals, reach = _native.check_rows(native_data(X, self.centre), *given)
        return totals.reshape(-1, self.n_features), reach.tolist()


def native_data(X: Any, centre: NDArray[np.float64]) -> dict[str, Any]:
    """Return rows as the native core reads them; dense rows of either precision are not copied."""
    rows = native_matrix(X, np.float32 if X.dtype == np.float32 else np.float64)
    return rows if issparse(X) else rows | {"centre": np.require(centre, np.float64, ["C", "A"])}
