"""Samples from two Gaussian classes, with their distribution."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch

from abstain.datasets.gaussians import Gaussians


def make_gaussians(
    n_samples: int = 1000,
    *,
    n_features: int = 2,
    distance: float = 2.0,
    scale: float = 1.0,
    prior: float = 0.5,
    means: ArrayLike | None = None,
    covariance: ArrayLike | None = None,
    random_state: Any = None,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Any:
    """Draw two Gaussian classes, with their Bayes rule and Bayes risk in closed form.

    Parameters
    ----------
    n_samples : int, default=1000
        Rows to draw.
    n_features : int, default=2
        Number of features, if `means` is None.
    distance : float, default=2.0
        Distance between the two means, which lie on the diagonal on either side of the origin, if `means` is None.
    scale : float, default=1.0
        The positive class has `scale` times the covariance of the negative class. 1 makes the log-odds linear in x; any
        other value makes them quadratic (the boundary is a sphere, or with `covariance` an ellipsoid).
    prior : float, default=0.5
        Probability of the positive class.
    means : array-like of shape (2, d), default=None
        Means of the negative and the positive class.
    covariance : array-like of shape (d, d), default=None
        Covariance of the negative class; None means the identity.
    random_state : int, RandomState instance or None, default=None
        Seed; with an int, every call returns the same rows.
    return_X_y : bool, default=False
        Return (data, target) instead of a Bunch.
    as_frame : bool, default=False
        Return data as a pandas DataFrame and target as a Series.

    Returns
    -------
    Bunch or (data, target)
        ``data``, ``target`` (0 or 1), ``feature_names``, ``target_names``, ``DESCR``, and ``law``, a `Gaussians`:
        ``law.sample`` draws more rows, ``law.posterior`` and ``law.bayes_risk`` return the true values.

    Examples
    --------
    >>> from abstain import Costs
    >>> from abstain.datasets import make_gaussians
    >>> table = Costs(false_positive=1, false_negative=5, reject=0.3).table()
    >>> made = make_gaussians(500, distance=2.0, random_state=0)
    >>> made.data.shape, round(made.law.bayes_risk(table), 4)
    ((500, 2), 0.1869)
    """
    if not isinstance(n_samples, int | np.integer) or n_samples < 1:
        raise ValueError(f"n_samples={n_samples!r} must be an integer of at least 1.")
    centers = _on_the_diagonal(n_features, distance) if means is None else np.asarray(means, dtype=np.float64)
    law = Gaussians(centers, np.eye(centers.shape[-1]) if covariance is None else covariance, scale, prior)  # type: ignore[arg-type]
    X: Any
    X, y = law.sample(int(n_samples), random_state)
    names = [f"x{j}" for j in range(X.shape[1])]
    frame = None
    if as_frame:
        import pandas as pd

        frame = pd.DataFrame(X, columns=names).assign(target=y)
        X, y = frame[names], frame["target"]
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        frame=frame,
        feature_names=names,
        target_names=["negative", "positive"],
        DESCR=f"Means {law.means.tolist()}, covariances in the ratio 1 : {scale:g}, P(positive) = {prior:g}.",
        law=law,
    )


def _on_the_diagonal(n_features: object, distance: float) -> Any:
    if not isinstance(n_features, int | np.integer) or n_features < 1:
        raise ValueError(f"n_features={n_features!r} must be an integer of at least 1.")
    if not 0.0 <= distance < np.inf:
        raise ValueError(f"distance={distance!r} must be finite and non-negative.")
    half = 0.5 * distance / np.sqrt(float(n_features))
    return np.vstack([np.full(int(n_features), -half), np.full(int(n_features), half)])
