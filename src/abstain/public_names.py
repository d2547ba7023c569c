"""The public names of a package, each imported on first use, so that importing the package costs nothing."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

Lookup = tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]


def on_first_use(namespace: dict[str, Any], homes: Mapping[str, str], modules: tuple[str, ...] = ()) -> Lookup:
    """Return the names, `__getattr__` and `__dir__` of a package, given its `globals()`.

    `homes` has the names in each module or folder below the package, with spaces between them; `modules` are public
    themselves. The stub `__init__.pyi` of the package says what type each name is.
    """
    package = namespace["__name__"]
    paths = [f"{package}.{home}.{name}".rpartition(".") for home, names in homes.items() for name in names.split()]
    found = {name: module for module, _, name in paths}

    def look_up(name: str) -> Any:
        if name in found:
            namespace[name] = getattr(import_module(found[name]), name)
        elif name in modules:
            namespace[name] = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return namespace[name]

    return [*found], look_up, lambda: sorted({*namespace, *namespace["__all__"], *modules})
