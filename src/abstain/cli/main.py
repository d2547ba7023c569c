"""The command `abstain`: its sub-commands, each in a file of its own.

Only typer is imported here and at the top of those files: help and completion answer before NumPy would be loaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.commands import compare, evaluate, export, fit, predict, reproduce
from abstain.cli.exit_codes import exit_on_error

# Plain help: rich's takes longer to load than all the rest.
app = typer.Typer(
    name="abstain",
    help="Support vector machines that know when not to decide.",
    epilog="Exit codes: 0 done, 1 a bug of ours, 2 usage, 3 bad data or model file, 4 not converged (result written), "
    "130 interrupted.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"abstain {version('abstain')}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
]


@app.callback()
def _abstain(version: Version = False) -> None:
    """Support vector machines that know when not to decide."""


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="For the picture.")] = Path("demo"),
    splits: Annotated[int, typer.Option(metavar="N", min=1, help="Random splits for the mean costs.")] = 20,
) -> None:
    """Show on biopsies what a reject option saves, with a picture."""
    with exit_on_error():
        from abstain.cli.commands.demo import demo as demonstrate

        demonstrate(output, splits)


for _module in (fit, predict, evaluate, compare, export, reproduce):
    app.command(_module.__name__.rpartition(".")[2])(_module.command)


if __name__ == "__main__":
    app(prog_name="abstain")
