"""How an estimator states its parameters, and the allowed parameters of RejectSVC."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, dataclass_transform

from sklearn.utils._param_validation import Interval, StrOptions

POSITIVE = Interval(Real, 0.0, None, closed="neither")


@dataclass_transform(eq_default=False)
def with_parameters(estimator: type[Any]) -> type[Any]:
    """Make the constructor of an estimator from its annotated parameters, as `dataclass` does.

    Nothing else of a dataclass remains: dask and other tools compare and copy dataclasses by their fields alone, and
    would mistake two fits with the same parameters for each other.
    """
    made = dataclass(eq=False, repr=False, match_args=False)(estimator)
    for name in ("__dataclass_fields__", "__dataclass_params__", "__replace__"):  # the last one from Python 3.13 on
        if name in vars(made):
            delattr(made, name)
    return made


class FiniteC(Interval):  # type: ignore[misc]
    """A positive, finite C; scikit-learn's `SVC` also takes infinity, so the error gives the way out."""

    def __str__(self) -> str:
        return f"{super().__str__()}; for a hard margin, a large number such as 1e6"


# Checked by scikit-learn at fit. Checks that need a longer message, another parameter or the data come later.
CONSTRAINTS: dict[str, list[Any] | str] = {
    "costs": "no_validation",
    "C": [FiniteC(Real, 0.0, None, closed="neither")],
    "kernel": [str, callable],  # the name is checked with the other parameters of the kernel
    "degree": [Interval(Integral, 1, None, closed="left")],
    "gamma": [StrOptions({"scale", "auto"}), POSITIVE],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "rule": "no_validation",
    "pos_label": "no_validation",
    "reject_label": "no_validation",
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "solver": [StrOptions({"auto", "smo", "active-set"})],
    "tol": [POSITIVE],
    "cache_size": [POSITIVE],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "time_limit": [POSITIVE, None],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}
