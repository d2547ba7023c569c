"""``abstain reproduce``: run one of the published experiments, from a checkout of the repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.exit_codes import UsageError, exit_on_error

Name = Annotated[str | None, typer.Argument(metavar="NAME", help="The experiment; all are listed if not given.")]


def command(name: Name = None) -> None:
    """Run a published experiment anew; needs a checkout of the repository, whose experiments/ holds them."""
    with exit_on_error():
        found = experiments(Path.cwd())
        if name is None:
            print("\n".join(found) if found else "There are no experiments in this checkout yet.")
            return
        code = reproduce(name, found)
    raise SystemExit(code)


def experiments(folder: Path) -> dict[str, Path]:
    """The experiments of the checkout that `folder` lies in: the folders of experiments/ that have a run.py."""
    roots = [root for root in (folder, *folder.parents) if _is_checkout(root)]
    if not roots:
        raise UsageError(
            "reproduce needs a checkout of the repository, and this folder is in none; clone it and run this inside."
        )
    return {script.parent.name: script for script in sorted((roots[0] / "experiments").glob("*/run.py"))}


def reproduce(name: str, found: dict[str, Path]) -> int:
    """Run an experiment in its own process, and give its exit code."""
    if name not in found:
        known = ", ".join(found) or "none yet"
        raise UsageError(f"there is no experiment {name!r} in this checkout; it has: {known}.")
    return subprocess.run([sys.executable, found[name].name], cwd=found[name].parent, check=False).returncode  # noqa: S603


def _is_checkout(root: Path) -> bool:
    return (root / "pyproject.toml").is_file() and (root / "src" / "abstain").is_dir()
