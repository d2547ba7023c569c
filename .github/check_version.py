"""Check that a tag, pyproject.toml, CITATION.cff and CHANGELOG.md name one version: ``check_version.py v1.2.3``."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def versions(root: Path = ROOT) -> dict[str, str]:
    """Return the version that each file names."""
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(\d[^\]]*)\]", changes, re.MULTILINE)
    return {
        "pyproject.toml": tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"],
        "CITATION.cff": re.findall(r"^version: (\S+)$", citation, re.MULTILINE)[0],
        "CHANGELOG.md": released[0] if released else "none",
    }


def main(tag: str, root: Path = ROOT) -> str | None:
    """Return an error, or None."""
    wanted = tag.removeprefix("v")
    wrong = [f"{name} has {version}" for name, version in versions(root).items() if version != wanted]
    return f"The tag is {tag}, but {', '.join(wrong)}; release what the files name." if wrong else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
