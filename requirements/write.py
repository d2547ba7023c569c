"""Write requirements/test.lock: the versions in this environment of all packages that the tests need, directly or not.

``python requirements/write.py FILE``, where FILE lists the direct requirements; `make lock` does it. Each version has
the SHA-256 of the file that pip would install here, whatever the index it comes from. Files for other machines have
other hashes, so the lock says for which kind of machine they are; elsewhere the Makefile uses the versions alone.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import tempfile
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

HEAD = f"""\
# Versions that `make test` installs; written by `make lock`. The ranges allowed are in pyproject.toml.
# The hashes are those of the files for {sys.implementation.cache_tag}-{sysconfig.get_platform()}.
"""


def main() -> None:
    """Follow the requirements through the installed packages."""
    left = [Requirement(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
    versions: dict[str, str] = {}
    while left:
        requirement = left.pop()
        name = _plain(requirement.name)
        if name in versions:
            continue
        found = metadata.distribution(requirement.name)
        versions[name] = found.version
        needed = [Requirement(line) for line in found.requires or ()]
        left += [one for one in needed if any(_holds(one, extra) for extra in ("", *requirement.extras))]
    pinned = {name: f"{name}=={version}" for name, version in sorted(versions.items())}
    hashes = _hashes([*pinned.values()])
    lines = [f"{line} --hash=sha256:{hashes[name]}\n" for name, line in pinned.items()]
    (Path(__file__).parent / "test.lock").write_text(HEAD + "".join(lines), encoding="utf-8")


def _hashes(pinned: list[str]) -> dict[str, str]:
    """The SHA-256 of the file that pip chooses for each package; nothing is installed."""
    with tempfile.TemporaryDirectory() as folder:
        listed, report = Path(folder) / "versions.txt", Path(folder) / "report.json"
        listed.write_text("\n".join(pinned), encoding="utf-8")
        asked = ["--dry-run", "--ignore-installed", "--no-deps", "--report", str(report), "-r", str(listed)]
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *asked], check=True)
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    return {_plain(one["metadata"]["name"]): one["download_info"]["archive_info"]["hashes"]["sha256"] for one in found}


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _holds(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


main()
