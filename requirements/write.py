"""Write requirements/test.lock: the versions in this environment of all packages that the tests need, directly or not.

``python requirements/write.py FILE``, where FILE lists the direct requirements; `make lock` does it. The lock has no
hashes: pip takes them only from a list of files, which would name one package index and one platform.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

HEAD = "# Versions that `make test` installs; written by `make lock`. The ranges allowed are in pyproject.toml."


def main() -> None:
    """Follow the requirements through the installed packages."""
    left = [Requirement(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
    versions: dict[str, str] = {}
    while left:
        requirement = left.pop()
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if name in versions:
            continue
        found = metadata.distribution(requirement.name)
        versions[name] = found.version
        needed = [Requirement(line) for line in found.requires or ()]
        left += [one for one in needed if any(_holds(one, extra) for extra in ("", *requirement.extras))]
    lines = [f"{name}=={version}" for name, version in sorted(versions.items())]
    (Path(__file__).parent / "test.lock").write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")


def _holds(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


main()
