"""abstain: support vector machines that know when not to decide."""

from __future__ import annotations

from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from abstain.costs import Costs
    from abstain.estimators.svc import RejectSVC
    from abstain.losses.generalized_hinge import BartlettWegkamp
    from abstain.thresholds import Thresholds

    __version__: str

__all__ = ["BartlettWegkamp", "Costs", "RejectSVC", "Thresholds", "__version__"]

# Where each public name lives; imported on first use, so that `import abstain` costs nothing.
_HOMES = {
    "BartlettWegkamp": "abstain.losses.generalized_hinge",
    "Costs": "abstain.costs",
    "RejectSVC": "abstain.estimators.svc",
    "Thresholds": "abstain.thresholds",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = metadata.version("abstain")
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
