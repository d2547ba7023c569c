"""Print the oldest versions that pyproject.toml allows, for pip: ``python requirements/oldest.py``.

Those of the package, of its extras that the tests need, and of the tests.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
EXTRAS = ("cli", "dask", "excel", "onnx", "plot", "test")
BOUND = re.compile(r"([A-Za-z0-9_.-]+(?:\[[^\]]*\])?)>=([0-9][0-9a-z.]*)")


def oldest(path: Path = PROJECT) -> list[str]:
    """Return requirements such as ``numpy==2.0.*``; of two bounds on a package the higher one counts."""
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(one for name in EXTRAS for one in project["optional-dependencies"][name])]
    found: dict[str, tuple[int, ...]] = {}
    for one in wanted:
        parts = BOUND.match(one)
        if parts is None:
            raise SystemExit(f"{one!r} has no lower bound.")
        version = tuple(map(int, parts[2].split(".")))
        found[parts[1]] = max(found.get(parts[1], ()), version)
    return [f"{name}=={'.'.join(map(str, version))}.*" for name, version in sorted(found.items())]


if __name__ == "__main__":
    print(*oldest(), sep="\n")  # noqa: T201 (this is its result)
