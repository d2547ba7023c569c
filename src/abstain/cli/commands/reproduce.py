"""``abstain reproduce``: run one of the published experiments in a checkout of the repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from abstain.cli.exit_codes import UsageError
from abstain.cli.options import Given


def run_reproduce(given: Given) -> None:
    """Run the command."""
    found = experiments(Path.cwd())
    if given.name is not None:
        raise SystemExit(reproduce(given.name, found))
    print("\n".join(found) if found else "This checkout has no experiments yet.")


def experiments(folder: Path) -> dict[str, Path]:
    """The experiments of the checkout that contains `folder`: the folders of experiments/ with a run.py."""
    roots = [root for root in (folder, *folder.parents) if _is_checkout(root)]
    if not roots:
        raise UsageError(
            "reproduce needs a checkout of the repository, and this folder is not in one; clone it and run this there."
        )
    return {script.parent.name: script for script in sorted((roots[0] / "experiments").glob("*/run.py"))}


def reproduce(name: str, found: dict[str, Path]) -> int:
    """Run an experiment in its own process and return its exit code."""
    if name not in found:
        known = ", ".join(found) or "none yet"
        raise UsageError(f"this checkout does not have the experiment {name!r}; it has: {known}.")
    return subprocess.run([sys.executable, found[name].name], cwd=found[name].parent, check=False).returncode  # noqa: S603


def _is_checkout(root: Path) -> bool:
    return (root / "pyproject.toml").is_file() and (root / "src" / "abstain").is_dir()
