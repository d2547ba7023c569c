"""The entry point of the installed command, which may be there without the packages that it needs."""

from __future__ import annotations

import sys
from importlib.util import find_spec


def main() -> None:
    """Run `abstain`, or say how to install what is missing."""
    if find_spec("typer") is None:
        sys.stderr.write("abstain: the command line needs its own packages; pip install 'abstain[cli]' brings them\n")
        raise SystemExit(2)
    from abstain.cli.main import app

    app(prog_name="abstain")
