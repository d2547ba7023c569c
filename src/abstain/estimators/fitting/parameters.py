"""The parameters that machines share, each stated once with its default, and their allowed values."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, fields
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar, dataclass_transform

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints
from sklearn.utils.metaestimators import available_if

from abstain.costs.table import CostTable

POSITIVE = Interval(Real, 0.0, None, closed="neither")


T = TypeVar("T")
Method = TypeVar("Method", bound=Callable[..., Any])


def where(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """Keep a method where a check of the estimator holds; its type is kept."""
    decorator: Callable[[Method], Method] = available_if(check)
    return decorator


def checked_first(*, nested: bool = False) -> Callable[[Method], Method]:
    """Check the parameters before a fit as scikit-learn does, those of `nested` estimators too; the type is kept."""
    decorator: Callable[[Method], Method] = _fit_context(prefer_skip_nested_validation=not nested)
    return decorator


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def with_parameters(estimator: type[T]) -> type[T]:
    """Make the constructor of an estimator from its annotated parameters, its own first, then those of its bases.

    It is that of a dataclass, of which nothing else remains: dask and other tools compare and copy dataclasses by their
    fields alone, and would mistake two fits with the same parameters for each other.
    """
    own = dict(vars(estimator).get("__annotations__", {}))
    bases = [vars(base).get("_parameters", {}) for base in estimator.__mro__[1:]]
    estimator.__annotations__ = own | {name: kind for base in bases for name, kind in base.items() if name not in own}
    made: Any = dataclass(eq=False, repr=False, match_args=False)(estimator)
    known = {parameter.name: parameter.type for parameter in fields(made) if parameter.init}
    made._parameters = known  # noqa: SLF001 (for estimators that inherit them)
    made._defaults = {name: getattr(made, name) for name in known if hasattr(made, name)}  # noqa: SLF001
    made.__annotations__ = own
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
    **dict.fromkeys(("costs", "rule", "pos_label", "reject_label"), "no_validation"),
    "C": [FiniteC(Real, 0.0, None, closed="neither")],
    "kernel": [str, callable],  # the name is checked with the other parameters of the kernel
    "degree": [Interval(Integral, 1, None, closed="left")],
    "gamma": [StrOptions({"scale", "auto"}), POSITIVE],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "solver": [StrOptions({"auto", "smo", "active-set"})],
    "tol": [POSITIVE],
    "cache_size": [POSITIVE],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "time_limit": [POSITIVE, None],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}


class StatedParameters:
    """An estimator whose parameters are known by `with_parameters`."""

    _parameter_constraints: ClassVar[dict[str, Any]]

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the names of the parameters; scikit-learn reads the signature of the constructor at every fit."""
        known = vars(cls).get("_parameters")
        return super()._get_param_names() if known is None else sorted(known)  # type: ignore[misc]

    def _validate_params(self) -> None:
        """Check the parameters as scikit-learn does, except those that still are the default, which is valid."""
        defaults = vars(type(self)).get("_defaults", {})
        given = {name: getattr(self, name) for name in self._get_param_names()}
        changed = {name: value for name, value in given.items() if name not in defaults or value is not defaults[name]}
        validate_parameter_constraints(self._parameter_constraints, changed, caller_name=type(self).__name__)


@with_parameters
class SolverParameters(StatedParameters):
    """How long a solver may run, and to what tolerance."""

    _: KW_ONLY
    tol: float = 1e-3
    max_iter: int = 10_000_000
    time_limit: float | None = None
    n_jobs: int | None = None
    verbose: bool = False


@with_parameters
class KernelParameters(SolverParameters):
    """The kernel, but for gamma, which a search chooses."""

    _: KW_ONLY
    kernel: Any = "rbf"
    degree: int = 3
    coef0: float = 0.0
    cache_size: float = 500


@with_parameters
class CostParameters(SolverParameters):
    """What decisions cost, and what the labels mean."""

    costs: CostTable | None = None
    _: KW_ONLY
    pos_label: Any = None
    reject_label: Any = "auto"
    class_weight: Any = None
