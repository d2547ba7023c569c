"""The entry point of the installed command, which works without the packages of the extra `cli`."""

import sys
from importlib.util import find_spec


def main() -> None:
    """Run `abstain`, or explain how to install what is missing."""
    if find_spec("typer") is None:
        sys.stderr.write("abstain: the command line needs extra packages; install with: pip install 'abstain[cli]'\n")
        raise SystemExit(2)
    try:
        from abstain.cli.main import start

        start()
    except KeyboardInterrupt:  # before the command had begun
        sys.stderr.write("abstain: interrupted; no file was written\n")
        raise SystemExit(130) from None
